"""The graph of compiled code: what is drawn is divided where something depends on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import prod
from typing import Any, TypeAlias

from bisimdist.programs.calls import RETURN
from bisimdist.programs.code import NOWHERE, Place, Segment
from bisimdist.programs.control import Outside
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Ended
from bisimdist.programs.wasm.drawn import drawn_of
from bisimdist.programs.wasm.leaves import MOST_VALUES, Leaf, Split, Variable
from bisimdist.programs.wasm.states import CALLER, NOTHING, State, Thaw, Unlike, thawing

_WORTH = 8  # after so many guesses that were wrong there are no more

_FEW = 8  # a draw of at most so many values is looked at value by value

_WORD = 64

Known: TypeAlias = tuple[Variable, ...]  # what is drawn, and what is known of what was drawn before
Part: TypeAlias = tuple[Known, int, Any, Thaw]
"""What is known, how many values that is, and what the code finds: the answer, and what depends on leaves."""
Gathered: TypeAlias = dict[tuple[Any, int], int]
"""How many values lead to a state, to the number of an end, or to what a function returns, in a tuple; each
with the number of what is seen on the way."""


@dataclass(slots=True)
class CompiledExploration(Exploration):
    """A graph that grows as it is asked to."""

    file: str = ""  # what answers call the file
    runs: int = 0  # how many segments were run
    _known: dict[Any, tuple[list[Part], int]] = field(default_factory=dict)
    """How a draw was divided the last time that it was met, a guess for the next, and what that is worth."""
    _inner: dict[Any, Gathered] = field(default_factory=dict)
    """By what a function remembers at a draw where that leads, as far as the function goes."""
    _unlike: set[Segment] = field(default_factory=set)  # where a function changes more than what it returns
    _after: dict[Any, Any] = field(default_factory=dict)
    """By a call, what is returned to it, and the memory then, where that leads."""

    def place(self, number: int) -> Place:
        """Return the file and the offset that a node is about."""
        line = self._segment(number).line
        return (self.file, line) if line else NOWHERE

    def _segment(self, number: int) -> Segment:
        node: Any = self.nodes[number]
        if isinstance(node, Ended):
            return RETURN
        segment: Segment = node.state.segment
        frame = node.state.stack
        while not segment.line and frame is not None:
            segment, frame = frame.segment, frame.below
        return segment

    def where(self, number: int) -> str:
        """Return the offset that a node is about, for people."""
        machine: Any = self.machine
        segment = self._segment(number)
        return f"at {machine.lines.place(segment.line)}" if segment.line else ""

    def answers(self, number: int, most: int) -> Sequence[Any]:
        """Return one of each part in which a draw was divided."""
        node: Any = self.nodes[number]
        where = node.state.segment, node.request.count, node.state.counts
        known, _ = self._known.get(where, ((), 0))
        return sorted({variables[0][0] for variables, *_ in known})[:most]

    def _key(self, outcome: Any) -> Any:
        return outcome if type(outcome) is State else Exploration._key(self, outcome)

    def _expanded(self, number: int, cost: float) -> bool:
        node: Any = self.nodes[number]
        state: State = node.state
        gathered = self._returning(state)
        if gathered is None:
            parts = self._parts(state).items()
            gathered = {(self._place(target), steps, None): weight for (target, steps), weight in parts}
        count, counts = state.request.count, state.counts
        self.edges[number] = self._led(gathered, count * prod(counts) if counts else count, cost)
        return True

    def _place(self, target: Any) -> int:
        place = self._numbers.get(target) if type(target) is State else target
        return self._number(target) if place is None else place

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
                inner = self._parts(states.onto(state, CALLER))
            except Unlike:
                self._unlike.add(state.segment)
                return None
            self._inner[key] = inner
        found: dict[Any, int] = {}
        for (target, steps), weight in inner.items():
            if type(target) is State:
                number = self._place(states.onto(target, base))
            else:
                place = base, target, world
                number = after.get(place, -1)
                if number < 0:
                    self.runs += 1
                    number = after[place] = self._number(machine.returned(state, *target))
            step = number, steps, None
            found[step] = found.get(step, 0) + weight
        return found

    def _parts(self, state: State) -> Gathered:
        """Return where a draw leads, divided into parts that the code tells apart."""
        machine: Any = self.machine
        follow, tally = machine.follow, machine.tally
        count, counts = state.request.count, state.counts
        where = state.segment, count, counts
        guess, worth = self._known.get(where, (None, _WORTH))
        first = guess if guess and worth > 0 else _whole(count, counts)
        work = [*first]
        gathered: Gathered = {}
        found: list[tuple[Known, Any]] = []
        divided = False
        while work:
            variables, weight, value, thaw = work.pop()
            self.runs += 1
            try:
                outcome = follow(state, value, thaw)
            except Split as split:
                self._deadline.check()
                divided = True
                if guess and split.period:  # the code divides by another number than last time
                    guess, gathered, found = None, {}, []
                    work = [*_whole(count, counts)]
                    continue
                work += _parted(variables, split.leaf, split.cuts, split.period, split.other)
                if len(work) + len(found) > MOST_VALUES:
                    raise Outside(
                        f"a draw has more than {MOST_VALUES} parts that the program tells apart",
                        "compare it with fewer numbers",
                    ) from split
                continue
            key = self._number(outcome) if type(outcome) is Ended else outcome, tally.steps
            gathered[key] = gathered.get(key, 0) + weight
            found.append((variables, key))
        if worth > 0 and (divided or guess is None):
            worth -= guess is not None
            self._known[where] = _weighed(_joined(found, 1 + len(counts))) if divided else first, worth
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


def _joined(found: list[tuple[Known, Any]], size: int) -> list[Known]:
    """Put ranges of a variable side by side together that lead to the same, others being equal."""
    for place in range(size):
        ranges: dict[Any, list[tuple[int, int]]] = {}
        made: list[tuple[Known, Any]] = []
        for variables, key in found:
            const, leaves = variables[place]
            if leaves and (len(leaves) > 1 or leaves[0] != (1, leaves[0][1])):
                made.append((variables, key))
                continue
            others = variables[:place], variables[place + 1 :], key
            ranges.setdefault(others, []).append((const, const + (leaves[0][1] if leaves else 1)))
        for (before, after, key), spans in ranges.items():
            joined: list[tuple[int, int]] = []
            for low, high in sorted(spans):
                begin = joined.pop()[0] if joined and joined[-1][1] == low else low
                joined.append((begin, high))
            made += [((*before, _range(*span), *after), key) for span in joined]
        found = made
    return [variables for variables, _ in found]


def _range(low: int, high: int) -> Variable:
    return low, ((1, high - low),) if high - low > 1 else ()
