"""Distinguishing formulae: true here, false there, of least depth, with nothing to spare."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.strong import bisimilarity_classes
from bisimdist.errors import LimitError
from bisimdist.logic.engine.distinguishing import Distinguisher, merged_part
from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    Conjunction,
    Diamond,
    Mixture,
    Node,
    StateFormula,
    conjunction,
    diamond,
    formula_size,
    mixture,
    postorder,
)
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.reduction import reduced, replaced, weakenings
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from tests.logic.formula_reference import formulae, holds, k_step_classes
from tests.strategies import automata

ONE, HALF = fmpq(1), fmpq(1, 2)


def least_depth(automaton: PA, s: int, t: int) -> int | None:
    for depth in range(len(automaton) + 1):
        classes = k_step_classes(automaton, depth)
        if classes[s] != classes[t]:
            return depth
    return None


@given(automata())
def test_formulae_distinguish_and_have_least_depth(automaton: PA) -> None:
    maker = Distinguisher(automaton)
    classes = bisimilarity_classes(automaton)
    for s in range(len(automaton)):
        for t in range(len(automaton)):
            assert maker.depth(s, t) == least_depth(automaton, s, t)
            if classes[s] == classes[t]:
                continue
            found = maker.distinguish(s, t)
            assert found.irreducible
            assert holds(automaton, s, found.formula)
            assert not holds(automaton, t, found.formula)
            assert found.formula.depth == least_depth(automaton, s, t)


@given(automata(), formulae(), st.integers(0, 4))
def test_no_formula_tells_apart_what_so_many_steps_do_not(
    automaton: PA, formula: StateFormula, extra: int
) -> None:
    """The reason why the depth is least."""
    classes = k_step_classes(automaton, formula.depth)
    truth = [holds(automaton, state, formula) for state in range(len(automaton))]
    assert all(
        truth[s] == truth[t] for s in range(len(automaton)) for t in range(s) if classes[s] == classes[t]
    )


@settings(max_examples=30)
@given(automata())
def test_nothing_can_be_left_out(automaton: PA) -> None:
    maker = Distinguisher(automaton)
    for s, t in ((0, 1), (1, 0)):
        if maker.depth(s, t) is None:
            continue
        formula = maker.distinguish(s, t).formula
        for node in list(postorder(formula)):
            for weaker in left_out(node):
                trial = replaced(formula, node, weaker)
                assert not (holds(automaton, s, trial) and not holds(automaton, t, trial)), (node, weaker)


def left_out(node: Node) -> list[Node]:
    """What the theory note says, once more."""
    match node:
        case Conjunction(operands=operands):
            return [conjunction(x for x in operands if x is not one) for one in operands]
        case Mixture(parts=parts):
            return [
                mixture([(w, TOP if p is one else p) for w, p in parts]) for _, one in parts if one is not TOP
            ]
        case Diamond(action=action, target=Mixture()):
            return [diamond(action, ANYTHING)]
        case _:
            return []


@settings(max_examples=30)
@given(automata())
def test_merging_keeps_the_question(automaton: PA) -> None:
    merged, classes = merged_part(automaton, [0, 1])
    assert len(set(bisimilarity_classes(merged))) == len(merged)
    levels = Distinguisher(merged)
    assert levels.depth(classes[0], classes[1]) == least_depth(automaton, 0, 1)
    assume(classes[0] != classes[1])
    formula = levels.distinguish(classes[0], classes[1]).formula
    assert holds(automaton, 0, formula)
    assert not holds(automaton, 1, formula)


def pair(first: list[tuple[str, str]], second: list[tuple[str, str]]) -> PA:
    """Two states with transitions given as action and row (such as ``b:1/2 n:1/2``) to b, c, d, bc and n."""
    names = ("s", "t", "b", "c", "d", "bc", "n")
    steps = [
        Transition(
            source,
            action,
            tuple(
                sorted(
                    (names.index(u), fmpq(*map(int, p.split("/"))))
                    for u, p in (e.split(":") for e in row.split())
                )
            ),
        )
        for source, listed in ((0, first), (1, second))
        for action, row in listed
    ]
    steps += [
        Transition(names.index(u), action, ((6, ONE),))
        for u, actions in (("b", "b"), ("c", "c"), ("d", "d"), ("bc", "bc"))
        for action in actions
    ]
    return PA(names, tuple(steps))


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([("a", "b:2/3 n:1/3")], [("a", "b:1/3 n:2/3")], "<a>(2/3 <b>T + 1/3 T)"),
        ([("a", "b:1/3 n:2/3")], [("a", "b:2/3 n:1/3")], "<a>(2/3 !<b>T + 1/3 T)"),
        ([("a", "b:1/1")], [("a", "b:1/2")], "<a>(1 T)"),
        ([("a", "b:1/1")], [("c", "b:1/1")], "<a>T"),
        ([], [("c", "b:1/1")], "!<c>T"),
        ([("a", "bc:1/1")], [("a", "b:1/1"), ("a", "c:1/1")], "<a>(<b>T & <c>T)"),
        ([("a", "b:1/1"), ("a", "c:1/1")], [("a", "bc:1/1")], "<a>!<b>T"),
        (
            [("a", "b:1/2 c:1/2")],
            [("a", "b:1/1"), ("a", "c:1/1")],
            "<a>(1/2 !<b>T + 1/2 <b>T)",
        ),
        (
            [("a", "b:1/3 c:1/3 d:1/3")],
            [("a", "b:2/3 c:1/3"), ("a", "c:2/3 d:1/3"), ("a", "d:2/3 b:1/3")],
            None,
        ),
    ],
)
def test_what_is_said(
    first: list[tuple[str, str]], second: list[tuple[str, str]], expected: str | None
) -> None:
    automaton = pair(first, second)
    found = Distinguisher(automaton).distinguish(0, 1).formula
    assert holds(automaton, 0, found)
    assert not holds(automaton, 1, found)
    if expected is not None and found is not parse_formula(expected):
        # Another formula of the same size says it as well.
        other = parse_formula(expected)
        assert holds(automaton, 0, other)
        assert not holds(automaton, 1, other)
        assert formula_size(found) <= formula_size(other), str(found)


def test_a_long_chain_is_told_apart_at_its_end() -> None:
    size = 600
    names = tuple(f"{side}{i}" for side in "st" for i in range(size))
    steps = []
    for side in (0, 1):
        for i in range(size - 1):
            here, after = side * size + i, side * size + i + 1
            row = ((after, HALF), ((1 - side) * size + i + 1, HALF)) if i % 2 else ((after, ONE),)
            steps.append(Transition(here, "a", tuple(sorted(row))))
    steps.append(Transition(size - 1, "b", ()))
    automaton = PA(names, tuple(steps))
    maker = Distinguisher(automaton)
    # An odd step mixes both chains evenly: nothing is left to tell.
    assert maker.depth(0, size) is None
    assert maker.distinguish(size - 1, 2 * size - 1).formula is parse_formula("<b>T")
    straight = [
        Transition(side * size + i, "a", ((side * size + i + 1, ONE),))
        for side in (0, 1)
        for i in range(size - 1)
    ]
    automaton = PA(names, (*straight, Transition(size - 1, "b", ())))
    found = Distinguisher(automaton).distinguish(0, size)
    assert found.formula.depth == size
    assert not found.irreducible  # too large to try
    checker = ModelChecker(automaton)
    assert checker.satisfies(0, found.formula)
    assert not checker.satisfies(size, found.formula)


def test_deadlines() -> None:
    automaton = pair([("a", "b:1/1")], [("a", "c:1/1")])
    with pytest.raises(LimitError):
        Distinguisher(automaton, Deadline.after(0))
    formula = parse_formula("<a>(<b>T & !<c>T)")
    assert reduced(ModelChecker(automaton), formula, 0, 1, deadline=Deadline.after(0)) == (formula, False)
    assert list(weakenings(TOP)) == []
