"""The samplers that are shipped as modules: what they leak, to whom, and that their sources make them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from flint import fmpq

import bisimdist
from bisimdist.exact.rational import to_fmpq
from bisimdist.faces.cli.main import run
from bisimdist.programs.request import Request
from bisimdist.programs.wasm.door import explored_module

FOLDER = Path(bisimdist.__file__).parent / "models/library/programs/wasm"
CHANCES = {
    "response": ("env.rnd8",),
    "table": ("env.rnd64", "env.rnd1"),
    "laplace": ("env.rnd64",),
}


def explored(
    path: Path, function: str, *arguments: str, gap: fmpq | None = None, observe: str = "output"
) -> bisimdist.programs.ProgramChain:
    request = Request(observe=observe, gap=gap, arguments=arguments, chances=CHANCES[path.stem], replays=30)
    return explored_module(f"{path}:{function}", {"0": 0, "1": 1}, request)


@pytest.mark.parametrize(
    ("file", "function", "observe", "delta"),
    [
        ("response.wasm", "response", "output", "1/4"),
        ("table.wasm", "whole", "output", "129/512"),
        ("table.wasm", "whole", "instructions", "129/512"),
        ("table.wasm", "whole", "memory", "129/512"),
        ("table.wasm", "whole", "branches", "129/512"),
        ("table.wasm", "early", "output", "129/512"),
        ("table.wasm", "early", "draws", "129/512"),
        ("table.wasm", "early", "instructions", "1"),
        ("table.wasm", "early", "branches", "1"),
    ],
)
def test_what_is_seen(file: str, function: str, observe: str, delta: str) -> None:
    worst = bisimdist.delta(explored(FOLDER / file, function, observe=observe), 2).worst
    assert worst.lower == worst.upper == to_fmpq(delta)


def test_discrete_laplace() -> None:
    """At alpha 1, scale 1, delta is (e - 1) / (e + 1) = 0.4621171572600097585..."""
    worst = bisimdist.delta(explored(FOLDER / "laplace.wasm", "laplace", "1", gap=fmpq(1, 10**9)), 1).worst
    truth = fmpq(4621171572600097585, 10**19)
    assert worst.upper - worst.lower < fmpq(1, 10**8)
    assert worst.lower - fmpq(1, 10**9) < truth < worst.upper + fmpq(1, 10**9)


def test_discrete_laplace_tells_by_its_instructions() -> None:
    chain = explored(FOLDER / "laplace.wasm", "laplace", "1", gap=fmpq(1, 10**7), observe="instructions")
    assert bisimdist.delta(chain, 1, gap="1e-6").worst.lower >= to_fmpq("0.9999996")


BUILDS = {
    "table.c": ("clang", "--target=wasm32", "-Os", "-nostdlib", "-Wl,--no-entry"),
    "response.c": ("clang", "--target=wasm32", "-Os", "-nostdlib", "-Wl,--no-entry"),
    "laplace.rs": (
        *("rustc", "--edition=2021", "--target=wasm32-unknown-unknown", "--crate-type=cdylib"),
        *("-Copt-level=2", "-Cstrip=symbols"),
    ),
}


@pytest.mark.parametrize("source", sorted(BUILDS))
def test_the_sources_make_the_modules(source: str, tmp_path: Path) -> None:
    """Where there is a compiler, what it makes behaves like what is shipped; its bytes may differ."""
    tool, *options = BUILDS[source]
    path = tmp_path / Path(source).with_suffix(".wasm")
    for folder in os.environ["PATH"].split(os.pathsep):
        command = [str(Path(folder) / tool), *options, "-o", str(path), str(FOLDER / source)]
        if (
            Path(command[0]).exists()
            and not subprocess.run(command, capture_output=True, check=False).returncode
        ):
            break
    else:
        pytest.skip(f"there is no {tool} that makes modules")
    gap = fmpq(1, 10**4) if path.stem == "laplace" else None
    for function in {"table": ["whole", "early"]}.get(path.stem, [path.stem]):
        more = ("1",) if path.stem == "laplace" else ()
        both = [explored(file, function, *more, gap=gap) for file in (path, FOLDER / path.name)]
        assert both[0].digest() == both[1].digest()


@pytest.mark.extra("wasm")
def test_lines_of_the_source(tmp_path: Path) -> None:
    pytest.importorskip("elftools")
    clang = shutil.which("clang")
    path = tmp_path / "table.wasm"
    command = [str(clang), "-g", *BUILDS["table.c"][1:], "-o", str(path), str(FOLDER / "table.c")]
    if clang is None or subprocess.run(command, capture_output=True, check=False).returncode:
        pytest.skip("there is no clang that makes modules")
    ((parting, *_),) = explored(path, "early").origin.partings.values()
    source = (FOLDER / "table.c").read_text().splitlines()
    found = re.search(r"at offset 0x[0-9a-f]+, in \w+, table\.c:(\d+) ", parting.text)
    assert found is not None
    assert "rnd" in source[int(found[1]) - 1]


@pytest.mark.extra("wasm")
def test_audit_and_budget(capsys: pytest.CaptureFixture[str]) -> None:
    named, chances = f"{FOLDER}/response.wasm:response", ("--chance", "env.rnd8")
    both = ("--input", "0", "--input", "1")
    sure = ("--samples", "300", "--confidence", "0.999999", "--json")
    assert run(("audit", named, named, *both, *chances, "--alpha", "2", *sure)) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "not contradicted"
    assert run(("budget", named, *both, *chances, "--json")) == 0
    assert json.loads(capsys.readouterr().out)["ratio"] == "3"


def test_the_build_commands_are_those_of_the_readme() -> None:
    text = (FOLDER / "README.md").read_text()
    for source, (tool, *options) in BUILDS.items():
        assert f"{tool} {' '.join(options)} -o {Path(source).with_suffix('.wasm')} {source}" in text
