"""The clock and the limit of memory, which end a check that the count of work lets go on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bisimdist.checker import limits
from bisimdist.checker.__main__ import arranged, main
from bisimdist.checker.core import reading
from bisimdist.checker.limits import LimitReached, allowed, read_seconds, read_size, within
from bisimdist.faces.cli.main import run as command
from tests.checker.bombs import products
from tests.checker.corpus import FOLDER

# An alarm that rings in a callback of the collector is thrown away there, and rings again.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

GOOD = FOLDER / "correct" / "beside.json"
ENVIRONMENT = {key: value for key, value in os.environ.items() if not key.startswith(("COV_", "COVERAGE"))}


@pytest.fixture
def long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Give a file that nothing ends for a while but the limits."""
    monkeypatch.setattr(reading, "LEAST_WORK", 10**12)
    monkeypatch.setattr(reading, "LEAST_HELD", 10**12)
    path = tmp_path / "long.json"
    path.write_text(products(180), encoding="ascii")
    yield str(path)
    assert signal.getitimer(signal.ITIMER_REAL) == (0, 0)


def test_time_ends_a_check(long: str, capsys: pytest.CaptureFixture[str]) -> None:
    begun = time.monotonic()
    assert main(["--timeout", "0.3", long]) == 3
    assert capsys.readouterr() == ("", f"{long}: not checked: the check takes more than 0.3 s\n")
    assert command(["check", long, "--timeout", "0.3"]) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"error: not decided: {long}: the check takes more than 0.3 s" in err
    assert time.monotonic() - begun < 10


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a watch ends the process")
def test_memory_ends_a_check(long: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([long, "--memory=30"]) == 3
    assert capsys.readouterr() == ("", f"{long}: not checked: the check takes more than 30 MiB of memory\n")
    assert command(["check", long, "--memory", "30MiB"]) == 3
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "takes more than 30 MiB of memory" in err


def test_limits_that_are_not_passed_change_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert main([str(GOOD), "--timeout=20", "--memory", "2G"]) == 0
    assert command(["check", str(GOOD), "--timeout=20", "--memory", "2G"]) == 0
    assert "proved" in capsys.readouterr().out
    assert signal.getsignal(signal.SIGALRM) == before


def test_an_interrupt_that_is_ignored_does_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text(products(180), encoding="ascii")
    code = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "from bisimdist.checker.core import reading; reading.LEAST_WORK = 10**12; "
        f"from bisimdist.checker.__main__ import run; sys.exit(run(['--timeout', '0.5', {str(path)!r}]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"{path}: not checked: the check takes more than 0.5 s\n"


@pytest.mark.parametrize(("seconds", "memory"), [(0.5, 1 << 40), (1000, 1 << 20)], ids=["time", "memory"])
def test_a_watch_ends_the_process_where_there_is_no_alarm(seconds: float, memory: int) -> None:
    code = f"""
import sys, threading
from bisimdist.checker import limits
def capped(memory):
    yield False
limits._capped = limits.contextmanager(capped)
def work():
    with limits.within({seconds}, {memory}, lambda said: print(said, flush=True)):
        kept = []
        while True:
            kept = kept[-100:] + [b"x" * 10**7]
thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        env=ENVIRONMENT,
        timeout=60,
    )
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("the check takes more than")


def test_an_alarm_that_is_lost_rings_again() -> None:
    heard = 0
    with pytest.raises(LimitReached, match=r"more than 0\.1 s"), within(0.1, 1 << 40):
        while True:
            try:
                threading.Event().wait(1)
            except LimitReached:
                heard += 1
                if heard == 2:
                    raise
    assert heard == 2


def test_longer_documents_may_take_more() -> None:
    assert allowed(10**6, None, None) == (60, 2**30)
    assert allowed(10**7, None, None) == (600, 10 * 2**30)
    assert allowed(10**7, 5, 1000) == (5, 1000)


def test_sizes_and_seconds_are_read() -> None:
    assert [read_size(text) for text in ("300", "2G", "5 KiB", "1mb", "0x1", "-1", "")] == [
        300 << 20,
        2 << 30,
        5 << 10,
        1 << 20,
        None,
        None,
        None,
    ]
    assert [read_seconds(text) for text in ("0.5", "60", "1e3", "-1", "")] == [0.5, 60, None, None, None]
    assert limits.STOPPED == 3


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["a", "b", "c"],
        ["a", "--timeout"],
        ["a", "--timeout", "soon"],
        ["a", "--memory=much"],
        ["a", "--timeout=1", "--timeout=2"],
        ["a", "--other"],
    ],
)
def test_other_arguments_are_refused(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert arranged(arguments) is None
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), err[:6]) == ("", 1, "usage:")
