"""Progress goes to standard error: a bar on a terminal after a while, a line now and then elsewhere."""

from __future__ import annotations

import io
import re

import pytest

from bisimdist.distances.bound.ask import bound
from bisimdist.faces.cli import progress
from bisimdist.faces.cli.progress import hinting, shown_progress
from bisimdist.faces.shown import progress_bar
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.progress import Deadline
from tests.cli.conftest import Command


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


def test_who_waits_is_told_once_what_would_be_quicker(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told: list[str] = []
    report = hinting(lambda stage, done, total: told.append(stage), "delta may be quicker")
    report("solving", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    report = hinting(lambda stage, done, total: told.append(stage), "delta may be quicker")
    for _ in range(3):
        report("solving", 2, 2)
    assert capsys.readouterr().err == "bisimdist: delta may be quicker\n"
    assert told == ["solving"] * 4


@pytest.mark.parametrize(
    ("options", "quicker", "not_said"),
    [
        ("", "--gap 1e-3 ends where the bounds are so close, --threshold D where they tell", "larger"),
        ("--gap 1e-6", "--threshold D where they tell whether delta is at most D", "--gap"),
        ("--gap 1e-6 --threshold 1/100", "a larger --gap ends sooner", "--threshold"),
    ],
)
def test_who_waits_for_delta(
    command: Command, monkeypatch: pytest.MonkeyPatch, options: str, quicker: str, not_said: str
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    asked = "delta example:random,states=8,successors=3,labels=2,seed=1 --alpha 1 --pair s0 s1"
    said = command(*asked.split(), *options.split(), "--timeout", "1").err
    assert said.startswith(
        "bisimdist: this takes a while. Ctrl-C or --timeout SEC ends it and prints what is proved"
    )
    assert quicker in said.splitlines()[0]
    assert not_said not in said.splitlines()[0]


def test_progress_says_how_close_the_bounds_are_by_now() -> None:
    told: list[str] = []
    model = random_lmc(20, 3, 2, 1)
    bound(
        model,
        "11/10",
        pairs=[("s0", "s1"), ("s0", "s2"), ("s1", "s2")],
        deadline=Deadline.after(1000),
        progress=lambda stage, done, total: told.append(stage),
    )
    known = [stage for stage in told if stage.endswith(" (bounds within 1e-6 are proved)")]
    assert 0 < len(known) < len(told)
    assert told[-len(known) :] == known
