"""All runs of a program, the most probable first: each is replayed, and followed to its end."""

from __future__ import annotations

import heapq
import io
import itertools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.programs.control import Outside
from bisimdist.programs.replay.bulk import Bulk, released_at_once
from bisimdist.programs.replay.decision import Asked, segments
from bisimdist.programs.replay.fine import values_at_once
from bisimdist.programs.replay.lazy import Lazy
from bisimdist.programs.replay.node import Raised, raised
from bisimdist.programs.replay.region import WHOLE, Region
from bisimdist.programs.replay.released import Leaf, Released, convolved, few_values
from bisimdist.programs.replay.tape import Changed, GivenUp, Place, Played, Run, current
from bisimdist.programs.texts import same_text
from bisimdist.progress import NEVER, Deadline, Progress, silent

BUDGET = 256
"""So many boxes are looked at before what is left waits; twice as many as there are, where there are more."""

FEW_ENDS, MOST_ENDS = 4_000, 400_000
"""So many ranges of a draw are looked at for what is released one by one, and where arrays do not do that."""

End = tuple[Any, ...]
"""What was seen of a run, and at last what it returns: a text to show, and one that equal values share."""

_sink = io.StringIO()


def once(run: Run | Played, call: Callable[[], Any]) -> Any:
    """Run a program once; what it prints is not shown.

    returns: what it returns, or `Raised`.
    Raises what a mistake of ours raises.
    """
    shown = sys.stdout, sys.stderr
    current.run = run
    sys.stdout = sys.stderr = _sink
    try:
        return call()
    except RecursionError as error:
        raise Outside("calls are nested too deep", "write a loop, or recursion that ends") from error
    except (Exception, SystemExit) as error:
        return raised(error)
    finally:
        current.run = None
        sys.stdout, sys.stderr = shown
        if _sink.tell() > 1 << 20:
            _sink.seek(0)
            _sink.truncate()


BLAMED = ("Lazy", "Octets", "buffer", "bytes-like", "real number", "float is required")


def _refuse_blame(error: BaseException) -> None:
    """Refuse an exception that comes of what stands for a drawn number."""
    if isinstance(error, TypeError | AttributeError) and any(name in str(error) for name in BLAMED):
        raise Outside(
            f"code in C takes a drawn number, or looks for more than a number has ({error})",
            "give it a number that is rounded and made an int, or compute without it",
        ) from error


@dataclass(slots=True)
class Search:
    """The runs of a program on one input.

    finish: changes what is returned before it is released (to round it); None changes nothing.
    """

    call: Callable[[], Any]  # runs the program, on a fresh copy of its input
    finish: Callable[[Any], Any] | None = None
    draws: bool = False  # whether draws are seen
    trace: bool = False
    alike: Callable[[Any], str] = same_text
    ends: dict[End, fmpq] = field(default_factory=dict)
    leaves: list[Leaf] = field(default_factory=list)
    bulks: list[Bulk] = field(default_factory=list)
    """Floats that are released, very many at once."""
    replays: int = 0
    floats: bool = False
    """Whether numbers are released that have too many values to be told apart."""
    looked: int = 0
    """At how many boxes of draws it has looked."""
    _heap: list[tuple[float, int, Place, Region, bool]] = field(default_factory=list)
    """Regions that wait at places; and whether they are parts of one that has ended."""
    _order: Iterator[int] = field(default_factory=itertools.count)
    _known: fmpq = field(default_factory=lambda: fmpq(0))
    _deadline: Deadline = NEVER

    def __post_init__(self) -> None:
        self._push(Place(), WHOLE)

    def _push(self, place: Place, region: Region, *, part: bool = False) -> None:
        if region.cost < inf:
            heapq.heappush(self._heap, (region.cost, next(self._order), place, region, part))

    @property
    def missing(self) -> fmpq:
        """The exact mass of runs that are not known."""
        return 1 - self._known

    @property
    def done(self) -> bool:
        """Whether nothing is left to look at."""
        return not self._heap

    def below(self, most: float) -> bool:
        """Tell whether everything that is left costs more bits."""
        return not self._heap or self._heap[0][0] > most

    def work(
        self,
        steps: int,
        *,
        most: float = inf,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> None:
        """Look at so many boxes, or at all that cost at most so many bits."""
        end, told, self._deadline = self.looked + steps, 0, deadline
        while self.looked < end and self._heap and self._heap[0][0] <= most:
            deadline.check()
            told += 1
            if told % 64 == 1:
                progress("runs", self.replays, None)
            _, _, place, region, part = heapq.heappop(self._heap)
            try:
                if place.released is not None:
                    self._end(place, region, part=part)
                elif place.condition is not None:
                    self._divide(place, region)
                else:
                    self._replay(place, region, most)
            except BaseException:
                self._push(place, region, part=part)
                raise

    def _divide(self, place: Place, region: Region) -> None:
        """Divide a region by a condition that is known from runs before."""
        parts, left, work = place.condition.divide(place.laws, region, BUDGET)  # type: ignore[union-attr]
        self.looked += work
        for outcome, part in parts:
            self._push(place.way(outcome), part)
        for part in left:
            self._push(place, part)

    def _replay(self, place: Place, region: Region, most: float) -> None:
        run = Run(place, region, most)
        run.shows_draws = self.draws
        self.replays += 1
        try:
            value = once(run, self.call)
            if type(value) is not Raised and self.finish is not None:
                current.run = run
                try:
                    value = self.finish(value)
                finally:
                    current.run = None
            released = Released.of(run, value, trace=self.trace, alike=self.alike)
            if run.at < len(run.script):
                raise Changed
        except GivenUp:
            released = None
        except Changed:
            raise ModelError(
                "two equal runs differ: what the program does depends on more than its input and its draws "
                "(a global, a default argument or a cache that changes, an address, or an unknown source of "
                "chance)"
            ) from None
        self.looked += 1 + run.work
        if released is not None and type(value) is Raised:
            _refuse_blame(value.error)
        for item in run.pending:
            self._push(*item)
        if released is not None:
            run.place.released, run.place.laws, run.place.drawn = released, run.laws, len(run.laws)
            self._end(run.place, run.region)

    def _end(self, place: Place, region: Region, *, part: bool = False) -> None:
        """Add a region that has ended to what is known, or divide it where its output is not one."""
        laws, released = place.laws, place.released
        leaf = Leaf(laws, region, released)
        if not part:
            self.leaves.append(leaf)
        if not released.draws:
            self.looked += 1
            self._add(released.end_of(()), region.mass(laws))
            return
        involved, rest = region.apart(released.draws)
        if any(len(factor.draws) > 1 for factor in involved):
            alone = leaf.alone()
            if alone is None:
                self._open(place, region)
                return
            leaf = alone
            laws, region = leaf.laws, leaf.region
            place = Place()
            place.released, place.laws = released, laws
            _, rest = region.apart(released.draws)
        free = Region(rest).mass(laws)
        if len(released.draws) > 1:
            found = None if part else convolved(leaf)
            if found is None:
                self._open(place, region)
                return
            for end, mass in found.items():
                self._add(end, free * mass)
            return
        draw = released.draws[0]
        for low, high in leaf.ranges(draw):
            self._one(leaf, draw, low, high, free)

    def _one(self, leaf: Leaf, draw: int, low: float, high: float, free: fmpq) -> None:
        """Add the outputs of a range of the one draw that they depend on."""
        laws, released = leaf.laws, leaf.released
        if low == high:
            self._add(released.end({draw: low}, {draw: low}), free * laws[draw].mass(low, high))
            return
        if type(released.value) is Lazy and not released.seen:
            bulk = released_at_once(released, laws[draw], draw, (low, high), free)
            if bulk is not None:
                self.bulks.append(bulk)
                self._known += free * laws[draw].mass(low, high)
                return
        if not few_values(released.nodes, laws, draw, low, high):
            self.floats = True
            return
        ends, plan = ({draw: low}, {draw: high}), released.planned
        parts, work = segments(laws, *ends, draw, plan, released.known, FEW_ENDS)
        self.looked += work
        if work >= FEW_ENDS:
            span = low, high
            fine = values_at_once(plan, released.known, laws[draw], draw, span, self._deadline)
            if fine is not None:
                unit = free * laws[draw].mass(low, low)
                for outcome, count, _ in fine:
                    self._add(released.end_of(outcome), unit * count)
                return
            parts, work = segments(laws, *ends, draw, plan, released.known, MOST_ENDS)
            self.looked += work
        for outcome, first, last in parts:
            self._add(released.end_of(outcome), free * laws[draw].mass(first, last))

    def _open(self, place: Place, region: Region) -> None:
        """Divide a region of several draws by what is released."""
        released = place.released
        if released.asked is None:
            released.asked = Asked(released.nodes, released.known)
        parts, left, work = released.asked.divide(place.laws, region, BUDGET)
        self.looked += work
        for outcome, part in parts:
            self._add(released.end_of(outcome), part.mass(place.laws))
        for part in left:
            self._push(place, part, part=True)

    def _add(self, end: End, mass: fmpq) -> None:
        self.ends[end] = self.ends.get(end, fmpq(0)) + mass
        self._known += mass
