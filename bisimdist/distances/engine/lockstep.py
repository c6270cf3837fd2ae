"""An upper bound that is cheap: how likely two runs, coupled step by step, ever come to differ.

One coupling is chosen for each pair of states, so only the pairs that these couplings lead to matter: often
about as many as states, where all couplings together would lead to most pairs of states. The chance that the
coupled runs ever show different labels is a pre-fixed point of the functional at alpha = 1. So it bounds
bd_1, and with it bd_alpha and lbd_alpha for every alpha, and delta. See docs/theory/upper-bounds.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.linear import SingularSystemError, SparseSystem, solve_float
from bisimdist.models.bisimilarity import bisimilarity_classes, canonical_numbering
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC, Row
from bisimdist.progress import NEVER, Deadline

Pair = tuple[int, int]

MOST = 400_000  # so many pairs are looked at; behind the others the runs are taken to differ

FEW = 2_000
"""The same, and the most states, where no time is left: that takes a fraction of a second."""

SAID = "upper bounds are the chance that two coupled runs ever differ, which no certificate holds"

UNIT = 1 << 64  # bounds are multiples of 1 / UNIT

SLACKS = (1 << 8, 1 << 20, 1 << 32)
"""By how much, in units, every inequality may be looser than the equation that doubles solve."""

OFTEN = 1_000  # the time is looked at after so many pairs


@dataclass(slots=True)
class _Coupled:
    """The chain of pairs that the chosen couplings make."""

    chain: LMC
    near: Sequence[int]  # by state its class: bisimilar states are in one
    far: Sequence[int]  # by state its class: between classes the distance is 1
    most: int
    number: dict[Pair, int] = field(default_factory=dict)
    lost: list[fmpq] = field(default_factory=list)  # by pair the chance to differ at once
    moves: list[list[tuple[int, fmpq]]] = field(default_factory=list)  # by pair where it goes otherwise

    def explore(self, asked: Iterable[Pair], deadline: Deadline) -> None:
        """Look at the pairs that can be reached, until there are too many or time is over."""
        queue = list(dict.fromkeys(_sorted(*pair) for pair in asked if self.open(pair)))
        self.number = {pair: number for number, pair in enumerate(queue)}
        over = False
        for place, (i, j) in enumerate(queue):  # the queue grows meanwhile
            over = over or (place % OFTEN == 0 and deadline.moment is not None and deadline.passed())
            if over:
                self.lost.append(fmpq(1))
                self.moves.append([])
                continue
            lost, moves = fmpq(0), []
            for u, v, mass in coupling(self.chain.rows[i], self.chain.rows[j], self.near, self.far):
                pair = _sorted(u, v)
                target = self.number.get(pair)
                if target is None and v >= 0 and len(queue) < self.most:
                    target = self.number[pair] = len(queue)
                    queue.append(pair)
                if target is None:
                    lost += mass
                else:
                    moves.append((target, mass))
            self.lost.append(lost)
            self.moves.append(moves)

    def open(self, pair: Pair) -> bool:
        """Tell whether anything has to be found out about a pair."""
        i, j = pair
        return self.near[i] != self.near[j] and self.far[i] == self.far[j]

    def losing(self) -> list[int]:
        """Return the pairs that can come to differ at all; the others are worth 0."""
        before: list[list[int]] = [[] for _ in self.lost]
        for place, moves in enumerate(self.moves):
            for target, _ in moves:
                before[target].append(place)
        found = [place for place, mass in enumerate(self.lost) if mass]
        known = set(found)
        for place in found:  # it grows meanwhile
            fresh = [source for source in dict.fromkeys(before[place]) if source not in known]
            known.update(fresh)
            found.extend(fresh)
        return sorted(found)

    def values(self) -> list[int]:
        """Return by pair a bound in units: a pre-fixed point, which is checked in integers."""
        losing = self.losing()
        values = [0] * len(self.lost)
        if not losing:
            return values
        row_of = {place: row for row, place in enumerate(losing)}
        for slack in SLACKS:
            looser = fmpq(slack, UNIT)
            rows = (
                (self.lost[p] + looser, [(row_of[q], w) for q, w in self.moves[p] if q in row_of])
                for p in losing
            )
            try:
                guess = solve_float(SparseSystem.from_rationals(rows))
            except SingularSystemError:
                break
            for place, value in zip(losing, guess.tolist(), strict=True):
                values[place] = min(UNIT, max(0, int(value * UNIT)))
            if all(self._holds(place, values) for place in losing):
                return values
        return [UNIT if place in row_of else 0 for place in range(len(self.lost))]

    def _holds(self, place: int, values: Sequence[int]) -> bool:
        """Tell whether the value of a pair is at least what its coupling makes of the others."""
        if values[place] == UNIT:
            return True
        total = sum((mass * values[target] for target, mass in self.moves[place]), self.lost[place] * UNIT)
        return bool(total <= values[place])


def coupling(first: Row, second: Row, near: Sequence[int], far: Sequence[int]) -> list[tuple[int, int, fmpq]]:
    """Return a coupling of two rows as triples (i, j, mass), without what it moves between bisimilar states.

    Bisimilar states are coupled first, then states that nothing tells apart for certain, the likeliest first.
    What is left over of the first row stands in triples whose second state is -1.

    >>> coupling(((0, fmpq(1)),), ((1, fmpq(1, 3)), (2, fmpq(2, 3))), (0, 1, 2), (0, 0, 1))
    [(0, 1, 1/3), (0, -1, 2/3)]
    """
    one, other = _without_common(first, second, near)
    found: list[tuple[int, int, fmpq]] = []
    waiting: dict[int, list[list[Any]]] = {}
    for state, mass in sorted(other, key=_likeliest):
        waiting.setdefault(far[state], []).append([state, mass])
    for queue in waiting.values():
        queue.reverse()
    for state, left in sorted(one, key=_likeliest):
        mass = left
        queue = waiting.get(far[state], [])
        while mass and queue:
            last = queue[-1]
            moved = min(mass, last[1])
            found.append((state, last[0], moved))
            mass, last[1] = mass - moved, last[1] - moved
            if not last[1]:
                queue.pop()
        if mass:
            found.append((state, -1, mass))
    return found


def _sorted(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _likeliest(entry: tuple[int, fmpq]) -> tuple[fmpq, int]:
    return -entry[1], entry[0]


def _without_common(first: Row, second: Row, near: Sequence[int]) -> tuple[Row, Row]:
    """Take away from both rows as much as can be moved between bisimilar states."""
    common: dict[int, fmpq] = {}
    for state, mass in second:
        common[near[state]] = common.get(near[state], fmpq(0)) + mass
    here: dict[int, fmpq] = {}
    for state, mass in first:
        here[near[state]] = here.get(near[state], fmpq(0)) + mass
    shared = {block: min(mass, here[block]) for block, mass in common.items() if block in here}
    return _less(first, near, dict(shared)), _less(second, near, dict(shared))


def _less(row: Row, near: Sequence[int], shared: dict[int, fmpq]) -> Row:
    left = []
    for state, mass in row:
        taken = min(mass, shared.get(near[state], fmpq(0)))
        if taken:
            shared[near[state]] -= taken
        if taken < mass:
            left.append((state, mass - taken))
    return tuple(left)


def lockstep_bounds(model: LMC, asked: Sequence[Pair], *, deadline: Deadline = NEVER) -> dict[Pair, fmpq]:
    """Return an upper bound on bd_1 of each pair, and so on bd_alpha, lbd_alpha and delta.

    Where the deadline has passed, few pairs are looked at, and only if the chain is small.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> bounds = lockstep_bounds(figure1(), [(0, 1)])
    >>> round(float(bounds[0, 1]), 9)
    0.2
    """
    most = MOST
    if deadline.moment is not None and deadline.passed():
        if len(model) > FEW:
            return {}
        deadline, most = NEVER, FEW
    try:
        near = bisimilarity_classes(model, deadline=deadline.part(0.5))
        far = distinguishable_classes(model)
    except LimitError:
        near, far = tuple(range(len(model))), canonical_numbering(model.labels)
    coupled = _Coupled(model, near, far, most)
    coupled.explore(asked, deadline.part(0.5))
    values = coupled.values()
    found = {}
    for i, j in asked:
        if coupled.open((i, j)):
            found[i, j] = fmpq(values[coupled.number[_sorted(i, j)]], UNIT)
        else:
            found[i, j] = fmpq(0 if near[i] == near[j] else 1)
    return found
