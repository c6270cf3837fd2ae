"""Proof that multiplicative distances are infinite although no finite iteration says so.

Let x >= 1 and suppose the ratios of some positions are at least x times given weights. If for each of them a
function shows that the functional then gives at least x times its weight again, and more than that sooner or
later, the ratios grow beyond every bound (docs/theory/generalised.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.distances.engine.evaluation import Evaluation
from bisimdist.distances.engine.guessing import rounded
from bisimdist.distances.engine.hausdorff import SAME, Arena
from bisimdist.distances.engine.lifting_values import Masses
from bisimdist.distances.engine.lower_proof import Block, Entry, Reason, Rule, ratio_reason
from bisimdist.exact.scale import Value
from bisimdist.exact.simplest import simplest_between
from bisimdist.progress import Deadline

ZERO = fmpq(0)
ONE = fmpq(1)
FAR = fmpq(1 << 160)  # weights are looked at from so far away that everything bounded is nothing

ROUNDS = 40
SHAPES = (fmpq(1, 1 << 6), fmpq(1, 1 << 20), fmpq(1, 1 << 40))
"""How roughly weights are rounded: the roughest that works is taken."""


@dataclass(frozen=True, slots=True)
class Growth:
    """What a function proves of the ratio of a duel: at least ``x * scaled + fixed``."""

    # scaled and fixed: the two parts; None for `scaled` where the duel is infinite anyway
    scaled: fmpq | None
    fixed: fmpq
    # by state of the first side that takes part in `scaled`: where its tight moves lead
    moves: Mapping[int, frozenset[int]]


def growth(  # noqa: PLR0913, PLR0917
    arena: Arena,
    here: Masses,
    there: Masses,
    prices: Mapping[int, fmpq],
    weights: Mapping[int, fmpq],
    lower: Sequence[Value],
) -> Growth | None:
    """Return what prices prove of a direction, where the positions of `weights` grow and others do not."""
    distance = arena.distance(lower)
    paid = sum((p * prices.get(j, ZERO) for j, p in there.items()), ZERO)
    scaled, fixed = ZERO, ZERO
    moves: dict[int, frozenset[int]] = {}
    for i, p in here.items():
        grows: dict[int, fmpq] = {}  # by state of the second side
        stays: list[fmpq] = []
        for j in there:
            position, price = arena.position(i, j), prices.get(j, ZERO)
            if position is not None and position in weights:
                grows[j] = weights[position] * price
            else:
                ratio = ONE if i == j else distance(i, j)
                if ratio is not None:
                    stays.append(ratio * price)
        if not grows and not stays:
            return Growth(None, ZERO, {})
        if stays:
            fixed += p * min([*stays, *grows.values()])
            continue
        least = min(grows.values())
        scaled += p * least
        if least > 0:
            moves[i] = frozenset(j for j, value in grows.items() if value == least)
    return Growth(scaled / paid, fixed / paid, moves) if paid > 0 else None


def growing_block(
    arena: Arena, members: Sequence[int], lower: Sequence[Value], deadline: Deadline
) -> Block | None:
    """Return a block that shows some of the members to be infinite, or None where none is found."""
    start = [p for p in members if lower[p] is not None]
    if not start or arena.lifting.top is not None or arena.lifting.discount != 1:
        return None
    weights = dict.fromkeys(start, ONE)
    for _ in range(4):
        weights = _settled(arena, weights, lower, deadline)
        for width in SHAPES:
            block = _block(arena, _shaped(weights, lower, width), lower, deadline)
            if block is not None:
                return block
        most = max(weights.values())
        kept = {p: w for p, w in weights.items() if w * (1 << 20) > most}
        if len(kept) == len(weights) or not kept:
            break
        weights = kept
    return None


def _table(lower: Sequence[Value], weights: Mapping[int, fmpq]) -> list[Value]:
    values = list(lower)
    for p, weight in weights.items():
        values[p] = FAR * weight
    return values


def _settled(
    arena: Arena, weights: dict[int, fmpq], lower: Sequence[Value], deadline: Deadline
) -> dict[int, fmpq]:
    """Return weights that the functional, seen from afar, multiplies by about one number."""
    for _ in range(ROUNDS):
        deadline.check()
        evaluation = Evaluation(arena, _table(lower, weights), deadline)
        fresh = {}
        for p, weight in weights.items():
            value = evaluation.raw(p)
            mixed = weight if value is None else (value / FAR + weight) / 2
            fresh[p] = mixed
        most = max(fresh.values())
        scaled = {p: rounded(w / most, 64, up=True, relative=True) for p, w in fresh.items()}
        settled = {p: w for p, w in scaled.items() if w is not None and w * FAR > (1 << 40)}
        if settled == weights:
            break
        weights = settled
    return weights


def _shaped(weights: Mapping[int, fmpq], lower: Sequence[Value], width: fmpq) -> dict[int, fmpq]:
    """Round weights and scale them down to at most the lower bounds."""
    short = {p: simplest_between(w * (1 - width), w * (1 + width)) for p, w in weights.items()}
    most = ONE
    for p, w in short.items():
        bound = lower[p]
        if bound is not None:
            most = max(most, w / bound)
    return {p: w / most for p, w in short.items()}


def _block(
    arena: Arena, weights: dict[int, fmpq], lower: Sequence[Value], deadline: Deadline
) -> Block | None:
    """Return the block of those positions that grow, as long as they lean only on each other."""
    while weights:
        evaluation = Evaluation(arena, _table(lower, weights), deadline)
        entries: dict[int, Entry] = {}
        rank = 0
        while True:
            rank += 1
            found = {}
            for p in weights.keys() - entries.keys():
                for challenge in arena.challenges[p]:
                    if all(
                        reason_to_grow(evaluation, duel, p, weights, lower, entries.keys()) is not None
                        for duel, _ in challenge.answers
                    ):
                        found[p] = Entry(p, weights[p], challenge, rank)
                        break
            if not found:
                break
            entries |= found
        if len(entries) == len(weights):
            return Block(Rule.GROWTH, tuple(entries[p] for p in sorted(entries)))
        weights = {p: weights[p] for p in entries}
    return None


def reason_to_grow(  # noqa: PLR0913, PLR0917
    evaluation: Evaluation,
    duel: int,
    position: int,
    weights: Mapping[int, fmpq],
    lower: Sequence[Value],
    earlier: Collection[int],
) -> Reason | None:
    """Return a direction of a duel whose prices show that it grows, or that it leans on what does.

    ``evaluation``: of the weights as they look from afar.
    ``weights``, ``lower``: of the positions that grow, and the lower bounds of the others.
    """
    if duel == SAME:
        return None
    arena = evaluation.arena
    a, b = arena.duels[duel]
    for direction in evaluation.lifted(duel).directions:
        here, there = (arena.rows[b], arena.rows[a]) if direction.swapped else (arena.rows[a], arena.rows[b])
        found = growth(arena, here, there, direction.prices, weights, lower)
        if found is None or (found.scaled is not None and found.scaled < weights[position]):
            continue
        if found.scaled is None or found.scaled + found.fixed > weights[position]:
            return Reason(direction, {})
        cells = {
            i: {j for j in moves if arena.position(i, j) not in earlier} for i, moves in found.moves.items()
        }
        counted = {i: here[i] for i in cells}
        prices = ratio_reason(evaluation, counted, there, FAR * weights[position], cells)
        if prices is not None:
            return Reason(direction, prices)
    return None
