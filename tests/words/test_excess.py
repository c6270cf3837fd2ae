"""Pointwise and set-wise delta: two quantities, two names."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import geometric, independent_disease
from bisimdist.traces.engine.excess import pointwise_delta, set_wise_delta
from bisimdist.traces.engine.forward import probability
from tests.strategies import hmms

PAIR = ("pi", "tau")


def test_trap_pointwise_and_set_wise_delta_differ() -> None:
    """Each of two answers exceeds the budget by 1/4, both together by 1/2."""
    half = HMM.from_mappings(
        {"s": {"a": "1/2", "b": "1/2"}, "t": {"a": "1/4", "b": "1/4", "c": "1/4", "d": "1/4"}},
        {},
        {"pi": {"s": 1}, "tau": {"t": 1}},
        pairs=[PAIR],
    )
    assert pointwise_delta(half, PAIR, 1, 1) == fmpq(1, 4)
    assert set_wise_delta(half, PAIR, 1, 1) == fmpq(1, 2)


@given(model=hmms(), length=st.integers(1, 2), ratio=st.sampled_from([fmpq(1), fmpq(3, 2)]))
@settings(max_examples=20)
def test_both_are_what_enumeration_says(model: HMM, length: int, ratio: fmpq) -> None:
    words = list(product(range(len(model.observations)), repeat=length))
    sides = [[probability(model, model.distribution(name), word) for word in words] for name in PAIR]
    try:
        single = pointwise_delta(model, PAIR, ratio, length)
    except UsageError:
        assert not any(chain(*sides))
        return
    gaps = [[one - ratio * two for one, two in zip(*pair, strict=True)] for pair in (sides, sides[::-1])]
    assert single == max(fmpq(0), *chain(*gaps))
    together = set_wise_delta(model, PAIR, ratio, length)
    assert together == max(sum((gap for gap in side if gap > 0), fmpq(0)) for side in gaps)
    assert single <= together
    if len(words) <= 9:
        events = chain.from_iterable(combinations(range(len(words)), k) for k in range(len(words) + 1))
        assert together == max(sum((side[k] for k in event), fmpq(0)) for event in events for side in gaps)


@given(model=hmms(), length=st.integers(1, 3))
@settings(max_examples=30)
def test_no_delta_is_left_at_the_least_budget(model: HMM, length: int) -> None:
    try:
        ratio = epsilon(model, length=length).pairs[0].ratio
    except UsageError:
        return
    if ratio is not None:
        assert set_wise_delta(model, PAIR, ratio, length) == 0
        assert verify(model, ratio, length=length).verdict.value == "holds"


def test_senseless_questions_are_refused() -> None:
    for ratio, length in (("1/2", 1), (2, 0), (2, 2)):
        with pytest.raises(UsageError):
            pointwise_delta(geometric(), ("0", "1"), ratio, length)
    model = independent_disease()
    with pytest.raises(UsageError, match="parameters"):
        set_wise_delta(model, model.pairs[0], 2, 1)
