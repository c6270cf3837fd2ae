"""Why values are not too large: blocks of entries, each of which rests on the blocks before it.

A *step* applies the functional to what is proved already. In a *fixed* block every value is at most what the
functional makes of the block itself; with a discount below one that is enough, without one the entries have
ranks, along which distance gets away (`rank_entries`). In a *growth* block the values, scaled by any
factor of at least one, are scaled further by the functional, so that the distances are infinite. The rules
and why they are sound are in docs/theory/generalised.md.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum

from flint import fmpq

from bisimdist.distances.engine.evaluation import Evaluation
from bisimdist.distances.engine.hausdorff import SAME, Challenge
from bisimdist.distances.engine.lifting_values import Direction, Lifted, Masses, excess, transport_program
from bisimdist.exact.scale import Value
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.lp.transport import solve_program

ZERO = fmpq(0)
ONE = fmpq(1)


class Rule(Enum):
    """Why the entries of a block are lower bounds."""

    STEP = "step"
    FIXED = "fixed"
    GROWTH = "growth"


@dataclass(frozen=True, slots=True)
class Entry:
    """A lower bound, the challenge that obtains it, and a rank where the rule asks for one."""

    position: int
    value: Value
    challenge: Challenge
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Entries that are proved together."""

    rule: Rule
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Reason:
    """Why no optimal coupling of a direction keeps everything inside some positions.

    `prices` are those of a function that no such coupling could satisfy; empty where a state has no
    way to stay inside at all, or mass is missing or stays where it is.
    """

    direction: Direction
    prices: dict[int, fmpq]


def rank_entries(evaluation: Evaluation, members: Sequence[int], *, ranked: bool) -> tuple[Entry, ...] | None:
    """Return the entries of a fixed block for the values of an evaluation, or None where there is no proof.

    ``evaluation``: of the table with the values of the members.
    ``members``: the positions of the block.
    ``ranked``: whether ranks are needed, which is so where there is no discount.
    """
    compare, values = evaluation.arena.lifting.compare, evaluation.values
    tight = {}
    for position in members:
        evaluation.deadline.check()
        tight[position] = [
            challenge
            for challenge in evaluation.arena.challenges[position]
            if compare(evaluation.arena.answered(challenge, evaluation.worth), values[position]) >= 0
        ]
        if not tight[position]:
            return None
    if not ranked:
        return tuple(Entry(p, values[p], tight[p][0]) for p in members)
    result: list[Entry] = []
    open_ = set(members)
    rank = 0
    while open_:
        rank += 1
        found = []
        for position in sorted(open_):
            evaluation.deadline.check()
            for challenge in tight[position]:
                if _leaves(evaluation, position, challenge, open_):
                    found.append(Entry(position, values[position], challenge, rank))
                    break
        if not found:
            return None
        open_ -= {entry.position for entry in found}
        result += found
    return tuple(result)


def _leaves(evaluation: Evaluation, position: int, challenge: Challenge, open_: Collection[int]) -> bool:
    value = evaluation.values[position]
    for duel, _ in challenge.answers:
        if evaluation.arena.lifting.compare(evaluation.worth(duel), value) > 0:
            continue
        if duel == SAME or reason_to_leave(evaluation, duel, open_) is None:
            return False
    return True


def tight_cells(
    evaluation: Evaluation, duel: int, direction: Direction, open_: Collection[int]
) -> tuple[dict[int, fmpq], dict[int, set[int]]]:
    """Return f and the moves (i, j) of a direction that are tight for f and its prices and stay inside."""
    arena = evaluation.arena
    here, there = _sides(evaluation, duel, direction)
    additive = arena.lifting.top is not None
    if additive:
        here, there, _ = excess(here, there)
    distance = arena.distance(evaluation.values)
    potential: dict[int, fmpq] = {}
    cells: dict[int, set[int]] = {}
    for i in here:
        reach: dict[int, fmpq] = {}
        for j in there:
            cost, price = ONE if i == j else distance(i, j), direction.prices.get(j, ZERO)
            if cost is not None:
                reach[j] = cost + price if additive else cost * price
        least = min([*reach.values(), ONE]) if additive else min(reach.values())
        potential[i] = least
        cells[i] = {j for j, cost in reach.items() if cost == least and arena.position(i, j) in open_}
    return potential, cells


def _sides(
    evaluation: Evaluation, duel: int, direction: Direction
) -> tuple[dict[int, fmpq], dict[int, fmpq]]:
    a, b = evaluation.arena.duels[duel]
    first, second = dict(evaluation.arena.rows[a]), dict(evaluation.arena.rows[b])
    return (second, first) if direction.swapped else (first, second)


def reason_to_leave(evaluation: Evaluation, duel: int, open_: Collection[int]) -> Reason | None:
    """Return why no optimal coupling of a duel moves everything inside the open positions, if that is so."""
    lifted: Lifted = evaluation.lifted(duel)
    for direction in lifted.directions:
        if direction.value != lifted.value:
            continue
        potential, cells = tight_cells(evaluation, duel, direction, open_)
        here, there = _sides(evaluation, duel, direction)
        if evaluation.arena.lifting.top is None:
            counted = {i: p for i, p in here.items() if potential[i] > 0}
            prices = ratio_reason(evaluation, counted, there, lifted.value, cells)
        else:
            prices = _transport_reason(here, there, cells)
        if prices is not None:
            return Reason(direction, prices)
    return None


def _transport_reason(
    here: dict[int, fmpq], there: dict[int, fmpq], cells: dict[int, set[int]]
) -> dict[int, fmpq] | None:
    sources, sinks, _ = excess(here, there)
    if sum(sources.values(), ZERO) < 1 or any(not cells[i] for i in sources):
        return {}
    program = transport_program(sources, sinks)
    costs = [0 if j in cells[i] else 1 for i in sources for j in sinks]
    basis = solve_program(program, costs, 1)
    if basis.cost(program, costs, 1) == 0:
        return None
    count = len(sources)
    return {j: ONE for k, j in enumerate(sinks) if basis.potential[count + k] > 0}


def ratio_reason(
    evaluation: Evaluation, counted: Masses, there: Masses, value: Value, cells: Mapping[int, Collection[int]]
) -> dict[int, fmpq] | None:
    """Return prices that no coupling of at most a value satisfies that moves masses along cells alone.

    Empty where some mass has no cell; None where there is such a coupling.
    """
    if any(not cells[i] for i in counted):
        return {}
    distance = evaluation.arena.distance(evaluation.values)
    shift = 1 + max((*counted, *there), default=0)

    def ratio(i: int, j: int) -> Value:
        return distance(i, j - shift) if j - shift in cells[i] else None

    moved = {shift + j: p for j, p in there.items()}
    found = lift_ratio(counted, moved, ratio, deadline=evaluation.deadline)
    if value is None or found.ratio is None or found.ratio <= value:
        return None
    return {x - shift: f for x, f in found.potential if x >= shift and f}
