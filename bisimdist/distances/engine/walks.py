"""How long mass goes round under some couplings: what margins around distances are measured by."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bisimdist.distances.engine.plan_matrix import PlanMatrix
from bisimdist.distances.engine.strategy import Strategy
from bisimdist.errors import LimitError
from bisimdist.linear import SparseSystem, solve_float
from bisimdist.lp.compiled import Float64Array

ATTEMPTS = 8  # how often slower couplings are let in before a bracket is given up
SETTLED = 1e-7  # a direction whose value is this close to the best one counts when the steps are estimated
FOREVER = 1e15  # more steps than doubles can count
LONGEST = 100  # rounds of iteration for the expected number of steps, before linear systems are solved for it
CHOICES = 20  # linear systems that are solved for it


def _live(strategy: Strategy) -> list[int]:
    """Return the pairs that are not at distance 0."""
    return [int(pair) for pair in np.flatnonzero(~strategy.zero)]


@dataclass(frozen=True, slots=True)
class Walk:
    """Where the couplings of some sides, one for each live pair, lead: the steps of a random walk."""

    plans: PlanMatrix
    penalty: Float64Array  # by live pair: 0, or minus infinity where the side does not count

    @classmethod
    def of(cls, strategy: Strategy, sides: list[int], value: Float64Array | None = None) -> Walk:
        """Return the walk of the sides; those cheaper than the values by more than `SETTLED` do not count."""
        return cls.along(strategy, PlanMatrix.of(strategy, sides), value)

    @classmethod
    def along(cls, strategy: Strategy, plans: PlanMatrix, value: Float64Array | None) -> Walk:
        """Return the walk of couplings that are read already."""
        penalty = np.zeros(len(plans.sides))
        if value is not None:
            cost = plans.matrix @ value + plans.constant
            penalty = np.where(cost < value[plans.sides // strategy.functional.width] - SETTLED, -np.inf, 0.0)
        return cls(plans, penalty)

    @classmethod
    def taken(cls, strategy: Strategy) -> Walk:
        return cls.of(strategy, [strategy.side(pair) for pair in _live(strategy)])


def steps_by_direction(strategy: Strategy, value: Float64Array) -> tuple[list[Walk], list[Walk]]:
    """Return the walks that count for the upper bound (of all sides) and the lower one (of those taken)."""
    live = _live(strategy)
    taken = [Walk.taken(strategy)]
    columns = np.array([list(strategy.others(pair)) for pair in live], dtype=np.int64).T
    if not columns.size:
        return taken, taken
    sides, place = np.unique(columns, return_inverse=True)
    plans = PlanMatrix.of(strategy, sides)  # all at once: reading a batch takes as long for a few sides
    rows = place.reshape(columns.shape)
    return [*taken, *(Walk.along(strategy, plans.rows(chosen), value) for chosen in rows)], taken


def longest(strategy: Strategy, walks: list[Walk]) -> Float64Array:
    """Return w, by pair, a little above the least solution of w = 1 + max over the walks of A w."""
    live = np.array(_live(strategy), dtype=np.int64)
    steps = np.zeros(strategy.functional.size, dtype=np.float64)
    for _ in range(LONGEST):
        fresh = np.minimum(1.0 + _onward(walks, steps).max(axis=0), FOREVER)
        change = float(np.abs(fresh - steps[live]).max(initial=0.0))
        steps[live] = fresh
        if change <= 0.01:
            return steps * 1.05
    # slow walks: solve for the steps of the slowest choice instead, until the choice stands still
    place = {int(pair): index for index, pair in enumerate(live)}
    choice = np.full(len(live), -1)
    for _ in range(CHOICES):
        slowest = _onward(walks, steps).argmax(axis=0)
        if (slowest == choice).all():
            return steps * 1.05
        choice = slowest
        plans = [walks[int(walk)].plans.plan(index) for index, walk in enumerate(choice)]
        rows = [
            (plan.scale, plan.scale, tuple((place[n], w) for n, w in plan.entries if n in place))
            for plan in plans
        ]
        solved = solve_float(SparseSystem(tuple(rows)))
        if not (np.isfinite(solved).all() and (solved >= 0.9).all() and (solved <= FOREVER).all()):
            break
        steps[live] = solved
    raise LimitError("mass goes round for too long for a bracket")


def _onward(walks: list[Walk], steps: Float64Array) -> Float64Array:
    """Return A w of every walk, by walk and live pair; minus infinity where a side does not count."""
    return np.array([walk.plans.matrix @ steps + walk.penalty for walk in walks])
