"""Loops over the elements of an input, in one order for all, where it is proved that none matters.

``docs/theory/programs.md`` has the proof.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from flint import fmpq

from bisimdist.models.elimination import FOREVER, eliminated
from bisimdist.programs.freezing import Box, Freezer, Mutable
from bisimdist.programs.objects import Generator, Rest
from bisimdist.programs.states import State, States
from bisimdist.progress import NEVER, Deadline


class Folding:
    """Puts what a loop has still to go through into one order.

    elements: what inputs are made of: loops over anything else are left alone.
    """

    def __init__(self, states: States, freezer: Freezer, elements: Iterable[object]) -> None:
        self._states = states
        self._freezer = freezer
        self._places: dict[Hashable, int] = {}
        for element in elements:
            self._places.setdefault(freezer.freeze(element, None), len(self._places))
        self._known: dict[State, tuple[State, tuple[State, ...]]] = {}
        self.failed = False
        """Whether something was met that the proof does not allow for."""

    def folded(self, state: State) -> tuple[State, tuple[State, ...]]:
        """Return the state with the rest of its loop in order, and those where another element is first."""
        if state not in self._known:
            rest = self.rest(state)
            if rest is None:
                self._known[state] = state, ()
            else:
                first, *others = (self._moved(state, rest, items) for items in self._orders(rest))
                self._known[state] = first, tuple(others)
        return self._known[state]

    def rest(self, state: State) -> Rest | None:
        """Return the rest of a loop that has different elements, where the state has one."""
        parts = [part for _, live in self._states.opened(state) for part in live]
        found = list(filter(self._is_rest, parts))
        hidden = any(content[0] is Generator for content in state.contents) or any(
            type(item) is Rest for part in parts if type(_value(part)) is tuple for item in _value(part)
        )
        if hidden or len(found) > 1:
            self.failed = True
        return _value(found[0]) if len(found) == 1 else None

    def _is_rest(self, part: object) -> bool:
        value = _value(part)
        if type(value) is not Rest:
            return False
        try:
            frozen = [self._freezer.freeze(item, None) for item in value.items()]
        except Mutable:
            return False
        return len(set(frozen)) > 1 and self._places.keys() >= set(frozen)

    def _orders(self, rest: Rest) -> Iterator[list[object]]:
        """Yield all elements in order, and then with each other one in front."""
        items = sorted(rest.items(), key=self._place)
        yield items
        for k in range(1, len(items)):
            if self._place(items[k]) != self._place(items[k - 1]):
                yield [items[k], *items[:k], *items[k + 1 :]]

    def _place(self, item: object) -> int:
        return self._places[self._freezer.freeze(item, None)]

    def _moved(self, state: State, rest: Rest, items: Sequence[object]) -> State:
        box: Any = self._freezer.freeze(Rest.of(*items), None)

        def other(part: object) -> object:
            if type(part) is Box:
                return box if part.value is rest else part
            return box.value if part is rest else part

        frames = [(segment, tuple(map(other, live))) for segment, live in self._states.opened(state)]
        return self._states.closed(frames, state.contents)


def _value(part: Any) -> Any:
    return part.value if type(part) is Box else part


def alike(
    rows: Mapping[int, Mapping[int, fmpq]], groups: Iterable[Sequence[int]], *, deadline: Deadline = NEVER
) -> bool:
    """Tell whether all members of each group end in the same places with the same probabilities."""
    removed: list[tuple[int, dict[int, fmpq]]] = []
    eliminated(rows, rows.keys(), removed=removed, deadline=deadline)
    found: dict[int, dict[int, fmpq]] = {FOREVER: {}}
    for number, row in reversed(removed):
        ends = found[number] = {}
        for target, p in row.items():
            for end, q in (found[target] if target in found else {target: fmpq(1)}).items():
                ends[end] = ends.get(end, fmpq(0)) + p * q
    return all(found.get(number, {}) == found.get(group[0], {}) for group in groups for number in group)
