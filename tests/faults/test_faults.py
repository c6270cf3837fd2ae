"""Faults at each write, each look at the clock, each allocation and by each signal, in every command.

Whatever happens: the exit code is one of those that are documented, standard error has lines of this program
alone, standard output has the whole answer or nothing, what it says holds, and files are whole or not there.
"""

from __future__ import annotations

import errno
import gc
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bisimdist.checker import check_certificate
from bisimdist.faces.asked.registry import HOMES, question_of
from bisimdist.interruption import asked_to_stop
from bisimdist.progress import Progress, silent
from tests.cli.conftest import Command, Ended, command  # noqa: F401  (a fixture)

SAMPLE = Path(__file__).parent / "response.py"
OTHERS: dict[str, tuple[str, ...]] = {
    "bound ": ("example:figure1", "--alpha", "11/10", "--threshold", "1/100"),
    "program": (f"{SAMPLE}:response", "--alpha", "2", "--input", "True", "--input", "False"),
    "audit": (f"{SAMPLE}:constant", "example:figure1", "--alpha", "11/10", "--samples", "50"),
    "metric ": ("example:pin-checking", "--kind", "additive"),
    "budget ": (f"{SAMPLE}:response", "--alpha", "2", "--input", "True", "--input", "False"),
}
"""Calls that need files, and second ones of some commands."""

WRITES = {"learn", "convert", "show", "example"}
"""Those that compute next to nothing; their files are tested elsewhere."""

COMMANDS = {
    name: tuple(shlex.split(question_of(name).example)) for name in HOMES if name not in WRITES
} | OTHERS


def flag(verb: str) -> str | None:
    """Return the option that names the file to be written: the proof, where there is one."""
    flags = [option.flag for option in question_of(verb.strip()).options if option.writes]
    return "--certificate" if "--certificate" in flags else next(iter(flags), None)


UNFILED = {verb for verb in COMMANDS if flag(verb) is None}


def words(verb: str, file: Path | None) -> list[str]:
    option = flag(verb)
    proof = [] if file is None or option is None else [option, str(file)]
    return [*verb.split(), *COMMANDS[verb], "--json", *proof]


def test_every_command_has_an_example() -> None:
    assert all(COMMANDS.values())


class Fault:
    """Something that happens at the call number `at` of what it stands in for."""

    def __init__(self, at: int, happens: Callable[[], None]) -> None:
        self.left = at
        self.happens = happens
        self.happened = False

    def __call__(self) -> None:
        self.left -= 1
        if self.left == 0:
            self.happened = True
            self.happens()


def number(text: object) -> Fraction | float | None:
    """Return a rational or infinity of an answer; None where it is neither."""
    if text == "inf":
        return float("inf")
    try:
        return Fraction(text) if isinstance(text, str) else None
    except ValueError:
        return None


def assert_holds(answer: dict[str, Any], whole: dict[str, Any]) -> None:
    """Assert that bounds hold the exact values, and verdicts are those, or not known."""
    if "verdict" in answer:
        assert answer["verdict"] in {whole["verdict"], "unknown"}
    exactly = {(pair["from"], pair["to"]): pair for pair in whole.get("pairs", ())}
    for pair in answer.get("pairs", ()):
        known = exactly[pair["from"], pair["to"]]
        value, lower, upper = (
            number(known.get("upper")),
            number(pair.get("lower")),
            number(pair.get("upper")),
        )
        if value is not None and known.get("exact") and lower is not None and upper is not None:
            assert lower <= value <= upper


def assert_in_order(ended: Ended, clean: Ended, folder: Path, file: Path) -> None:
    """Assert what holds of every end."""
    assert ended.code in {0, 1, 2, 3}, ended
    lines = ended.err.splitlines()
    assert all(line.startswith("bisimdist: ") for line in lines), ended
    assert not any("internal error" in line for line in lines), ended
    if ended.code in {0, 1}:
        assert ended.code == clean.code
    if ended.out:
        assert_holds(json.loads(ended.out), json.loads(clean.out))
    else:
        assert len(lines) >= 1
    assert set(folder.iterdir()) <= {file}
    if file.exists():
        assert file.stat().st_size > 0
        if "certificate" in words_of(file):
            report = check_certificate(file.read_bytes())
            assert report.valid, report.reason


def timeless(answer: str) -> str:
    """Return an answer without the seconds that it says."""
    return re.sub(r'"seconds": "[^"]*"', "", answer)


def words_of(file: Path) -> str:
    """Return the beginning of a file."""
    return file.read_text()[:60]


def points() -> Iterator[int]:
    """Return at which calls something happens: each of the first ones, then ever rarer."""
    at = 1
    while at < 10**6:
        yield at
        at = at + 1 if at < 4 else at * 2


@pytest.fixture(autouse=True)
def no_callbacks() -> Iterator[None]:
    """Take Hypothesis's callback at a garbage collection away: what a signal raises in one is lost."""
    kept = gc.callbacks[:]
    gc.callbacks.clear()
    yield
    gc.callbacks[:] = kept


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Command, str], Ended]:
    known: dict[str, Ended] = {}

    def ask(command: Command, verb: str) -> Ended:  # noqa: F811
        if verb not in known:
            known[verb] = command(*words(verb, tmp_path_factory.mktemp("clean") / "file"))
            assert known[verb].code in {0, 1}, known[verb]
        return known[verb]

    return ask


Clean = Callable[[Command, str], Ended]


def signalled(number: signal.Signals) -> Callable[[], None]:
    return lambda: signal.raise_signal(number)


def exhausted() -> None:
    raise MemoryError


LOOKS: dict[str, Callable[[], None]] = {
    "SIGINT": signalled(signal.SIGINT),
    "SIGTERM": signalled(signal.SIGTERM),
    "memory": exhausted,
}


@pytest.mark.parametrize("verb", COMMANDS)
@pytest.mark.parametrize("kind", LOOKS)
def test_at_each_look_at_the_clock(  # noqa: PLR0917
    command: Command,  # noqa: F811
    clean: Clean,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
    verb: str,
) -> None:
    """A signal, or an allocation that fails, while the engine works."""
    whole = clean(command, verb)
    for at in points():
        fault = Fault(at, LOOKS[kind])

        def look(fault: Fault = fault) -> bool:
            fault()
            return asked_to_stop()

        with monkeypatch.context() as patched:
            patched.setattr("bisimdist.progress.asked_to_stop", look)
            ended = command(*words(verb, tmp_path / "file"))
        assert_in_order(ended, whole, tmp_path, tmp_path / "file")
        if not fault.happened:
            break
        (tmp_path / "file").unlink(missing_ok=True)
    assert (ended.code, timeless(ended.out)) == (whole.code, timeless(whole.out))


@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - {"crosscheck"}))
def test_at_each_tick_of_the_clock(
    command: Command,  # noqa: F811
    clean: Clean,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """The time is over at the k-th look at a clock that moves when somebody looks."""
    whole = clean(command, verb)
    for at in points():
        now = [0.0]

        def tick(now: list[float] = now) -> float:
            now[0] += 1
            return now[0]

        with monkeypatch.context() as patched:
            patched.setattr("bisimdist.progress.time.monotonic", tick)
            ended = command(*words(verb, tmp_path / "file"), "--timeout", str(at))
        assert_in_order(ended, whole, tmp_path, tmp_path / "file")
        if (timeless(ended.out), ended.code) == (timeless(whole.out), whole.code):
            break
        assert ended.code in {3, whole.code}
        (tmp_path / "file").unlink(missing_ok=True)
    assert ended.code == whole.code


PLACES: dict[str, tuple[object, str]] = {
    "temporary": (os, "close"),
    "bytes": (Path, "open"),
    "mode": (Path, "chmod"),
    "place": (Path, "replace"),
}


@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - UNFILED))
@pytest.mark.parametrize("place", PLACES)
def test_at_each_write(  # noqa: PLR0917
    command: Command,  # noqa: F811
    clean: Clean,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    place: str,
    verb: str,
) -> None:
    """The disk is full, or gone, at some step of writing the file: the answer is there, and no half of it."""
    whole = clean(command, verb)
    (tmp_path / "file").write_text("certificate of old")
    owner, name = PLACES[place]
    before = getattr(owner, name)

    def fails(*arguments: object, **named: object) -> object:
        if place == "temporary":
            before(*arguments)
        elif place == "bytes" and "wb" not in arguments:
            return before(*arguments, **named)
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fails)
        ended = command(*words(verb, tmp_path / "file"))
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]
    assert (tmp_path / "file").read_text() == "certificate of old"
    assert "No space left on device" in ended.err
    notes = (
        0 if place == "temporary" else len(whole.err.splitlines())
    )  # the model is read after the file is made
    assert len(ended.err.splitlines()) == notes + 1
    if place == "temporary":
        assert (ended.code, ended.out) == (2, "")
    else:
        assert (ended.code, timeless(ended.out)) == (whole.code or 3, timeless(whole.out))


@pytest.mark.parametrize("verb", sorted(set(COMMANDS) - UNFILED))
def test_an_answer_that_cannot_be_printed(
    command: Command,  # noqa: F811
    clean: Clean,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """Its proof is written all the same."""
    whole = clean(command, verb)

    class Full:
        encoding = "utf-8"

        def isatty(self) -> bool:
            return False

        def write(self, text: str) -> int:
            raise OSError(errno.ENOSPC, "No space left on device")

        def flush(self) -> None:
            """Have nothing to write."""

    with monkeypatch.context() as patched:
        patched.setattr(sys, "stdout", Full())
        ended = command(*words(verb, tmp_path / "file"))
    assert (ended.code, ended.out) == (2, "")
    assert len(ended.err.splitlines()) == len(whole.err.splitlines()) + 1
    assert (tmp_path / "file").exists()


SILENT = {"program", "profile", "secrets", "budget", "paper", "compose"} | {
    *("logic distance", "logic traces", "logic formula", "logic satisfies"),
}
"""Those of which nothing is known before they begin; of a program not even its chain. A list has no model."""


@pytest.mark.parametrize("verb", sorted({verb for verb in COMMANDS if verb.strip() not in SILENT}))
def test_what_is_known_from_the_start(
    command: Command,  # noqa: F811
    clean: Clean,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    verb: str,
) -> None:
    """Before the engine has begun, for a program and for a person."""
    whole = json.loads(clean(command, verb).out)

    @contextmanager
    def interrupted() -> Iterator[Progress]:
        signal.raise_signal(signal.SIGTERM)
        yield silent

    monkeypatch.setattr("bisimdist.faces.cli.run.shown_progress", interrupted)
    ended = command(*words(verb, tmp_path / "file"))
    answer = json.loads(ended.out)
    left = ["file"] if verb == "report" else []  # whoever waits for a page gets one
    assert (ended.code, [path.name for path in tmp_path.iterdir()]) == (3, left)
    assert list(answer)[:2] == list(whole)[:2] == ["command", "model"]
    assert answer["model"] == whole["model"]
    found, expected = ([pair["from"] for pair in data.get("pairs", [])] for data in (answer, whole))
    assert found == expected
    assert_holds(answer, whole)
    assert "stopped: interrupted" in ended.err
    text = command(*verb.split(), *COMMANDS[verb])
    assert (text.code, text.out.count("\n") > 1) == (3, True)
