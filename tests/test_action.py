"""The action: its inputs are used, its steps exist, and a broken claim leaves an event and a report."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[1]
MECHANISM = """
def respond(truth, rng):
    return truth if rng.randrange({of}) else 1 - truth
"""
CLAIM = """
from bisimdist.testing import assert_private
from mechanism import respond


def test_respond():
    assert_private(respond, neighbours=[(0, 1)], alpha=3)
"""


def said() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "action.yml").read_text())  # type: ignore[no-any-return]


def run(step: str, home: Path, **given: str) -> subprocess.CompletedProcess[str]:
    """Run a step of the action as a runner does, in a repository that lies in ``home``."""
    command = next(part["run"] for part in said()["runs"]["steps"] if part["name"] == step)
    python = home / "runner/bisimdist/bin/python"
    if not python.exists():
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        python.chmod(0o755)
    path = os.pathsep.join((str(home), str(ROOT)))
    about = {"RUNNER_TEMP": str(home / "runner"), "GITHUB_STEP_SUMMARY": str(home / "summary.md")}
    environment = os.environ | about | given | {"PYTHONPATH": path}
    words = ["bash", "-e", "-c", command]
    return subprocess.run(words, cwd=home, env=environment, check=False, capture_output=True, text=True)


def test_every_input_is_used_and_every_step_has_a_shell() -> None:
    steps = said()["runs"]["steps"]
    used = "\n".join(str(step) for step in steps)
    assert all(f"inputs.{name}" in used for name in said()["inputs"])
    assert all(step["shell"] == "bash" for step in steps if "run" in step)


def test_claims_are_run_by_the_plugin_and_proofs_by_the_checker() -> None:
    steps = {step["name"]: step for step in said()["runs"]["steps"]}
    assert "pytest --slow-privacy" in steps["test"]["run"]
    assert 'bisimdist" check' in steps["check"]["run"]
    assert steps["test"]["if"] == "inputs.tests != ''"


@pytest.mark.skipif(not Path("/bin/bash").exists(), reason="the action is for bash")
def test_a_change_that_breaks_a_claim_leaves_the_event_and_a_report(tmp_path: Path) -> None:
    (tmp_path / "test_privacy.py").write_text(CLAIM)
    (tmp_path / "mechanism.py").write_text(MECHANISM.format(of=4))
    reports = tmp_path / "runner/privacy-reports"
    held = run("test", tmp_path, TESTS="test_privacy.py")
    assert held.returncode == 0, held.stdout + held.stderr
    assert not (tmp_path / "summary.md").exists()
    assert not reports.exists()

    (tmp_path / "mechanism.py").write_text(MECHANISM.format(of=5))  # the change: truth with 4/5
    broken = run("test", tmp_path, TESTS="test_privacy.py")
    assert broken.returncode == 1
    summary = (tmp_path / "summary.md").read_text()
    assert summary.startswith("### A privacy claim fails: test_respond\n\n    respond is not private")
    assert "the outputs 0 have probability 4/5 = 0.8 from 0 and 1/5 = 0.2 from 1" in summary
    (page,) = reports.iterdir()
    text = page.read_text()
    assert "How private is respond?" in text
    assert "<dt>proof</dt><dd><b>checked</b>" in text
    assert 'id="certificate"' in text
    assert "pytest test_privacy.py::test_respond" in text
    upload = next(step for step in said()["runs"]["steps"] if step["name"] == "reports")
    assert upload["with"]["path"].endswith(reports.name)
    assert upload["if"].startswith("always()")
