"""Where the amortised distance is infinite: the challenger can drive the running product out of every window.

A one-sided game is played for each direction. Its value at a position is the least credit with which the
answering player can keep the running product from exceeding the credit. Lower bounds on it grow round by
round, each with the challenge and the edges that force it; as soon as these edges lead round in a circle
that the answering player cannot leave, the credit is infinite, however little each turn gains.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.automata.engine.game import SAME, Arena, Challenge, Edge
from bisimdist.progress import NEVER, Deadline, Progress, silent

ONE = fmpq(1)


@dataclass(frozen=True, slots=True)
class Escape:
    """How the challenger drives the running product away from one position."""

    # every step leads to an escape of lower rank, or stays in this rank and raises ``product * potential``
    rank: int
    up: bool  # whether the product is raised or lowered (its inverse raised)
    potential: fmpq  # the weight of this position in its rank
    depth: int  # where a step does not raise ``product * potential``, it leads to a lower depth
    challenge: Challenge


Escapes = dict[int, Escape]  # by position; positions that are not there have a finite amortised distance


def signed(ratio: fmpq, *, up: bool) -> fmpq:
    """Return a ratio as seen by who pushes it up, or down."""
    return ratio if up else 1 / ratio


def find_escapes(arena: Arena, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Escapes:
    """Return every position of infinite amortised distance, with the strategy that shows it.

    The proof that what is found is infinite, and that nothing else is, is in ``docs/theory/metric.md``.
    """
    found: Escapes = {}
    climbs = [_Climb(arena, found, up=up, deadline=deadline) for up in (True, False)]
    quiet = 0
    turn = 0
    while quiet < len(climbs):
        before = len(found)
        climbs[turn % 2].run()
        progress("positions of infinite distance", len(found), len(arena.positions))
        quiet = quiet + 1 if len(found) == before else (1 if turn else 0)
        turn += 1
    return found


@dataclass(slots=True)
class _Hold:
    """What holds a credit up: a challenge, and where the answers to it must lead."""

    challenge: Challenge
    stamp: int
    targets: frozenset[int]


@dataclass(slots=True)
class _Climb:
    """The one-sided game of one direction, among the positions that are not known to be infinite."""

    arena: Arena
    found: Escapes
    deadline: Deadline
    up: bool
    credit: dict[int, fmpq] = field(default_factory=dict)
    holds: dict[int, _Hold] = field(default_factory=dict)
    stamp: int = 0
    seen: int = -1
    needs: dict[int, fmpq | None] = field(default_factory=dict)

    def run(self) -> None:
        """Raise the credits until they are a solution; move into `found` what turns out to be infinite."""
        dirty = set(range(len(self.arena.positions)))
        if self.seen != len(self.found):
            self.needs.clear()  # the other direction has found something since
        while dirty:
            changed: set[int] = set()
            for position in sorted(dirty):
                if position not in self.found:
                    self.deadline.check()
                    changed |= self._raise(position)
            changed |= self._circles()
            dirty = self._touched(changed)
        self.seen = len(self.found)

    def _touched(self, changed: set[int]) -> set[int]:
        result: set[int] = set()
        for position in changed:
            for number in self.arena.entries[position]:
                self.needs.pop(number, None)
                result.update(user for user in self.arena.users[number] if user not in self.found)
        return result

    def _cost(self, edge: Edge) -> fmpq | None:
        if edge.position in self.found:
            return None
        return max(ONE, signed(edge.ratio, up=self.up) * self.credit.get(edge.position, ONE))

    def _need(self, number: int) -> fmpq | None:
        """Return the least credit that some bijection of a duel gets by with; None where none does."""
        if number not in self.needs:
            duel = self.arena.duels[number]
            priced = [(edge, cost) for edge in duel.edges if (cost := self._cost(edge)) is not None]
            prices = sorted({cost for _, cost in priced})

            def enough(price: fmpq) -> bool:
                return duel.holds([edge for edge, cost in priced if cost <= price])

            at = bisect_left(prices, True, key=enough)
            if at == len(prices):
                empty = not duel.left and not duel.right
                self.needs[number] = ONE if empty else None
            else:
                self.needs[number] = prices[at]
        return self.needs[number]

    def _raise(self, position: int) -> set[int]:
        best: fmpq | None = ONE
        chosen: Challenge | None = None
        for challenge in self.arena.challenges[position]:
            needs = [self._need(number) for number, _ in challenge.answers]
            finite = [need for need in needs if need is not None]
            if not finite:
                best, chosen = None, challenge
                break
            if best is not None and min(finite) > best:
                best, chosen = min(finite), challenge
        if chosen is None or (best is not None and best <= self.credit.get(position, ONE)):
            return set()
        self.stamp += 1
        if best is None:
            rank = 1 + max((escape.rank for escape in self.found.values()), default=0)
            self.found[position] = Escape(rank, self.up, ONE, 0, chosen)
            return {position}
        targets = frozenset(
            edge.position
            for number, _ in chosen.answers
            for edge in self.arena.duels[number].edges
            if (cost := self._cost(edge)) is not None and cost >= best
        )
        self.credit[position] = best
        self.holds[position] = _Hold(chosen, self.stamp, targets)
        return {position}

    def _circles(self) -> set[int]:
        """Find positions whose holds lead to each other for ever, never to a position without hold."""
        closed = {position for position in self.holds if position not in self.found}
        users: dict[int, list[int]] = {}
        leaving = []
        for position in closed:
            for target in self.holds[position].targets:
                if target in closed:
                    users.setdefault(target, []).append(position)
                elif target == SAME or target not in self.found:
                    leaving.append(position)
                    break
        while leaving:
            position = leaving.pop()
            if position in closed:
                closed.discard(position)
                leaving += users.get(position, ())
        if closed:
            rank = 1 + max((escape.rank for escape in self.found.values()), default=0)
            for position in sorted(closed):
                hold = self.holds[position]
                self.found[position] = Escape(
                    rank, self.up, self.credit[position], hold.stamp, hold.challenge
                )
        return closed
