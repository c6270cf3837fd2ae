"""The model checker against the definition."""

from __future__ import annotations

import pytest
import z3
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import LimitError, UsageError
from bisimdist.logic.engine.formula import StateFormula, enabled, negation, variable
from bisimdist.logic.engine.formula_parser import parse_formula, parse_system
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.logic.engine.splitting import bits, splits, splitting
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from tests.logic.formula_reference import formulae, holds, row_splits
from tests.strategies import automata, rows, weights


@given(automata(), formulae())
def test_states_are_those_of_the_definition(automaton: PA, formula: StateFormula) -> None:
    found = ModelChecker(automaton).states(formula)
    assert list(bits(found)) == [s for s in range(len(automaton)) if holds(automaton, s, formula)]


@st.composite
def questions(draw: st.DrawFn) -> tuple[Row, list[tuple[fmpq, int]]]:
    row = draw(rows(range(6), max_successors=6))
    shares = draw(weights(draw(st.integers(1, 5))))
    return row, [(share, draw(st.integers(1, 63))) for share in shares]


def program_feasible(row: Row, parts: list[tuple[fmpq, int]]) -> bool:
    """The linear program of the definition."""
    solver = z3.Solver()
    flow = {
        (i, s): z3.Real(f"f_{i}_{s}")
        for i, (_, members) in enumerate(parts)
        for s, _ in row
        if members >> s & 1
    }
    solver.add(*(value >= 0 for value in flow.values()))
    for i, (weight, _) in enumerate(parts):
        solver.add(z3.Sum([v for (j, _), v in flow.items() if j == i]) == z3.Q(int(weight.p), int(weight.q)))
    for s, p in row:
        solver.add(z3.Sum([v for (_, u), v in flow.items() if u == s]) == z3.Q(int(p.p), int(p.q)))
    return bool(solver.check() == z3.sat)


@settings(max_examples=30, deadline=None)
@given(questions())
def test_splitting_is_the_linear_program(question: tuple[Row, list[tuple[fmpq, int]]]) -> None:
    row, parts = question
    expected = program_feasible(row, parts)
    assert splits(row, parts) == expected
    assert row_splits(row, [(weight, set(bits(members))) for weight, members in parts]) == expected


@settings(max_examples=200)
@given(questions())
def test_splittings_split(question: tuple[Row, list[tuple[fmpq, int]]]) -> None:
    row, parts = question
    found = splitting(row, parts)
    assert (found is not None) == splits(row, parts)
    assert splits(row, parts) == row_splits(row, [(w, set(bits(members))) for w, members in parts])
    if found is None:
        return
    for (weight, members), masses in zip(parts, found, strict=True):
        assert sum(masses.values(), fmpq(0)) == weight
        assert all(mass > 0 and members >> state & 1 for state, mass in masses.items())
    for state, p in row:
        assert sum((masses.get(state, fmpq(0)) for masses in found), fmpq(0)) == p


@given(automata(), formulae())
def test_witnesses_prove(automaton: PA, formula: StateFormula) -> None:
    checker = ModelChecker(automaton)
    positive = formula if str(formula).startswith("<") and " & " not in str(formula) else enabled("a")
    for state in range(len(automaton)):
        found = checker.witness(state, positive)
        assert (found is not None) == checker.satisfies(state, positive)
        if found is None:
            continue
        assert found.transition.source == state
        for weight, part, masses in found.parts:
            assert sum(masses.values(), fmpq(0)) == weight
            assert all(holds(automaton, successor, part) for successor in masses)
    with pytest.raises(UsageError, match="only a formula <a>"):
        checker.witness(0, negation(enabled("a")))


def test_missing_mass() -> None:
    half = fmpq(1, 2)
    steps = (Transition(0, "a", ((1, half),)), Transition(1, "a", ((2, fmpq(1)),)), Transition(2, "a", ()))
    automaton = PA(("s", "t", "u"), steps)

    def states(text: str) -> tuple[int, ...]:
        return tuple(bits(ModelChecker(automaton).states(parse_formula(text))))

    assert states("<a>T") == (0, 1, 2)
    assert states("<a>(1 T)") == (1,)
    assert states("<a>(1/2 T)") == (0,)
    assert states("<a>(1/4 T + 1/4 <a>(1 T))") == (0,)
    assert states("<a>()") == (2,)
    assert states("!<a>()") == (0, 1)


def test_recursive_formulae_have_their_greatest_solution() -> None:
    one = fmpq(1)
    steps = (
        Transition(0, "a", ((0, one),)),
        Transition(1, "a", ((2, one),)),
        Transition(2, "b", ((2, one),)),
    )
    checker = ModelChecker(PA(("s", "t", "u"), steps))
    assert tuple(bits(checker.solution(parse_system("rec X = <a>X in X"))[0])) == (0,)
    assert tuple(bits(checker.solution(parse_system("rec X = X in X"))[0])) == (0, 1, 2)
    assert tuple(bits(checker.solution(parse_system("rec X = <a>Y; Y = <b>Y in !X"))[0])) == (0, 2)
    assert tuple(bits(checker.solution(parse_system("rec X = !<a>!X in X & !<b>T"))[0])) == (0, 1)
    assert tuple(bits(checker.solution(parse_system("let z = <b>T in rec X = z & <b>X in X"))[0])) == (2,)


def test_variables_and_deadlines() -> None:
    automaton = PA(("s",), ())
    with pytest.raises(UsageError, match="the variable X has no equation"):
        ModelChecker(automaton).states(variable("X"))
    with pytest.raises(LimitError):
        ModelChecker(automaton, Deadline.after(0)).solution(parse_system("rec X = <a>X in X"))
