"""``--timeout`` on questions that take minutes, by a clock that counts CPU seconds."""

from __future__ import annotations

import json
import signal
import time
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.conftest import Command

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm clock here")

SECONDS, BEYOND = 1.0, 1.0
"""What is asked for, and how much longer it may take."""

SHOWING = 4.0
"""Bounds on thousands of pairs are put together and shown after that; without a limit each takes minutes."""

LONG = (
    "bound example:random,states=400,successors=5,seed=1 --alpha 1 --pair s0 s3",
    "bound example:random,states=100,successors=20,labels=1,seed=1 --alpha 21/20 --pair s0 s1 --distance lbd",
    "bound example:random,states=240,successors=6,seed=1 --alpha 21/20 --all-pairs",
    "bound example:dining-cryptographers,n=40 --alpha 11/10",
    "compare example:random,states=300,successors=3,seed=1 --alpha 21/20 --pair s0 s3",
    "delta example:random,states=120,successors=4,labels=2,seed=1 --alpha 21/20 --all-pairs",
    "profile example:random,states=60,successors=3,seed=1 --pair s0 s3 --points 20",
    "metric example:random,states=150,successors=6,labels=2,seed=1 --kind additive --all-pairs",
    "verify example:noisy-max-diseases,n=3 --ratio 4 --length 1 --engine smt",
    "classes example:random,states=16000,successors=4,labels=2,seed=1",
    "minimise example:random,states=300,successors=3,seed=1 --loss 1/100",
)


@pytest.mark.usefixtures("by_cpu")
@pytest.mark.parametrize("line", LONG)
def test_it_ends_in_time_with_what_is_known(command: Command, line: str) -> None:
    begun = time.monotonic()
    ended = command(*line.split(), "--json", "--timeout", str(SECONDS))
    spent = time.monotonic() - begun
    assert ended.code == 3
    assert json.loads(ended.out)["command"] == line.split(maxsplit=1)[0]
    assert spent < SECONDS + BEYOND + SHOWING


@pytest.mark.usefixtures("by_cpu")
@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "logic traces example:random,states=5,successors=3,labels=2,seed=1 --state s0 --limit 1000000",
            "Time ran out",
        ),
        ("delta example:random,states=30,successors=3,labels=3,seed=0 --alpha 11/10", "an event"),
        ("report example:random,states=30,successors=3,labels=3,seed=0 --alpha 11/10 -o FILE", "A limit"),
    ],
)
def test_what_a_person_is_shown_is_there_in_time(
    command: Command, tmp_path: Path, line: str, said: str
) -> None:
    begun = time.monotonic()
    seconds = 6 if "FILE" in line else 3
    ended = command(*line.replace("FILE", f"{tmp_path}/page.html").split(), "--timeout", str(seconds))
    spent = time.monotonic() - begun
    assert (ended.code, said in ended.out) == (3, True)
    assert spent < seconds + BEYOND + SHOWING
    if "FILE" in line:
        page = (tmp_path / "page.html").read_text()
        assert "At every level" in page
        assert "Other measures of this pair" in page


@pytest.mark.usefixtures("by_cpu")
def test_a_distance_bounds_delta_at_once_where_traces_say_little(command: Command, tmp_path: Path) -> None:
    """Haddad and Monmege's chain, twice: runs begin anew at every step, and end after a million or so."""
    levels = 20
    rows: dict[str, dict[str, str]] = {}
    labels: dict[str, str] = {}
    for world, first in ((0, "7/10"), (1, "69/100")):
        names = [f"m{world}_{k}" for k in range(2 * levels + 1)]
        labels |= dict.fromkeys(names, "on") | {names[-2]: "one", names[-1]: "other"}
        rows[names[0]] = {names[1]: first, names[2]: str(1 - Fraction(first))}
        rows |= {names[k]: {names[0]: "1/2", names[k + 2]: "1/2"} for k in range(1, 2 * levels - 1)}
        rows |= {name: {name: "1"} for name in names[-2:]}
    model = tmp_path / "restarts.json"
    pairs = [["m0_0", "m1_0"]]
    model.write_text(json.dumps({"kind": "lmc", "states": labels, "transitions": rows, "pairs": pairs}))
    (pair,) = json.loads(command("delta", model, "--alpha", "1", "--timeout", "4", "--json").out)["pairs"]
    assert pair["upper"] == "1/100"
    assert Fraction(pair["lower"]) > 0
