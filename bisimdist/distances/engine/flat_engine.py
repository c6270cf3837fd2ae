"""Brackets of all pairs at once in flat tables: nothing is kept of a pair but its distance and its plan.

Plans are improved and followed in turn until the distances stand still. A margin added at every step makes
them a pre-fixed point, one taken away a post-fixed point that is exceeded strictly. One more sweep, in which
all rounding is allowed for, proves both; on what was done before nothing rests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.blocks import blocks
from bisimdist.distances.engine.digit_brackets import prove_tables
from bisimdist.distances.engine.flat_bases import Bases
from bisimdist.distances.engine.flat_code import code_for
from bisimdist.distances.engine.flat_layout import Layout, Part
from bisimdist.distances.engine.flat_plan import Room
from bisimdist.distances.engine.flat_sweeps import ABSENT, OPEN, ZERO, Plans
from bisimdist.distances.engine.iteration import ONE
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.question import prepare
from bisimdist.errors import LimitError
from bisimdist.interruption import under_deadline
from bisimdist.lp.compiled import Float64Array, Int64Array, UInt8Array
from bisimdist.models.interactive import System
from bisimdist.progress import NEVER, Deadline, Progress, silent

CHUNK = 100_000  # the deadline is looked at after about so many pairs
LEAST_MARGIN = 16  # margins of fewer units are lost in rounding
ROUNDS = 40  # how often plans are improved before the work is given up
FEW = 5_000  # of up to so many pairs it takes less time to solve equations, as others do,
SWEEPS = 600  # than so many sweeps

ROUGHLY = 16
"""Plans are made anew when following moves distances by so many times less than new plans did; and sides are
looked at anew, the first time, when plans move no distance by more than one in so many."""

NEARLY = 32  # what plans may still change when those that follow from them are left to the proof to judge

PATIENT = 20
"""How often plans of a loop are improved for one table before each distance counts at once there, too."""

PART = 1 << 24  # bases are written about so many bytes at a time
BLOCK = 16  # rows of a class that are closed at a time


class NoBracketError(LimitError):
    """No bracket was found in this way; another may lead to one."""

    tables: FlatTables | None = None
    """Upper bounds that are proved all the same, if there are any; the lower bounds are 0."""


@dataclass(frozen=True, slots=True)
class FlatTables:
    """Proved bounds, in units of which `one` are distance 1, on all pairs that those asked depend on."""

    model: System
    alpha: fmpq
    asked: Sequence[tuple[int, int]]
    layout: Layout
    lower: Float64Array
    upper: Float64Array
    state: UInt8Array  # which pairs are there: see `bisimdist.distances.engine.flat_sweeps.Plans`

    def bounds(self, pair: tuple[int, int]) -> tuple[fmpq, fmpq]:
        """Return the lower and the upper bound on the distance of a pair of states."""
        chain, (i, j) = self.layout.chain, (int(self.layout.place[s]) for s in pair)
        if i == j or min(i, j) < 0 or chain.kind[i] != chain.kind[j]:
            known = fmpq(0 if pair[0] == pair[1] else 1)
            return known, known
        number, one = self.layout.pair(*pair), self.layout.one
        return fmpq(int(self.lower[number]), one), fmpq(int(self.upper[number]), one)

    def units(self, first: Int64Array, second: Int64Array) -> tuple[Int64Array, Int64Array]:
        """Return the lower and the upper bounds on the distances of many pairs, in units."""
        number = self.layout.pairs_of(first, second)
        known = np.where(first == second, 0, self.layout.one)
        lower, upper = (
            np.where(number < 0, known, table[number].astype(np.int64)) for table in (self.lower, self.upper)
        )
        return lower, upper

    @property
    def gap(self) -> float:
        """The largest difference of the bounds on a pair."""
        return float((self.upper - self.lower).max(initial=0.0)) / self.layout.one

    def middle(self, pairs: Sequence[tuple[int, int]]) -> Int64Array:
        """Return distances between the bounds, in units of 1 / `iteration.ONE`; 0 only where it is 0."""
        first, second = (np.array(states, dtype=np.int64) for states in zip(*pairs, strict=True))
        number = self.layout.pairs_of(first, second)
        found: Float64Array = np.ceil((self.lower[number] + self.upper[number]) * (ONE / 2 / self.layout.one))
        return found.astype(np.int64)

    def bases(self, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Iterator[bytes]:
        """Yield what proves the bounds of all pairs that are there, in their order, for compact tables."""
        layout, code = self.layout, code_for(self.layout, deadline)
        chain, room = layout.chain, layout.room()
        work = Bases(np.zeros((3, 2 * room.width), dtype=np.int64), np.zeros(2 * room.width, dtype=np.int64))
        most = 1 + 6 * 2 * layout.width  # bytes of a pair: three bases of two rows' states, two bytes each
        pairs = np.cumsum(np.arange(len(chain.first)) - chain.first)
        low = 0
        while low < len(pairs):
            deadline.check()
            progress("bases", low, len(pairs))
            before = int(pairs[low - 1]) if low else 0
            high = max(low + 1, int(np.searchsorted(pairs, before + PART // most, side="right")))
            out = np.empty((int(pairs[high - 1]) - before) * most, dtype=np.uint8)
            tables = self.state, self.lower, self.upper, float(layout.one)
            count = code.write_bases(low, high, chain, room, work, *tables, out)
            yield out[:count].tobytes()
            low = high

    def in_detail(self, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Proof:
        """Return the proof with all its couplings and potentials."""
        question = prepare(
            self.model,
            self.alpha,
            self.asked,
            ordered=self.layout.ordered,
            deadline=deadline,
            progress=progress,
        )
        numbers = [self.layout.pair(*pair) for pair in question.functional.space.pairs]
        lower, upper = (table[numbers].astype(np.int64) for table in (self.lower, self.upper))
        return prove_tables(question, lower, upper, self.layout.one, deadline=deadline)


R = TypeVar("R")
Chunk = tuple[int, int]
Spread = Callable[[Layout, Deadline, Progress], "FlatWork"]
"""Makes the same work that has its plans made elsewhere."""


def flat_tables(  # noqa: PLR0913
    model: System,
    alpha: fmpq,
    asked: Sequence[tuple[int, int]],
    layout: Layout,
    precision: fmpq,
    *,
    spread: Spread | None = None,
    jobs: int = 1,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> FlatTables:
    """Prove bounds whose difference is at most `precision`; the bounds do not depend on who makes the plans.

    They are made in `jobs` threads, or elsewhere.

    Raises NoBracketError if no such bounds are found with the digits of doubles, or, for alpha > 1, detours
    through third states pay.
    """
    layout = layout.for_width(precision)
    work = (spread or partial(FlatWork, jobs=jobs))(layout, deadline, progress)
    work.begin(asked)
    tables = partial(FlatTables, model, alpha, asked, layout, state=work.plans.state)
    width = int(precision * layout.one)
    margin = width // 16
    nothing = np.zeros(layout.pairs, dtype=np.float64)
    lower, upper = nothing.copy(), None
    try:
        while margin >= LEAST_MARGIN:
            work.settle(lower, 0, margin // 2, nearly=NEARLY)
            upper = lower.copy()
            work.prove(lower, upper, margin)
            gap = float((upper - lower).max())
            if gap <= width:
                return tables(lower, upper)
            margin = int(margin * width / gap * 0.75)
        raise NoBracketError("no bracket of that precision was found in doubles")
    except NoBracketError as error:
        if upper is not None and work.violations(nothing, upper) == 0:
            error.tables = tables(nothing, upper)
        raise


@dataclass(slots=True)
class FlatWork:
    """Plans under way, and how to sweep over them.

    Making plans, which is dear, and the last check go pair by pair from tables that stay as they are, so
    whoever does that elsewhere overrides `pay`, `violations` and the two that write plans; following goes in
    order.
    """

    layout: Layout
    deadline: Deadline
    progress: Progress
    jobs: int = 1  # how many threads share what goes pair by pair
    code: SimpleNamespace = field(init=False)
    chunks: list[Chunk] = field(init=False)  # pieces of the order of the states,
    begins: dict[Chunk, int] = field(default_factory=dict)  # and where the places of each begin
    parts: list[tuple[Part, list[Chunk]]] = field(init=False)
    room: Room = field(init=False)
    plans: Plans = field(init=False)
    done: int = 0

    def __post_init__(self) -> None:
        chain = self.layout.chain
        pairs = np.cumsum((chain.turn - chain.first)[chain.order])
        cuts = np.searchsorted(pairs, np.arange(0, self.layout.pairs, CHUNK)).tolist()
        ends = sorted({len(pairs), *cuts, *(part.low for part in self.layout.parts)})
        self.chunks = list(pairwise(ends))
        self.parts = [
            (part, [chunk for chunk in self.chunks if part.low <= chunk[0] < part.high])
            for part in self.layout.parts
        ]
        self.room = self.layout.room()
        self.code = code_for(self.layout, self.deadline)

    def begin(self, asked: Sequence[tuple[int, int]]) -> None:
        """Find the pairs that matter and those at distance 0, exactly, and make room for plans."""
        layout = self.layout
        codes = np.uint8 if OPEN + layout.sides <= 1 << 8 else np.int32
        state = np.full(layout.pairs, ABSENT, dtype=codes)
        nothing, cells = np.zeros(0, dtype=np.float64), np.zeros(0, dtype=np.int32)
        self.plans = Plans(cells, nothing, np.zeros(layout.pairs, dtype=np.float64), state)
        if layout.chain.p == layout.chain.q:
            self._reach(asked)
        else:
            state[:] = ZERO
        table = np.zeros(layout.pairs, dtype=np.float64)
        found, places = self.pay(table)
        while found:
            found, places = self.pay(table)
        cells = np.zeros(places, dtype=np.int32 if layout.pairs < 1 << 31 else np.int64)
        self.plans = self.plans._replace(cell=cells, mass=np.zeros(places, dtype=np.float64))

    def pay(self, table: Float64Array) -> tuple[int, int]:
        """Look once for pairs that are not at distance 0, as `flat_sweeps.pay` does."""
        found = places = 0
        chain, plans = self.layout.chain, self.plans

        def pay(low: int, high: int) -> tuple[int, int]:
            return self.code.pay(low, high, chain, self.layout.room(), plans, table)  # type: ignore[no-any-return]

        for chunk, (more, taken) in self._each("zeros", self.chunks, pay):
            self.begins[chunk] = places
            found, places = found + more, places + taken
        return found, places

    def improve_here(self, chunks: list[Chunk], table: Float64Array, extra: int, both: bool) -> float:
        """Make the plans of chunks optimal, where each distance counts at once."""
        return self._sweep(self.code.improve, (self.room, self.plans, both, True), chunks, table, extra)

    def improve_apart(self, chunks: list[Chunk], table: Float64Array, extra: int, both: bool) -> float:
        """Make the plans of chunks optimal for a table that stays as it is."""
        about = self.plans, both, False, table, float(self.layout.one), float(extra)

        def improve(low: int, high: int) -> float:
            begin, room = self.begins[low, high], self.layout.room()
            return float(self.code.improve(low, high, begin, self.layout.chain, room, *about)[1])

        return max((change for _, change in self._each("sweeps", chunks, improve)), default=0.0)

    def violations(self, lower: Float64Array, upper: Float64Array) -> int:
        """Count the pairs at which the tables are not proved, as `flat_sweeps.violations` does."""
        about = self.plans, lower, upper, float(self.layout.one)

        def violations(low: int, high: int) -> int:
            return int(self.code.violations(low, high, self.layout.chain, self.layout.room(), *about))

        return sum(wrong for _, wrong in self._each("proof", self.chunks, violations))

    def _each(
        self, what: str, chunks: list[Chunk], work: Callable[[int, int], R]
    ) -> Iterator[tuple[Chunk, R]]:
        """Do what may be done to chunks in any order, in as many threads as there are jobs."""
        if len(chunks) == 1:  # a thread takes longer to start than small chunks to be done
            self.tell(what)
            yield chunks[0], work(*chunks[0])
            return
        with ThreadPoolExecutor(self.jobs) as pool:
            tasks = [pool.submit(under_deadline(work), *chunk) for chunk in chunks]
            try:
                for chunk, task in zip(chunks, tasks, strict=True):
                    self.tell(what)
                    yield chunk, task.result()
            finally:
                for task in tasks:
                    task.cancel()

    def _reach(self, asked: Sequence[tuple[int, int]]) -> None:
        """Mark the pairs that direct plans reach."""
        layout, state = self.layout, self.plans.state
        states = len(layout.chain.first)
        stack = np.empty(layout.pairs + 1, dtype=np.int64)
        depth = 0
        for first, second in blocks(asked):
            number = layout.pairs_of(first, second)
            fresh = np.flatnonzero(number >= 0)
            fresh = fresh[state[number[fresh]] == ABSENT]
            fresh = fresh[np.unique(number[fresh], return_index=True)[1]]
            state[number[fresh]] = ZERO
            i, j = layout.place[first[fresh]], layout.place[second[fresh]]
            stack[depth : depth + len(fresh)] = i * states + j
            depth += len(fresh)
        while depth:
            self.tell("pairs")
            depth = self.code.reach(layout.chain, self.room, state, stack, depth, CHUNK)

    def settle(
        self, table: Float64Array, extra: int, enough: int, *, nearly: int = 1, turned: bool = True
    ) -> None:
        """Improve plans and follow them until no distance changes by more than `enough`.

        The work on a part also ends with plans that change them by up to `nearly` times that, once they are
        followed. Unless sides may be `turned`, each pair keeps the one that was taken last.
        """
        several = turned and self.layout.sides > 1
        for part, chunks in self.parts:
            if part.cyclic:
                self._settle(PATIENT if part.apart else 0, chunks, table, (extra, enough, nearly, several))
            else:
                improve = self.improve_apart if part.apart else self.improve_here
                improve(chunks, table, extra, several)
                self._follow(chunks, table, extra)

    def _settle(
        self, patient: int, chunks: list[Chunk], table: Float64Array, about: tuple[int, int, int, bool]
    ) -> None:
        extra, enough, nearly, several = about
        both, early, less = several, several, 0.0
        for round_ in range(1, ROUNDS):
            improve = self.improve_apart if round_ <= patient else self.improve_here
            change = max(less, improve(chunks, table, extra, both))
            if change <= enough and both == several:
                return
            last = both == several and change <= nearly * enough
            first = less = self._follow(chunks, table, extra)
            both = several and min(change, first) <= (self.layout.one / ROUGHLY if early else enough)
            early = early and not both
            for _ in range(20 * round_ - 1):
                if less <= max(change / ROUGHLY, enough / 8):
                    break
                less = self._follow(chunks, table, extra)
            if last:
                return
        raise NoBracketError("mass goes round for too long for an iteration")

    def follow(self, table: Float64Array, extra: int, enough: int) -> None:
        """Follow the plans, `extra` added at each step, until no distance changes by more than `enough`."""
        for part, chunks in self.parts:
            for _ in range(20 * ROUNDS):
                if self._follow(chunks, table, extra) <= enough or not part.cyclic:
                    break
            else:
                raise NoBracketError("mass goes round for too long for an iteration")

    def _follow(self, chunks: list[Chunk], table: Float64Array, extra: int) -> float:
        return self._sweep(self.code.follow, (self.plans,), chunks, table, extra)

    def _sweep(
        self,
        sweep: Callable[..., tuple[int, float]],
        work: tuple[Any, ...],
        chunks: list[Chunk],
        table: Float64Array,
        extra: int,
    ) -> float:
        most, one = 0.0, float(self.layout.one)
        for chunk in chunks:
            self.tell("sweeps")
            _, change = sweep(*chunk, self.begins[chunk], self.layout.chain, *work, table, one, float(extra))
            most = max(most, change)
        self.done += 1
        if self.done > SWEEPS and self.layout.pairs <= FEW:
            raise NoBracketError("mass goes round for too long for an iteration")
        return most

    def tell(self, what: str) -> None:
        """Look at the clock, and say how far the work is."""
        self.deadline.check()
        self.progress(what, self.done, None)

    def prove(self, lower: Float64Array, upper: Float64Array, margin: int) -> None:
        """Move two tables that are one apart, until they are proved."""
        both = (upper, margin), (lower, -margin)
        for table, extra in both:
            self.follow(table, extra, margin // 4)
        if self.proved(lower, upper, margin):
            return
        # other plans come into play where the margin is: let them
        for nearly, turned in ((NEARLY, False), (NEARLY, True), (1, True)):
            for table, extra in both:
                self.settle(table, extra, margin // 2, nearly=nearly, turned=turned)
            if self.proved(lower, upper, margin):
                return
        raise NoBracketError("no bracket was found by iteration")

    def proved(self, lower: Float64Array, upper: Float64Array, margin: int) -> bool:
        """Tell whether the tables are proved everywhere; for alpha > 1 the lower one is closed for that."""
        if self.layout.chain.p != self.layout.chain.q:
            self.close(lower, margin // 2)
        return self.violations(lower, upper) == 0

    def close(self, table: Float64Array, most: int) -> None:
        """Lower the table until no third state offers a detour that is cheaper than the direct way.

        Raises NoBracketError if that takes more than `most`.
        """
        chain = self.layout.chain
        skew = chain.p / chain.q * (1.0 - 2.0**-50)  # less than alpha, whatever the rounding
        firsts, sizes = np.unique(chain.first, return_counts=True)
        for first, size in zip(firsts.tolist(), sizes.tolist(), strict=True):
            below = np.tri(size, k=-1, dtype=np.bool_)
            begin = int(chain.base[first]) + first
            triangle = slice(begin, begin + size * (size - 1) // 2)
            other = slice(begin + chain.half, begin + chain.half + size * (size - 1) // 2)
            matrix = np.zeros((size, size), dtype=np.float64)
            matrix[below], matrix.T[below] = table[triangle], table[other]
            while self._closer(matrix, skew):
                if not self.layout.ordered:
                    matrix = np.minimum(matrix, matrix.T)
            for part, closed in ((triangle, matrix[below]), (other, matrix.T[below])):
                if float((table[part] - closed).max(initial=0.0)) > most:
                    raise NoBracketError("detours through third states pay")
                table[part] = closed

    def _closer(self, matrix: Float64Array, skew: float) -> bool:
        """Lower the rows of a class once; tell whether one changed.

        In the end the matrix is the largest below the first that is closed, in whatever order that went.
        """
        skewed = matrix * skew
        np.floor(skewed, out=skewed)
        np.fill_diagonal(skewed, np.inf)  # a state is no third state on its own way
        least = skewed.min(axis=0)

        def close(low: int, high: int) -> bool:
            best = np.empty((high - low, len(matrix)), dtype=np.float64)
            reach = (matrix[low:high] - least).max(axis=1)
            if float(self.code.close(low, high, matrix, skewed, reach, best)) == 0.0:
                return False
            matrix[low:high] = best
            return True

        cuts = [*range(0, len(matrix), BLOCK), len(matrix)]
        return sum(changed for _, changed in self._each("detours", list(pairwise(cuts)), close)) > 0
