"""What is installed: one top-level package, whatever the folders of the repository are called."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def test_the_wheel_holds_one_top_level_package(tmp_path: Path) -> None:
    pytest.importorskip("setuptools")
    source = tmp_path / "source"
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("bisimdist", "lp", "models"):
        shutil.copytree(
            ROOT / name, source / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__")
        )
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--quiet"]
    subprocess.run([*command, "--wheel-dir", str(tmp_path), str(source)], check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"bisimdist"}
    for module in (
        "bisimdist/lp/kernel.py",
        "bisimdist/models/lmc.py",
        "bisimdist/checker/rules.py",
        "bisimdist/py.typed",
    ):
        assert module in names


def test_lp_and_models_are_links() -> None:
    for name in ("lp", "models"):
        link = ROOT / "bisimdist" / name
        assert link.is_symlink()
        assert link.readlink() == Path("..") / name
