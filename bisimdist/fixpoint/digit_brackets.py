"""Certified brackets of any precision: from leading digits, which need no denominators.

As for those in 64 bits (`bisimdist.fixpoint.bracket_engine`), the digits are moved outward by a margin times
an expected number of steps, rounded, and proved in integers, which are as long as they have to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil

import numpy as np
from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.fixpoint.improvement import (
    cheapen,
    improve_by_detours,
    improve_couplings,
    improve_nearly,
)
from bisimdist.fixpoint.proof import Proof
from bisimdist.fixpoint.question import Question
from bisimdist.fixpoint.strategy import Strategy, Values
from bisimdist.fixpoint.tables import Tables
from bisimdist.fixpoint.walks import ATTEMPTS, Walk, longest
from bisimdist.lp.compiled import Float64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["prove_digits"]

PLACES = 20
"""Binary digits beyond the margin."""

UNIT = 1 << 10
"""What stands for a step where steps are counted in integers."""


def prove_digits(  # noqa: PLR0913
    question: Question,
    strategy: Strategy,
    good: Sequence[Walk],
    taken: Sequence[Walk],
    precision: fmpq,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Proof:
    """Prove bounds whose difference is at most `precision`, in rationals with a power of two below.

    Parameters
    ----------
    question
        What was asked.
    strategy
        Strategies that are good in doubles.
    good, taken
        The walks that count for the upper bound, and for the lower one.
    precision
        The width.
    deadline, progress
        When to give up, and who is told how it goes.

    Raises
    ------
    LimitError
        If the deadline passes, or mass goes round for so long that doubles yield no digits.
    """
    good, taken = list(good), list(taken)
    for attempt in range(ATTEMPTS):
        progress("certified bracket", attempt, None)
        rising, falling = longest(strategy, good), longest(strategy, taken)
        most = max(1.0, float(rising.max(initial=1.0)), float(falling.max(initial=1.0)))
        margin = precision / (4 * ceil(most))
        places = int(1 / margin).bit_length() + PLACES
        values = improve_nearly(strategy, places, deadline=deadline, progress=progress)
        step = (margin.p << places) // margin.q
        upper = _moved(strategy, values, step, rising)
        if question.sharp:
            lower = _moved(strategy, values, -step, falling)
        else:  # direct couplings alone prove nothing from below
            lower = Values([fmpz(0)] * question.functional.size, values.denominator)
        above = _checked_above(strategy, upper, deadline)
        deadline.check()
        below = _optimal_below(strategy, lower, deadline)
        if above is not None and _exceeds(below, lower):
            return Proof(question, upper, above, lower, below, ranked=None)
        # among couplings of equal cost the lower bound meets the slowest ones: let them count too
        strategy = below
        taken.append(Walk.taken(below))
        good.append(taken[-1])
    raise LimitError("no bracket of that precision was found")


def _moved(strategy: Strategy, values: Values, step: fmpz, steps: Float64Array) -> Values:
    """Return the values moved by so many steps each, in [0, 1]; 0 stays where the distance is 0."""
    whole = values.denominator
    times = np.ceil(steps * UNIT).astype(np.int64).tolist()
    moved = [
        fmpz(0) if zero else min(max(x + step * count // UNIT, fmpz(0)), whole)
        for x, count, zero in zip(values.numerators, times, strategy.zero.tolist(), strict=True)
    ]
    return Values(moved, whole)


def _checked_above(strategy: Strategy, upper: Values, deadline: Deadline) -> Strategy | None:
    """Return couplings of all sides that cost no more than the values, or None."""
    result = strategy.copy()
    tables = Tables.of(result, upper, deadline)
    sides = result.functional.sides
    for side, plan in zip(sides.tolist(), result.plans(sides), strict=True):
        deadline.check()
        wanted = upper.numerators[side // result.functional.width]
        if upper.cost(plan) > wanted * plan.scale and cheapen(result, side, tables, upper, wanted) > 0:
            return None
    return result


def _optimal_below(strategy: Strategy, lower: Values, deadline: Deadline) -> Strategy:
    """Return couplings that are optimal for the values in the directions taken."""
    result = strategy.copy()
    tables = Tables.of(result, lower, deadline)
    improve_couplings(result, lower, tables)
    improve_by_detours(result, lower, tables)
    return result


def _exceeds(strategy: Strategy, lower: Values) -> bool:
    """Tell whether the couplings, being optimal, cost more than every positive value."""
    width = strategy.functional.width
    pairs = np.array([pair for pair, x in enumerate(lower.numerators) if x], dtype=np.int64)
    plans = strategy.plans(width * pairs + strategy.direction[pairs])
    return all(
        lower.cost(plan) > lower.numerators[pair] * plan.scale
        for pair, plan in zip(pairs.tolist(), plans, strict=True)
    )
