"""Whoever does not know the commands finds each of them on the page on choosing one."""

from __future__ import annotations

import re

import pytest

from bisimdist.faces.asked.registry import HOMES
from tests.docs.markdown import ROOT


@pytest.mark.parametrize("command", [*HOMES, "check"])
def test_every_command_is_somebodys_choice(command: str) -> None:
    assert re.search(rf"`{command}[ `]", (ROOT / "docs/choosing.md").read_text())
