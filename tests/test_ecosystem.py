"""What stands around the package: its description on an index, the action, the recipe, the templates."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

import bisimdist
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

ROOT = Path(__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
HOME = "https://code.example/bisimdist"


def test_the_readme_has_two_blocks_that_a_fresh_machine_runs() -> None:
    """`.ci/run` runs the blocks that are marked ``sh``; all else that is shown has another mark."""
    readme = (ROOT / "README.md").read_text()
    first, second = re.findall(r"^```sh\n(.*?)^```$", readme, re.MULTILINE | re.DOTALL)
    assert "bisimdist bound example:" in first
    assert second.endswith("-m pytest -n auto\n")


@pytest.mark.parametrize("home", ["", HOME])
def test_the_readme_stands_on_an_index(home: str, tmp_path: Path) -> None:
    code = f"from setuptools.build_meta import prepare_metadata_for_build_wheel as p; p({str(tmp_path)!r})"
    tree = tmp_path / "tree"
    tree.mkdir()
    for name in ("README.md", "LICENSE", "pyproject.toml", "setup.py"):
        shutil.copy(ROOT / name, tree)
    for name in ("bisimdist", "lp", "models"):
        (tree / name).mkdir()
    environment = os.environ | {"BISIMDIST_REPOSITORY": home}
    subprocess.run([sys.executable, "-c", code], cwd=tree, env=environment, check=True, capture_output=True)
    (metadata,) = tmp_path.glob("*.dist-info/METADATA")
    text = metadata.read_text()
    links = re.findall(r"\]\(([^)#][^)]*)\)", text)
    assert all(link.startswith("https://") for link in links)
    assert ("Project-URL: Source" in text) is bool(home)
    assert "choosing" in text or not home
    for link in links:
        if home and link.startswith(home):
            assert (ROOT / link.removeprefix(f"{home}/blob/main/").partition("#")[0]).exists(), link


@pytest.mark.skipif(shutil.which("bash") is None, reason="the action is for bash")
@pytest.mark.parametrize(("about", "code"), [("figure1", 0), ("leaky-retry", 1), ("", 0)])
def test_the_action_checks_a_proof(command: Command, tmp_path: Path, about: str, code: int) -> None:  # noqa: F811
    steps = yaml.safe_load((ROOT / "action.yml").read_text())["runs"]["steps"]
    proof, program = tmp_path / "a proof.json", tmp_path / "bisimdist/bin/bisimdist"
    command("bound", "example:figure1", "--alpha", "1", "--certificate", proof)
    if about:
        command("example", about, "-o", tmp_path / "model.yaml")
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bisimdist "$@"\n')
    program.chmod(0o755)
    given = {"PROOF": str(proof), "MODEL": str(tmp_path / "model.yaml") if about else ""}
    environment = os.environ | given | {"RUNNER_TEMP": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ended = subprocess.run(["bash", "-e", "-c", steps[-1]["run"]], env=environment, check=False)
    assert ended.returncode == code


def test_the_recipe_needs_what_the_project_needs() -> None:
    recipe = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())
    run = {re.sub(r"\s", "", line).lower() for line in recipe["requirements"]["run"]}
    assert run == {line.lower() for line in PROJECT["dependencies"]} | {f"python{PROJECT['requires-python']}"}
    assert recipe["context"]["version"] == PROJECT["version"] == bisimdist.__version__


def test_the_templates_are_forms() -> None:
    forms = list((ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml"))
    assert forms
    for form in forms:
        data = yaml.safe_load(form.read_text())
        assert {"name", "description", "body"} <= data.keys()
        assert all("type" in part and "attributes" in part for part in data["body"])
