"""Mimicking formulae: what they say of other states, and when they are equal."""

from __future__ import annotations

import time

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.errors import LimitError, UsageError
from bisimdist.logic.engine.formula import formula_size
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.levels import Levels
from bisimdist.logic.engine.mimicking import (
    longest_run,
    mimicking_formula,
    mimicking_formulae,
    mimicking_system,
)
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from bisimdist.models.partition import canonical_numbering
from bisimdist.progress import Deadline, Limits
from tests.logic.formula_reference import k_step_classes, simulated
from tests.speed import leeway
from tests.strategies import automata

ONE, HALF = fmpq(1), fmpq(1, 2)


def figure_2() -> PA:
    """After a, s is in s1 (which does b) or in s2 (which does nothing) with probability 1/2, t in t1 (b)."""
    names = ("s", "t", "s1", "s2", "t1", "end")
    steps = (
        Transition(0, "a", ((2, HALF), (3, HALF))),
        Transition(1, "a", ((4, ONE),)),
        Transition(2, "b", ((5, ONE),)),
        Transition(4, "b", ((5, ONE),)),
    )
    return PA(names, steps, ((0, 1),))


def test_the_formulae_of_the_small_example() -> None:
    formulae = mimicking_formulae(figure_2(), 3)
    assert formulae[0] is parse_formula(
        "let nil = !<a>T & !<b>T; b = <b>nil & !<a>T in <a>(1/2 b + 1/2 nil) & !<b>T"
    )
    assert formulae[1] is parse_formula("<a>(<b>(!<a>T & !<b>T) & !<a>T) & !<b>T")
    assert mimicking_formula(figure_2(), 0, 0) is parse_formula("T")
    assert mimicking_formula(figure_2(), 0, 1) is parse_formula("<a>(1 T) & !<b>T")


@given(automata(), st.integers(0, 4))
def test_a_state_satisfies_its_own(automaton: PA, depth: int) -> None:
    checker = ModelChecker(automaton)
    for state, formula in mimicking_formulae(automaton, depth).items():
        assert checker.satisfies(state, formula)
        assert formula.depth <= depth


@settings(max_examples=30)
@given(automata(4), st.integers(0, 3))
def test_satisfying_the_formula_of_another_is_ready_simulation(automaton: PA, depth: int) -> None:
    checker = ModelChecker(automaton)
    relation = simulated(automaton, depth)
    for s, formula in mimicking_formulae(automaton, depth).items():
        for t in range(len(automaton)):
            assert checker.satisfies(t, formula) == relation[s, t]


@given(automata(nondeterministic=False), st.integers(0, 4))
def test_without_nondeterminism_it_is_bisimilarity(automaton: PA, depth: int) -> None:
    checker = ModelChecker(automaton)
    classes = k_step_classes(automaton, depth)
    for s, formula in mimicking_formulae(automaton, depth).items():
        for t in range(len(automaton)):
            assert checker.satisfies(t, formula) == (classes[s] == classes[t])


def test_with_nondeterminism_mutual_satisfaction_is_less_than_bisimilarity() -> None:
    """The state s = a.P + a.Q and the state t = a.Q, where Q does all that P does and more."""
    names = ("s", "t", "P", "Q", "u", "v", "end")
    steps = (
        Transition(0, "a", ((2, ONE),)),
        Transition(0, "a", ((3, ONE),)),
        Transition(1, "a", ((3, ONE),)),
        Transition(2, "b", ((4, ONE),)),
        Transition(3, "b", ((4, ONE),)),
        Transition(3, "b", ((5, ONE),)),
        Transition(4, "c", ((6, ONE),)),
        Transition(5, "d", ((6, ONE),)),
    )
    automaton = PA(names, steps)
    checker = ModelChecker(automaton)
    for depth in range(1, 6):
        formulae = mimicking_formulae(automaton, depth)
        assert checker.satisfies(1, formulae[0])
        assert checker.satisfies(0, formulae[1])
        assert (formulae[0] is formulae[1]) == (depth < 3)
    classes = bisimilarity_classes(automaton)
    assert classes[0] != classes[1]


@given(automata(), st.integers(0, 4))
def test_equal_formulae_are_k_step_bisimilarity(automaton: PA, depth: int) -> None:
    formulae = list(mimicking_formulae(automaton, depth).values())
    assert canonical_numbering(formulae) == canonical_numbering(k_step_classes(automaton, depth))
    assert canonical_numbering(formulae) == canonical_numbering(Levels(automaton).blocks(depth))


@given(automata())
def test_theorem_4(automaton: PA) -> None:
    """The formulae of all depths are equal exactly if the states are bisimilar."""
    formulae = list(mimicking_formulae(automaton, len(automaton)).values())
    assert canonical_numbering(formulae) == bisimilarity_classes(automaton)
    levels = Levels(automaton)
    for s in range(len(automaton)):
        for t in range(len(automaton)):
            level = levels.separating(s, t)
            together = [
                k
                for k in range(len(automaton) + 1)
                if len({k_step_classes(automaton, k)[i] for i in (s, t)}) == 1
            ]
            assert level == (None if len(together) == len(automaton) + 1 else len(together))


@settings(max_examples=30)
@given(automata(4))
def test_the_recursive_formula_is_the_limit(automaton: PA) -> None:
    checker = ModelChecker(automaton)
    relation = simulated(automaton, None)
    for s in range(len(automaton)):
        members, _ = checker.solution(mimicking_system(automaton, s)[0])
        assert members == sum(1 << t for t in range(len(automaton)) if relation[s, t])


@given(automata(acyclic=True))
def test_without_cycles_the_formula_is_finite(automaton: PA) -> None:
    for state in range(len(automaton)):
        length = longest_run(automaton, state)
        assert length is not None
        assert length <= len(automaton)
        formula = mimicking_formula(automaton, state, length + 1)
        assert mimicking_formula(automaton, state, length + 5) is formula


def test_cycles_are_found() -> None:
    automaton = PA(
        ("s", "t", "u"), (Transition(0, "a", ((1, ONE),)), Transition(1, "a", ((1, HALF), (2, HALF))))
    )
    assert [longest_run(automaton, state) for state in range(3)] == [None, None, 0]
    shared = PA(
        ("s", "t", "u", "v"),
        tuple(Transition(i, "a", tuple((j, fmpq(1, 3)) for j in range(i + 1, 4))) for i in range(3)),
    )
    assert [longest_run(shared, state) for state in range(4)] == [3, 2, 1, 0]
    long = PA(tuple(map(str, range(5000))), tuple(Transition(i, "a", ((i + 1, ONE),)) for i in range(4999)))
    assert longest_run(long, 0) == 4999


def test_bad_depths_and_deadlines() -> None:
    with pytest.raises(UsageError, match="the depth is -1"):
        mimicking_formulae(figure_2(), -1)
    with pytest.raises(LimitError):
        mimicking_formulae(figure_2(), 5, limits=Limits(deadline=Deadline.after(0)))


@pytest.mark.parametrize("depth", [15, pytest.param(100, marks=pytest.mark.slow)])
def test_a_thousand_states(depth: int) -> None:
    automaton = chain_as_automaton(random_lmc(1000, 3, 3, 1))
    started = time.process_time()
    formulae = mimicking_formulae(automaton, depth)
    assert time.process_time() - started < 30 * leeway()
    assert len(set(formulae.values())) == 1000
    assert formula_size(*formulae.values()) <= 3000 * depth + 10
