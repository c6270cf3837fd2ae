"""Strategy iteration: first on doubles, then with exact values, until no player can do better."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.distances.engine.tables import Tables
from bisimdist.errors import LimitError
from bisimdist.lp.compiled import BoolArray, Int64Array
from bisimdist.lp.transport import improve
from bisimdist.progress import NEVER, Deadline, Progress, silent

ROUNDS = 60  # more rounds of improvement than were ever seen to be needed; then the work ends undecided


def _programs(strategy: Strategy) -> tuple[Int64Array, Int64Array]:
    """Return the programs of the directions taken (of positive pairs), and all others."""
    side_of, width = strategy.functional.side_of, strategy.functional.width
    taken = (strategy.direction[side_of // width] == side_of % width) & ~strategy.zero[side_of // width]
    for index in strategy.general:
        taken[index] = False
    return np.flatnonzero(taken), np.flatnonzero(~taken)


def improve_roughly(
    strategy: Strategy, *, rounds: int = ROUNDS, deadline: Deadline = NEVER, progress: Progress = silent
) -> Int64Array:
    """Improve both players' strategies on values in doubles until they stand still; return the distances.

    The result (by pair, in units of 1 / `TransportBatch.finest`) and the strategies are guesses that
    nothing rests on.
    """
    functional, batch = strategy.functional, strategy.functional.batch
    fine = batch.finest
    tolerance = max(1, fine >> 40)
    rows = np.arange(functional.size)
    distance = np.zeros(functional.size, dtype=np.int64)
    for round_ in range(rounds):
        deadline.check()
        progress("strategy iteration", round_, None)
        distance = (np.clip(strategy.rough_values(), 0.0, 1.0) * fine).astype(np.int64)
        taken, others = _programs(strategy)
        pivots = strategy.basis.solve(batch, taken, distance, one=fine, tolerance=tolerance)
        strategy.basis.solve(batch, others, distance, one=fine, tolerance=tolerance)
        cheaper = _mend_roughly(strategy, distance, 16 * tolerance, deadline)
        sides = functional.by_side(strategy.basis.value)
        kept = sides[rows, strategy.direction]
        switch = (sides.max(axis=1) > kept + 16 * tolerance) & ~strategy.zero
        strategy.direction[switch] = sides.argmax(axis=1)[switch]
        if pivots == 0 and not cheaper and not switch.any():
            break
    return distance


def _mend_roughly(strategy: Strategy, distance: Int64Array, tolerance: int, deadline: Deadline) -> bool:
    """Give programs detours where these pay; tell whether a coupling that counts became cheaper."""
    functional = strategy.functional
    if not functional.detours:
        return False
    fine = functional.batch.finest
    tables = Tables(strategy, distance, fine, settled=False, deadline=deadline)
    cheaper = False
    for index in tables.detoured(np.arange(len(functional.batch))):
        known = strategy.general.get(index)
        if not tables.mend(index):
            continue
        before = float(strategy.basis.value[index]) if known is None else float(tables.cost(known)) * fine
        after = float(strategy.general[index].optimum.value) * fine
        strategy.basis.value[index] = after
        side = int(functional.side_of[index])
        counts = strategy.takes(side)
        cheaper |= counts and after < before - tolerance
    return cheaper


@dataclass(frozen=True, slots=True)
class ExactFixedPoint:
    """Values that are a fixed point of the functional, with optimal strategies for them."""

    values: Values
    tied: BoolArray
    """By side: those not taken whose couplings, not known to be optimal, cost as much as the one taken."""
    tables: Tables  # the distances within the classes


def improve_exactly(
    strategy: Strategy, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> ExactFixedPoint:
    """Improve the strategies on exact values until they are optimal: a fixed point, proved so."""
    return _improve(strategy, partial(strategy.values, deadline=deadline, progress=progress), 0, deadline)


def improve_nearly(
    strategy: Strategy, places: int, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Values:
    """Improve the strategies on values in units of 2 ** -places until nothing gains more than a few of these.

    Nothing rests on the values; see `bisimdist.linear.leading`.
    """

    def values() -> Values:
        progress(f"{places} leading digits", 0, None)
        return strategy.nearly(places, deadline=deadline)

    return _improve(strategy, values, 4 * (strategy.functional.batch.room + 2), deadline).values


def _improve(
    strategy: Strategy, solve: Callable[[], Values], tolerance: int, deadline: Deadline
) -> ExactFixedPoint:
    """Improve until nothing gains more than the tolerance, in units of the values."""
    for _ in range(ROUNDS):
        deadline.check()
        values = solve()
        deadline.check()
        tables = Tables.of(strategy, values, deadline)
        changed = improve_couplings(strategy, values, tables, tolerance)
        if not changed:
            changed, tied = _improve_directions(strategy, values, tables, tolerance)
        if not changed:
            changed = improve_by_detours(strategy, values, tables, tolerance)
        if not changed:
            return ExactFixedPoint(values, tied, tables)
    raise LimitError(f"the strategies did not settle within {ROUNDS} rounds")


def _exact_costs(cells: Sequence[int], values: Values) -> list[fmpz]:
    return [values.numerators[cell] for cell in cells]


def improve_couplings(strategy: Strategy, values: Values, tables: Tables, tolerance: int = 0) -> bool:
    """Make the couplings of the directions taken optimal; tell whether one was not."""
    batch = strategy.functional.batch
    band = 2 * (batch.room + 2)
    taken, others = _programs(strategy)
    pivots = strategy.basis.solve(batch, taken, tables.numerators, one=tables.one, tolerance=band)
    strategy.basis.solve(batch, others, tables.numerators, one=tables.one, tolerance=band)
    changed = pivots > 0
    flagged = strategy.basis.undecided(batch, taken, tables.numerators, one=tables.one, band=band)
    for index in taken[flagged].tolist():
        changed |= _improve_program(strategy, index, values, tolerance)
    for index, coupling in list(strategy.general.items()):
        tables.mend(index)
        side = int(strategy.functional.side_of[index])
        least = tables.cost(coupling) - fmpq(tolerance, values.denominator)
        cheaper = bool(strategy.general[index].optimum.value < least)
        changed |= strategy.takes(side) and cheaper
    return changed


def tied_sides(strategy: Strategy, fixed: ExactFixedPoint, pair: int) -> Iterator[int]:
    """Yield the sides not taken at a pair that are worth as much; their couplings are made optimal."""
    for side in strategy.others(pair):
        if not fixed.tied[side]:
            continue  # its couplings, optimal or not, already cost less
        for index in strategy.functional.programs_of(side):
            if index not in strategy.general:
                _improve_program(strategy, index, fixed.values)
                fixed.tables.mend(index)
        if _excess(strategy, side, fixed.values, fixed.values.numerators[pair]) == 0:
            yield side


def _improve_program(strategy: Strategy, index: int, values: Values, tolerance: int = 0) -> bool:
    """Make the basis of one program optimal for the exact values; tell whether it was not."""
    costs = _exact_costs(strategy.functional.batch.programs[index].cells, values)
    return strategy.settle(index, costs, values.denominator, tolerance=tolerance)


def _improve_directions(
    strategy: Strategy, values: Values, tables: Tables, tolerance: int
) -> tuple[bool, BoolArray]:
    """Switch where a side not taken is worth more; tell whether one was, and which tie."""
    functional = strategy.functional
    tied = np.zeros(functional.width * functional.size, dtype=np.bool_)
    changed = False
    sides = functional.sides
    taken = strategy.direction[sides // functional.width] == sides % functional.width
    sides = sides[~taken | strategy.zero[sides // functional.width]]
    most: dict[int, fmpq] = {}
    for side, plan in zip(sides.tolist(), strategy.plans(sides), strict=True):
        pair = side // functional.width
        wanted = values.numerators[pair]
        more = values.cost(plan) - wanted * plan.scale
        if more > 0:
            more = cheapen(strategy, side, tables, values, wanted)
        if strategy.zero[pair]:
            if more > 0:
                raise LimitError("a pair found to be at distance 0 has no coupling that proves it")
            continue
        tied[side] = more == 0
        gain = fmpq(more, functional.scale[side])
        if gain > most.get(pair, tolerance):
            most[pair] = gain
            strategy.direction[pair] = side % functional.width
            changed = True
    return changed, tied


def cheapen(strategy: Strategy, side: int, tables: Tables, values: Values, wanted: fmpz) -> fmpz:
    """Improve the couplings of a side if they cost more than `wanted`; return what is still too much."""
    programs = strategy.functional.programs_of(side)
    more = _excess(strategy, side, values, wanted)
    if more > 0:
        for index in programs:
            if index not in strategy.general:
                _improve_program(strategy, index, values)
        more = _excess(strategy, side, values, wanted)
    mended = more > 0 and sum(tables.mend(index) for index in programs) > 0
    if mended:
        more = _excess(strategy, side, values, wanted)
    return more


def _excess(strategy: Strategy, side: int, values: Values, wanted: fmpz) -> fmpz:
    """Return by how much the couplings of a side cost more than `wanted`, times the scale of their plan."""
    plan = strategy.plan(side)
    return values.cost(plan) - wanted * plan.scale


def improve_by_detours(strategy: Strategy, values: Values, tables: Tables, tolerance: int = 0) -> bool:
    """Give programs taken detours where their potentials do not extend; tell whether one became cheaper."""
    if not strategy.functional.detours:
        return False
    batch = strategy.functional.batch
    changed = False
    taken, _ = _programs(strategy)
    for index in tables.detoured(taken):
        if tables.mend(index):
            program = batch.programs[index]
            costs = _exact_costs(program.cells, values)
            direct = improve(program, costs, values.denominator, strategy.parents(index), stay=True)
            before = direct.cost(program, costs, values.denominator)
            cost = strategy.general[index].optimum.value * values.denominator * program.whole
            changed |= bool(cost < before - tolerance * program.whole)
    return changed
