"""``--threshold`` of delta and metric: the bounds decide, a tie holds."""

from __future__ import annotations

import json

import pytest

from bisimdist import delta
from bisimdist.models.library.registry import build_example
from tests.cli.conftest import Command


@pytest.mark.parametrize(
    ("theta", "verdict", "code"), [("3/25", "holds", 0), ("1", "holds", 0), ("119/1000", "violated", 1)]
)
def test_delta(command: Command, theta: str, verdict: str, code: int) -> None:
    ended = command("delta", "example:figure1", "--alpha", "1.2", "--threshold", theta, "--json")
    data = json.loads(ended.out)
    assert (ended.code, data["verdict"], data["pairs"][0]["verdict"]) == (code, verdict, verdict)
    assert list(data)[3:6] == ["threshold", "verdict", "pairs"]


def test_a_limit_leaves_it_open(command: Command) -> None:
    ended = command(
        *("delta", "example:random,states=12,seed=5", "--alpha", "1.1", "--pair", "s0", "s1"),
        *("--threshold", "1/2", "--timeout", "0", "--json"),
    )
    data = json.loads(ended.out)
    assert (data["pairs"][0]["lower"], data["pairs"][0]["upper"]) != (None, None)
    assert ended.code == {"holds": 0, "violated": 1, "unknown": 3}[data["verdict"]]


def test_it_ends_where_the_threshold_is_decided() -> None:
    """A long way before the interval closes, of a chain where it never does."""
    chain = build_example("random,states=12,seed=5,labels=2")
    pair = [("s0", "s1")]
    whole = delta(chain, "1.1", pairs=pair)
    early = delta(chain, "1.1", pairs=pair, threshold=whole.lower / 2)
    assert early.pairs[0].lower > whole.lower / 2
    assert early.statistics["expanded"] <= whole.statistics["expanded"]
    assert early.pairs[0].lower <= whole.pairs[0].upper


@pytest.mark.parametrize(
    ("kind", "theta", "verdict"),
    [
        ("amortised", "0.8109", "violated"),
        ("amortised", "0.811", "holds"),
        ("accumulative", "1000", "violated"),
        ("multiplicative", "3", "violated"),
        ("additive", "1", "holds"),
        ("additive", "1/10", "violated"),
    ],
)
def test_metric(command: Command, kind: str, theta: str, verdict: str) -> None:
    """Thresholds are of the distance, which is a logarithm for all kinds but the additive one."""
    ended = command("metric", "example:pin-checking", "--kind", kind, "--threshold", theta, "--json")
    assert (ended.code, json.loads(ended.out)["verdict"]) == (int(verdict == "violated"), verdict)


def test_a_certificate_comes_with_a_verdict(command: Command, tmp_path: object) -> None:
    proof = f"{tmp_path}/proof.json"
    ask = ("metric", "example:pin-checking", "--kind", "amortised", "--threshold", "1")
    assert command(*ask, "--certificate", proof).code == 0
    assert command("check", proof).code == 0


def test_a_relation_has_no_threshold(command: Command) -> None:
    ended = command(
        *("metric", "example:pin-checking", "--kind", "amortised"),
        *("--threshold", "1", "--relation", "none"),
    )
    assert (ended.code, len(ended.err.splitlines())) == (2, 1)
