"""The best value of an expression over several parameters where delta is at most a number: box by box.

From above the largest value of the expression in boxes in which delta is not shown to be more than the number
everywhere, from below the expression at points where it is not more. See docs/theory/parameters.md.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.bernstein import Box, bernstein_coefficients, halved
from bisimdist.models.polynomial import RationalFunction, monomials_of, quotient_coefficients
from bisimdist.privacy.engine.parametric import Gains
from bisimdist.progress import NEVER, Deadline

MAX_BOXES = 20_000


@dataclass(frozen=True, slots=True)
class BestPoint:
    """Bounds on the best value."""

    # lower and upper: the bounds; the upper one is None where delta is more than the number everywhere
    lower: fmpq | None
    upper: fmpq | None
    at: tuple[fmpq, ...] | None  # values of the parameters where the expression is the lower bound


def best_in_box(  # noqa: PLR0913
    both: Sequence[Gains],
    expression: RationalFunction,
    level: fmpq,
    gap: fmpq,
    box: Box,
    *,
    deadline: Deadline = NEVER,
) -> BestPoint:
    """Return bounds on the best value in a box, at most a gap apart if there is time.

    Raises UsageError if the denominator of the expression is not shown to keep its sign.
    """
    least: fmpq | None = None
    at: tuple[fmpq, ...] | None = None
    waiting = [(-_most(expression, box), 0, box)]
    for number in range(1, 2 * MAX_BOXES, 2):
        if not waiting:
            return BestPoint(least, least, at)
        most = -waiting[0][0]
        if (least is not None and most - least <= gap) or deadline.passed():
            break
        _, _, part = heapq.heappop(waiting)
        middle = tuple((low + high) / 2 for low, high in part)
        if all(gains.at(middle) <= level for gains in both):
            value = expression.at(dict(zip(expression.names, middle, strict=True)))
            if least is None or value > least:
                least, at = value, middle
        elif _exceeded(both, level, part, middle):
            continue
        for k, half in enumerate(halved(part, box)[2:]):
            heapq.heappush(waiting, (-_most(expression, half), number + k, half))
    return BestPoint(least, max(least, most) if least is not None else most, at)


def _most(expression: RationalFunction, box: Box) -> fmpq:
    """Return a bound on a quotient in a box."""
    values = quotient_coefficients(expression, box)
    if values is None:
        raise UsageError(f"the denominator of {expression} is not shown to have no zero; expected none")
    return max(values)


def _exceeded(both: Sequence[Gains], level: fmpq, box: Box, middle: Sequence[fmpq]) -> bool:
    """Tell whether coefficients show that one event gains more than the level everywhere in a closed box."""
    return any(
        min(bernstein_coefficients(monomials_of(gains.chosen(middle) - level * gains.denominator), box)) > 0
        for gains in both
    )
