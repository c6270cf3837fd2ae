"""Signals and closed streams, in processes of their own: what is known is printed, nothing is left over."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from bisimdist.checker import check_certificate

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals as in POSIX")

LONG = ("delta", "example:dining-cryptographers,n=60", "--alpha", "1.0002", "--json")
WATCHED = """
import sys
from contextlib import contextmanager
import bisimdist.faces.cli.run as runner
import bisimdist.__main__

@contextmanager
def shown():
    def report(stage, done, total):
        if stage.startswith("delta"):
            print("at work", file=sys.stderr, flush=True)
    yield report

runner.shown_progress = shown
bisimdist.__main__.main()
"""


def hearing() -> None:
    """Hear what the tests themselves may have been started to ignore, by a shell or nohup."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


@contextmanager
def process(words: Sequence[str], **more: object) -> Iterator[subprocess.Popen[bytes]]:
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "preexec_fn": hearing, **more}
    with subprocess.Popen([sys.executable, *words], **pipes) as started:  # type: ignore[call-overload]
        try:
            yield started
        finally:
            started.kill()


def ignoring() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_the_work_with_what_is_known(number: signal.Signals, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    with process(["-c", WATCHED, *LONG, "--certificate", str(proof)]) as started:
        assert started.stderr is not None
        assert started.stderr.readline() == b"at work\n"
        started.send_signal(number)
        out, err = started.communicate(timeout=60)
    answer = json.loads(out)
    assert (started.returncode, answer["status"]) == (3, "limit")
    assert 0 <= eval(answer["worst"]["lower"]) < eval(answer["worst"]["upper"]) <= 1
    assert b"Traceback" not in err
    assert sorted(tmp_path.iterdir()) == [proof]
    assert check_certificate(proof.read_bytes()).valid


def test_signals_that_are_ignored_do_nothing(tmp_path: Path) -> None:
    words = ["-c", WATCHED, "delta", "example:dining-cryptographers,n=16", "--alpha", "1.0002", "--json"]
    with process(words, preexec_fn=ignoring) as started:
        assert started.stderr is not None
        assert started.stderr.readline() == b"at work\n"
        started.send_signal(signal.SIGINT)
        started.send_signal(signal.SIGHUP)
        out, rest = started.communicate(timeout=60)
    assert started.returncode == 0
    assert json.loads(out)["pairs"]
    assert b"interrupted" not in rest


STRUCK = """
import os, sys, bisimdist.__main__

moment, number = sys.argv.pop(1), int(sys.argv.pop(1))

class Struck:
    def find_spec(self, name, path, target=None):
        if name == moment:
            os.kill(os.getpid(), number)

sys.meta_path.insert(0, Struck())
bisimdist.__main__.main()
"""
LIGHT = ["bisimdist.faces.cli.main", "click", "bisimdist.privacy.delta.command", "flint"]
HEAVY = ["bisimdist.privacy.delta.ask", "numpy"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("moment", LIGHT + HEAVY)
def test_a_signal_while_starting_is_never_a_verdict(number: signal.Signals, moment: str) -> None:
    """Whatever is being loaded when it comes: nothing is known yet, or what is known from the start."""
    with process(["-c", STRUCK, moment, str(int(number)), *LONG]) as started:
        out, err = started.communicate(timeout=60)
    assert started.returncode == 3, err
    assert err.count(b"\n") == 1
    assert b"interrupted" in err
    if moment in HEAVY:
        (pair,) = json.loads(out)["pairs"]
        assert (pair["lower"], pair["upper"]) == ("0", "1")
    else:
        assert out == b""


def test_nobody_listens(tmp_path: Path) -> None:
    """A closed standard output is said before anything is computed, and no file takes its place."""
    words = f"exec {sys.executable} -m bisimdist {' '.join(LONG)} --certificate {tmp_path}/proof.json >&-"
    ended = subprocess.run(["bash", "-c", words], stderr=subprocess.PIPE, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr.startswith(b"bisimdist: error: standard output is closed")
    assert ended.stderr.count(b"\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_models_from_pipes() -> None:
    """What has no extension is read by its content: a pipe, or standard input by its name."""
    run = f"{sys.executable} -m bisimdist"
    words = (
        f"{run} example figure1 --format yaml > /dev/null; "
        f"{run} bound <({run} example figure1 --format yaml) --alpha 1; "
        f"{run} example figure1 | {run} bound /dev/stdin --alpha 1"
    )
    ended = subprocess.run(["bash", "-c", words], capture_output=True, timeout=60, check=False, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.count("s0    s1  1/5 = 0.2") == 2
