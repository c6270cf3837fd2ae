"""The machine for compiled code: runs segments from draw to draw, and keeps what lies between as states."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from bisimdist.programs.calls import RETURN
from bisimdist.programs.code import LEAVE, TAIL, Code, Segment
from bisimdist.programs.control import Outside, SplitInterval
from bisimdist.programs.machine import Ended
from bisimdist.programs.states import MOST_FRAMES
from bisimdist.programs.wasm.chance import MOST_BYTES, Chance, Sampler
from bisimdist.programs.wasm.drawn import Drawn, drawn_of
from bisimdist.programs.wasm.lines import Lines
from bisimdist.programs.wasm.linking import Linker, Routine, Tally, beginnings
from bisimdist.programs.wasm.memory import Memory, Remembered
from bisimdist.programs.wasm.numbers import Trap, signed
from bisimdist.programs.wasm.states import (
    CALLER,
    NOTHING,
    PLAIN,
    Frame,
    Numbering,
    State,
    States,
    Thaw,
    TooDeep,
    Unlike,
    World,
    thawing,
)
from bisimdist.progress import NEVER, Deadline

REHEARSED, FEWEST, REHEARSED_DRAWS = 200, 10, 2000
"""So many random paths are run before anything is explored; few if nothing is forgotten; so many draws."""

_SEEN: dict[str, Callable[[Tally], str]] = {
    "instructions": lambda tally: f"{tally.count} instructions",
    "memory": lambda tally: f"lines {' '.join(map(str, tally.lines))}",
    "branches": lambda tally: "branches " + "".join(str(n) if n < 2 else f"({n})" for n in tally.branches),
}
_FILL = Code("", "", 0)
_Frames = list[tuple[Segment, Sequence[Any]]]

Laid: TypeAlias = Callable[[Memory, Any], Sequence[Any]]  # makes arguments of the memory and an input
Outcome: TypeAlias = State | Ended


class Machine:
    """Runs an exported function piece by piece.

    kept: words of memory that are never forgotten.
    begun: a machine for the same module, of which this one takes over what memory begins with.
    """

    announces = False
    freezer = None
    first: tuple[tuple[Any, ...], int]

    def __init__(
        self,
        sampler: Sampler,
        kinds: frozenset[str] = frozenset(),
        kept: set[int] | None = None,
        begun: Machine | None = None,
    ) -> None:
        self.module, self.function, _ = sampler
        self.kinds = kinds & _SEEN.keys()
        self.linker = Linker(sampler, kinds, set() if kept is None else kept)
        self.memory = self.linker.memory
        self.globals = self.linker.globals
        self.tally = self.ticker = self.linker.tally
        self.states = States()
        self.lines = Lines(self.module)
        self.results = self.module.declared[self.function].results
        self.seen: list[str] = []
        """What was seen between two draws, by number; empty where nothing is."""
        self._seen: dict[str, int] = {}
        self._fill = Segment(_FILL, 0, ("place", "size", "result"), run=self._filled)
        self._thaw: Thaw = NOTHING
        self._world: World = self.states.nothing
        if begun is None:
            self._begin()
        else:
            self.memory.begun.words = begun.memory.begun.words
            self.globals[:], pages = begun.first
            self.memory.open({}, pages)
        self.first: tuple[tuple[Any, ...], int] = tuple(self.globals), self.memory.pages
        """The global variables, and the number of pages, when the function is called."""

    def again(self, forgets: bool) -> None:
        """Begin an exploration anew, with what has to be remembered by now."""
        self.states = States()
        self.memory.forgotten.clear()
        self.memory.begun.clear()
        self.memory.forgets = forgets

    def rehearse(self, laid: Laid, values: Sequence[Any], deadline: Deadline = NEVER) -> None:
        """Run random paths, to see which words of memory are read later; what others held is forgotten."""
        chooser = random.Random(0)
        draws = failed = 0
        for number in range(REHEARSED):
            try:
                for _ in self.path(laid, values[number % len(values)], chooser.getrandbits):
                    draws += 1
                    if draws >= REHEARSED_DRAWS:
                        break
            except Remembered:
                failed += 1
            except (Trap, Outside, RecursionError):
                pass
            idle = number == FEWEST and not self.memory.forgotten and not failed
            self.again(forgets=failed < REHEARSED // 2)
            if idle or draws >= REHEARSED_DRAWS or deadline.passed():
                return

    def _begin(self) -> None:
        """Run what a module runs before anything is called; all bits that it draws there are 0."""
        self.memory.forgets = False
        for index in beginnings(self.module, self.function):
            outcome = self._go(self.linker.space[f".function{index}"], (), None, None)
            while not isinstance(outcome, Ended):
                outcome = self.follow(outcome, 0, NOTHING)
        self.memory.settled()
        self.again(forgets=True)

    # running

    def start(self, laid: Laid, inputs: Sequence[Any], _: object = None) -> Outcome:
        """Run the function to its first draw; its arguments are made of the memory and the input."""
        self.globals[:], pages = self.first
        self.memory.open({}, pages)
        self._world = self.states.nothing
        self._thaw = NOTHING
        given = laid(self.memory, *inputs)
        self.tally.clear()
        return self._go(self.linker.space[f".function{self.function}"], given, None, None)

    def resume(self, state: State, value: Any, *_: object) -> Any:
        """Go on from a state with one answer of chance, whatever what was drawn before is."""
        parts = [drawn_of((0, ((1, count),)), k + 1) for k, count in enumerate(state.counts)]
        found: Any = self.follow(state, value, thawing(parts))
        if type(found) is list:
            raise SplitInterval(0, ())
        return found

    def path(self, laid: Laid, value: Any, answer: Callable[[int], int]) -> Iterator[tuple[int, Outcome]]:
        """Yield what comes of a run in which nothing is left open, each time after what was answered."""
        outcome, drawn = self.start(laid, [value]), 0
        yield drawn, outcome
        while not isinstance(outcome, Ended):
            drawn = answer(outcome.request.count.bit_length() - 1)
            outcome = self.follow(outcome, drawn, NOTHING)
            yield drawn, outcome

    def follow(self, state: State, value: Any, thaw: Thaw) -> Outcome:
        """Go on with an answer, which may stand for many, and with what is known of leaves."""
        if self.kinds:
            self.tally.clear()
        self._thaw = thaw
        world = self._world = state.world
        memory = self.memory
        memory.written = memory.thawed(world.items, thaw) if world.open else world.words
        memory.shared = True
        if memory.pages != world.pages:
            memory.open(memory.written, world.pages)
        self.globals[:] = [thaw(one) for one in world.globals] if world.loose else world.globals
        given = [value, *state.live]
        for place in state.open:
            given[place] = thaw(given[place])
        return self._go(None, given, state.segment, state.stack)

    def returned(self, state: State, value: Any) -> Outcome:
        """Go on where the function of a state returns a number to what has called it."""
        base: Any = state.stack
        waiting = State(base.segment, base.live, base.below, state.world, (), 0)
        return self.follow(waiting, value, NOTHING)

    def _go(  # noqa: PLR0912
        self, function: Any, given: Sequence[Any], segment: Segment | None, base: Frame | None
    ) -> Outcome:
        """Run until chance is asked for something, or to the end."""
        frames: _Frames = []
        live: Sequence[Any]
        while True:
            if segment is None:
                kind = type(function)
                if kind is Chance:
                    segment, live = frames.pop() if frames else (RETURN, ())
                    bits = function.bits
                    if not bits:
                        frames.append((segment, live))
                        live = self._wanted(function, given)
                        segment, bits = self._fill, 8 * live[1]
                    if self.kinds:
                        self._see()
                    return self._state(segment, live, frames, base, bits)
                if kind is Routine:
                    segment = function.entry
                else:
                    segment, given = RETURN, (function(*given),)
            end = segment.run(*given)
            if end[0] == LEAVE:
                if frames:
                    segment, live = frames.pop()
                elif base is CALLER:
                    if type(end[1]) not in PLAIN or not self._same():
                        raise Unlike
                    return (end[1],)  # type: ignore[return-value]
                elif base is not None:
                    segment, live = base.segment, base.live
                    if base.open:
                        live = [self._thaw(one) for one in live]
                    base = base.below
                else:
                    return self._ended(end[1])
                given = (end[1], *live)
                continue
            if end[0] == TAIL:
                _, place, function, given, _ = end
                if type(function) is Chance:
                    place.run = RETURN.run  # it returns what was drawn
                    frames.append((place, ()))
            else:
                _, place, function, given, _, live = end
                frames.append((place, live))
                if len(frames) > MOST_FRAMES:
                    raise TooDeep(place)
            segment = None

    def _same(self) -> bool:
        """Tell whether memory and global variables are as they were, and nothing in them is open."""
        memory, world = self.memory, self._world
        return (
            memory.shared
            and memory.pages == world.pages
            and not world.open
            and not world.loose
            and PLAIN.issuperset(map(type, self.globals))
            and (*self.globals,) == world.globals
        )

    def _state(
        self, segment: Segment, live: Sequence[Any], frames: _Frames, base: Frame | None, bits: int
    ) -> State:
        """Return the state of a segment that waits above these frames."""
        states, stack, world, same = self.states, base, self._world, self._same()
        if same and not frames and (base is None or not base.open) and PLAIN.issuperset(map(type, live)):
            return states.state(segment, live, base, world, (), bits)
        numbering = Numbering()
        frozen = numbering.all(live)
        while stack is not None and base is not None and base.open:
            frames = [(stack.segment, [self._thaw(value) for value in stack.live]), *frames]
            stack = stack.below
        for below, values in [(below, numbering.all(values)) for below, values in reversed(frames)][::-1]:
            stack = states.frame(below, values, stack)
        if not same:
            items, memory = world.items, self.memory
            if not memory.shared or world.open:
                memory.drop()
                items = memory.frozen(numbering.freeze)
                memory.shared = True
            world = states.world(items, memory, numbering.all(self.globals))
        return states.state(segment, frozen, stack, world, tuple(numbering.counts), bits)

    def _wanted(self, chance: Chance, given: Sequence[Any]) -> tuple[int, int, int | None]:
        """Return where random bytes are wanted, how many, and what the import returns then."""
        place, size = int(given[chance.place]), int(given[chance.place + 1])
        if size > MOST_BYTES:
            raise Outside(f"{size} random bytes are asked for at once", f"at most {MOST_BYTES} are given")
        if place + size > self.memory.size:
            raise Trap("memory out of bounds")
        return place, size, {"": None, "0": 0, "count": size}[chance.returned]

    def _filled(self, value: Any, place: int, size: int, result: Any) -> tuple[Any, ...]:
        """Write random bytes into memory."""
        for at, part in self.memory.pieces(size, place):
            self.memory.write[part](place + at, (value >> (8 * at)) & ((1 << (8 * part)) - 1))
        return LEAVE, result

    def _ended(self, value: Any) -> Ended:
        """Return the end of runs that return this; as many in a list if it has several values."""
        results = self.results if value is not None else ()
        if type(value) is Drawn:
            return [self._ended(one) for one in value.values()]  # type: ignore[return-value]
        if len(results) == 1:
            shown = signed(value, results[0])
        else:
            shown = tuple(map(signed, value, results)) if results else None
        if self.kinds:
            self._see()
        return self.states.ended(shown)

    def _see(self) -> None:
        """Give what was seen since the last draw a number."""
        tally = self.tally
        text = "; ".join(show(tally) for kind, show in _SEEN.items() if kind in self.kinds)
        tally.steps = self._seen.setdefault(text, len(self.seen))
        if tally.steps == len(self.seen):
            self.seen.append(text)
