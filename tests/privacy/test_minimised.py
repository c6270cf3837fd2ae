"""Bounds by a smaller chain hold of the one that was given."""

from __future__ import annotations

from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist import LMC, UsageError, bound, build_any_example, delta, parse_model
from bisimdist.distances.minimise.reduced import minimised_bound, minimised_delta
from bisimdist.progress import Deadline
from tests.strategies import alphas, lmcs

LOSSES = st.sampled_from(["0", "1/20", "1/5", "1/2"])


@settings(max_examples=15)
@given(lmcs(), alphas(), LOSSES)
def test_bounds_are_around_what_is_exact(chain: LMC, alpha: fmpq, loss: str) -> None:
    pairs = [(chain.states[0], chain.states[-1])]
    soon = Deadline.after  # where runs are long a gap is not met, and what is known by then is true
    exact = delta(chain, alpha, pairs=pairs, gap="1/100", deadline=soon(1)).pairs[0]
    found = minimised_delta(chain, pairs, loss, alpha=alpha, gap=fmpq(1, 100), deadline=soon(1)).pairs[0]
    assert (found.source, found.target) == pairs[0]
    assert found.lower <= exact.upper
    assert exact.lower <= found.upper
    far = minimised_bound(chain, pairs, loss, alpha=alpha).pairs[0]
    assert exact.lower <= far.upper
    if alpha == 1:
        near = bound(chain, 1, pairs=pairs).pairs[0]
        assert far.lower <= near.upper
        assert near.lower <= far.upper


def test_an_event_is_said_to_be_as_likely_as_is_known() -> None:
    chain: Any = parse_model(
        "{kind: lmc, states: {s: a, t: a, u: m, v: m, y: y, n: n}, transitions: {s: {u: 1}, t: {n: 1}, "
        "u: {y: 1}, v: {y: 0.99, n: 0.01}, y: {y: 1}, n: {n: 1}}}"
    )
    pair = minimised_delta(chain, [("s", "t"), ("v", "u")], "1/10", alpha=1).pairs[1]
    assert pair.lower == 0
    assert fmpq(1, 100) <= pair.upper <= fmpq(2, 10)
    pair = minimised_delta(chain, [("v", "t")], "1/10", alpha=1).pairs[0]
    event = pair.witness
    assert pair.lower == event.probability_from - event.probability_to
    assert {event.source, event.target} == {"v", "t"}


def test_what_is_refused() -> None:
    with pytest.raises(UsageError, match="states of Markov chains are merged"):
        minimised_bound(build_any_example("two-questions"), [("s", "t")], "0", alpha=1)
