"""What the tests of the command line share."""

from __future__ import annotations

import signal
import time
from dataclasses import dataclass
from pathlib import Path

import pytest

from bisimdist.faces.cli.main import run
from tests.cli.fake_engine import FakeEngine
from tests.speed import slowness

FIGURE1 = """\
kind: lmc
states: {s0: a, s1: a, s2: b, s3: c}
transitions:
  s0: {s2: 3/5, s3: 2/5}
  s1: {s2: 2/5, s3: 3/5}
  s2: {s2: 1}
  s3: {s3: 1}
pairs: [[s0, s1]]
"""


@dataclass(frozen=True)
class Ended:
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    def assert_refused(self, *words: str) -> None:
        """Assert that the input was called unusable: one line, exit code 2, standard output untouched."""
        assert self.code == 2, self
        assert self.out == ""
        assert self.err.startswith("bisimdist: error: "), self.err
        assert self.err.endswith("\n")
        assert self.err.count("\n") == 1, self.err
        assert "Traceback" not in self.err
        for word in words:
            assert word in self.err


class Command:
    """Runs command lines in this process."""

    def __init__(self, captured: pytest.CaptureFixture[str]) -> None:
        self.captured = captured

    def __call__(self, *arguments: str | Path) -> Ended:
        self.captured.readouterr()
        code = run([str(argument) for argument in arguments])
        out, err = self.captured.readouterr()
        return Ended(code, out, err)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    fake = FakeEngine()
    monkeypatch.setattr("bisimdist.distances.bound.ask.bound", fake.bound)
    return fake


@pytest.fixture
def figure1(tmp_path: Path) -> Path:
    path = tmp_path / "figure1.yaml"
    path.write_text(FIGURE1)
    return path


@pytest.fixture
def by_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clock count CPU seconds of the machine of reference; skip where there is no alarm clock."""
    if not hasattr(signal, "setitimer"):
        pytest.skip("there is no alarm clock here")
    slow, set_timer = slowness(), signal.setitimer
    monkeypatch.setattr(time, "monotonic", lambda: time.process_time() / slow)
    monkeypatch.setattr(signal, "setitimer", lambda kind, *times: set_timer(kind, *(slow * t for t in times)))
    monkeypatch.setattr(signal, "ITIMER_REAL", signal.ITIMER_PROF)
    monkeypatch.setattr(signal, "SIGALRM", signal.SIGPROF)
