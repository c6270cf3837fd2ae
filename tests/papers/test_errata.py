"""The scripts of the errata say what the page shows, and use nothing of this project."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.markdown import ROOT, blocks, commands

SCRIPTS = sorted((ROOT / "docs/errata").glob("*.py"))
SHOWN = {
    words[1]: shown
    for block in blocks((ROOT / "docs/errata.md").read_text())
    if block.language == "console"
    for words, shown in commands(block)
    if words and words[0] == "python"
}


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_says_what_is_expected(script: Path) -> None:
    name = str(script.relative_to(ROOT))
    done = subprocess.run([sys.executable, "-I", name], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == SHOWN[name].strip()


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_uses_fractions_and_nothing_of_this_project(script: Path) -> None:
    for node in ast.walk(ast.parse(script.read_text())):
        assert not isinstance(node, ast.Import)
        if isinstance(node, ast.ImportFrom):
            assert node.module in {"fractions", "itertools"}


def test_every_script_that_the_page_shows_is_there() -> None:
    assert set(SHOWN) == {str(script.relative_to(ROOT)) for script in SCRIPTS}
