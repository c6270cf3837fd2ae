"""Certified brackets: a pre-fixed point rounded up and a post-fixed point rounded down, in short rationals.

With v close to the distance, A the couplings of good strategies and w >= 1 + A w (an expected number of
steps), v + e w costs A (v + e w) + b <= v + e w - e up to rounding: a pre-fixed point. Likewise v - e w is a
post-fixed point that its potentials exceed strictly. Both are checked in integers before anything is said.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.fixpoint.improvement import improve_roughly
from bisimdist.fixpoint.iteration import ONE, Approximation
from bisimdist.fixpoint.plan_matrix import PlanMatrix
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import Question
from bisimdist.fixpoint.strategy import Strategy, Values
from bisimdist.fixpoint.tables import Tables
from bisimdist.linear import SingularSystemError, SparseSystem, solve_float
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["prove_bracket", "prove_tables"]

SETTLED = 1e-7
"""A direction whose value is this close to the best one counts when the steps are estimated."""

ATTEMPTS = 8
"""How often slower couplings are let in before a bracket is given up."""

FOREVER = 1e15
"""More steps than any bracket in 64 bits could stand."""

LONGEST = 100
"""Rounds of iteration for the expected number of steps, before linear systems are solved for it."""

CHOICES = 20
"""Linear systems that are solved for it."""


def prove_bracket(
    question: Question,
    guess: Approximation,
    precision: fmpq,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Proof:
    """Prove bounds whose difference is at most `precision`, in rationals with a power of two below.

    Raises
    ------
    LimitError
        If the deadline passes, or no such bounds are found at the precision of the grid.
    """
    functional = question.functional
    strategy = Strategy(functional, guess.basis.copy(), guess.direction.copy(), guess.zero)
    value = _polished(strategy, guess, deadline, progress)
    good, taken = _steps_by_direction(strategy, value)
    finest = functional.batch.finest
    for attempt in range(ATTEMPTS):
        deadline.check()
        progress("certified bracket", attempt, None)
        rising, falling = _longest(strategy, good), _longest(strategy, taken)
        margin = float(precision) / (
            4 * max(1.0, float(rising.max(initial=1.0)), float(falling.max(initial=1.0)))
        )
        if margin * finest < 16:
            break
        grid = min(finest, 1 << max(1, int(np.ceil(np.log2(8 / margin)))))
        upper = _rounded(strategy, np.ceil((value + margin * rising) * grid), grid)
        if not question.sharp:
            falling = np.full_like(falling, np.inf)  # direct couplings alone prove nothing from below
        lower = _rounded(strategy, np.floor((value - margin * falling) * grid), grid)
        above, below = _checked_above(strategy, upper, grid), _optimal_below(strategy, lower, grid, deadline)
        if above is not None and _exceeds(below, lower, grid):
            return Proof(question, _values(upper, grid), above, _values(lower, grid), below, ranked=None)
        # among couplings of equal cost the lower bound meets the slowest ones: let them count too
        taken.append(_Walk.of(below, [below.side(p) for p in _live(below)]))
        if above is None:
            good.extend(taken)
    raise LimitError("no bracket of that precision was found in 64 bits")


def prove_tables(
    question: Question, lower: Int64Array, upper: Int64Array, one: int, *, deadline: Deadline = NEVER
) -> Proof:
    """Find the couplings and potentials that prove tables by number of pair, in units of 1 / `one`.

    Raises
    ------
    LimitError
        If the deadline passes, or there are none.
    """
    functional = question.functional
    basis = BatchBasis.start(functional.batch)
    strategy = Strategy(functional, basis, np.zeros(functional.size, dtype=np.int64), upper == 0)
    above = _checked_above(strategy, upper, one)
    deadline.check()
    if functional.both_sides:
        _solve(strategy, np.arange(len(functional.batch)), lower, one)
        value = np.bincount(
            functional.side_of, basis.value, minlength=functional.width * functional.size
        ).reshape(-1, functional.width)
        strategy.direction[:] = value.argmax(axis=1)
    below = _optimal_below(strategy, lower, one, deadline)
    if above is None or not _exceeds(below, lower, one):
        raise LimitError("the tables are not proved by couplings and potentials")
    return Proof(question, _values(upper, one), above, _values(lower, one), below, ranked=None)


def _polished(
    strategy: Strategy, guess: Approximation, deadline: Deadline, progress: Progress
) -> Float64Array:
    """Return distances in doubles: of improved strategies, or the iterate where these are singular."""
    try:
        return (
            improve_roughly(strategy, deadline=deadline, progress=progress) / strategy.functional.batch.finest
        )
    except SingularSystemError:
        return guess.distance / ONE


def _live(strategy: Strategy) -> list[int]:
    """Return the pairs that are not at distance 0."""
    return [int(pair) for pair in np.flatnonzero(~strategy.zero)]


@dataclass(frozen=True, slots=True)
class _Walk:
    """Where the couplings of some sides, one for each live pair, lead: the steps of a random walk."""

    plans: PlanMatrix
    penalty: Float64Array
    """By live pair: 0, or minus infinity where the side does not count."""

    @classmethod
    def of(cls, strategy: Strategy, sides: list[int], value: Float64Array | None = None) -> _Walk:
        """Return the walk of the sides; those cheaper than the values by more than `SETTLED` do not count."""
        plans = PlanMatrix.of(strategy, sides)
        penalty = np.zeros(len(sides))
        if value is not None:
            cost = plans.matrix @ value + plans.constant
            penalty = np.where(cost < value[plans.sides // strategy.functional.width] - SETTLED, -np.inf, 0.0)
        return cls(plans, penalty)


def _steps_by_direction(strategy: Strategy, value: Float64Array) -> tuple[list[_Walk], list[_Walk]]:
    """Return the walks that count for the upper bound (of all sides) and the lower one (of those taken)."""
    live = _live(strategy)
    taken = [_Walk.of(strategy, [strategy.side(pair) for pair in live])]
    columns = zip(*(strategy.others(pair) for pair in live), strict=True)
    return [*taken, *(_Walk.of(strategy, list(sides), value) for sides in columns)], taken


def _longest(strategy: Strategy, walks: list[_Walk]) -> Float64Array:
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
    raise LimitError("mass goes round for too long for a bracket in 64 bits")


def _onward(walks: list[_Walk], steps: Float64Array) -> Float64Array:
    """Return A w of every walk, by walk and live pair; minus infinity where a side does not count."""
    return np.array([walk.plans.matrix @ steps + walk.penalty for walk in walks])


def _rounded(strategy: Strategy, numerators: Float64Array, grid: int) -> Int64Array:
    """Return the numerators as integers between 0 and the grid; 0 for the pairs at distance 0."""
    result = np.clip(numerators, 0, grid).astype(np.int64)
    result[strategy.zero] = 0
    return result


def _values(numerators: Int64Array, grid: int) -> Values:
    return Values([fmpz(int(x)) for x in numerators], fmpz(grid))


def _copy(strategy: Strategy) -> Strategy:
    return Strategy(
        strategy.functional,
        strategy.basis.copy(),
        strategy.direction.copy(),
        strategy.zero,
        dict(strategy.general),
    )


def _solve(strategy: Strategy, chosen: Int64Array, numerators: Int64Array, grid: int) -> None:
    """Make couplings optimal for these very values."""
    batch = strategy.functional.batch
    strategy.basis.solve(batch, chosen, numerators, one=grid)


def _checked_above(strategy: Strategy, upper: Int64Array, grid: int) -> Strategy | None:
    """Return couplings of both directions that cost no more than the values, or None."""
    result = _copy(strategy)
    functional = result.functional
    _solve(result, np.arange(len(functional.batch)), upper, grid)
    starts = np.arange(functional.size) * functional.width
    sides = (starts[:, None] + np.array(functional.options)).ravel()
    return None if PlanMatrix.of(result, sides).exceeding(upper, grid).any() else result


def _optimal_below(strategy: Strategy, lower: Int64Array, grid: int, deadline: Deadline) -> Strategy:
    """Return couplings that are optimal for the values in the directions taken."""
    result = _copy(strategy)
    functional = result.functional
    pair_of, option = np.divmod(functional.side_of, functional.width)
    chosen = np.flatnonzero((result.direction[pair_of] == option) & (lower[pair_of] > 0))
    _solve(result, chosen, lower, grid)
    tables = Tables(result, lower, grid, deadline=deadline)
    for index in chosen.tolist() if functional.detours else ():
        tables.mend(index)
    return result


def _exceeds(strategy: Strategy, lower: Int64Array, grid: int) -> bool:
    """Tell whether the couplings, being optimal, cost more than every positive value."""
    sides = [strategy.side(pair) for pair in np.flatnonzero(lower).tolist()]
    return bool(PlanMatrix.of(strategy, sides).exceeding(lower, grid).all())
