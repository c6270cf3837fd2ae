"""The action: its inputs are used, and its steps call what exists."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ACTION = Path(__file__).parents[1] / "action.yml"


def test_every_input_is_used_and_every_step_has_a_shell() -> None:
    said: dict[str, Any] = yaml.safe_load(ACTION.read_text())
    steps = said["runs"]["steps"]
    used = "\n".join(str(step) for step in steps)
    assert all(f"inputs.{name}" in used for name in said["inputs"])
    assert all(step["shell"] == "bash" for step in steps)


def test_claims_are_run_by_the_plugin_and_proofs_by_the_checker() -> None:
    steps = {step["name"]: step for step in yaml.safe_load(ACTION.read_text())["runs"]["steps"]}
    assert "pytest --slow-privacy" in steps["test"]["run"]
    assert 'bisimdist" check' in steps["check"]["run"]
    assert steps["test"]["if"] == "inputs.tests != ''"
