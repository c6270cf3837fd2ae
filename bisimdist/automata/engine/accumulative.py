"""The accumulative metric: the least solution of a game with non-negative costs, computed level by level.

The value of a position is the least total cost that the answering player can hold the challenger to. The cost
of an answer is the largest ``|ln mu(u)/mu'(b(u))|`` of its bijection, wherever the challenger goes on. All
numbers are the exponentials of what they stand for: costs are ratios of at least one, totals are products.

Source: XCL14 Definition 3, XCL14 Proposition 1, XCL14 Proposition 5, XCL14 Proposition 6.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.automata.engine.game import SAME, Arena, Challenge, Edge
from bisimdist.progress import NEVER, Deadline, Progress, silent

ONE = fmpq(1)


@dataclass(slots=True)
class Accumulated:
    """The values of all positions of an arena, with what proves them from below."""

    arena: Arena
    # for each position the exponential of the accumulative distance; None where that is infinite
    values: dict[int, fmpq | None] = field(default_factory=dict)
    # among positions of one value a challenger who follows `challenges` without cost lowers the rank
    ranks: dict[int, int] = field(default_factory=dict)
    # the challenge with which the challenger obtains the value
    challenges: dict[int, Challenge] = field(default_factory=dict)

    def value(self, position: int | None) -> fmpq | None:
        """Return the value of a position as `Arena.position` gives it."""
        if position is None:
            return None
        return ONE if position == SAME else self.values[position]


@dataclass(slots=True)
class _Test:
    """Which positions survive at a level, and in which order and by which challenge the others fall."""

    survivors: set[int]
    fallen: dict[int, Challenge]


def accumulative_values(
    arena: Arena, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Accumulated:
    """Compute the accumulative distance of every position, exactly.

    As in Dijkstra's algorithm, values are found in ascending order. Let F be the positions of value less than
    v. Those of value v are the greatest set X such that in each of its positions every challenge has an
    answer whose bijection either costs r > 1 and leads into F to values at most v/r, or costs nothing and
    leads to values at most v or into X, where it may go on for ever. The next v is the least product of a
    ratio and a value known so far for which X is not empty; if there is none, all other values are infinite.

    Source: XCL14.
    """
    return _Levels(arena, deadline, progress).run()


class _Levels:
    def __init__(self, arena: Arena, deadline: Deadline, progress: Progress) -> None:
        self.arena = arena
        self.deadline = deadline
        self.progress = progress
        self.result = Accumulated(arena)
        self.known: dict[int, fmpq] = {SAME: ONE}
        self.open = set(range(len(arena.positions)))
        self.ratios = sorted({edge.size for duel in arena.duels for edge in duel.edges})
        self.sizes = [duel.sizes() for duel in arena.duels]

    def run(self) -> Accumulated:
        level = ONE
        while self.open:
            self.progress("positions with their distance", len(self.known) - 1, len(self.arena.positions))
            last = self.test(None)
            if not last.survivors:
                self._settle(self.open, None, last)
                break
            level = self._next_level(level)
        return self.result

    def _next_level(self, level: fmpq) -> fmpq:
        known = set(self.known.values())
        products = sorted({value * ratio for value in known for ratio in self.ratios})
        candidates = products[bisect_right(products, level) :]
        # `below` and `found` are tests at neighbouring candidates once the search ends
        low, high = -1, len(candidates) - 1
        below, found = None, None
        while high - low > 1 or found is None:
            middle = high if high - low == 1 else (low + high) // 2
            test = self.test(candidates[middle])
            if test.survivors:
                high, found = middle, test
            else:
                low, below = middle, test
        if below is None:
            below = self.test(level)
        self._settle(found.survivors, candidates[high], below)
        return candidates[high]

    def _settle(self, positions: set[int], value: fmpq | None, below: _Test) -> None:
        for rank, (position, challenge) in enumerate(below.fallen.items(), start=1):
            if position in positions:
                self.result.values[position] = value
                self.result.ranks[position] = rank
                self.result.challenges[position] = challenge
        if value is not None:
            self.known.update(dict.fromkeys(positions, value))
        self.open = self.open - positions

    def test(self, level: fmpq | None) -> _Test:
        """Return the greatest set of open positions that can be held to a level; None stands for infinity."""
        survivors = set(self.open)
        fallen: dict[int, Challenge] = {}
        holds: dict[int, bool] = {}
        waiting = sorted(survivors)
        for position in waiting:  # grows
            if position not in survivors:
                continue
            self.deadline.check()
            lost = self._lost(position, level, survivors, holds)
            if lost is None:
                continue
            survivors.discard(position)
            fallen[position] = lost
            for number in self.arena.entries[position]:
                if not holds.get(number, False):
                    continue
                del holds[number]
                waiting += [user for user in self.arena.users[number] if user in survivors]
        return _Test(survivors, fallen)

    def _lost(
        self, position: int, level: fmpq | None, alive: set[int], holds: dict[int, bool]
    ) -> Challenge | None:
        """Return a challenge without answer, if there is one."""
        for challenge in self.arena.challenges[position]:
            for number, _ in challenge.answers:
                if number not in holds:
                    holds[number] = self._answers(number, level, alive)
                if holds[number]:
                    break
            else:
                return challenge
        return None

    def _answers(self, number: int, level: fmpq | None, alive: set[int]) -> bool:
        duel = self.arena.duels[number]
        for size in self.sizes[number]:
            if level is not None and size > level:
                return False
            if duel.holds(self._usable(duel.edges, size, level, alive)):
                return True
        return False

    def _usable(self, edges: Sequence[Edge], size: fmpq, level: fmpq | None, alive: set[int]) -> list[Edge]:
        result = []
        for edge in edges:
            if edge.size > size:
                continue
            value = self.known.get(edge.position)
            if value is None:
                usable = size == 1 and edge.position in alive
            else:
                usable = level is None or value * size <= level
            if usable:
                result.append(edge)
        return result
