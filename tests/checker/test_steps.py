"""Partitions of states by what is seen of them, against looking at every state in every round."""

from __future__ import annotations

from collections.abc import Hashable

from hypothesis import given
from hypothesis import strategies as st

from bisimdist.checker.core.steps import Classes, refinements

NAMES = ["", "a", "b", "c", "d", "e", "f"]


def alike(of: Classes) -> set[frozenset[str]]:
    return {frozenset(state for state in of if of[state] == number) for number in of.values()}


@given(st.lists(st.sets(st.integers(0, 6), max_size=2), min_size=7, max_size=7), st.integers(0, 7))
def test_rounds_are_those_of_looking_at_all_states(targets: list[set[int]], labelled: int) -> None:
    rows = {name: [NAMES[k] for k in found] for name, found in zip(NAMES, targets, strict=True)}

    def look(state: str, of: Classes) -> Hashable:
        return state in NAMES[labelled:], frozenset(of[target] for target in rows[state])

    expected = dict.fromkeys(NAMES, 0)
    for of in refinements(NAMES, look, rows.__getitem__):
        assert alike(of) == alike(expected)
        views = [look(state, expected) for state in NAMES]
        expected = {state: views.index(view) for state, view in zip(NAMES, views, strict=True)}
    assert alike(of) == alike(expected)
