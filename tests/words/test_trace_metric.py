"""The trace metrics: against enumeration, published values, and what has to hold of any such metric."""

from __future__ import annotations

from itertools import permutations

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.budgets.verify.ask import epsilon
from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.thresholds import below_exponential
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from bisimdist.traces.engine.combination import combined_system
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.trace.answer import TraceBound, TraceKind, TraceMetricAnswer
from bisimdist.traces.trace.ask import trace_metric, weak_anonymity
from tests.words.fully_probabilistic import randomised_responses
from tests.words.trace_reference import (
    as_hidden_markov,
    enumerated,
    fully_probabilistic,
    long_probability,
    traces,
)

KINDS = ("multiplicative", "additive")
LIMITS = Effort(nodes=300, work=30_000)
HALF, THIRD, ONE = fmpq(1, 2), fmpq(1, 3), fmpq(1)


def bound(automaton: PA, kind: str, *, length: int | None = None) -> TraceBound:
    return trace_metric(automaton, kind, length=length, limits=LIMITS).pairs[0]


def automaton(size: int, *steps: tuple[int, str, dict[int, fmpq]]) -> PA:
    transitions = tuple(Transition(source, action, tuple(row.items())) for source, action, row in steps)
    return PA(tuple(f"s{n}" for n in range(size)), transitions, ((0, 1),))


# -------------------------------------------------------------------------------------------- published


def test_randomised_responses_are_ln_3_and_one_half_apart() -> None:
    """Castiglioni, Chatzikokolakis, Palamidessi, Figure 1: exactly ln 3."""
    found = bound(randomised_responses(), "multiplicative")
    assert (found.lower, found.upper, found.exact) == (3, 3, True)
    assert found.epsilon() == ("1.0986", "1.0987")
    assert found.witness in {("tau", "tau", "yes"), ("tau", "tau", "no")}
    assert sorted(found.probabilities) == [fmpq(1, 4), fmpq(3, 4)]
    assert bound(randomised_responses(), "additive").upper == HALF


def test_a_leak_that_repeats_hasno_finite_ratio() -> None:
    answer = trace_metric(leaky_retry())
    (found,) = answer.pairs
    assert (found.lower, found.upper, found.exact) == (None, None, True)
    assert found.repeated is not None
    assert found.repeated.factor == fmpq(50, 49)
    assert found.epsilon() == ("inf", "inf")


# ----------------------------------------------------------------------------------------- by enumeration


@settings(max_examples=75)
@given(fully_probabilistic(6, cyclic=False), st.sampled_from((None, 0, 1, 2, 3)))
def test_acyclic_systems_are_exact(drawn: PA, length: int | None) -> None:
    ratio, difference = enumerated(drawn, 0, 1, len(drawn) if length is None else length)
    found = bound(drawn, "multiplicative", length=length)
    assert found.exact
    assert found.upper == ratio
    found = bound(drawn, "additive", length=length)
    assert found.exact
    assert found.upper == difference


@settings(max_examples=75)
@given(fully_probabilistic(), st.integers(0, 5))
def test_bounded_lengths_are_exact(drawn: PA, length: int) -> None:
    ratio, difference = enumerated(drawn, 0, 1, length)
    assert (found := bound(drawn, "multiplicative", length=length)).exact
    assert found.upper == ratio
    assert (found := bound(drawn, "additive", length=length)).exact
    assert found.upper == difference


@settings(max_examples=75)
@given(fully_probabilistic())
def test_brackets_hold_and_witnesses_attain_the_lower_bound(drawn: PA) -> None:
    ratio, difference = enumerated(drawn, 0, 1, 6)
    found = bound(drawn, "multiplicative")
    if found.upper is not None:
        assert ratio is not None
        assert ratio <= found.upper
    one, other = (long_probability(drawn, s, found.witness) for s in (0, 1))
    assert (one, other) == found.probabilities
    if found.lower is not None:
        assert max(one / other, other / one) == found.lower
    elif found.repeated is None:
        assert min(one, other) == 0 < max(one, other)
    else:
        rounds = [
            [
                long_probability(
                    drawn,
                    s,
                    (*found.repeated.prefix, *found.repeated.cycle * n, *found.repeated.suffix),
                )
                for s in (0, 1)
            ]
            for n in (0, 40)
        ]
        (a, b), (c, d) = rounds
        growth = max((c * b) / (a * d), (a * d) / (c * b)) if min(a, b, c, d) else None
        assert growth is None or growth > 1
    found = bound(drawn, "additive")
    assert found.lower is not None
    assert found.upper is not None
    assert difference <= found.upper
    one, other = (long_probability(drawn, s, found.witness) for s in (0, 1))
    assert abs(one - other) == found.lower


@settings(max_examples=20)
@given(fully_probabilistic(4, losing=False), st.integers(1, 5))
def test_bounded_lengths_agree_with_hidden_markov_models(drawn: PA, length: int) -> None:
    model = as_hidden_markov(drawn)
    found = bound(drawn, "multiplicative", length=length)
    assert epsilon(model, length=length, up_to=True).pairs[0].ratio == found.upper


# ----------------------------------------------------------------------------------------------- metric


@settings(max_examples=30)
@given(fully_probabilistic(4), st.sampled_from(KINDS))
def test_it_is_a_pseudometric(drawn: PA, kind: str) -> None:
    names = drawn.states
    pairs = [(s, t) for s in names for t in names]
    answer = trace_metric(drawn, kind, pairs=pairs, limits=LIMITS)
    found = {(bound.source, bound.target): bound for bound in answer.pairs}
    zero = ONE if kind == "multiplicative" else fmpq(0)
    for s in names:
        assert found[s, s].upper == zero
    for s, t in pairs:
        one, other = found[s, t], found[t, s]
        assert one.lower == other.lower or not (one.exact and other.exact)
    for s, t, u in permutations(names, 3):
        first, second, whole = found[s, t].upper, found[t, u].upper, found[s, u].lower
        if first is None or second is None:
            continue
        assert whole is not None
        assert whole <= (first * second if kind == "multiplicative" else first + second)


@settings(max_examples=50)
@given(fully_probabilistic(4))
def test_the_kernel_is_trace_equivalence(drawn: PA) -> None:
    """Traces of fewer actions than there are states decide equivalence."""
    equivalent = all(p == q for p, q in traces(drawn, 0, 1, 2 * len(drawn)).values())
    ratio, difference = bound(drawn, "multiplicative"), bound(drawn, "additive")
    assert (ratio.lower == 1) == equivalent
    assert (ratio.upper == 1) == equivalent
    assert (difference.upper == 0) == equivalent
    assert (difference.lower == 0) == equivalent


@settings(max_examples=30)
@given(fully_probabilistic(), st.sampled_from(KINDS))
def test_longer_traces_can_only_tell_more(drawn: PA, kind: str) -> None:
    unbounded = bound(drawn, kind).upper
    before: fmpq | None = fmpq(0)
    for length in range(5):
        value = bound(drawn, kind, length=length).upper
        assert value is None or (before is not None and value >= before)
        assert unbounded is None or (value is not None and value <= unbounded)
        before = value


# ------------------------------------------------------------------------------------------ infinite loops


def test_states_that_are_equivalent_but_not_bisimilar() -> None:
    """Whether the choice is made now or after the first action: no trace sees it, for ever."""
    chain = automaton(
        6,
        (0, "a", {2: ONE}),
        (1, "a", {3: HALF, 4: HALF}),
        (2, "b", {0: HALF, 5: HALF}),
        (3, "b", {1: ONE}),
        (4, "b", {5: ONE}),
        (5, "c", {5: ONE}),
    )
    assert combined_system(chain).combination is not None
    assert bound(chain, "multiplicative").upper == 1
    assert bound(chain, "additive").upper == 0


def test_a_supremum_that_no_trace_attains_is_bracketed() -> None:
    chain = automaton(2, (0, "a", {0: HALF, 1: fmpq(1, 4)}), (1, "a", {1: ONE}))
    found = bound(chain, "additive")
    assert not found.exact
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < HALF <= found.upper
    assert found.upper - found.lower < fmpq(1, 10**9)


def test_a_pump_without_a_belief_that_comes_back() -> None:
    """One side dies at rate 2/3 at best, the other at rate 9/10; beliefs converge but never recur."""
    chain = automaton(
        4,
        (0, "a", {0: fmpq(1, 2), 2: fmpq(2, 5)}),
        (2, "a", {0: fmpq(1, 10), 2: fmpq(4, 5)}),
        (1, "a", {1: fmpq(1, 3), 3: fmpq(1, 3)}),
        (3, "a", {1: fmpq(1, 2), 3: fmpq(1, 10)}),
    )
    found = bound(chain, "multiplicative")
    assert found.lower is None
    assert found.repeated is not None
    assert found.repeated.factor > 1


def test_a_trace_of_one_side_only_is_infinite() -> None:
    chain = automaton(3, (0, "a", {2: ONE}), (1, "b", {2: ONE}))
    found = bound(chain, "multiplicative")
    assert (found.lower, found.upper, found.repeated) == (None, None, None)
    assert len(found.witness) == 1
    assert bound(chain, "multiplicative", length=0).upper == 1
    assert bound(chain, "additive").upper == 1


def test_a_bracket_closes_where_beliefs_only_converge() -> None:
    chain = automaton(
        3,
        (0, "a", {0: HALF, 1: fmpq(1, 4), 2: fmpq(1, 4)}),
        (1, "a", {0: fmpq(1, 4), 1: HALF, 2: fmpq(1, 4)}),
        (2, "b", {0: THIRD, 1: fmpq(2, 3)}),
    )
    found = bound(chain, "multiplicative")
    assert found.upper is not None
    assert found.lower is not None
    assert found.upper <= found.lower * fmpq(1000001, 1000000)


# ------------------------------------------------------------------------------------------ weak anonymity


def test_weak_anonymity() -> None:
    assert weak_anonymity(randomised_responses(), "1/2").verdict == "holds"
    refused = weak_anonymity(randomised_responses(), "0.49")
    assert refused.verdict == "violated"
    assert refused.violated[0].witness[:2] == ("tau", "tau")
    assert "violated" in refused._repr_html_()
    with pytest.raises(UsageError):
        weak_anonymity(randomised_responses(), -1)


def test_sets_decide_where_single_traces_come_close_only() -> None:
    chain = automaton(2, (0, "a", {0: HALF, 1: fmpq(1, 4)}), (1, "a", {1: ONE}))
    assert weak_anonymity(chain, "1/2").verdict == "holds"  # no single trace attains the supremum
    assert weak_anonymity(chain, "499/1000").verdict == "violated"
    assert weak_anonymity(chain, "501/1000").verdict == "holds"


def test_thresholds_of_ratios_are_decided_exactly() -> None:
    assert below_exponential(fmpq(3), fmpq(10986122887, 10**10)) is True
    assert below_exponential(fmpq(3), fmpq(10986122886, 10**10)) is False
    assert below_exponential(ONE, fmpq(0)) is True
    assert below_exponential(fmpq(10**400), fmpq(900)) is False
    assert below_exponential(fmpq(10**400), fmpq(1000)) is True
    found = bound(randomised_responses(), "multiplicative")
    assert (found.at_most("1.1"), found.at_most("1.09")) == (True, False)
    with pytest.raises(UsageError):
        _ = bound(randomised_responses(), "additive").ratio


# ------------------------------------------------------------------------------------------------- limits


def test_what_is_known_when_the_time_is_over_is_sound() -> None:
    answer = trace_metric(randomised_responses(), deadline=Deadline.after(0))
    (found,) = answer.pairs
    assert found.lower is not None
    assert found.lower <= 3
    assert found.upper is None or found.upper >= 3
    (found,) = trace_metric(randomised_responses(), "additive", deadline=Deadline.after(0)).pairs
    assert found.lower is not None
    assert found.lower <= HALF
    assert found.upper is not None
    assert found.upper >= HALF


def test_questions_that_make_no_sense() -> None:
    with pytest.raises(ModelError, match="several transitions"):
        trace_metric(pin_checking())
    with pytest.raises(UsageError, match="no trace metric"):
        trace_metric(randomised_responses(), "amortised")
    with pytest.raises(UsageError, match="length"):
        trace_metric(randomised_responses(), length=-1)
    with pytest.raises(UsageError, match="no pairs"):
        trace_metric(PA(("s",), ()))
    with pytest.raises(ModelError, match="no such state"):
        trace_metric(randomised_responses(), pairs=[("sy", "nobody")])


@settings(max_examples=20)
@given(fully_probabilistic(4), st.sampled_from(KINDS))
def test_few_nodes_leave_sound_bounds(drawn: PA, kind: str) -> None:
    narrow: TraceMetricAnswer = trace_metric(drawn, kind, limits=Effort(nodes=3, work=30))
    wide = trace_metric(drawn, kind, limits=LIMITS)
    (one,), (other,) = narrow.pairs, wide.pairs
    assume(one.upper is not None)
    assert one.upper is not None
    assert other.lower is not None
    assert one.upper >= other.lower
    assert "trace metric" in narrow._repr_html_()
    assert isinstance(narrow.kind, TraceKind)
