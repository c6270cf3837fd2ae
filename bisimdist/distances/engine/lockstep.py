"""An upper bound that is cheap: how likely two runs, coupled step by step, ever come to differ.

One coupling is chosen for each pair of states, so only the pairs that these couplings lead to matter: often
about as many as states, where all couplings together would lead to most pairs of states. The chance that the
coupled runs ever show different labels is a pre-fixed point of the functional at alpha = 1. So it bounds
bd_1, and with it bd_alpha and lbd_alpha for every alpha, and delta. See docs/theory/upper-bounds.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeGuard

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.linear import SingularSystemError, SparseSystem, solve_float
from bisimdist.models.bisimilarity import bisimilarity_classes, of_classes
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.partition import canonical_numbering
from bisimdist.progress import NEVER, Deadline

Pair = tuple[int, int]

MOST = 400_000  # so many pairs are looked at; behind the others the runs are taken to differ

FEW = 2_000  # smaller chains have bounds that a certificate holds soon

SAID = "upper bounds are the chance that two coupled runs ever differ"

UNIT = 1 << 64  # bounds are multiples of 1 / UNIT

SLACKS = (1 << 8, 1 << 20, 1 << 32)
"""By how much, in units, every inequality may be looser than the equation that doubles solve."""

OFTEN = 1_000  # the time is looked at after so many pairs


@dataclass(slots=True)
class _Coupled:
    """The chain of pairs that the chosen couplings make."""

    chain: LMC
    far: Sequence[int]  # by state its class: between classes the distance is 1
    most: int
    number: dict[Pair, int] = field(default_factory=dict)
    lost: list[fmpq] = field(default_factory=list)  # by pair the chance to differ at once
    moves: list[list[tuple[int, fmpq]]] = field(default_factory=list)  # by pair where it goes otherwise

    def explore(self, asked: Iterable[Pair], deadline: Deadline) -> None:
        """Look at the pairs that can be reached, until there are too many or time is over."""
        queue = list(dict.fromkeys((i, j) for i, j in asked if i != j and self.far[i] == self.far[j]))
        self.number = {pair: number for number, pair in enumerate(queue)}
        over = False
        for place, (i, j) in enumerate(queue):  # the queue grows meanwhile
            over = over or (place % OFTEN == 0 and _late(deadline))
            if over:
                self.lost.append(fmpq(1))
                self.moves.append([])
                continue
            lost, moves = fmpq(0), []
            for u, v, mass in coupling(self.chain.rows[i], self.chain.rows[j], self.far):
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

    def values(self, deadline: Deadline) -> list[int]:
        """Return by pair a bound in units: a pre-fixed point, which is checked in integers.

        Without time for that, the pairs that can come to differ at all are worth 1.
        """
        losing = self.losing()
        values = [0] * len(self.lost)
        if not losing:
            return values
        row_of = {place: row for row, place in enumerate(losing)}
        for slack in SLACKS:
            if _late(deadline):
                break
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
            if all(
                self._holds(place, values) and not (n % OFTEN == 0 and _late(deadline))
                for n, place in enumerate(losing)
            ):
                return values
        return [UNIT if place in row_of else 0 for place in range(len(self.lost))]

    def _holds(self, place: int, values: Sequence[int]) -> bool:
        """Tell whether the value of a pair is at least what its coupling makes of the others."""
        if values[place] == UNIT:
            return True
        total = sum((mass * values[target] for target, mass in self.moves[place]), self.lost[place] * UNIT)
        return bool(total <= values[place])


def coupling(first: Row, second: Row, far: Sequence[int]) -> list[tuple[int, int, fmpq]]:
    """Return a coupling of two rows as triples (i, j, mass), without what it leaves where it is.

    What both rows give to a state is coupled first, then states that nothing tells apart for certain, the
    likeliest first.
    What is left over of the first row stands in triples whose second state is -1.

    >>> coupling(((0, fmpq(1)),), ((1, fmpq(1, 3)), (2, fmpq(2, 3))), (0, 0, 1))
    [(0, 1, 1/3), (0, -1, 2/3)]
    """
    here, there = dict(first), dict(second)
    one, other = _less(first, there), _less(second, here)
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


def _late(deadline: Deadline) -> bool:
    return deadline.moment is not None and deadline.passed()


def _sorted(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


def _likeliest(entry: tuple[int, fmpq]) -> tuple[fmpq, int]:
    return -entry[1], entry[0]


def _less(row: Row, common: dict[int, fmpq]) -> Row:
    """Return what a row gives to states beyond what another row gives to them."""
    return tuple((s, mass - common.get(s, fmpq(0))) for s, mass in row if mass > common.get(s, fmpq(0)))


def large(model: object) -> TypeGuard[LMC]:
    """Tell whether a model is a chain of which nothing may be proved in time."""
    return type(model) is LMC and len(model) > FEW


@dataclass(frozen=True, slots=True)
class Lockstep:
    """Upper bounds by coupled runs, and what they come from."""

    bounds: Mapping[Pair, fmpq]  # by pair that was asked
    model: LMC
    place: Sequence[int]  # by state its class: bisimilar states are merged
    coupled: _Coupled  # the pairs of classes
    values: Sequence[int]  # by pair of classes its bound, in units

    def value(self, s: int, t: int) -> int:
        """Return what two states are worth, in units."""
        i, j = _sorted(self.place[s], self.place[t])
        number = self.coupled.number.get((i, j))
        return (0 if i == j else UNIT) if number is None else self.values[number]

    def flows(self, s: int, t: int) -> list[tuple[int, int, fmpq]]:
        """Return how much of each class the coupling of two states' classes leads to each class."""
        rows, far = self.coupled.chain.rows, self.coupled.far
        first, second = rows[self.place[s]], rows[self.place[t]]
        other = dict(second)
        stays = [(block, block, min(mass, other[block])) for block, mass in first if block in other]
        return stays + [flow for flow in coupling(first, second, far) if flow[1] >= 0]


def lockstep_bounds(model: LMC, asked: Sequence[Pair], *, deadline: Deadline = NEVER) -> dict[Pair, fmpq]:
    """Return an upper bound on bd_1 of each pair, and so on bd_alpha, lbd_alpha and delta.

    >>> from bisimdist.models.library.figure1 import figure1
    >>> bounds = lockstep_bounds(figure1(), [(0, 1)])
    >>> round(float(bounds[0, 1]), 9)
    0.2
    """
    found = lockstep(model, asked, deadline=deadline)
    return {} if found is None else dict(found.bounds)


def lockstep(model: LMC, asked: Sequence[Pair], *, deadline: Deadline = NEVER) -> Lockstep | None:
    """Return upper bounds on bd_1 of pairs, with what proves them.

    Bisimilar states are merged first, which changes nothing of bd_1 (docs/theory/quotient.md). Half of the
    time is for that; without it each state stands for itself. Returns None where the deadline has passed.
    """
    if _late(deadline):
        return None
    whole = model
    place: Sequence[int] = range(len(model))
    try:
        place = bisimilarity_classes(model, deadline=deadline.part(0.5))
        first = {block: state for state, block in reversed(list(enumerate(place)))}
        model = of_classes(model, place, [first[block] for block in range(len(first))])
        far = distinguishable_classes(model, deadline=deadline.part(0.5))
    except LimitError:
        model, place = whole, range(len(whole))
        far = canonical_numbering(model.labels)
    coupled = _Coupled(model, far, MOST)
    inside = {pair: _sorted(place[pair[0]], place[pair[1]]) for pair in asked}
    coupled.explore(inside.values(), deadline.part(0.5))
    found = Lockstep({}, whole, place, coupled, coupled.values(deadline))
    return replace(found, bounds={pair: fmpq(found.value(*pair), UNIT) for pair in asked})
