"""Where programs wait, as immutable states: the same one whenever it is reached again."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.programs.code import Segment
from bisimdist.programs.control import ListValues, Outside, Unbounded
from bisimdist.programs.freezing import Box, Freezer, Frozen
from bisimdist.programs.heap import Contents, Heap
from bisimdist.programs.interval import Interval
from bisimdist.programs.machine_source import Request, Source
from bisimdist.programs.noise import Noise
from bisimdist.programs.objects import Numbers, Rest
from bisimdist.programs.outcomes import leaves

MOST_FRAMES = 900  # how deep calls may be nested; plain Python gives up at about a thousand

BOTTOM = -1  # the number of no frame

Frame = tuple[Segment, Sequence[Any]]
_Places = dict[Hashable, Any]

_EXACT = frozenset({int, str, bool, type(None), Numbers, Source})
"""Values of these types are the same if they are equal and of one type."""

_BOXED = frozenset({Rest, Fraction, tuple})
"""Values of these types are the same if they have the same box, which shows the type."""

_Kept = tuple[tuple[Frozen, ...], _Places, _Places]
"""What is remembered, and among which states and frames it is looked up."""


@dataclass(slots=True, eq=False)
class State:
    """Where a program waits for the random source; the same one whenever it is reached again."""

    segment: Segment  # segment and live: what goes on, and with which variables
    live: tuple[Frozen, ...]
    stack: Any  # the number of the frame below; with contents, all frames
    contents: tuple[Contents, ...]  # the objects that can be changed
    values: tuple[Any, ...] = ()
    _drawing: Drawing | None = None

    def drawing(self, request: Request) -> Drawing:
        """Return that the source is asked for something here."""
        drawing = self._drawing
        if drawing is None or drawing.request is not request:
            drawing = self._drawing = Drawing(self, request)
        return drawing


@dataclass(slots=True)
class Drawing:
    """The program asks the source for something."""

    state: State
    request: Request


class States:
    """All states and frames of a program, each of them once."""

    def __init__(self, freezer: Freezer) -> None:
        self._freezer = freezer
        self.frames: list[tuple[Segment, tuple[Any, ...], int]] = []
        self._depths: list[int] = []
        self._places: dict[tuple[type, ...], tuple[_Places, _Places, tuple[int, ...]] | None] = {}
        """By the types of what is remembered the states and frames of that, where these say all of it but for
        what is in a box: at which places."""
        self._others: tuple[_Places, _Places] = {}, {}

    def state(self, segment: Segment, live: Sequence[Any], frames: list[Frame], base: int) -> State:
        """Return the state of a segment that waits, above these frames."""
        found = self._kept(live)
        if found is None:
            return self._state_with_heap(segment, live, frames, base)
        frozen, states, _ = found
        number = base
        for below, values in frames:
            kept = self._kept(values)
            if kept is None:
                return self._state_with_heap(segment, live, frames, base)
            number = self._frame(below, kept[0], number, kept[2])
        key = (segment, frozen, number)
        state: State | None = states.get(key)
        if state is None:
            state = states[key] = State(segment, frozen, number, ())
            state.values = _values(frozen)
        return state

    def _kept(self, values: Sequence[Any]) -> _Kept | None:
        """Return what is remembered of values; None if they can be changed."""
        types = tuple(map(type, values))
        try:
            places = self._places[types]
        except KeyError:
            places = self._places[types] = _boxed_places(types)
        if places is None:
            frozen = self._freezer.simple(values)
            return None if frozen is None else (frozen, *self._others)
        states, frames, boxed = places
        if not boxed:
            return tuple(values), states, frames
        made = list(values)
        for place in boxed:
            box = self._freezer.box_of(values[place])
            if box is None:
                return None
            made[place] = box
        return tuple(made), states, frames

    def _frame(self, segment: Segment, frozen: tuple[Frozen, ...], below: int, known: _Places) -> int:
        key = (segment, frozen, below)
        number: int | None = known.get(key)
        if number is None:
            depth = self._depths[below] + 1 if below >= 0 else 1
            if depth > MOST_FRAMES:
                raise too_deep()
            number = known[key] = len(self.frames)
            self.frames.append((segment, _values(frozen), below))
            self._depths.append(depth)
        return number

    def _state_with_heap(
        self, segment: Segment, live: Sequence[Any], frames: list[Frame], base: int
    ) -> State:
        heap = Heap(self._freezer)
        frozen = heap.all(live)
        below: list[Frame] = list(frames)
        lower: list[Frame] = []
        while base >= 0:
            under, values, base = self.frames[base]
            lower.append((under, values))
        whole = [*reversed(lower), *below]
        stack = tuple(reversed([(under, heap.all(values)) for under, values in reversed(whole)]))
        return self._held(segment, frozen, stack, tuple(heap.contents))

    def _held(
        self, segment: Segment, frozen: tuple[Frozen, ...], stack: Any, contents: tuple[Contents, ...]
    ) -> State:
        key = (segment, frozen, stack, contents)
        state: State | None = self._others[0].get(key)
        if state is None:
            state = self._others[0][key] = State(segment, frozen, stack, contents)
        return state

    def opened(self, state: State) -> list[Frame]:
        """Return what waits in a state, the top first, with what it remembers."""
        if state.contents:
            return [(state.segment, state.live), *reversed(state.stack)]
        frames: list[Frame] = [(state.segment, state.values)]
        number = state.stack
        while number >= 0:
            segment, values, number = self.frames[number]
            frames.append((segment, values))
        return frames

    def closed(self, frames: Sequence[Frame], contents: tuple[Contents, ...]) -> State:
        """Return the state in which these wait, the top first."""
        (segment, live), *below = frames
        if contents:
            return self._held(segment, tuple(live), tuple(reversed(below)), contents)
        return self.state(segment, live, below[::-1], BOTTOM)

    def value_of(self, value: Any, *, ends: bool = False) -> Frozen:
        """Return a value that the program ended with, or announced, as one that can be compared.

        ends: whether the program ended with it, so that noise may be in it.
        Raises Outside if it is not exact, or has no value that could be compared.
        """
        if type(value) in _EXACT:
            return type(value), value
        found = [leaf for leaf in leaves(value) if type(leaf) in (Interval, Noise)]
        for leaf in found:
            if type(leaf) is Interval:
                raise ListValues(leaf.index)
            if not (ends and leaf.endless):
                leaf.value()
        heap = Heap(self._freezer)
        return self._freezer.freeze(value, heap), tuple(heap.contents)


def _boxed_places(types: tuple[type, ...]) -> tuple[_Places, _Places, tuple[int, ...]] | None:
    """Return where values of these types are looked up, if their types and boxes say all of them."""
    if not (_EXACT | _BOXED).issuperset(types):
        return None
    return {}, {}, tuple(place for place, kind in enumerate(types) if kind in _BOXED)


def _values(frozen: tuple[Frozen, ...]) -> tuple[Any, ...]:
    """Return the values of what cannot be changed: always the same objects."""
    return tuple([part.value if type(part) is Box else part for part in frozen])


def too_deep() -> Outside:
    """Return the refusal of calls that are nested too deep."""
    return Unbounded(f"calls are nested more than {MOST_FRAMES} deep", "write a loop, or recursion that ends")
