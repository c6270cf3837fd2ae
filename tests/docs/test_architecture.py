"""The picture of the architecture is that of the code."""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path
from types import FrameType

import pytest

import bisimdist.distances.engine.exact_engine as engine
from bisimdist.faces.cli.main import run
from tests.docs.markdown import ROOT

PICTURE = (ROOT / "docs/architecture.svg").read_text()
PAGE = (ROOT / "docs/architecture.md").read_text()
STEP = re.compile(r"^\| `([\w.]+)` \| `([\w/]+\.py)` \|", re.MULTILINE)


def test_it_has_every_layer_in_its_place() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    names = [re.findall(r"bisimdist\.(\w+)", layer) for layer in layers]
    packages = [name for layer in names for name in layer if (ROOT / "bisimdist" / name).is_dir()]
    drawn = re.findall(r'class="name"[^>]*>(\w+)<', PICTURE)
    shared = [name for name in dict.fromkeys(packages) if not (ROOT / "bisimdist" / name / "engine").is_dir()]
    assert [name for name in drawn if name in shared] == shared
    assert {path.parent.name for path in (ROOT / "bisimdist").glob("*/__init__.py")} <= set(drawn)


def test_bound_comes_to_its_mathematics_in_the_steps_that_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    steps = [(name.rpartition(".")[2], file) for name, file in STEP.findall(PAGE)]
    assert len(steps) <= 4
    frames: list[tuple[str, str]] = []

    def seen(*arguments: object, **options: object) -> None:
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            path = Path(frame.f_code.co_filename)
            frames.append((frame.f_code.co_name, "/".join(path.parts[-3:])))
            frame = frame.f_back
        raise KeyboardInterrupt

    last, file = steps[-1]
    assert getattr(engine, last).__module__ == "bisimdist." + file.removesuffix(".py").replace("/", ".")
    monkeypatch.setattr(f"bisimdist.distances.bound.ask.{last}", seen)
    run(["bound", "example:figure1", "--alpha", "2"])
    found = [frame for frame in reversed(frames) if frame in steps]
    assert found == steps[:-1]
