"""Bounds on likelihood ratios of states: where one side is ahead by so much that it stays ahead for ever.

A table R with nu_i(E) <= R(i, j) nu_j(E) for all events E, on ordered pairs of states of one label. A
signed vector whose positive masses are covered by its negative ones, at these rates, gains nothing by any
event; if the opposite vector is covered, all continuations count. See docs/theory/delta.md.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.models.interactive import System
from bisimdist.models.transform import reachable_states
from bisimdist.models.worlds import Worlds
from bisimdist.privacy.engine.signed import Vector
from bisimdist.progress import NEVER, Deadline

Ratios = Mapping[tuple[int, int], fmpq]
"""Finite bounds on nu_i / nu_j by ordered pair (i, j) of different states; every other pair has none."""

MAX_WORK = 1_000_000
"""How many pairs of successors one round may look at: with more, ratios cost more than they settle."""

ROUNDS = 40
LARGEST = fmpq(2) ** 20
LONGEST_BITS = 256


@dataclass(frozen=True, slots=True)
class Domination:
    """Ratios, and what they settle."""

    ratios: Ratios

    def cover(self, vector: Vector, sign: int) -> list[tuple[int, int, fmpq]] | None:
        """Return moves (i, j, w) that cover all positive masses of ``sign * vector``, or None.

        A move of w from i to j uses up ``R(i, j) w`` of the negative mass of j.
        """
        room = {state: fmpq(abs(value)) for state, value in vector if value * sign < 0}
        left = {state: fmpq(abs(value)) for state, value in vector if value * sign > 0}
        arcs = sorted(
            (ratio, i, j) for i in left for j in room if (ratio := self.ratios.get((i, j))) is not None
        )
        moves = []
        for ratio, i, j in arcs:
            amount = min(left[i], room[j] / ratio)
            if amount > 0:
                left[i] -= amount
                room[j] -= amount * ratio
                moves.append((i, j, amount))
        return None if any(amount > 0 for amount in left.values()) else moves

    def settles(self, vector: Vector) -> bool:
        """Tell whether no continuation counts, or all of them."""
        total = sum(value for _, value in vector)
        return self.cover(vector, 1 if total <= 0 else -1) is not None


def find_ratios(model: System, starts: set[int], *, deadline: Deadline = NEVER) -> Ratios | None:
    """Find finite bounds on likelihood ratios by iteration from below; None if that is too much work.

    The functional is an upper bound of the true one that has a closed form (`bound_of_block`). Pairs that do
    not come to rest count as unbounded, which is sound; what is returned satisfies all inequalities.
    """
    if isinstance(model, Worlds):
        return None  # nature may let the one side do well and the other badly
    reached = reachable_states(model, starts)
    if sum(_cells(rows, model.labels, reached) for rows in model.arms) > MAX_WORK:
        return None
    pairs = [(i, j) for i in reached for j in reached if i != j and model.labels[i] == model.labels[j]]
    blocks = {state: _blocks(model, state) for state in reached}
    ratios: dict[tuple[int, int], fmpq] = dict.fromkeys(pairs, fmpq(1))
    while True:
        changed: list[tuple[int, int]] = []
        for _ in range(ROUNDS):
            deadline.check()
            changed = []
            for i, j in list(ratios):
                bound = _bound(ratios, blocks[i], blocks[j])
                if bound is None or bound > LARGEST or bound.q.bit_length() > LONGEST_BITS:
                    del ratios[i, j]
                    changed.append((i, j))
                elif bound > ratios[i, j]:
                    ratios[i, j] = bound
                    changed.append((i, j))
            if not changed:
                return ratios
        for pair in changed:
            ratios.pop(pair, None)


def _cells(rows: Sequence[Sequence[object]], labels: Sequence[str], reached: Iterable[int]) -> int:
    """Return how many pairs of successors all ordered pairs of states of one label have."""
    whole: Counter[str] = Counter()
    squares = 0
    for state in reached:
        whole[labels[state]] += len(rows[state])
        squares += len(rows[state]) ** 2
    return sum(length**2 for length in whole.values()) - squares


Blocks = Mapping[tuple[int, str], Mapping[int, fmpq]]
"""By action and label the masses of the successors of a state."""


def _blocks(model: System, state: int) -> Blocks:
    blocks: dict[tuple[int, str], dict[int, fmpq]] = {}
    for arm, rows in enumerate(model.arms):
        for target, p in rows[state]:
            blocks.setdefault((arm, model.labels[target]), {})[target] = p
    return blocks


def _bound(ratios: Ratios, left: Blocks, right: Blocks) -> fmpq | None:
    """Return a bound on the ratio of two states, the largest of all actions and labels; None for none."""
    largest = fmpq(1)
    for label, masses in left.items():
        others = right.get(label)
        bound = None if others is None else bound_of_block(ratios, masses, others)
        if bound is None:
            return None
        largest = max(largest, bound)
    return largest


def bound_of_block(ratios: Ratios, left: Mapping[int, fmpq], right: Mapping[int, fmpq]) -> fmpq | None:
    """Return a bound on the ratio of two masses on states of one label.

    The better of two couplings: every state stays where it is; or every state k is spread over the states l
    in proportion to ``right(l) / R(k, l)``.
    """
    stay = None
    if all(k in right for k in left):
        stay = max(mass / right[k] for k, mass in left.items())
    total = fmpq(0)
    for k, mass in left.items():
        reach = fmpq(0)
        for other, there in right.items():
            ratio = fmpq(1) if k == other else ratios.get((k, other))
            if ratio is not None:
                reach += there / ratio
        if not reach:
            return stay
        total += mass / reach
    return total if stay is None else min(stay, total)
