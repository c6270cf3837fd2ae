"""The amortised metric: for each position the staircase of credits with which the answering player wins.

All numbers are the exponentials of what they stand for. The running sum of the definition is a running
product that has to stay in ``[1/V, V]``; a position is won from the running product c if some corner (p, q)
of its staircase has ``p <= V/c`` and ``q <= V c``. From the start, c = 1, the least V is the least
``max(p, q)`` over the corners.

Source: XCL14 Definition 5, XCL14 Proposition 2.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from flint import fmpq

from bisimdist.automata.engine.escape import Escapes, find_escapes
from bisimdist.automata.engine.game import SAME, Arena, Duel
from bisimdist.automata.engine.staircase import (
    EVERYTHING,
    Corner,
    Staircase,
    common,
    covers,
    either,
    least_pairs,
    shifted,
)
from bisimdist.errors import LimitError
from bisimdist.progress import NEVER, Deadline, Progress, silent

ONE = fmpq(1)
MAX_CORNERS = 120  # how many corners a staircase may have: beyond, the credits are taken not to settle
MAX_BITS = 20_000  # how long the numbers of a corner may be

History = list[tuple[int, Staircase]]
"""The staircases of a position, each with the number of the step that made it; the first one is step 0."""


@dataclass(slots=True)
class Amortised:
    """What is known of the amortised distances of an arena."""

    arena: Arena
    escapes: Escapes = field(default_factory=dict)  # the positions of infinite distance
    # for each other position its staircases, from that without demands on: every one contains the winning
    # credits, for windows up to `widest`
    history: dict[int, History] = field(default_factory=dict)
    widest: fmpq | None = None  # corners whose product is larger were dropped; None where nothing was
    settled: bool = False  # whether the last staircases are the winning credits themselves

    def stairs(self, position: int) -> Staircase:
        if position == SAME:
            return EVERYTHING
        return self.history[position][-1][1] if position in self.history else ()

    def lower(self, position: int | None) -> fmpq | None:
        """Return a lower bound on the value of a position (its value where settled); None for infinity."""
        if position is None or position in self.escapes:
            return None
        if position == SAME:
            return ONE
        values = [max(p, q) for p, q in self.stairs(position)]
        if self.widest is not None:
            values.append(_root_below(self.widest))
        return min(values, default=ONE)

    def found(self, position: int | None) -> bool:
        """Tell whether the value is known exactly."""
        if position is None or position == SAME or position in self.escapes:
            return True
        best = min((max(p, q) for p, q in self.stairs(position)), default=None)
        return self.settled and best is not None and (self.widest is None or best * best <= self.widest)


def _root_below(value: fmpq) -> fmpq:
    """Return a rational whose square is at most `value`, exact for squares."""
    numerator, denominator = (value.p * value.q).isqrt(), value.q
    return max(ONE, fmpq(numerator, denominator))


def lost(stairs: Staircase, credit: fmpq, window: fmpq) -> bool:
    """Tell whether no window [1/V, V] with V less than `window` is won from the running product `credit`."""
    return all(p * credit >= window or q >= window * credit for p, q in stairs)


def amortised_values(
    arena: Arena,
    positions: Iterable[int],
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Amortised:
    """Compute the amortised distance of some positions.

    Every position starts without demands, and staircases shrink until nothing changes: the greatest fixed
    point. First without any limit on how wide windows may be, if that stays small, then for limits that grow.

    returns: exact where it settled. It may not settle where ratios have irrational logarithms to one another
        and the answering player has to balance them for ever; then its staircases still bound from below.
    """
    result = Amortised(arena)
    try:
        result.escapes = find_escapes(arena, deadline=deadline, progress=progress)
    except LimitError:
        return Amortised(arena, {}, {p: [(0, EVERYTHING)] for p in range(len(arena.positions))})
    asked = [p for p in positions if p not in result.escapes]
    widest = max((edge.size for duel in arena.duels for edge in duel.edges), default=ONE) ** 2
    while asked:
        attempt = _Descent(arena, result.escapes, widest, deadline)
        settled = attempt.run(progress)
        result = Amortised(arena, result.escapes, attempt.history, widest, settled)
        if not settled or all(result.found(p) for p in asked):
            break
        widest = widest * widest
    return result


class _Descent:
    """Staircases on their way down, for windows whose two credits have a bounded product."""

    def __init__(self, arena: Arena, escapes: Escapes, widest: fmpq, deadline: Deadline) -> None:
        self.arena = arena
        self.escapes = escapes
        self.widest = widest
        self.deadline = deadline
        live = [position for position in range(len(arena.positions)) if position not in escapes]
        self.history: dict[int, History] = {position: [(0, EVERYTHING)] for position in live}
        self.needs: dict[int, Staircase] = {}
        self.step = 0

    def run(self, progress: Progress) -> bool:
        """Shrink until nothing changes; False where a limit came first."""
        dirty = set(self.history)
        while dirty:
            progress("staircases", self.step, None)
            changed = []
            for position in sorted(dirty):
                if self.deadline.passed():
                    return False
                before = self.history[position][-1][1]
                after = common(before, self._stairs(position))
                if after == before:
                    continue
                if len(after) > MAX_CORNERS or any(_bits(corner) > MAX_BITS for corner in after):
                    return False
                self.step += 1
                self.history[position].append((self.step, after))
                changed.append(position)
            dirty = set()
            for position in changed:
                for number in self.arena.entries[position]:
                    self.needs.pop(number, None)
                    dirty.update(user for user in self.arena.users[number] if user in self.history)
        return True

    def _stairs(self, position: int) -> Staircase:
        result = EVERYTHING
        for challenge in self.arena.challenges[position]:
            union: Staircase = ()
            for number, _ in challenge.answers:
                union = either(union, self._need(number))
            result = common(result, union)
            if not result:
                break
        return result

    def _need(self, number: int) -> Staircase:
        if number not in self.needs:
            self.needs[number] = self._bijections(self.arena.duels[number])
        return self.needs[number]

    def _bijections(self, duel: Duel) -> Staircase:
        """Return the credits with which some bijection leads to won positions only."""
        if not duel.left and not duel.right:
            return EVERYTHING
        after: list[Staircase] = []
        for edge in duel.edges:
            if edge.position == SAME:
                stairs = EVERYTHING
            else:
                history = self.history.get(edge.position)
                stairs = history[-1][1] if history else ()
            after.append(shifted(stairs, edge.ratio, self.widest))
        if len(duel.left) == len(duel.right) == 1:
            return after[0] if after and duel.left == duel.right else ()
        return least_pairs(
            corner for corner in self._sweep(duel, after) if corner[0] * corner[1] <= self.widest
        )

    def _sweep(self, duel: Duel, after: Sequence[Staircase]) -> list[Corner]:
        """Walk down the staircase of a duel: as little rise as possible, then as little fall."""
        ups = sorted({p for stairs in after for p, _ in stairs})
        downs = sorted({q for stairs in after for _, q in stairs})
        if not ups:
            return []

        def possible(up: fmpq, down: fmpq) -> bool:
            return duel.holds(
                [edge for edge, stairs in zip(duel.edges, after, strict=True) if covers(stairs, up, down)]
            )

        corners: list[Corner] = []
        first, limit = 0, len(downs)
        while limit:
            down = downs[limit - 1]
            first = bisect_left(ups, True, first, key=partial(possible, down=down))
            if first == len(ups):
                break
            up = ups[first]
            limit = bisect_left(downs, True, 0, limit, key=partial(possible, up))
            corners.append((up, downs[limit]))
        return corners


def _bits(corner: Corner) -> int:
    return max(int(value.p.bit_length()) + int(value.q.bit_length()) for value in corner)
