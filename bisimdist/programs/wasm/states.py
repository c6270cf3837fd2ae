"""Where compiled code waits for chance, as immutable states: the same one whenever it is reached again.

What depends on bits that nobody has told apart yet is a `Form`: a constant and multiples of leaves, which are
numbered in the order in which they are met, so that equal states are the same state.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bisimdist.programs.calls import RETURN
from bisimdist.programs.code import Segment
from bisimdist.programs.control import Outside
from bisimdist.programs.machine import Ended
from bisimdist.programs.states import MOST_FRAMES, Drawing
from bisimdist.programs.wasm.binary import at
from bisimdist.programs.wasm.chance import request_of
from bisimdist.programs.wasm.drawn import Drawn
from bisimdist.programs.wasm.leaves import Leaf
from bisimdist.programs.wasm.memory import Memory
from bisimdist.programs.wasm.reals import Pattern, Real, bits_of, computed, pattern

Thaw: TypeAlias = Callable[[Any], Any]  # makes a value of what was frozen

PLAIN = frozenset({int, bool, type(None)})


class Form(tuple[Any, ...]):
    """A value that depends on leaves, or a float: what kind it is, and what it is made of.

    A sum: a constant, and by turns the number of a leaf and its factor. A float: its bits, for 0 is not
    -0. The pattern of a float that is open: how many bits it has, and the float. Such a float: what its
    operation is done to.
    """

    __slots__ = ()


@dataclass(slots=True, eq=False)
class Frame:
    """A call that waits for what it called."""

    segment: Segment
    live: tuple[Any, ...]
    below: Frame | None
    depth: int = 1
    open: bool = False  # whether something in it, or below, depends on leaves, or is a float

    def __post_init__(self) -> None:
        below = self.below
        self.depth = 1 if below is None else below.depth + 1
        self.open = not PLAIN.issuperset(map(type, self.live)) or (below is not None and below.open)


CALLER = Frame(RETURN, (), None)
"""Any call, while it is found out what a function does whatever waits for it."""


class Unlike(Exception):  # noqa: N818
    """What a function does when it returns is more than to give a number."""


@dataclass(slots=True, eq=False)
class World:
    """What a run has written into memory, the size of the memory, and the global variables."""

    items: tuple[tuple[Any, ...], ...]
    words: dict[int, Any]
    pages: int
    globals: tuple[Any, ...]
    # open, loose: whether something in memory, or in global variables, depends on leaves, or is a float
    open: bool = False
    loose: bool = False

    def __post_init__(self) -> None:
        self.open = any(type(item[1]) is not int for item in self.items)
        self.loose = not PLAIN.issuperset(map(type, self.globals))


class State(Drawing):
    """Where a run waits for chance: it is what is asked for there, too.

    segment, live: what goes on, and with which variables.
    stack, world: the calls below, the memory and the global variables.
    counts: how many values each leaf has.
    bits: how many it waits for.
    """

    __slots__ = ("bits", "counts", "live", "open", "segment", "stack", "world")
    contents = ()

    def __init__(self, *parts: Any) -> None:
        self.state = self  # type: ignore[assignment]
        self.segment, self.live, self.stack, self.world, self.counts, self.bits = parts
        self.request = request_of(self.bits)
        self.open: Sequence[int] = ()
        """The places behind the answer of values that depend on leaves, or are floats."""
        if not PLAIN.issuperset(map(type, self.live)):
            self.open = [place for place, value in enumerate(self.live, 1) if type(value) not in PLAIN]

    __eq__ = object.__eq__
    __hash__ = object.__hash__


class Numbering:
    """Numbers leaves in the order in which they are met."""

    __slots__ = ("counts", "numbers")

    def __init__(self) -> None:
        self.numbers: dict[Leaf, int] = {}
        self.counts: list[int] = []

    def freeze(self, value: Any) -> Any:
        kind = type(value)
        if kind in PLAIN:
            return value
        if kind is float:
            return Form(("bits", bits_of(value)))
        if kind is Real:
            return Form((value.kind, *map(self.freeze, value.parts)))
        if kind is Pattern:
            return Form(("pattern", value.bits, self.freeze(value.real)))
        if kind is not Drawn:
            raise Outside(f"a value of type {kind.__name__} is kept", "keep numbers")
        value.settle()
        form: list[Any] = ["sum", value.const]
        leaves: Any = value.terms
        if len(leaves) > 1:
            leaves = sorted(leaves, key=lambda one: (one.variable, one.place))
        for leaf in leaves:
            number = self.numbers.get(leaf)
            if number is None:
                number = self.numbers[leaf] = len(self.counts)
                self.counts.append(leaf.high + 1)
            form += (number, value.terms[leaf])
        return Form(form)

    def all(self, values: Sequence[Any]) -> tuple[Any, ...]:
        return tuple([value if type(value) in PLAIN else self.freeze(value) for value in values])


def thawing(values: Sequence[Any]) -> Thaw:
    """Return what makes values of what was frozen, given the values of the leaves."""
    known: dict[Form, Any] = {}

    def thaw(value: Any) -> Any:
        if type(value) is not Form:
            return value
        made = known.get(value)
        if made is None:
            made = known[value] = opened(*value)
        return made

    def opened(kind: str, first: Any, *rest: Any) -> Any:
        if kind == "sum":
            for place in range(0, len(rest), 2):
                one, factor = values[rest[place]], rest[place + 1]
                first = one if type(first) is int and not first and factor == 1 else one * factor + first
            return first
        if kind == "bits":
            return float(struct.unpack("<d", struct.pack("<Q", first))[0])
        if kind == "pattern":
            return pattern(thaw(*rest), first)
        return computed(kind, thaw(first), *map(thaw, rest))

    return thaw


NOTHING = thawing(())  # where nothing depends on leaves


class States:
    """All states, frames and worlds, each of them once."""

    def __init__(self) -> None:
        self.frames: list[Any] = []
        self._states: dict[Any, State] = {}
        self._frames: dict[Any, Frame] = {}
        self._worlds: dict[Any, World] = {}
        self.nothing = World((), {}, -1, ())
        self._ends: dict[Any, Ended] = {}

    def ended(self, value: Any) -> Ended:
        """Return the end of runs that return a value."""
        key = Form(("bits", bits_of(value))) if type(value) is float else (value,)
        found = self._ends.get(key)
        if found is None:
            found = self._ends[key] = Ended(value, False, None)
        return found

    def frame(self, segment: Segment, live: tuple[Any, ...], below: Frame | None) -> Frame:
        """Return the frame of a call."""
        key = segment, live, below
        found = self._frames.get(key)
        if found is None:
            found = self._frames[key] = Frame(*key)
            if found.depth > MOST_FRAMES:
                raise TooDeep(segment)
        return found

    def world(self, items: tuple[tuple[Any, ...], ...], memory: Memory, kept: tuple[Any, ...]) -> World:
        """Return what a run has written, with the size of the memory and these global variables."""
        key = items, memory.pages, kept
        found = self._worlds.get(key)
        if found is None:
            found = self._worlds[key] = World(items, memory.written, memory.pages, kept)
        return found

    def state(self, *key: Any) -> State:
        """Return the state with these parts."""
        found = self._states.get(key)
        if found is None:
            found = self._states[key] = State(*key)
        return found

    def onto(self, state: State, base: Frame | None) -> State:
        """Return a state with another call in place of any call, or of all calls."""
        stack = base if base is CALLER or state.stack is CALLER else self._moved(state.stack, base)
        return self.state(state.segment, state.live, stack, state.world, state.counts, state.bits)

    def _moved(self, frame: Any, base: Frame | None) -> Frame | None:
        if frame is CALLER:
            return base
        return self.frame(frame.segment, frame.live, self._moved(frame.below, base))


class TooDeep(Outside):
    """Calls are nested too deep."""

    def __init__(self, segment: Segment) -> None:
        super().__init__("the call stack is exhausted", f"at most {MOST_FRAMES} calls are nested")
        self.place = at(segment.line, segment.code.name)
