"""The distance of formulae: the clauses, and that of mimicking formulae is the iterate of the functional."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.distances.engine.liftings import AdditiveLifting, Lifting, MultiplicativeLifting
from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.scale import Value, at_most
from bisimdist.logic.engine.formula import TOP, StateFormula, conjunction, diamond, mixture, variable
from bisimdist.logic.engine.formula_distance import FormulaDistance
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.mimicking import mimicking_formulae
from bisimdist.models.pa import PA
from bisimdist.progress import Deadline
from tests.logic.formula_reference import formulae
from tests.logic.test_formula import chain_of
from tests.logic.test_mimicking import figure_2
from tests.strategies import automata

HALF = fmpq(1, 2)
LIFTINGS: list[Lifting] = [AdditiveLifting(), AdditiveLifting(fmpq(9, 10)), MultiplicativeLifting()]


def iterate(automaton: PA, lifting: Lifting, depth: int) -> dict[tuple[int, int], Value]:
    """The functional B_V, so many times applied to 0, straight from its definition."""
    size = len(automaton)
    steps = [[step for step in automaton.transitions if step.source == s] for s in range(size)]
    actions = sorted({step.action for step in automaton.transitions})
    current: dict[tuple[int, int], Value] = {(s, t): lifting.zero for s in range(size) for t in range(size)}

    def one_way(s: int, t: int, action: str, d: Callable[[int, int], Value]) -> Value:
        worst: Value = lifting.zero
        for step in steps[s]:
            if step.action != action:
                continue
            best: Value = lifting.top
            for answer in steps[t]:
                if answer.action == action:
                    value = lifting.discounted(lifting.lift(dict(step.row), dict(answer.row), d), up=True)
                    best = value if at_most(value, best) else best
            worst = best if at_most(worst, best) else worst
        return worst

    for _ in range(depth):
        before = current

        def d(i: int, j: int, table: dict[tuple[int, int], Value] = before) -> Value:
            return table[i, j]

        current = {}
        for s in range(size):
            for t in range(size):
                value: Value = lifting.zero
                for action in actions:
                    for here, there in ((s, t), (t, s)):
                        found = one_way(here, there, action, d)
                        value = found if at_most(value, found) else value
                current[s, t] = value
    return current


@settings(max_examples=30, deadline=None)
@given(automata(4), st.integers(0, 4), st.sampled_from(LIFTINGS))
def test_the_logical_distance_is_the_iterate(automaton: PA, depth: int, lifting: Lifting) -> None:
    formulae = mimicking_formulae(automaton, depth)
    distance = FormulaDistance(lifting)
    expected = iterate(automaton, lifting, depth)
    for s, first in formulae.items():
        for t, second in formulae.items():
            assert distance.between(first, second) == expected[s, t]


@settings(max_examples=30, deadline=None)
@given(automata(4), st.integers(0, 3), st.sampled_from(LIFTINGS))
def test_it_grows_with_depth(automaton: PA, depth: int, lifting: Lifting) -> None:
    distance = FormulaDistance(lifting)
    formulae, deeper = (mimicking_formulae(automaton, k) for k in (depth, depth + 1))
    for s, t in product(formulae, repeat=2):
        assert at_most(distance.between(formulae[s], formulae[t]), distance.between(deeper[s], deeper[t]))


@settings(max_examples=30, deadline=None)
@given(st.lists(formulae(), min_size=3, max_size=3), st.sampled_from(LIFTINGS))
def test_it_is_a_pseudometric(drawn: list[StateFormula], lifting: Lifting) -> None:
    distance = FormulaDistance(lifting)
    values = {(i, j): distance.between(p, q) for i, p in enumerate(drawn) for j, q in enumerate(drawn)}
    for (i, j), value in values.items():
        assert value == values[j, i]
        assert at_most(lifting.zero, value)
        assert at_most(value, lifting.top)
        if i == j:
            assert value == lifting.zero
        for k in range(3):
            first, second = values[i, k], values[k, j]
            if first is not None and second is not None:
                total = first + second if lifting.name == "additive" else first * second
                assert at_most(value, total)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("T", "T", "0"),
        ("T", "<a>T", "1"),
        ("<a>T", "<b>T", "1"),
        ("!<a>T", "!<b>T", "1"),
        ("!<a>T", "<a>T", "1"),
        ("<a>T", "<a>(1 T)", "0"),
        ("<a>T", "<a>(1/2 T)", "1/3"),
        ("<a>T", "<a><b>T", "2/3"),
        ("!!<a>T", "<b>T", "1"),
        ("<a>(1 T)", "<a>(1/2 T)", "1/3"),
        ("<a>(1/2 <b>T + 1/2 <c>T)", "<a>(1/4 <b>T + 3/4 <c>T)", "1/6"),
        ("!<a>(1/2 <b>T + 1/2 <c>T)", "!<a>(1/4 <b>T + 3/4 <c>T)", "1/6"),
        ("<a><a>(1 T)", "<a><a>(1/2 T)", "2/9"),
        ("<a>(1 T) & <a>(1/2 T)", "<a>(1 T)", "1/3"),
        ("<a>(1 T) & <b>T", "<a>(1 T)", "1"),
    ],
)
def test_the_clauses(first: str, second: str, expected: str) -> None:
    distance = FormulaDistance(AdditiveLifting(fmpq(2, 3)))
    value = distance.between(parse_formula(first), parse_formula(second))
    assert str(value) == expected


def test_example_5_is_half_the_discount() -> None:
    formulae = mimicking_formulae(figure_2(), 4)
    for discount in (fmpq(1), fmpq(9, 10), fmpq(1, 3)):
        assert FormulaDistance(AdditiveLifting(discount)).between(formulae[0], formulae[1]) == discount / 2
    assert FormulaDistance(MultiplicativeLifting()).between(formulae[0], formulae[1]) is None


def test_irrational_discounts_are_rounded_as_asked() -> None:
    first, second = parse_formula("<a>(1 T)"), parse_formula("<a>(1/2 T)")
    lifting = MultiplicativeLifting(HALF)
    below, above = (FormulaDistance(lifting, up=up).between(first, second) for up in (False, True))
    assert below is not None
    assert above is not None
    assert below**2 < 2 < above**2
    assert above - below < fmpq(1, 10**9)


def test_depth_is_no_obstacle_and_pairs_are_met_once() -> None:
    # Half of the mass goes on each time, and a discount of 1: after 1000 steps 2^-1000 is left.
    assert FormulaDistance(AdditiveLifting()).between(chain_of(1000), chain_of(1001)) == HALF**1000
    first, second = parse_formula("<a>T"), parse_formula("<a>(1/2 T)")
    for _ in range(60):
        first, second = (
            conjunction([diamond(action, mixture([(HALF, formula), (HALF, TOP)])) for action in "bc"])
            for formula in (first, second)
        )
    assert FormulaDistance(AdditiveLifting()).between(first, second) == HALF**61


def test_variables_and_deadlines() -> None:
    distance = FormulaDistance(AdditiveLifting(), deadline=Deadline.after(0))
    with pytest.raises(UsageError, match="has variables"):
        distance.between(variable("X"), variable("X"))
    with pytest.raises(LimitError):
        distance.between(parse_formula("<a>T"), parse_formula("<b>T"))
