"""Partitions of states by what is seen of them, against looking at every state in every round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from bisimdist.checker.core import reading
from bisimdist.checker.core.partition import Classes, refinements

NAMES = ["", "a", "b", "c", "d", "e", "f"]


def alike(of: Classes) -> set[frozenset[str]]:
    return {frozenset(state for state in of if of[state] == number) for number in of.values()}


@given(st.lists(st.sets(st.integers(0, 6), max_size=2), min_size=7, max_size=7), st.integers(0, 7))
def test_rounds_are_those_of_looking_at_all_states(targets: list[set[int]], labelled: int) -> None:
    rows = {name: {NAMES[k]: 1 for k in found} for name, found in zip(NAMES, targets, strict=True)}

    def sums(row: Mapping[str, int], of: Classes) -> Counter[int]:
        return Counter({of[target]: 0 for target in row}) + Counter(of[target] for target in row)

    def look(state: str, of: Classes) -> Hashable:
        return state in NAMES[labelled:], frozenset(sums(rows[state], of).items())

    expected = dict.fromkeys(NAMES, 0)
    for of in refinements(NAMES, lambda state: [(state in NAMES[labelled:], rows[state])], sums):
        assert alike(of) == alike(expected)
        views = [look(state, expected) for state in NAMES]
        expected = {state: views.index(view) for state, view in zip(NAMES, views, strict=True)}
    assert alike(of) == alike(expected)


STEPS = st.lists(
    st.tuples(st.sampled_from("xy"), st.dictionaries(st.integers(0, 6), st.integers(-1, 2), max_size=4)),
    max_size=3,
)


@given(st.lists(STEPS, min_size=7, max_size=7))
def test_several_steps_are_seen_as_a_set(written: list[list[tuple[str, dict[int, int]]]]) -> None:
    """Masses may cancel: then nothing is seen of them."""
    steps = {
        name: [(action, {NAMES[k]: p for k, p in row.items()}) for action, row in found]
        for name, found in zip(NAMES, written, strict=True)
    }

    def sums(row: Mapping[str, int], of: Classes) -> dict[int, int]:
        result: Counter[int] = Counter()
        for target, p in row.items():
            result[of[target]] += p
        return {number: p for number, p in result.items() if p}

    expected = dict.fromkeys(NAMES, 0)
    for of in refinements(NAMES, steps.__getitem__, sums):
        assert alike(of) == alike(expected)
        views = [
            (expected[state], {(action, frozenset(sums(row, expected).items())) for action, row in found})
            for state, found in steps.items()
        ]
        expected = {state: views.index(view) for state, view in zip(NAMES, views, strict=True)}
    assert alike(of) == alike(expected)


def test_a_long_row_is_not_looked_at_again_for_each_state_that_leaves_its_class() -> None:
    """A hub leads to all states of a path, of which each round tells one apart."""
    count = 2000
    named = [f"p{k}" for k in range(count)]
    steps = {name: [("a", {after: 1})] for name, after in pairwise(named)}
    steps |= {named[-1]: [], "hub": [("a", dict.fromkeys(named, 1))]}
    with reading.limited(0):
        *_, of = refinements(list(steps), steps.__getitem__, lambda row, of: Counter(of[t] for t in row))
        left = reading.remaining()
    assert len(set(of.values())) == count + 1
    assert left is not None
    assert reading.LEAST_WORK - left[0] < 40_000 * count
