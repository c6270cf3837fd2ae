"""Certified brackets of any precision, of any question: from leading digits, which need no denominators.

With v close to the distance, A the couplings of good strategies and w >= 1 + A w (an expected number of
steps), v + e w costs A (v + e w) + b <= v + e w - e up to rounding: a pre-fixed point. Likewise v - e w is a
post-fixed point that its potentials exceed strictly. Both are proved in integers before anything is said,
which are as long as they have to be.
"""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from math import ceil

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.improvement import (
    cheapen,
    improve_by_detours,
    improve_couplings,
    improve_nearly,
    improve_roughly,
)
from bisimdist.distances.engine.iteration import ONE, Approximation
from bisimdist.distances.engine.plan_matrix import PlanMatrix
from bisimdist.distances.engine.proof import Proof
from bisimdist.distances.engine.question import Question
from bisimdist.distances.engine.ranking import Ranked
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.distances.engine.tables import Tables
from bisimdist.distances.engine.walks import ATTEMPTS, Walk, longest, steps_by_direction
from bisimdist.errors import LimitError
from bisimdist.linear import SingularSystemError
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

PLACES = 20  # binary digits beyond the margin
UNIT = 1 << 10  # what stands for a step where steps are counted in integers
SHORT = 53  # numbers of so many bits are doubles


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

    Where the digits of doubles are too few, longer numbers are taken if these may be `long`.
    """
    strategy = Strategy(question.functional, guess.basis.copy(), guess.direction.copy(), guess.zero)
    try:
        rough = (
            improve_roughly(strategy, deadline=deadline, progress=progress) / question.functional.batch.finest
        )
    except SingularSystemError:
        rough = guess.distance / ONE
    good, taken = steps_by_direction(strategy, rough)
    return prove_digits(
        question,
        strategy,
        good,
        taken,
        precision,
        rough=rough,
        long=long,
        deadline=deadline,
        progress=progress,
    )


def prove_tables(
    question: Question, lower: Int64Array, upper: Int64Array, one: int, *, deadline: Deadline = NEVER
) -> Proof:
    """Find the couplings and potentials that prove tables by number of pair, in units of 1 / `one`."""
    above, below = (Values.of(table, one) for table in (upper, lower))
    return prove_values(question, below, above, None, deadline=deadline)


def prove_values(
    question: Question,
    lower: Values,
    upper: Values,
    ranked: Mapping[int, Ranked] | None,
    *,
    deadline: Deadline = NEVER,
) -> Proof:
    """Find the couplings and potentials that prove values; those that are `ranked` may be attained."""
    if not question.sharp and any(lower.numerators):
        raise LimitError("there are too many pairs for a proof of their lower bounds one by one")
    functional = question.functional
    basis, taken = BatchBasis.start(functional.batch), np.zeros(functional.size, dtype=np.int64)
    everything, fine = np.arange(len(functional.batch)), functional.batch.finest
    zero = np.array([not x for x in upper.numerators], dtype=np.bool_)
    strategy = Strategy(functional, basis, taken, zero)
    basis.solve(functional.batch, everything, upper.fixed_point(fine), one=fine)
    dear = _checked_above(strategy, upper, deadline)
    deadline.check()
    if len(functional.options) > 1:
        basis.solve(functional.batch, everything, lower.fixed_point(fine), one=fine)
        taken[:] = functional.by_side(basis.value).argmax(axis=1)
    attained = {} if ranked is None else ranked
    for pair, found in attained.items():
        taken[pair] = found.direction
    cheap = _optimal_below(strategy, lower, deadline)
    if dear is None or not _exceeds(cheap, lower, attained):
        raise LimitError("the tables are not proved by couplings and potentials")
    return Proof(question, upper, dear, lower, cheap, ranked)


def prove_digits(  # noqa: PLR0913
    question: Question,
    strategy: Strategy,
    good: Sequence[Walk],
    taken: Sequence[Walk],
    precision: fmpq,
    *,
    rough: Float64Array | None = None,
    long: bool = True,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Proof:
    """Prove bounds whose difference is at most `precision`, in rationals with a power of two below.

    ``strategy``: strategies that are good in doubles.
    ``good``, ``taken``: the walks that count for the upper bound, and for the lower one.
    ``rough``: the distances in doubles, which are tried first where their digits are enough.
    ``long``: whether more digits may be taken.
    """
    good, taken = list(good), list(taken)
    for attempt in range(ATTEMPTS):
        progress("certified bracket", attempt, None)
        rising, falling = longest(strategy, good), longest(strategy, taken)
        most = max(1.0, float(rising.max(initial=1.0)), float(falling.max(initial=1.0)))
        margin = precision / (4 * ceil(most))
        places = int(8 / margin).bit_length()
        if rough is not None and attempt < ATTEMPTS // 2 and 1 << places <= question.functional.batch.finest:
            values = Values.of(np.ldexp(rough, places).astype(np.int64), 1 << places)
        elif not long:
            raise LimitError("doubles have too few digits for a bracket")
        else:
            places += PLACES
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


def _short(values: Values) -> Int64Array | None:
    """Return the numerators as numbers of 64 bits, if they are doubles too."""
    if values.denominator.bit_length() > SHORT:
        return None
    return np.array([int(x) for x in values.numerators], dtype=np.int64)


def _too_dear(strategy: Strategy, sides: Int64Array, values: Values) -> Int64Array:
    """Return those of the sides whose couplings cost more than the values of their pairs."""
    width, short = strategy.functional.width, _short(values)
    if short is not None:
        found = PlanMatrix.of(strategy, sides).exceeding(short, int(values.denominator))
        return sides[found]
    dear = [
        values.cost(plan) > values.numerators[side // width] * plan.scale
        for side, plan in zip(sides.tolist(), strategy.plans(sides), strict=True)
    ]
    return sides[np.array(dear, dtype=np.bool_)]


def _checked_above(strategy: Strategy, upper: Values, deadline: Deadline) -> Strategy | None:
    """Return couplings of all sides that cost no more than the values, or None."""
    result = strategy.copy()
    batch, short = result.functional.batch, _short(upper)
    if short is not None and upper.denominator <= batch.finest:
        result.basis.solve(batch, np.arange(len(batch)), short, one=int(upper.denominator))
    tables = Tables.of(result, upper, deadline)
    for side in _too_dear(result, result.functional.sides, upper).tolist():
        deadline.check()
        wanted = upper.numerators[side // result.functional.width]
        if cheapen(result, side, tables, upper, wanted) > 0:
            return None
    return result


def _optimal_below(strategy: Strategy, lower: Values, deadline: Deadline) -> Strategy:
    """Return couplings that are optimal for the values in the directions taken."""
    result = strategy.copy()
    tables = Tables.of(result, lower, deadline)
    improve_couplings(result, lower, tables)
    improve_by_detours(result, lower, tables)
    return result


def _exceeds(strategy: Strategy, lower: Values, attained: Container[int] = ()) -> bool:
    """Tell whether couplings, being optimal, cost more than all positive values, or attain those named."""
    pairs = np.array([pair for pair, x in enumerate(lower.numerators) if x], dtype=np.int64)
    strict = np.array([pair not in attained for pair in pairs.tolist()], dtype=np.bool_)
    sides = strategy.functional.width * pairs + strategy.direction[pairs]
    plans = zip(pairs[~strict].tolist(), strategy.plans(sides[~strict]), strict=True)
    if any(lower.cost(plan) < lower.numerators[pair] * plan.scale for pair, plan in plans):
        return False
    sides = sides[strict]
    return len(_too_dear(strategy, sides, lower)) == len(sides)
