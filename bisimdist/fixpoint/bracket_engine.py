"""Certified brackets: a pre-fixed point rounded up and a post-fixed point rounded down, in short rationals.

With v close to the distance, A the couplings of good strategies and w >= 1 + A w (an expected number of
steps), v + e w costs A (v + e w) + b <= v + e w - e up to rounding: a pre-fixed point. Likewise v - e w is a
post-fixed point that its potentials exceed strictly. Both are checked in integers before anything is said.
Where 64 bits are too few, `bisimdist.fixpoint.digit_brackets` goes on with longer ones.
"""

from __future__ import annotations

import numpy as np
from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.fixpoint.digit_brackets import prove_digits
from bisimdist.fixpoint.improvement import improve_roughly
from bisimdist.fixpoint.iteration import ONE, Approximation
from bisimdist.fixpoint.plan_matrix import PlanMatrix
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import Question
from bisimdist.fixpoint.strategy import Strategy, Values
from bisimdist.fixpoint.tables import Tables
from bisimdist.fixpoint.walks import ATTEMPTS, Walk, longest, steps_by_direction
from bisimdist.linear import SingularSystemError
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["prove_bracket", "prove_tables"]


def prove_bracket(  # noqa: PLR0913
    question: Question,
    guess: Approximation,
    precision: fmpq,
    *,
    long: bool = True,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Proof:
    """Prove bounds whose difference is at most `precision`, in rationals with a power of two below.

    Where 64 bits are too few, longer numbers are taken if these may be `long`.

    Raises
    ------
    LimitError
        If the deadline passes, or no such bounds are found.
    """
    functional = question.functional
    strategy = Strategy(functional, guess.basis.copy(), guess.direction.copy(), guess.zero)
    value = _polished(strategy, guess, deadline, progress)
    good, taken = steps_by_direction(strategy, value)
    finest = functional.batch.finest
    for attempt in range(ATTEMPTS):
        deadline.check()
        progress("certified bracket", attempt, None)
        rising, falling = longest(strategy, good), longest(strategy, taken)
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
        taken.append(Walk.taken(below))
        if above is None:
            good.extend(taken)
    deadline.check()
    if not long:
        raise LimitError("64 bits are too few for a bracket")
    return prove_digits(question, strategy, good, taken, precision, deadline=deadline, progress=progress)


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


def _rounded(strategy: Strategy, numerators: Float64Array, grid: int) -> Int64Array:
    """Return the numerators as integers between 0 and the grid; 0 for the pairs at distance 0."""
    result = np.clip(numerators, 0, grid).astype(np.int64)
    result[strategy.zero] = 0
    return result


def _values(numerators: Int64Array, grid: int) -> Values:
    return Values([fmpz(int(x)) for x in numerators], fmpz(grid))


def _solve(strategy: Strategy, chosen: Int64Array, numerators: Int64Array, grid: int) -> None:
    """Make couplings optimal for these very values."""
    batch = strategy.functional.batch
    strategy.basis.solve(batch, chosen, numerators, one=grid)


def _checked_above(strategy: Strategy, upper: Int64Array, grid: int) -> Strategy | None:
    """Return couplings of both directions that cost no more than the values, or None."""
    result = strategy.copy()
    functional = result.functional
    _solve(result, np.arange(len(functional.batch)), upper, grid)
    return None if PlanMatrix.of(result, functional.sides).exceeding(upper, grid).any() else result


def _optimal_below(strategy: Strategy, lower: Int64Array, grid: int, deadline: Deadline) -> Strategy:
    """Return couplings that are optimal for the values in the directions taken."""
    result = strategy.copy()
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
