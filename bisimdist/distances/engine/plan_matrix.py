"""The plans of many sides as one sparse matrix in doubles, and exact comparisons that it saves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.moves import moves_of, unusual_sides
from bisimdist.distances.engine.strategy import Plan, Strategy
from bisimdist.lp.batch import MAX_EXPONENT
from bisimdist.lp.compiled import BoolArray, Float64Array, Int64Array

if TYPE_CHECKING:
    from scipy.sparse import csr_array

UNIT = 2.0**-52


@dataclass(frozen=True, slots=True)
class PlanMatrix:
    """What the couplings of some sides cost: ``matrix @ d + constant``, up to rounding."""

    strategy: Strategy  # whose couplings they are; it must not change while the matrix is in use
    sides: Int64Array
    matrix: csr_array  # by row and pair the weight, mass 1 being 1
    constant: Float64Array  # by row the mass that is given up
    terms: Float64Array  # by row how many numbers were added up at most

    @classmethod
    def of(cls, strategy: Strategy, sides: Sequence[int] | Int64Array) -> PlanMatrix:
        """Read the couplings of the sides from the flat arrays of the batch, the unusual ones one by one."""
        from scipy.sparse import csr_array  # noqa: PLC0415  (slow to load; exact answers need none of it)

        functional = strategy.functional
        chosen = np.asarray(sides, dtype=np.int64)
        row_of = np.full(functional.width * functional.size, -1, dtype=np.int64)
        row_of[chosen] = np.arange(len(chosen))
        unusual = unusual_sides(strategy, MAX_EXPONENT)
        usual = row_of.copy()
        usual[unusual] = -1
        rows, columns, weights, constant = _flat_plans(strategy, usual, chosen)
        parts = [(rows, columns, weights)]
        for side in unusual[row_of[unusual] >= 0].tolist():
            plan, row = strategy.plan(side), int(row_of[side])
            numbers = np.array([number for number, _ in plan.entries], dtype=np.int64)
            masses = np.array([weight / plan.scale for _, weight in plan.entries], dtype=np.float64)
            parts.append((np.full(len(numbers), row), numbers, masses))
            constant[row] = plan.constant / plan.scale
        rows, columns, weights = (np.concatenate(pieces) for pieces in zip(*parts, strict=True))
        shape = (len(chosen), functional.size)
        matrix = csr_array((weights, (rows, columns)), shape=shape)
        terms = np.bincount(rows, minlength=len(chosen)).astype(np.float64)
        return cls(strategy, chosen, matrix, constant, terms)

    def rows(self, chosen: Int64Array) -> PlanMatrix:
        return PlanMatrix(
            self.strategy, self.sides[chosen], self.matrix[chosen], self.constant[chosen], self.terms[chosen]
        )

    def plan(self, row: int) -> Plan:
        return self.strategy.plan(int(self.sides[row]))

    def exceeding(self, numerators: Int64Array, grid: int) -> BoolArray:
        """Tell, by row, whether the coupling costs more than the value of its pair; exactly.

        Doubles decide where the difference is larger than all rounding errors together, integers elsewhere.

        ``numerators``: by pair the value in units of 1 / grid; at most 2^53.
        ``grid``: the denominator of the values.
        """
        values = numerators.astype(np.float64)
        cost = self.matrix @ values + self.constant * grid
        pair_of = self.sides // self.strategy.functional.width
        wanted = values[pair_of]
        error = (self.terms + 8.0) * UNIT * (cost + wanted + 1.0)
        result: BoolArray = cost > wanted
        exact = numerators.tolist()
        for row in np.flatnonzero(np.abs(cost - wanted) <= error).tolist():
            result[row] = plan_cost(self.plan(row), exact, grid) > exact[int(pair_of[row])]
        return result


def plan_cost(plan: Plan, numerators: Sequence[int], grid: int) -> fmpq:
    """Return what a plan costs exactly, in units of 1 / grid."""
    total = plan.constant * grid + sum(weight * numerators[number] for number, weight in plan.entries)
    return fmpq(total, plan.scale)


def _flat_plans(
    strategy: Strategy, row_of: Int64Array, sides: Int64Array
) -> tuple[Int64Array, Int64Array, Float64Array, Float64Array]:
    """Return (rows, pairs, weights) of all moves of the wanted rows, and by row the mass given up."""
    count = len(sides)
    row, number, flow, lost_row, lost = moves_of(strategy, row_of)
    wanted = np.unique(np.concatenate((row, lost_row))).tolist()
    scale = np.ones(count, dtype=np.float64)
    scale[wanted] = [float(strategy.functional.scale[side]) for side in sides[wanted].tolist()]
    constant = np.bincount(lost_row, lost / scale[lost_row], minlength=count).astype(np.float64)
    return row, number, flow / scale[row], constant
