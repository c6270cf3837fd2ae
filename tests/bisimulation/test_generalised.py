"""Generalised metrics: against their definition, against the other distances, and their laws."""

from __future__ import annotations

import json
import math
from itertools import product

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.strong import bisimilarity_classes, bisimilarity_quotient
from bisimdist.automata.generalised.ask import (
    GeneralisedAnswer,
    GeneralisedBound,
    GeneralisedKind,
    generalised_metric,
)
from bisimdist.automata.metric.ask import metric
from bisimdist.checker import check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.distances.engine.liftings import AdditiveLifting, MultiplicativeLifting
from bisimdist.errors import ModelError, UsageError
from bisimdist.exact.scale import Value, at_most
from bisimdist.faces.shown.answer import Status
from bisimdist.models.library.counting_queries import counting_queries
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from tests.fixpoint.kleene import kleene
from tests.reference.generalised_kleene import iterate
from tests.strategies import automata, lmcs, similar_automata

KINDS = ("additive", "multiplicative")


def number(value: Value) -> float:
    return math.inf if value is None else int(value.p) / int(value.q)


def everything(
    automaton: PA, kind: str, discount: str = "1", precision: str | None = None
) -> GeneralisedAnswer:
    names = automaton.states
    pairs = [(s, t) for s in names for t in names]
    return generalised_metric(automaton, kind, discount=discount, pairs=pairs, precision=precision)


def automaton_of(*steps: tuple[int, str, dict[int, str]], states: int = 3) -> PA:
    rows = [(s, a, tuple((t, rational(p)) for t, p in row.items())) for s, a, row in steps]
    return PA(tuple("stuvwxyz"[:states]), tuple(Transition(s, a, row) for s, a, row in rows), ((0, 1),))


def rational(text: str) -> fmpq:
    above, _, below = text.partition("/")
    return fmpq(int(above), int(below or 1))


def exact(automaton: PA, kind: str, **options: str) -> Value:
    pair = generalised_metric(automaton, kind, **options).pairs[0]  # type: ignore[arg-type]
    assert pair.exact
    return pair.upper


# ----------------------------------------------------------------------------------------- by definition


@settings(max_examples=25, deadline=None)
@given(automata(4), st.sampled_from(KINDS), st.sampled_from(("1", "1/2")), st.integers(1, 3))
def test_the_iterates_are_those_of_the_definition(
    automaton: PA, kind: str, discount: str, rounds: int
) -> None:
    lifting = (AdditiveLifting if kind == "additive" else MultiplicativeLifting)(rational(discount))
    merged, classes = bisimilarity_quotient(automaton)
    pairs = [(s, t) for s in range(len(merged)) for t in range(s)]
    arena = Arena.of(merged, lifting, pairs)
    distance = arena.distance(kleene(arena, rounds))
    wanted = iterate(automaton, rounds, additive=kind == "additive", discount=number(rational(discount)))
    for s, t in product(range(len(automaton)), repeat=2):
        if classes[s] == classes[t]:
            assert wanted[s][t] == pytest.approx(number(lifting.zero), abs=1e-7)
        else:
            assert number(distance(classes[s], classes[t])) == pytest.approx(wanted[s][t], rel=1e-6, abs=1e-7)


@settings(max_examples=25, deadline=None)
@given(automata(4), st.sampled_from(KINDS), st.sampled_from(("1", "1/2")))
def test_iterates_stay_below_and_come_close(automaton: PA, kind: str, discount: str) -> None:
    answer = everything(automaton, kind, discount)
    wanted = iterate(automaton, 12, additive=kind == "additive", discount=number(rational(discount)))
    size = len(automaton)
    for k, pair in enumerate(answer.pairs):
        below = wanted[k // size][k % size]
        assert below <= number(pair.upper) * (1 + 1e-7) + 1e-9
        if discount == "1/2":  # what is missing after k rounds is at most 2^-k of what is missing at first
            gap = (
                number(pair.upper) - below
                if kind == "additive"
                else math.log(number(pair.upper) / below)
                if below < math.inf
                else 0.0
            )
            assert gap <= 0.05


# ------------------------------------------------------------------------------------------------- laws


@settings(max_examples=30, deadline=None)
@given(automata(4), st.sampled_from(KINDS))
def test_it_is_a_pseudometric_whose_kernel_is_bisimilarity(automaton: PA, kind: str) -> None:
    answer = everything(automaton, kind)
    size, zero = len(automaton), fmpq(0) if kind == "additive" else fmpq(1)
    classes = bisimilarity_classes(automaton)
    low = [[answer.pairs[s * size + t].lower for t in range(size)] for s in range(size)]
    high = [[answer.pairs[s * size + t].upper for t in range(size)] for s in range(size)]
    for s, t in product(range(size), repeat=2):
        assert (high[s][t] == zero) == (classes[s] == classes[t]) == (low[s][t] == zero)
        assert (low[s][t], high[s][t]) == (low[t][s], high[t][s])
        for u in range(size):
            first, second = high[s][u], high[u][t]
            if first is not None and second is not None:
                through = first + second if kind == "additive" else first * second
                assert at_most(low[s][t], through)


@settings(max_examples=20, deadline=None)
@given(automata(5))
def test_additive_distances_are_exact_and_grow_with_the_discount(automaton: PA) -> None:
    found = [everything(automaton, "additive", discount) for discount in ("1/2", "9/10", "1")]
    assert [answer.status for answer in found] == [Status.EXACT] * 3
    for small, middle, large in zip(*(answer.pairs for answer in found), strict=True):
        assert at_most(small.upper, middle.upper)
        assert at_most(middle.upper, large.upper)


@settings(max_examples=20, deadline=None)
@given(lmcs(5))
def test_without_discount_the_additive_distance_of_a_chain_is_bd_at_one(chain: LMC) -> None:
    pairs = [(s, t) for s in chain.states for t in chain.states if s < t]
    ours = generalised_metric(chain, "additive", pairs=pairs)
    theirs = bound(chain, 1, pairs=pairs)
    assert [pair.upper for pair in ours.pairs] == [pair.upper for pair in theirs.pairs]


@settings(max_examples=30, deadline=None)
@given(lmcs(4), st.sampled_from(("1/2", "9/10")))
def test_the_discount_is_a_chain_that_gives_up(chain: LMC, discount: str) -> None:
    factor = rational(discount)
    sink = len(chain)
    rows = tuple((*((t, factor * p) for t, p in row), (sink, 1 - factor)) for row in chain.rows)
    leaking = LMC((*chain.states, "sink"), (*chain.labels, "sink"), (*rows, ((sink, fmpq(1)),)))
    pairs = [(s, t) for s in chain.states for t in chain.states if s < t]
    ours = generalised_metric(chain, "additive", discount=discount, pairs=pairs)
    theirs = bound(leaking, 1, pairs=pairs)
    assert [pair.upper for pair in ours.pairs] == [pair.upper for pair in theirs.pairs]


@settings(max_examples=20, deadline=None)
@given(similar_automata(3))
def test_the_multiplicative_distance_is_at_most_the_accumulative_one(automaton: PA) -> None:
    ours = generalised_metric(automaton, "multiplicative").pairs[0]
    theirs = metric(automaton, "accumulative").pairs[0]
    assert at_most(ours.lower, theirs.upper)
    assert not ours.exact or at_most(ours.upper, theirs.upper)


@settings(max_examples=25, deadline=None)
@given(automata(4))
def test_ratios_are_bracketed_or_exact_or_unbounded(automaton: PA) -> None:
    answer = everything(automaton, "multiplicative", precision="1/1000")
    for pair in answer.pairs:
        assert pair.lower is None or pair.lower >= 1
        if pair.lower is not None and pair.upper is not None:
            assert pair.upper <= pair.lower * fmpq(1001, 1000)


# --------------------------------------------------------------------------------------- known distances


def test_randomised_response() -> None:
    assert exact(randomised_response(), "multiplicative") == 3  # type: ignore[arg-type]
    assert exact(randomised_response(), "additive") == fmpq(1, 2)  # type: ignore[arg-type]


@pytest.mark.parametrize(("changes", "ratio"), [("none", 1), ("first", 2), ("second", 2), ("both", 4)])
def test_two_counting_queries_in_sequence(changes: str, ratio: int) -> None:
    assert exact(counting_queries(n=12, changes=changes), "multiplicative") == ratio


def test_pin_checking_costs_add_up_for_ever_by_ratio_and_not_by_difference() -> None:
    assert exact(pin_checking(), "multiplicative") is None
    assert exact(pin_checking(), "additive") == fmpq(1, 3)


def test_a_ratio_that_doubles_on_every_round_is_infinite() -> None:
    assert exact(automaton_of((0, "a", {0: "1/2"}), (1, "a", {1: "1/4"}), states=2), "multiplicative") is None


def test_a_ratio_that_grows_by_one_on_every_round_is_infinite() -> None:
    steps = (0, "a", {0: "1/2", 1: "1/2"}), (1, "a", {0: "1/2"})
    assert exact(automaton_of(*steps, states=2), "multiplicative") is None


def test_growth_is_found_beside_answers_that_are_infinitely_far_at_once() -> None:
    steps: tuple[tuple[int, str, dict[int, str]], ...] = (
        (0, "a", {1: "1/4", 2: "1/2"}),
        (1, "a", {1: "1"}),
        (1, "a", {0: "1/2", 2: "1/3"}),
        (2, "b", {}),
    )
    assert exact(automaton_of(*steps), "multiplicative") is None


def test_infinite_pairs_may_make_others_infinite() -> None:
    # s and t never stop doubling; v and w lead to them
    steps = (
        (0, "a", {0: "1/2"}),
        (1, "a", {1: "1/4"}),
        (2, "b", {0: "1"}),
        (3, "b", {1: "1"}),
    )
    automaton = automaton_of(*steps, states=4)
    assert generalised_metric(automaton, "multiplicative", pairs=[("u", "v")]).pairs[0].lower is None


def test_a_finite_ratio_on_a_cycle_is_exact() -> None:
    steps = (0, "a", {0: "1/3", 1: "1/3"}), (1, "a", {1: "1/2"}), (2, "a", {0: "1"})
    assert exact(automaton_of(*steps), "multiplicative") == 2


def test_guesses_beyond_doubles_are_no_error() -> None:
    much, little = fmpq(999983, 1999968), fmpq(1, 999984)
    steps = (
        Transition(0, "b", ((0, fmpq(1)),)),
        Transition(1, "a", ((0, fmpq(1, 3)), (2, fmpq(2, 3)))),
        Transition(2, "a", ((0, much), (1, much), (2, little))),
    )
    answer = generalised_metric(PA(("s", "t", "u"), steps), "multiplicative", pairs=[("t", "u")])
    (pair,) = answer.pairs
    assert pair.upper is not None
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_an_irrational_ratio_is_bracketed() -> None:
    steps = (0, "a", {0: "1/2", 1: "1/2"}), (1, "a", {1: "1/2", 2: "1/2"}), (2, "a", {0: "2/3"})
    answer = generalised_metric(automaton_of(*steps), "multiplicative")
    pair = answer.pairs[0]
    assert answer.status is Status.LIMIT
    assert pair.lower is not None and pair.upper is not None
    assert pair.lower < pair.upper < pair.lower * (1 + fmpq(1, 10**9))
    wide = generalised_metric(automaton_of(*steps), "multiplicative", precision="1/100")
    assert wide.status is Status.BRACKET
    low, high = wide.pairs[0].lower, wide.pairs[0].upper
    assert low is not None and high is not None
    assert low < pair.upper and pair.lower < high <= low * fmpq(101, 100)
    assert max(low.q, high.q) < 10**7


def test_the_challenger_does_not_run_in_circles() -> None:
    # both challenges of (s, t) are worth the same; one of them leads back to it for ever
    steps = (
        (0, "a", {0: "1"}),
        (0, "b", {2: "1"}),
        (1, "a", {1: "1"}),
        (1, "b", {3: "1"}),
        (2, "a", {2: "1/2"}),
        (3, "a", {2: "1/4"}),
    )
    answer = generalised_metric(automaton_of(*steps, states=4), "additive")
    assert answer.status is Status.EXACT
    assert answer.pairs[0].upper == fmpq(1, 4)
    wide = generalised_metric(automaton_of(*steps, states=4), "additive", precision="1/100")
    assert wide.status in (Status.BRACKET, Status.EXACT)


def test_answers_that_may_be_chosen_lower_the_distance() -> None:
    steps = [(0, "a", {2: "1/2"}), (1, "a", {2: "1/4"}), (2, "a", {2: "1"})]
    few = exact(automaton_of(*steps), "additive")
    more = exact(automaton_of(*steps, (1, "a", {2: "3/4"})), "additive")
    assert (few, more) == (fmpq(1, 4), fmpq(1, 4))  # the new transition is a challenge as well
    both = exact(automaton_of(*steps, (1, "a", {2: "1/2"})), "additive")
    assert both == fmpq(1, 4)


# ------------------------------------------------------------------------------------------- the question


def test_questions_that_make_no_sense_are_refused() -> None:
    pin = pin_checking()
    with pytest.raises(UsageError, match="no metric 'other'"):
        generalised_metric(pin, "other")
    with pytest.raises(UsageError, match="the discount is"):
        generalised_metric(pin, "additive", discount=0)
    with pytest.raises(UsageError, match="precision"):
        generalised_metric(pin, "additive", precision=0)
    with pytest.raises(UsageError, match="no pairs of its own"):
        generalised_metric(pin, "additive", pairs=[])
    with pytest.raises(ModelError, match="no such state"):
        generalised_metric(pin, "additive", pairs=[("s1", "x")])
    with pytest.raises(UsageError, match="no logarithm"):
        generalised_metric(pin, "additive").pairs[0].epsilon()


def test_a_deadline_ends_it_with_bounds() -> None:
    answer = generalised_metric(pin_checking(), "additive", deadline=Deadline.after(0))
    assert answer.status is Status.LIMIT
    assert (answer.pairs[0].lower, answer.pairs[0].upper) == (0, 1)
    ratio = generalised_metric(pin_checking(), "multiplicative", deadline=Deadline.after(0)).pairs[0]
    assert (ratio.lower, ratio.upper) == (1, None)


def test_a_page_shows_the_bounds() -> None:
    page = generalised_metric(randomised_response(), "multiplicative", discount="1/2")._repr_html_()
    assert "multiplicative bisimilarity metric, discount 1/2" in page
    assert "<td>inf</td>" in generalised_metric(pin_checking(), "multiplicative")._repr_html_()
    assert "<td>1/3</td>" in generalised_metric(pin_checking(), "additive")._repr_html_()


def test_bounds_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(UsageError, match="expected"):
        GeneralisedBound(
            source="s", target="t", kind=GeneralisedKind.MULTIPLICATIVE, lower=None, upper=fmpq(2)
        )


def test_two_counting_queries_with_fifty_answers() -> None:
    assert exact(counting_queries(n=50), "multiplicative") == 4


@settings(max_examples=15, deadline=None)
@given(automata(4, nondeterministic=False))
def test_fully_probabilistic_automata_too(automaton: PA) -> None:
    assume(automaton.transitions)
    answer = everything(automaton, "additive")
    assert answer.status is Status.EXACT
