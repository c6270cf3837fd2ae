"""The graph of compiled code: what is drawn is divided where something depends on it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

from bisimdist.programs.code import NOWHERE, Place, Segment
from bisimdist.programs.control import Outside
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Ended
from bisimdist.programs.wasm.drawn import drawn_of
from bisimdist.programs.wasm.leaves import MOST_VALUES, Leaf, Split, Variable
from bisimdist.programs.wasm.states import CALLER, NOTHING, State, Thaw, Unlike, thawing

_FEW = 8  # a draw of at most so many values is looked at value by value

_WORD = 64

Known: TypeAlias = tuple[Variable, ...]  # what is drawn, and what is known of what was drawn before
Part: TypeAlias = tuple[Known, int, Any, Thaw]
"""What is known, how many values that is, and what the code finds: the answer, and what depends on leaves."""
Gathered: TypeAlias = dict[tuple[Any, int, None], int]
"""How many values lead to a node, or to a state, an end, or what a function returns, in a tuple; each with
the number of what is seen on the way."""


@dataclass(slots=True)
class CompiledExploration(Exploration):
    """A graph that grows as it is asked to."""

    file: str = ""  # what answers call the file
    runs: int = 0  # how many segments were run
    _known: dict[Any, list[int]] = field(default_factory=dict)
    """By draw one answer for each of the places that it leads to, where it leads to most."""
    _inner: dict[Any, Gathered] = field(default_factory=dict)
    """By what a function remembers at a draw where that leads, as far as the function goes."""
    _unlike: set[Segment] = field(default_factory=set)  # where a function changes more than what it returns
    _after: dict[Any, Any] = field(default_factory=dict)
    """By a call, what is returned to it, and the memory then, where that leads."""

    def place(self, number: int) -> Place:
        """Return the file and the offset that a node is about."""
        node: Any = self.nodes[number]
        if isinstance(node, Ended):
            return NOWHERE
        segment, frame = node.state.segment, node.state.stack
        while not segment.line and frame is not None:
            segment, frame = frame.segment, frame.below
        return (self.file, segment.line) if segment.line else NOWHERE

    def where(self, number: int) -> str:
        """Return the offset that a node is about, for people."""
        machine: Any = self.machine
        line = self.place(number)[1]
        return f"at {machine.lines.place(line)}" if line else ""

    def answers(self, number: int, most: int) -> Sequence[Any]:
        """Return one answer for each of the places that a draw leads to."""
        node: Any = self.nodes[number]
        draw = node.state.segment, node.request.count, node.state.counts
        return sorted(self._known.get(draw, ()))[:most]

    def _key(self, outcome: Any) -> Any:
        return outcome  # the machine makes each of them once

    def _number(self, outcome: Any) -> int:
        number = self._numbers.get(outcome)
        return self._new(outcome, outcome) if number is None else number

    def _expanded(self, number: int, cost: float) -> bool:
        node: Any = self.nodes[number]
        state: State = node.state
        gathered: Any = self._returning(state)
        if gathered is None:
            gathered = self._parts(state, self._number)
        count, counts = state.request.count, state.counts
        self.edges[number] = self._led(gathered, count * prod(counts) if counts else count, cost)
        return True

    def _returning(self, state: State) -> dict[Any, int] | None:
        """Return where a draw leads, if what the function does until it returns depends on no caller."""
        machine: Any = self.machine
        base = state.stack
        if base is None or base.open or machine.kinds or state.segment in self._unlike:
            return None
        states, world, after = machine.states, state.world, self._after
        key = state.segment, state.live, world, state.counts, state.bits
        inner = self._inner.get(key)
        if inner is None:
            try:
                inner = self._parts(states.onto(state, CALLER), lambda outcome: outcome)
            except Unlike:
                self._unlike.add(state.segment)
                return None
            self._inner[key] = inner
        found: dict[Any, int] = {}
        for (target, steps, _), weight in inner.items():
            if type(target) is not tuple:
                number = self._number(states.onto(target, base) if type(target) is State else target)
            else:
                place = base, target, world
                number = after.get(place, -1)
                if number < 0:
                    self.runs += 1
                    number = after[place] = self._number(machine.returned(state, *target))
            step = number, steps, None
            found[step] = found.get(step, 0) + weight
        return found

    def _parts(self, state: State, called: Callable[[Any], Any]) -> Gathered:
        """Return where a draw leads, divided into parts that the code tells apart."""
        machine: Any = self.machine
        follow, tally = machine.follow, machine.tally
        count, counts = state.request.count, state.counts
        work = [*_whole(count, counts)]
        gathered: Gathered = {}
        shown: dict[Any, int] = {}
        done = 0
        while work:
            if len(work) + done > MOST_VALUES:
                raise Outside(
                    f"a draw has more than {MOST_VALUES} parts that the program tells apart",
                    "compare it with fewer numbers",
                )
            variables, weight, value, thaw = work.pop()
            self.runs += 1
            try:
                outcome = follow(state, value, thaw)
            except Split as split:
                self._deadline.check()
                work += _parted(variables, split.leaf, split.cuts, split.period, split.other)
                continue
            done += 1
            ends = outcome if type(outcome) is list else (outcome,)
            for one in ends:
                key = called(one), tally.steps, None
                gathered[key] = gathered.get(key, 0) + weight // len(ends)
            shown.setdefault(key, variables[0][0])
        draw = state.segment, count, counts
        if len(shown) > len(self._known.get(draw, ())):
            self._known[draw] = [*shown.values()]
        return gathered


@lru_cache(1 << 10)
def _whole(count: int, others: Sequence[int]) -> list[Part]:
    """Return all that is known of a draw before the code does something with it."""
    if count > _FEW:
        bits = count.bit_length() - 1
        first: list[Variable] = [
            (0, tuple([(1 << low, 1 << min(_WORD, bits - low)) for low in range(0, bits, _WORD)]))
        ]
    else:
        first = [(value, ()) for value in range(count)]
    rest = tuple((0, ((1, other),)) for other in others)
    return _weighed([(one, *rest) for one in first])


def _weighed(parts: Iterable[Known]) -> list[Part]:
    """Return parts with how many values each of them is, and what the code finds."""
    made: list[Part] = []
    for part in parts:
        value, *leaves = [drawn_of(one, k) for k, one in enumerate(part)]
        weight = prod([leaf[1] for one in part for leaf in one[1]])
        made.append((part, weight, value, thawing(leaves) if leaves else NOTHING))
    return made


@lru_cache(1 << 12)
def _parted(variables: Known, leaf: Leaf, cuts: tuple[int, ...], period: int, other: Any) -> list[Part]:
    """Return the parts that a leaf divides what is known into."""
    return _weighed(Split(leaf, cuts, period, other).parts(variables))
