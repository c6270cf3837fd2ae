"""The three equivalences, and what merging bisimilar states keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable

from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.automata.engine.schedulers import worst_trace_ratio
from bisimdist.automata.engine.strong import (
    bisimilarity_classes,
    bisimilarity_quotient,
    matching_classes,
    shape_classes,
)
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition
from bisimdist.models.partition import canonical_numbering
from tests.strategies import similar_automata

ONE, HALF = fmpq(1), fmpq(1, 2)


def naive(automaton: PA, key: Callable[[Row, tuple[int, ...]], Hashable]) -> tuple[int, ...]:
    of: tuple[int, ...] = (0,) * len(automaton)
    while True:
        refined = canonical_numbering(
            (
                of[state],
                frozenset((t.action, key(t.row, of)) for t in automaton.transitions if t.source == state),
            )
            for state in range(len(automaton))
        )
        if refined == of:
            return of
        of = refined


def masses(row: Row, of: tuple[int, ...]) -> Hashable:
    return frozenset(
        (block, sum((p for t, p in row if of[t] == block), fmpq(0))) for block in {of[t] for t, _ in row}
    )


@given(similar_automata())
def test_the_classes_are_those_of_naive_refinement(automaton: PA) -> None:
    assert bisimilarity_classes(automaton) == naive(automaton, masses)
    assert matching_classes(automaton) == naive(
        automaton, lambda row, of: frozenset(Counter((of[t], p) for t, p in row).items())
    )
    assert shape_classes(automaton) == naive(
        automaton, lambda row, of: frozenset(Counter(of[t] for t, _ in row).items())
    )


@given(similar_automata())
def test_matching_is_finer_than_bisimilarity_and_than_shape(automaton: PA) -> None:
    matching, bisimilar, shapes = (
        matching_classes(automaton),
        bisimilarity_classes(automaton),
        shape_classes(automaton),
    )
    assert len(set(zip(matching, bisimilar, strict=True))) == len(set(matching))
    assert len(set(zip(matching, shapes, strict=True))) == len(set(matching))


def test_bisimilar_states_need_no_bijection() -> None:
    automaton = PA(
        ("s", "t", "u", "v"),
        (Transition(0, "a", ((2, HALF), (3, HALF))), Transition(1, "a", ((2, ONE),))),
        ((0, 1),),
    )
    assert bisimilarity_classes(automaton) == (0, 0, 1, 1)
    assert matching_classes(automaton) == (0, 1, 2, 2)
    merged, classes = bisimilarity_quotient(automaton)
    assert classes == (0, 0, 1, 1)
    assert merged == PA(("s", "u"), (Transition(0, "a", ((1, ONE),)),), ((0, 0),))


@settings(max_examples=20)
@given(similar_automata(3, deterministic=True), st.integers(1, 4))
def test_the_quotient_has_the_same_worst_ratio(automaton: PA, length: int) -> None:
    merged, classes = bisimilarity_quotient(automaton)
    s, t = automaton.pairs[0]
    before = worst_trace_ratio(automaton, automaton.states[s], automaton.states[t], length)
    after = worst_trace_ratio(merged, merged.states[classes[s]], merged.states[classes[t]], length)
    assert before.ratio == after.ratio
