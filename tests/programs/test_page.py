"""The source of a program as a page, with the lines where its runs part."""

from __future__ import annotations

from pathlib import Path

import pytest

from bisimdist import delta, explore
from bisimdist.errors import UsageError
from bisimdist.programs.program.page import program_page
from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

PROGRAM = """from beside import coin

def f(x, rng):
    y = rng.randrange(2)
    if x < 1:
        y += coin(rng)
    return y
"""


def asked(folder: Path) -> list[str]:
    (folder / "program.py").write_text(PROGRAM)
    (folder / "beside.py").write_text("def coin(rng):\n    return rng.randrange(2)  # <b>\n")
    return ["program", f"{folder / 'program.py'}:f", "--input", "0", "--input", "1", "--alpha", "1"]


def test_lines_are_marked(command: Command, tmp_path: Path) -> None:  # noqa: F811
    file = tmp_path / "page.html"
    assert command(*asked(tmp_path), "--html", file).code == 0
    text = file.read_text()
    parts = [line for line in text.split("<li>")[1:] if 'class="parts"' in line]
    assert len(parts) == 1
    assert "y = rng.randrange(2)" in parts[0]
    assert "0, 1: after the draw in line 4 one run draws in line 6 and the other returns" in parts[0]
    assert text.count('<li><span class="draws">') == 1
    assert "# &lt;b&gt;" in text
    assert text.count("<h2>") == 3  # two files, and the event as a picture


def test_the_source_is_that_which_was_explored(command: Command, tmp_path: Path) -> None:  # noqa: F811
    words = asked(tmp_path)
    command(*words, "--html", tmp_path / "beside.py").assert_refused("read by the same command")
    answer = delta(explore(words[1], [0, 1]), 1)
    (tmp_path / "beside.py").write_text("")
    with pytest.raises(UsageError, match="no longer what was explored"):
        program_page(answer, answer.report())
    (tmp_path / "beside.py").unlink()
    with pytest.raises(UsageError, match="cannot be read"):
        program_page(answer, answer.report())
    steps = explore(start=[0, 1], step=lambda n: None, label=str)
    answer = delta(steps, 1)
    with pytest.raises(UsageError, match="no program in a file"):
        program_page(answer, answer.report())
