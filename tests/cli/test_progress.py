"""Progress goes to standard error: a bar on a terminal after a while, a line now and then elsewhere."""

from __future__ import annotations

import io
import re

import pytest

from bisimdist.cli import progress
from bisimdist.cli.progress import shown_progress
from bisimdist.report import progress_bar


class Terminal(io.StringIO):
    """A stream that calls itself a terminal."""

    def isatty(self) -> bool:
        return True


def test_what_is_quick_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    with shown_progress() as report:
        report("solving", 1, 2)
    assert terminal.getvalue() == ""
    assert capsys.readouterr().out == ""


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setattr(progress_bar, "PATIENCE", 0.0)
    monkeypatch.setenv("TERM", "xterm")
    with shown_progress() as report:
        report("solving [1]", 1, 2)
        report("checking", 3, None)
        report("solving [1]", 2, 2)
    assert "solving [1]" in terminal.getvalue()
    assert "2/2" in terminal.getvalue()
    assert "/?" not in terminal.getvalue()
    assert capsys.readouterr().out == ""


def test_lines_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with shown_progress() as report:
        report("solving", 1, 2)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr(progress, "INTERVAL", 0.0)
    with shown_progress() as report:
        report("solving", 1, 2)
        report("checking", 3, None)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[0].startswith("bisimdist: solving: 1/2 after ")
    assert re.match(r"bisimdist: checking: 3 \(\d[\de+.]*/s\) after ", err.splitlines()[1])
