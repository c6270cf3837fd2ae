"""The semantics of the trace logic against the definitions, and the values of the paper."""

from __future__ import annotations

from itertools import islice

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, ModelError, UsageError
from bisimdist.exact.scale import Value
from bisimdist.faces.shown.answer import Status
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula
from bisimdist.logic.engine.linear_parser import parse_probabilistic_formula as parse
from bisimdist.logic.engine.linear_semantics import (
    FormulaScale,
    TraceSemantics,
    formula_distance,
    hausdorff_distance,
)
from bisimdist.logic.traces.ask import logical_distances, satisfies_trace_formula, trace_formulae
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from bisimdist.traces.engine.equivalence import distinguishing_trace
from bisimdist.traces.equivalence.ask import trace_classes, trace_equivalence
from tests.words.fully_probabilistic import (
    all_traces,
    deferred_choice,
    loses_mass,
    probability,
    random_automata,
    randomised_responses,
)

numbers = st.fractions(0, 1).map(lambda x: fmpq(x.numerator, x.denominator))
short_words = st.lists(st.sampled_from("ab"), max_size=2).map(tuple)
formulae = st.builds(ProbabilisticFormula, numbers, st.builds(LinearFormula, short_words))
scales = st.sampled_from(FormulaScale)


def by_definition(
    automaton: PA, state: int, depth: int, *, ends: bool | None = None
) -> list[ProbabilisticFormula]:
    found = []
    for word in all_traces(automaton, depth, ends=loses_mass(automaton, state) if ends is None else ends):
        p = probability(automaton, state, word)
        if p != 0:
            found.append(ProbabilisticFormula(p, LinearFormula(word)))
    return found


def texts(automaton: PA, state: str) -> list[str]:
    return [str(formula) for formula in trace_formulae(automaton, state).formulae]


def test_paper_randomised_responses() -> None:
    """Castiglioni, Chatzikokolakis, Palamidessi, FACS 2018, Fig. 1 and Example 2."""
    automaton = randomised_responses()
    common = ["1 T", "1 <tau>T", "1 <tau><tau>T"]
    assert texts(automaton, "sy") == [*common, "1/4 <tau><tau><no>T", "3/4 <tau><tau><yes>T"]
    assert texts(automaton, "sn") == [*common, "3/4 <tau><tau><no>T", "1/4 <tau><tau><yes>T"]
    answer = trace_formulae(automaton, "sy")
    assert (answer.complete, answer.count, answer.longest, answer.status) == (True, 5, 3, Status.EXACT)
    for scale, value in (("multiplicative", 3), ("additive", fmpq(1, 2))):
        found = logical_distances(automaton, ("sy", "sn"), 3, scale)
        assert (found.strict, found.total_variation) == (value, value)
        assert found.witness == ("tau", "tau", "no")


@given(numbers)
def test_paper_real_valued_semantics(r: fmpq) -> None:
    automaton = randomised_responses()
    formula = ProbabilisticFormula(r, LinearFormula(("tau", "tau", "yes")))
    assert satisfies_trace_formula(automaton, "sy", formula).value == 1 - abs(r - fmpq(3, 4))
    assert satisfies_trace_formula(automaton, "sn", formula).value == 1 - abs(r - fmpq(1, 4))


@settings(max_examples=50, deadline=None)
@given(random_automata(5), st.integers(0, 4))
def test_formulae_are_those_of_the_definition(automaton: PA, depth: int) -> None:
    wanted = by_definition(automaton, 0, depth)
    answer = trace_formulae(automaton, "s0", depth)
    assert list(answer.formulae) == wanted
    assert answer.complete
    assert answer.count == len(wanted)
    for limit in range(len(wanted)):
        part = trace_formulae(automaton, "s0", depth, limit)
        assert list(part.formulae) == wanted[:limit]
        assert part.following == wanted[limit]
        assert part.count == len(wanted)
        assert not part.complete
    if answer.longest is not None:
        assert (answer.longest <= depth) == (len(by_definition(automaton, 0, depth + 1)) == len(wanted))


@settings(max_examples=50, deadline=None)
@given(random_automata(5), st.lists(st.sampled_from("ab"), max_size=4).map(tuple), numbers, st.booleans())
def test_satisfaction_is_that_of_the_definition(
    automaton: PA, word: tuple[str, ...], r: fmpq, exactly: bool
) -> None:
    p = probability(automaton, 0, word)
    r = p if exactly else r
    formula = ProbabilisticFormula(r, LinearFormula(word))
    answer = satisfies_trace_formula(automaton, "s0", str(formula))
    assert answer.formula == formula
    assert answer.probability == p
    assert answer.satisfied == (p == r and p != 0)
    known = by_definition(automaton, 0, len(word))
    nearest = min((_finite(formula_distance(formula, other)) for other in known), default=fmpq(1))
    assert answer.value == 1 - nearest
    assert answer.lenient_value == 1 - abs(r - p)
    plain = satisfies_trace_formula(automaton, "s0", LinearFormula(word))
    assert plain.satisfied == (p != 0)
    certain = satisfies_trace_formula(automaton, "s0", ProbabilisticFormula(fmpq(1), LinearFormula(word)))
    assert plain.value == certain.value == plain.lenient_value == p


def _finite(value: Value) -> fmpq:
    assert value is not None
    return value


def hausdorff_by_definition(
    one: list[ProbabilisticFormula], two: list[ProbabilisticFormula], scale: FormulaScale
) -> Value:
    def order(value: Value) -> tuple[bool, fmpq]:
        return (True, fmpq(0)) if value is None else (False, value)

    farthest: Value = scale.least
    for mine, other in ((one, two), (two, one)):
        for x in mine:
            near = min((formula_distance(x, y, scale) for y in other), key=order, default=scale.greatest)
            farthest = max(farthest, near, key=order)
    return farthest


@given(st.lists(formulae, max_size=5), st.lists(formulae, max_size=5), scales)
def test_hausdorff_distance(
    one: list[ProbabilisticFormula], two: list[ProbabilisticFormula], scale: FormulaScale
) -> None:
    assert hausdorff_distance(one, two, scale) == hausdorff_by_definition(one, two, scale)


@settings(max_examples=50, deadline=None)
@given(random_automata(5), st.integers(0, 3), scales)
def test_distances_are_liftings(automaton: PA, depth: int, scale: FormulaScale) -> None:
    ends = loses_mass(automaton, 0, 1)
    one, two = (by_definition(automaton, s, depth, ends=ends) for s in (0, 1))
    found = logical_distances(automaton, ("s0", "s1"), depth, scale)
    assert found.strict == hausdorff_distance(one, two, scale)
    differences = [
        scale.between(probability(automaton, 0, word), probability(automaton, 1, word))
        for word in all_traces(automaton, depth, ends=ends)
    ]
    if None in differences:
        assert found.total_variation is None
    else:
        assert found.total_variation == max(_finite(x) for x in differences)
    if scale is FormulaScale.MULTIPLICATIVE:
        # A trace of probability 0 on one side only is infinitely far either way: the two notions agree.
        assert found.strict == found.total_variation
    elif found.strict != found.total_variation:
        assert found.strict == 1


@settings(max_examples=30, deadline=None)
@given(random_automata(4), st.lists(formulae, min_size=1, max_size=6))
def test_values_differ_by_no_more_than_the_distance(automaton: PA, some: list[ProbabilisticFormula]) -> None:
    """The distance is the supremum of the differences of values, attained at a formula of one of them."""
    depth = 3
    found = logical_distances(automaton, ("s0", "s1"), depth, ends="hidden")
    semantics = TraceSemantics(automaton, (0, 1))
    for lenient, distance in ((False, found.strict), (True, found.total_variation)):

        def gap(formula: ProbabilisticFormula, lenient: bool = lenient) -> fmpq:
            return abs(
                semantics.value(0, formula, lenient=lenient) - semantics.value(1, formula, lenient=lenient)
            )

        assert all(gap(formula) <= _finite(distance) for formula in some)
        # With those of probability 0 where they count.
        known = [
            ProbabilisticFormula(p, LinearFormula(word))
            for word in all_traces(automaton, depth)
            for p in {probability(automaton, s, word) for s in (0, 1)}
        ]
        assert max(gap(formula) for formula in known) == distance


def leaking(chance: fmpq) -> PA:
    """Return s, which may do b after a with a small chance, and t, which may not."""
    steps = (
        Transition(0, "a", ((2, chance), (3, 1 - chance))),
        Transition(1, "a", ((3, fmpq(1)),)),
        Transition(2, "b", ((3, fmpq(1)),)),
    )
    return PA(("s", "t", "u", "end"), steps, ((0, 1),))


def test_the_hausdorff_distance_is_not_the_total_variation() -> None:
    """L(s) has 1/100 <a><b>T, L(t) has no formula with that linear part, not even one of probability 0."""
    found = logical_distances(leaking(fmpq(1, 100)), ("s", "t"), 2)
    assert (found.strict, found.total_variation) == (1, fmpq(1, 100))
    answer = satisfies_trace_formula(leaking(fmpq(1, 100)), "t", "0 <a><b>T")
    assert (answer.satisfied, answer.value, answer.lenient_value) == (False, 0, 1)


def test_information_states_merge() -> None:
    """A fair coin with two faces: 2^k traces of length k, two information states at most."""
    half = fmpq(1, 2)
    steps = tuple(Transition(s, "ab"[s], ((0, half), (1, half))) for s in range(2))
    automaton = PA(("s", "t"), steps)
    semantics = TraceSemantics(automaton, (0,))
    assert semantics.count(0, 200, most=0) is None
    assert semantics.count(0, 200) == 2**200
    assert len(list(islice(semantics.formulae(0), 5000))) == 5000
    assert len(semantics._states) == 2
    assert semantics.longest(0) is None
    answer = trace_formulae(automaton, "s", 60, 10)
    assert answer.count == 2**60
    assert answer.following is not None
    assert "L(s)" in answer._repr_html_()


def test_formula_distance_on_both_scales() -> None:
    one, two, other = parse("3/4 <a>T"), parse("1/4 <a>T"), parse("3/4 <b>T")
    assert formula_distance(one, two, "additive") == fmpq(1, 2)
    assert formula_distance(one, two, "multiplicative") == 3
    assert formula_distance(one, one, "multiplicative") == 1
    assert formula_distance(one, other, "additive") == 1
    assert formula_distance(one, other, "multiplicative") is None
    assert formula_distance(parse("0 T"), two, "multiplicative") is None
    assert formula_distance(parse("0 T"), parse("0 T"), "multiplicative") == 1


@settings(max_examples=30, deadline=None)
@given(random_automata(4))
def test_distance_zero_is_trace_equivalence(automaton: PA) -> None:
    found = logical_distances(automaton, ("s0", "s1"), len(automaton))
    equivalent = distinguishing_trace(automaton, 0, 1) is None
    assert (found.total_variation == 0) == (found.strict == 0) == equivalent


def test_answers_of_the_facade() -> None:
    automaton = deferred_choice()
    answer = trace_equivalence(automaton)
    assert answer.equivalent is True
    assert answer.pairs[0].trace is None
    assert "yes" in answer._repr_html_()
    assert trace_classes(automaton)[0] == ("s", "t")
    answer = trace_equivalence(automaton, [("s", "u"), ("s", "s")])
    assert answer.equivalent is False
    assert answer.pairs[0].trace == ("a",)
    assert answer.pairs[0].probabilities == (1, 0)
    assert answer.pairs[0].least
    assert answer.pairs[1].equivalent is True
    assert "<td>no</td><td>&lt;a&gt;T</td><td>1</td><td>0</td>" in answer._repr_html_()
    assert "does not satisfy" in satisfies_trace_formula(automaton, "s", "<b>T")._repr_html_()


def test_a_chain_shows_its_labels() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"t": 1}, "t": {"t": 1}})
    assert [str(f) for f in trace_formulae(chain, "s", 2).formulae] == ["1 T", "1 <a>T", "1 <a><b>T"]
    assert trace_equivalence(chain, [("s", "t")]).pairs[0].trace == ("a",)


def test_limits_and_bad_input() -> None:
    automaton = randomised_responses()
    late = Deadline.after(0)
    answer = trace_formulae(automaton, "sy", deadline=late)
    assert answer.status is Status.LIMIT
    assert not answer.complete
    undecided = trace_equivalence(automaton, deadline=late)
    assert (undecided.status, undecided.equivalent) == (Status.LIMIT, None)
    with pytest.raises(UsageError, match="nothing was decided"):
        undecided.certificate()
    with pytest.raises(LimitError):
        logical_distances(automaton, ("sy", "sn"), 3, deadline=late)
    with pytest.raises(UsageError, match="depth"):
        trace_formulae(automaton, "sy", -1)
    with pytest.raises(UsageError, match="limit"):
        trace_formulae(automaton, "sy", 1, -1)
    with pytest.raises(UsageError, match="no scale"):
        logical_distances(automaton, ("sy", "sn"), 1, "other")
    with pytest.raises(ModelError, match="no such state"):
        trace_formulae(automaton, "x")
    with pytest.raises(UsageError, match="no pairs"):
        trace_equivalence(PA(("s",), ()))
    with pytest.raises(UsageError, match="was not asked about"):
        TraceSemantics(automaton, (0,)).probability(1, ())
