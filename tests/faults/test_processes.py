"""Faults from outside, in processes: little memory, and signals at any moment."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import Ended
from tests.faults.test_faults import COMMANDS, assert_in_order, words

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="limits of addresses and signals as on Linux"),
]
SIZES = (120, 160, 200, 250, 300, 350, 400, 500)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def listening() -> None:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def limited(size: int | None) -> None:
    import resource  # noqa: PLC0415

    listening()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # until the command listens, which Python does not know
    if size is not None:
        resource.setrlimit(resource.RLIMIT_AS, (size * 2**20, size * 2**20))


def ended(arguments: list[str], *, size: int | None = None, number: int = 0, after: float = 0.0) -> Ended:
    started = subprocess.Popen(
        [sys.executable, "-m", "bisimdist", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: limited(size),  # noqa: PLW1509  (no threads here)
    )
    if number:
        time.sleep(after)
        started.send_signal(number)
    out, err = started.communicate(timeout=300)
    return Ended(started.returncode, out, err)


@pytest.mark.parametrize("verb", COMMANDS)
def test_little_memory(verb: str, tmp_path: Path) -> None:
    """The answer, what is known by then, or one clear line; never an error of ours, a hang or code 2."""
    file = tmp_path / "file"
    clean = ended(words(verb, file))
    for size in SIZES:
        file.unlink(missing_ok=True)
        found = ended(words(verb, file), size=size)
        assert found.code != 2, (size, found)
        assert_in_order(found, clean, tmp_path, file)


@pytest.mark.parametrize("verb", COMMANDS)
def test_signals_at_any_moment(verb: str, tmp_path: Path) -> None:
    """From the first moment: 3 with what is known, or as if nothing had come."""
    rng = random.Random(verb)
    file = tmp_path / "file"
    begun = time.monotonic()
    clean = ended(words(verb, file))
    whole = time.monotonic() - begun
    for _ in range(12):
        file.unlink(missing_ok=True)
        number = rng.choice(SIGNALS)
        found = ended(words(verb, file), number=number, after=rng.uniform(0, whole))
        assert_in_order(found, clean, tmp_path, file)
        assert found.code in {3, clean.code}, found
