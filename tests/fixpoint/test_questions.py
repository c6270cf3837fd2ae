"""What the two questions about a distance take: epsilon in place of alpha; both directions in the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.distances.bound import ask as distances
from bisimdist.distances.bound import work
from bisimdist.distances.bound.ask import bd_threshold, bound
from bisimdist.distances.engine.flat_engine import NoBracketError, flat_tables
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.logarithm import alpha_below
from bisimdist.faces.shown.answer import Status
from bisimdist.models.against import side_by_side
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.privacy.compare.ask import compare
from tests.strategies import alphas, lmcs

CHAIN = random_lmc(8, 3, 3, 1)


def test_epsilon_stands_for_alpha_rounded_down() -> None:
    below = alpha_below("1/10")
    asked = bound(CHAIN, epsilon="1/10", pairs=[("s0", "s1")])
    assert asked == bound(CHAIN, below, pairs=[("s0", "s1")])
    assert asked.alpha == below
    decided = bd_threshold(CHAIN, None, "s0", "s1", 1, epsilon="1/10")
    assert (decided.alpha, decided.holds) == (below, True)
    wrong: list[dict[str, Any]] = [{}, {"alpha": 2, "epsilon": 1}]
    for arguments in wrong:
        with pytest.raises(UsageError, match="one of alpha and epsilon"):
            bound(CHAIN, **arguments)


def test_both_directions_of_an_asymmetric_distance() -> None:
    asked = [("s0", "s1"), ("s1", "s0"), ("s0", "s2")]
    there, back, other = bound(CHAIN, "11/10", distance="lbd", pairs=asked).pairs
    assert there.directions is not None
    assert back.directions == there.directions[::-1]
    compared = compare(CHAIN, "11/10", pairs=asked)
    for pair, comparison in zip((there, back, other), compared, strict=True):
        (measure,) = (m for m in comparison.measures if m.name == "lbd")
        assert pair.directions == measure.directions
        assert pair.directions is not None
        assert pair.lower == max(low for low, _ in pair.directions)
        assert pair.upper == max(high for _, high in pair.directions)
    assert bound(CHAIN, "11/10", pairs=asked).pairs[0].directions is None


@settings(max_examples=30)
@given(lmcs(4), alphas(include_one=False), st.sampled_from(["bd", "lbd"]))
def test_bisimilar_states_alone_make_a_small_question(chain: LMC, alpha: fmpq, distance: str) -> None:
    """Asked by themselves they are coupled with one another only, and that proves the same."""
    twice = side_by_side(chain, chain)
    assert isinstance(twice, LMC)
    first = twice.states[: len(chain)]
    twins = list(zip(first, twice.states[len(chain) :], strict=True))
    together = bound(twice, alpha, distance=distance, pairs=[*twins, (first[0], first[-1])]).pairs
    alone = bound(twice, alpha, distance=distance, pairs=twins)
    assert [(p.lower, p.upper) for p in alone.pairs] == [(p.lower, p.upper) for p in together[:-1]]
    assert {pair.upper for pair in alone.pairs} == {0}
    assert alone.status is Status.EXACT
    report = check_certificate(json.dumps(alone.certificate()))
    assert report.valid, report.reason
    assert check_certificate(b"".join(alone.compact_certificate())).valid


def test_bisimilar_states_need_few_pairs() -> None:
    chain = random_lmc(40, 3, 2, 1)
    twice = side_by_side(chain, chain)
    assert isinstance(twice, LMC)
    answer = bound(twice, 2, pairs=[(twice.states[0], twice.states[40])])
    assert answer.pairs[0].upper == 0
    assert int(answer.statistics["pairs"]) <= 40  # of more than a thousand


@pytest.mark.parametrize("alpha", ["1", "11/10"])
def test_tables_that_are_narrow_enough_are_made_once(alpha: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[fmpq] = []

    def noted(*about: Any, **how: Any) -> Any:
        made.append(about[4])
        return flat_tables(*about, **how)

    monkeypatch.setattr(work, "FEW", 0)
    monkeypatch.setattr(work, "flat_tables", noted)
    asked = [(CHAIN.states[0], CHAIN.states[3])]
    (pair,) = bound(CHAIN, alpha, pairs=asked, precision="1e-20").pairs
    assert 0 < pair.upper < 1
    assert pair.upper - pair.lower <= fmpq(1, 10**20)
    assert len(made) == 1
    made.clear()
    answer = bd_threshold(CHAIN, alpha, *asked[0], pair.upper)
    assert answer.holds
    assert made == [fmpq(1, 10**9), fmpq(1, 10**10)]


def test_a_bracket_outlives_upper_bounds_that_were_to_be_narrower(monkeypatch: pytest.MonkeyPatch) -> None:
    def above_only(*about: Any, **how: Any) -> Any:
        found = flat_tables(*about, **how)
        if about[4] >= fmpq(1, 10**9):
            return found
        error = NoBracketError("no bracket")
        error.tables = replace(found, lower=np.zeros_like(found.lower))
        raise error

    def none(*_: Any, **__: Any) -> Any:
        raise LimitError("nothing more")

    monkeypatch.setattr(work, "FEW", 0)
    monkeypatch.setattr(work, "flat_tables", above_only)
    monkeypatch.setattr(work, "prove_bracket", none)
    monkeypatch.setattr(distances, "prove_exactly", none)
    asked = CHAIN.states[0], CHAIN.states[3]
    theta = bound(CHAIN, "11/10", pairs=[asked], precision="1e-9").pairs[0].upper
    found = bd_threshold(CHAIN, "11/10", *asked, theta - fmpq(1, 10**11)).bound
    assert 0 < found.upper - found.lower <= fmpq(1, 10**9)
