"""What conversions keep of the distances, and the case studies of the generalised metrics at full size."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.generalised.ask import generalised_metric
from bisimdist.automata.metric.ask import metric
from bisimdist.distances.bound.ask import bound
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.conversions import hmm_as_lmc, lmc_as_hmm
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition, action_labelled_lmc, chain_as_automaton
from bisimdist.traces.trace.ask import trace_metric
from tests.strategies import lmcs


def upper(model: PA | LMC, kind: str, discount: str = "1") -> fmpq | None:
    (pair,) = generalised_metric(model, kind, discount=discount).pairs
    assert pair.exact
    return pair.upper


def largest_trace_ratio(model: PA | LMC) -> fmpq | None:
    (pair,) = trace_metric(model).pairs
    assert pair.exact
    return pair.upper


def paired(chain: LMC) -> LMC:
    return LMC(chain.states, chain.labels, chain.rows, ((0, len(chain) - 1),))


@settings(max_examples=20)
@given(lmcs(5))
def test_the_additive_metric_of_a_chain_as_automaton_is_bd(chain: LMC) -> None:
    (pair,) = bound(paired(chain), "1").pairs
    assert upper(chain_as_automaton(paired(chain)), "additive") == pair.upper


@st.composite
def losing(draw: st.DrawFn) -> PA:
    """Draw an automaton without cycles whose transitions may halt."""
    size = draw(st.integers(2, 5))
    steps = []
    for source in range(size - 1):
        if draw(st.integers(0, 4)) == 0:
            continue
        parts = draw(st.lists(st.integers(0, 2), min_size=size, max_size=size))
        total = sum(parts[source + 1 :]) + draw(st.sampled_from([0, 0, 1]))
        row = tuple((t, fmpq(p, total)) for t, p in enumerate(parts) if p and t > source)
        steps.append(Transition(source, draw(st.sampled_from("aab")), row))
    return PA(tuple(f"s{index}" for index in range(size)), tuple(steps), ((0, 1),))


@settings(max_examples=30)
@given(losing())
def test_a_chain_keeps_the_additive_metric_and_may_raise_the_multiplicative_one(automaton: PA) -> None:
    chain = action_labelled_lmc(automaton)
    for discount in ("1", "1/2"):
        assert upper(chain, "additive", discount) == upper(automaton, "additive", discount)
    of_chain, of_automaton = upper(chain, "multiplicative"), upper(automaton, "multiplicative")
    assert of_chain is None or (of_automaton is not None and of_automaton <= of_chain)
    if all(sum((p for _, p in step.row), fmpq(0)) == 1 for step in automaton.transitions):
        assert of_chain == of_automaton


def test_the_multiplicative_metric_of_a_chain_sees_who_halts() -> None:
    half, one = fmpq(1, 2), fmpq(1)
    steps = (Transition(0, "a", ((2, one),)), Transition(1, "a", ((2, half),)))
    automaton = PA(("s", "t", "u"), steps, ((0, 1),))
    assert upper(automaton, "multiplicative") == 2
    assert upper(action_labelled_lmc(automaton), "multiplicative") is None


@settings(max_examples=30)
@given(lmcs(4, cyclic=False))
def test_ratios_survive_the_way_through_a_hidden_markov_model(chain: LMC) -> None:
    there_and_back = hmm_as_lmc(lmc_as_hmm(paired(chain)))
    assert largest_trace_ratio(there_and_back) == largest_trace_ratio(paired(chain))


@pytest.mark.parametrize(("changes", "power"), [("none", 0), ("first", 1), ("second", 1), ("both", 2)])
def test_counting_queries_of_fifty_have_the_distances_of_example_6(changes: str, power: int) -> None:
    model = build_any_example(f"counting-queries,n=50,ratio=3/2,changes={changes}")
    assert isinstance(model, PA)
    expected = fmpq(3, 2) ** power
    assert upper(model, "multiplicative") == largest_trace_ratio(model) == expected
    for kind in ("accumulative", "amortised"):
        assert [pair.ratio for pair in metric(model, kind).pairs] == [expected]


def test_randomised_response_is_far_apart_step_by_step_and_not_as_a_whole() -> None:
    model = build_any_example("randomised-response-pa")
    assert isinstance(model, PA)
    assert largest_trace_ratio(model) == 3
    assert upper(model, "multiplicative") is None


@pytest.mark.parametrize("discount", ["1", "1/2", "1/3"])
def test_the_mimicking_example_is_at_half_the_discount(discount: str) -> None:
    model = build_any_example("mimicking")
    assert isinstance(model, PA)
    assert upper(model, "additive", discount) == to_fmpq(discount) / 2
