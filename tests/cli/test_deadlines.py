"""``--timeout`` on questions that take minutes, by a clock that counts CPU seconds."""

from __future__ import annotations

import json
import signal
import time

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm clock here")

SECONDS, BEYOND = 0.4, 1.0
"""What is asked for, and how much longer it may take."""

SHOWING = 0.6
"""Bounds on thousands of pairs are put together and shown after that."""

LONG = (
    "bound example:random,states=400,successors=5,seed=1 --alpha 1 --pair s0 s3",
    "bound example:random,states=100,successors=20,labels=1,seed=1 --alpha 21/20 --pair s0 s1 --distance lbd",
    "bound example:random,states=120,successors=6,seed=1 --alpha 21/20 --all-pairs",
    "bound example:dining-cryptographers,n=40 --alpha 11/10",
    "compare example:random,states=300,successors=3,seed=1 --alpha 21/20 --pair s0 s3",
    "delta example:random,states=120,successors=4,labels=2,seed=1 --alpha 21/20 --all-pairs",
    "profile example:random,states=60,successors=3,seed=1 --pair s0 s3 --points 20",
    "metric example:random,states=150,successors=6,labels=2,seed=1 --kind additive --all-pairs",
    "verify example:noisy-max-diseases,n=3 --ratio 4 --length 1 --engine smt",
    "classes example:random,states=4000,successors=4,labels=2,seed=1",
    "minimise example:random,states=300,successors=3,seed=1 --loss 1/100",
)


@pytest.mark.parametrize("line", LONG)
def test_it_ends_in_time_with_what_is_known(
    command: Command, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr(time, "monotonic", time.process_time)
    monkeypatch.setattr(signal, "ITIMER_REAL", signal.ITIMER_PROF)
    monkeypatch.setattr(signal, "SIGALRM", signal.SIGPROF)
    begun = time.process_time()
    ended = command(*line.split(), "--json", "--timeout", str(SECONDS))
    spent = time.process_time() - begun
    assert ended.code == 3
    assert json.loads(ended.out)["command"] == line.split(maxsplit=1)[0]
    assert spent < SECONDS + BEYOND + SHOWING
