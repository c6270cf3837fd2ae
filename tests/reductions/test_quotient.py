"""Bisimilar states stand for each other where that changes nothing, and nowhere else."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from flint import fmpq
from hypothesis import given, settings

from bisimdist import AllPairs, bound, check_certificate, delta, leakage
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.lmc import LMC
from tests.reductions.test_steps import proved, steps_of
from tests.strategies import alphas, lmcs

TWINS = LMC.from_mappings(
    {"s": "a", "t": "a", "u": "b", "v": "b", "w": "c", "x": "d"},
    {
        "s": {"u": "3/4", "w": "1/4"},
        "t": {"v": "1/2", "w": "1/2"},
        "u": {"w": "1/2", "x": "1/2"},
        "v": {"w": "1/2", "x": "1/2"},
        "w": {"w": 1},
        "x": {"x": 1},
    },
    [("s", "t"), ("u", "v")],
)


@settings(max_examples=25, deadline=None)
@given(lmcs(5), alphas())
def test_answers_are_those_of_the_quotient(chain: LMC, alpha: fmpq) -> None:
    merged, place = quotient(chain)
    pairs = list(product(chain.states, repeat=2))[:6]
    inside = [tuple(merged.states[place[chain.index(name)]] for name in pair) for pair in pairs]
    for ask in (lambda m, p: delta(m, alpha, pairs=p, gap="1/10"), lambda m, p: bound(m, 1, pairs=p)):
        found, other = ask(chain, pairs), ask(merged, inside)
        assert [(pair.lower, pair.upper) for pair in found.pairs] == [
            (pair.lower, pair.upper) for pair in other.pairs
        ]
        report = check_certificate(json.dumps(found.certificate()))
        assert report.valid, report.reason


def test_distances_above_one_do_not_merge() -> None:
    assert steps_of(proved(bound(TWINS, 1))) == [["quotient"]]
    assert "reduced" not in bound(TWINS, 2).certificate()
    assert steps_of(proved(delta(TWINS, 2))) == [["quotient"]]


def test_all_pairs_are_proved_in_both_formats() -> None:
    for distance in ("bd", "lbd"):
        answer = bound(TWINS, 1, distance=distance, pairs=AllPairs(TWINS.states))
        one, two = json.dumps(answer.certificate()), b"".join(answer.compact_certificate())
        claims = [list(check_certificate(text).plain_claims()) for text in (one, two)]
        assert check_certificate(one).valid
        assert check_certificate(two).valid
        assert claims[0] == claims[1]
        assert len(claims[0]) == (15 if distance == "bd" else 30)


def test_secrets_that_are_alike_may_gain_different_amounts() -> None:
    """Guess the first twin or the second: a trace says nothing, and half of the guesses are right."""
    gains: Any = {"first": {"u": 1}, "second": {"v": 1}}
    answer = leakage(TWINS, "g", secrets=["u", "v"], gains=gains)
    assert answer.pairs[0].lower == answer.pairs[0].upper == fmpq(1, 2)
    assert "reduced" not in proved(answer)
    same: Any = {"any": {"s": 1, "t": 1}}
    assert steps_of(proved(leakage(TWINS, "g", secrets=["s", "t"], gains=same))) == [["quotient"]]
