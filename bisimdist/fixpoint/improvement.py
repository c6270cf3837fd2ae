"""Strategy iteration: first on doubles, then with exact values, until no player can do better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from flint import fmpz

from bisimdist.errors import LimitError
from bisimdist.fixpoint.detours import shortcuts, solve_block
from bisimdist.fixpoint.strategy import GeneralCoupling, Strategy, Values
from bisimdist.lp.compiled import BoolArray, Int64Array
from bisimdist.lp.transport import improve
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["FINE", "ExactFixedPoint", "improve_exactly", "improve_roughly", "make_optimal"]

FINE = 1 << 53
"""Distance 1 in the fixed-point filter of exact comparisons."""

ROUNDS = 60
"""More rounds of improvement than were ever seen to be needed; then the work ends undecided."""


def _programs(strategy: Strategy) -> tuple[Int64Array, Int64Array]:
    """Return the programs of the directions taken (of positive pairs), and all others."""
    side_of = strategy.functional.side_of
    taken = (strategy.direction[side_of // 2] == side_of % 2) & ~strategy.zero[side_of // 2]
    for index in strategy.general:
        taken[index] = False
    return np.flatnonzero(taken), np.flatnonzero(~taken)


def improve_roughly(
    strategy: Strategy, *, rounds: int = ROUNDS, deadline: Deadline = NEVER, progress: Progress = silent
) -> Int64Array:
    """Improve both players' strategies on values in doubles until they stand still; return the distances.

    The result (by pair, in units of 1 / FINE) and the strategies are guesses that nothing rests on.
    """
    functional = strategy.functional
    tolerance = FINE >> 40
    size = functional.size
    distance = np.zeros(functional.size, dtype=np.int64)
    for round_ in range(rounds):
        deadline.check()
        progress("strategy iteration", round_, None)
        distance = (np.clip(strategy.rough_values(), 0.0, 1.0) * FINE).astype(np.int64)
        taken, others = _programs(strategy)
        batch = functional.batch
        pivots = strategy.basis.solve(batch, taken, distance, one=FINE, tolerance=tolerance)
        strategy.basis.solve(batch, others, distance, one=FINE, tolerance=tolerance)
        value = np.bincount(functional.side_of, strategy.basis.value, minlength=2 * size).reshape(-1, 2)
        rows = np.arange(size)
        kept = value[rows, strategy.direction]
        switch = (value.max(axis=1) > kept + 16 * tolerance) & ~strategy.zero
        if strategy.functional.both_sides:
            strategy.direction[switch] = 1 - strategy.direction[switch]
        elif pivots == 0:
            break
        if pivots == 0 and not switch.any():
            break
    return distance


@dataclass(frozen=True, slots=True)
class ExactFixedPoint:
    """Values that are a fixed point of the functional, with optimal strategies for them."""

    values: Values
    tied: BoolArray
    """By pair: those whose other direction is worth exactly as much."""


def improve_exactly(
    strategy: Strategy, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> ExactFixedPoint:
    """Improve the strategies on exact values until they are optimal: a fixed point, proved so.

    Raises
    ------
    LimitError
        If the deadline passes, or the strategies do not settle.
    SingularSystemError
        If a strategy keeps mass for ever.
    """
    for _ in range(ROUNDS):
        deadline.check()
        values = strategy.values(deadline=deadline, progress=progress)
        changed = _improve_couplings(strategy, values)
        if not changed:
            changed, tied = _improve_directions(strategy, values)
        if not changed:
            changed = _improve_by_detours(strategy, values)
        if not changed:
            return ExactFixedPoint(values, tied)
    raise LimitError(f"the strategies did not settle within {ROUNDS} rounds")


def _exact_costs(cells: Sequence[int], values: Values) -> list[fmpz]:
    return [values.numerators[cell] for cell in cells]


def _improve_couplings(strategy: Strategy, values: Values) -> bool:
    """Make the couplings of the directions taken optimal; tell whether one was not."""
    batch = strategy.functional.batch
    distance = values.fixed_point(FINE)
    band = 2 * (batch.room + 2)
    taken, others = _programs(strategy)
    pivots = strategy.basis.solve(batch, taken, distance, one=FINE, tolerance=band)
    strategy.basis.solve(batch, others, distance, one=FINE, tolerance=band)
    changed = pivots > 0
    flagged = strategy.basis.undecided(batch, taken, distance, one=FINE, band=band)
    suspects = set(taken[flagged].tolist()) | (batch.rounded & set(taken.tolist()))
    for index in sorted(suspects):
        changed |= _improve_program(strategy, index, values)
    for index, coupling in list(strategy.general.items()):
        changed |= _improve_general(strategy, index, coupling, values)
    return changed


def make_optimal(strategy: Strategy, pair: int, values: Values) -> None:
    """Make the couplings of the direction taken at a pair optimal for the exact values."""
    for index in strategy.functional.programs_of(strategy.side(pair)):
        if index not in strategy.general:
            _improve_program(strategy, index, values)


def _improve_program(strategy: Strategy, index: int, values: Values) -> bool:
    """Make the basis of one program optimal for the exact values; tell whether it was not."""
    costs = _exact_costs(strategy.functional.batch.programs[index].cells, values)
    return strategy.settle(index, costs, values.denominator)


def _improve_general(strategy: Strategy, index: int, coupling: GeneralCoupling, values: Values) -> bool:
    """Solve the program of a whole class again; tell whether its coupling became cheaper."""
    functional = strategy.functional
    space = functional.space
    side = int(functional.side_of[index])
    optimum = solve_block(functional, side, coupling.nodes, lambda i, j: values.value(space.number(i, j)))
    before = sum(coupling.optimum.given_up.values(), fmpz(0))
    for (a, b), amount in coupling.optimum.moves.items():
        before += amount * values.value(space.number(coupling.nodes[a], coupling.nodes[b]))
    strategy.general[index] = GeneralCoupling(coupling.nodes, optimum)
    taken = strategy.side(side // 2) == side and not strategy.zero[side // 2]
    return bool(optimum.value < before) and taken


def _improve_directions(strategy: Strategy, values: Values) -> tuple[bool, BoolArray]:
    """Switch where the direction not taken is worth more; tell whether one was, and where both tie."""
    functional = strategy.functional
    tied = np.zeros(functional.size, dtype=np.bool_)
    changed = False
    for pair, numerator in enumerate(values.numerators):
        if strategy.zero[pair]:
            for direction in (0, 1):
                if _cheapen(strategy, 2 * pair + direction, values, numerator) > 0:
                    raise LimitError("a pair found to be at distance 0 has no coupling that proves it")
            continue
        if not functional.both_sides:
            continue
        other = strategy.side(pair) ^ 1
        excess = _cheapen(strategy, other, values, numerator)
        tied[pair] = excess == 0
        if excess > 0:
            strategy.direction[pair] = other % 2
            changed = True
    return changed, tied


def _cheapen(strategy: Strategy, side: int, values: Values, wanted: fmpz) -> fmpz:
    """Improve the couplings of a side if they cost more than `wanted`; return what is still too much."""
    plan = strategy.plan(side)
    excess = values.cost(plan) - wanted * plan.scale
    if excess > 0:
        for index in strategy.functional.programs_of(side):
            if index not in strategy.general:
                _improve_program(strategy, index, values)
        plan = strategy.plan(side)
        excess = values.cost(plan) - wanted * plan.scale
    if excess > 0 and strategy.functional.detours:
        for index in strategy.functional.programs_of(side):
            _take_detours(strategy, index, values)
        plan = strategy.plan(side)
        excess = values.cost(plan) - wanted * plan.scale
    return excess


def _take_detours(strategy: Strategy, index: int, values: Values) -> None:
    functional = strategy.functional
    space = functional.space
    nodes = space.members[space.classes[functional.batch.programs[index].sources[0]]]
    side = int(functional.side_of[index])
    optimum = solve_block(functional, side, nodes, lambda i, j: values.value(space.number(i, j)))
    strategy.general[index] = GeneralCoupling(nodes, optimum)


def _improve_by_detours(strategy: Strategy, values: Values) -> bool:
    """Give every program taken that a shortcut touches the whole class; tell whether one became cheaper."""
    functional = strategy.functional
    if not functional.detours:
        return False
    space = functional.space
    touched: dict[int, set[tuple[int, int]]] = {}
    for kind in space.whole_classes():
        found = shortcuts(
            space.members[kind],
            lambda i, j: values.numerators[space.number(i, j)],
            values.denominator,
            functional.alpha,
        )
        if found:
            touched[kind] = found
    changed = False
    taken, _ = _programs(strategy)
    for index in taken.tolist() if touched else ():
        program = functional.batch.programs[index]
        pairs = touched.get(space.classes[program.sources[0]], set())
        ends = program.sources + program.sinks
        if any((i, j) in pairs for i in ends for j in ends):
            costs = _exact_costs(program.cells, values)
            direct = improve(program, costs, values.denominator, strategy.parents(index), stay=True)
            before = direct.cost(program, costs, values.denominator)
            _take_detours(strategy, index, values)
            cost = strategy.general[index].optimum.value * values.denominator * program.whole
            changed |= bool(cost < before)
    return changed
