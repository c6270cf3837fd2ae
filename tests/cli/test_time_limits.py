"""``--timeout`` is kept, also by what looks at no clock: reading, and long steps of engines."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bisimdist.distances.bound.command import Bound
from bisimdist.interruption import alarm, asked_to_stop, listening, time_is_over, why
from bisimdist.progress import Deadline
from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm clock here")

BRP = Path(__file__).parents[3] / "shared/data/prism/u_brp16_2.json"
RANDOM = "example:random,states=3000,successors=2,labels=3,seed=1"
POWER = """
kind: hmm
observations: [x, y]
parameters: {p: [0, 1], q: [0, 1], r: [0, 1]}
states: {s: {x: 2/3, y: 1/3}, t: {x: 1/3, y: 2/3}}
distributions:
  pi: {s: ((p+q+r)/3)^100, t: 1-((p+q+r)/3)^100}
  rho: {s: ((p+q+r)/3)^99, t: 1-((p+q+r)/3)^99}
  tau: {t: 1}
pairs: [[pi, tau]]
"""


def test_a_model_that_takes_minutes_to_read(tmp_path: Path) -> None:
    path = tmp_path / "power.yaml"
    path.write_text(POWER)
    begun = time.monotonic()
    ended = subprocess.run(
        [sys.executable, "-m", "bisimdist", *f"verify {path} --ratio 2 --length 2 --timeout 1".split()],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (3, "")
    assert ended.stderr == "bisimdist: the time limit was reached before anything was known\n"
    assert time.monotonic() - begun < 10  # 2, where nothing else works


def test_a_pipe_into_which_nobody_writes(command: Command, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    ended = command("bound", pipe, "--alpha", "1", "--timeout", "0")
    assert (ended.code, ended.out) == (3, "")
    assert ended.err == "bisimdist: the time limit was reached before anything was known\n"


@pytest.mark.parametrize("looking", [False, True])
def test_an_engine_that_looks_at_no_clock(
    command: Command, figure1: Path, monkeypatch: pytest.MonkeyPatch, looking: bool
) -> None:
    """One that has seen that the time is over may end its work; the other is interrupted."""

    def slow(self: Bound, limits: object) -> object:
        if looking:
            time.sleep(0.02)
            assert limits.deadline.passed()  # type: ignore[attr-defined]
        time.sleep(1.5 if looking else 10)
        return self.unknown("late") if looking else None

    monkeypatch.setattr(Bound, "ask", slow)
    before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0
    begun = time.monotonic()
    ended = command("bound", figure1, "--alpha", "1", "--timeout", "0.01")
    late = "bisimdist: stopped: the time limit was reached\n"
    assert (ended.code, ended.err) == (3, "" if looking else late)
    assert "s0" in ended.out
    assert looking or time.monotonic() - begun < 9
    assert (signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)[0] > 0) == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "words", "pairs"),
    [
        (str(BRP), "--json --timeout 3", 915_981),
        (RANDOM, "--timeout 3", 4_498_500),
        (RANDOM, "--top 3 --json --timeout 3", 4_498_500),
    ],
)
def test_many_pairs_are_told_soon_after_the_time(model: str, words: str, pairs: int) -> None:
    """Within a second, and two microseconds for each that is written; thrice that where others work."""
    if model == str(BRP) and not BRP.exists():
        pytest.skip("the file is not here")
    begun = time.monotonic()
    asked = ("bound", model, "--alpha", "1", "--all-pairs", *words.split())
    command = [sys.executable, "-m", "bisimdist", *asked]
    ended = subprocess.run(command, capture_output=True, check=False)
    taken = time.monotonic() - begun
    assert ended.returncode == 3
    written = 0 if "--top" in words or "--json" not in words else pairs
    assert ended.stdout.count(b'"bd"') >= written
    assert taken < 3 + 3 * (1 + 2e-6 * written)


def test_a_proof_that_takes_too_long_to_write(
    command: Command, figure1: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The answer is printed, and the command ends a second after its time."""

    def slow(*about: object) -> str:
        del about
        time.sleep(20)
        return ""

    monkeypatch.setattr(Bound, "content", slow)
    begun = time.monotonic()
    path, table = tmp_path / "proof.json", tmp_path / "pairs.csv"
    files = ("--certificate", path, "--csv", table)
    ended = command("bound", figure1, "--alpha", "1", "--timeout", "0.5", *files)
    assert 1.4 < time.monotonic() - begun < 15
    assert (ended.code, "s0" in ended.out) == (3, True)
    assert ended.err == "".join(
        f"bisimdist: no {what} was written to {where}: the time limit was reached\n"
        for what, where in (("certificate", path), ("file", table))
    )
    assert not path.exists()
    assert not table.exists()
    assert not asked_to_stop()


def test_the_alarm_is_heard_once_and_by_a_listener_only() -> None:
    with alarm(time.monotonic(), 0):
        time.sleep(0.05)
    assert not asked_to_stop()
    late = pytest.raises(KeyboardInterrupt, match="the time limit was reached")
    with listening(), late, alarm(time.monotonic(), 0.01):
        time.sleep(1)
    with listening():
        assert why() == "interrupted"
        with alarm(time.monotonic(), 0.05):
            assert Deadline(time.monotonic() - 1).passed()
            time.sleep(0.2)
        with alarm(time.monotonic() + 0.1, 0.05), pytest.raises(KeyboardInterrupt):
            time_is_over(time.monotonic())  # that of a part
            time.sleep(1)
    assert not asked_to_stop()


@pytest.mark.parametrize("asking", [signal.SIGALRM, signal.SIGINT])
def test_what_python_throws_away_is_raised_again(asking: int) -> None:
    """As in a callback of the collector; what else is thrown away is nobody's alarm."""
    lost: list[BaseException | None] = []
    before, due = sys.unraisablehook, time.monotonic() + (0.05 if asking == signal.SIGALRM else 30)

    def slow(phase: str, about: dict[str, int]) -> None:
        del about
        if phase == "start":
            if asking == signal.SIGINT:
                signal.raise_signal(asking)
            time.sleep(0.1)
            raise ValueError

    sys.unraisablehook = lambda about: lost.append(about.exc_value)
    gc.disable()
    gc.callbacks.append(slow)
    reason = "the time limit was reached" if asking == signal.SIGALRM else "interrupted"
    try:
        with listening(), pytest.raises(KeyboardInterrupt, match=reason), alarm(due, 0):
            gc.collect()
            time.sleep(1)
        assert not lost
        asking = 0
        with listening(), alarm(due + 30, 0):
            gc.collect()
        assert [type(error) for error in lost] == [ValueError]
    finally:
        gc.callbacks.remove(slow)
        gc.enable()
        sys.unraisablehook = before


def test_an_alarm_that_somebody_set_before_is_kept() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: heard.append(number))
    after = signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with listening(), alarm(time.monotonic(), 5):
            time.sleep(0.3)
        assert heard == [signal.SIGALRM]
        signal.setitimer(signal.ITIMER_REAL, 0.4)
        with listening(), alarm(time.monotonic(), 0.01), pytest.raises(KeyboardInterrupt):
            time.sleep(0.3)
        time.sleep(0.5)
        assert len(heard) == 2
    finally:
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *after)
