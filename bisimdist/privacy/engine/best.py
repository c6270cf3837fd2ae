"""The best value of an expression over a parameter where delta is at most a number, from both sides.

The zeros of the expression's derivative, of what delta lacks to the number on each piece, and the breaks of
the pieces cut the interval into cells: in a cell delta is at most the number everywhere, or nowhere, and the
expression only rises, or only falls. See docs/theory/parameters.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.bernstein import bernstein_coefficients
from bisimdist.models.polynomial import RationalFunction, monomials_of, quotient_coefficients
from bisimdist.models.positivity import Sign, sign_on_box
from bisimdist.models.roots import Root, factors_of, isolated
from bisimdist.privacy.engine.parametric import Gains
from bisimdist.privacy.engine.pieces import Pieces
from bisimdist.progress import NEVER, Deadline

ROUNDS = 200  # how often intervals are halved


@dataclass(frozen=True, slots=True)
class Best:
    """Bounds on the best value, and what shows them."""

    # lower and upper: the bounds; both None where delta is more than the number everywhere
    lower: fmpq | None
    upper: fmpq | None
    at: fmpq | None  # where the expression is at least the lower bound
    # the zero at which the best value is, where it is not a rational number or an end of the interval
    root: Root | None
    # cuts and cells: where the interval is cut, and for each part ``"value"`` (the expression is at most the
    # upper bound) or ``"delta"`` (delta is more than the number)
    cuts: tuple[fmpq, ...] = ()
    cells: tuple[str, ...] = ()

    @property
    def width(self) -> fmpq:
        """How far apart the bounds are, where both are known."""
        return fmpq(0) if self.upper is None or self.lower is None else self.upper - self.lower


def best_of(  # noqa: PLR0913
    both: Sequence[Gains],
    pieces: Pieces,
    expression: RationalFunction,
    level: fmpq,
    gap: fmpq,
    *,
    inside: tuple[fmpq, fmpq],
    deadline: Deadline = NEVER,
) -> Best:
    """Return the best value of an expression where a function is at most a number.

    both, pieces: the function: what the best events gain in both directions, and its pieces on an interval.
    expression: what is as large as possible, over the same parameter.
    level: the number.
    gap: how far apart the bounds may be.
    inside: the open interval of the parameter; ends of the other one that are inside belong to it.
    deadline: when to stop with bounds that are farther apart.
    Raises UsageError if the denominator of the expression is not shown to keep its sign. Raises LimitError if
        there is no bound from above in time.

    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> from bisimdist.privacy.engine.parametric import ParametricGraph
    >>> from bisimdist.privacy.engine.pieces import pieces_of
    >>> both = ParametricGraph(parametric_cryptographers(2)).gains(fmpq(1), 0, 1)
    >>> found = pieces_of(both, fmpq(0), fmpq(1))
    >>> p = RationalFunction.of(found.values[0].numerator.context().gens()[0])
    >>> best = best_of(both, found, p, fmpq(1, 4), fmpq(1, 100), inside=(fmpq(0), fmpq(1)))
    >>> best.lower, best.upper, best.at
    (3/4, 3/4, 3/4)
    """
    low, high = pieces.low, pieces.high
    if sign_on_box(expression.denominator, ((low, high),)) not in {Sign.POSITIVE, Sign.NEGATIVE}:
        raise UsageError(f"the denominator of {expression} is not shown to have no zero; expected none")
    excess = [value.numerator - level * value.denominator for value in pieces.values]
    above, below = expression.numerator, expression.denominator
    name = above.context().names()[0]
    slope = above.derivative(name) * below - above * below.derivative(name)
    known = {str(f): f for polynomial in (*excess, slope) for f, _ in factors_of(polynomial)}
    known |= {str(root.polynomial): root.polynomial for root in pieces.breaks}
    work = _Cells(both, pieces, expression, level, isolated(known.values(), low, high), inside)
    found = work.best()
    for _ in range(ROUNDS):
        if work.nowhere or (found is not None and found.lower is not None and found.width <= gap):
            break
        if deadline.passed():
            break
        work.narrow()
        found = work.best()
    if found is None:
        raise LimitError("the best value has no bound yet")
    return replace(found, **work.shown())


class _Cells:
    """The cells of an interval, and what is between them: zeros, with intervals that become narrower."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        both: Sequence[Gains],
        pieces: Pieces,
        expression: RationalFunction,
        level: fmpq,
        roots: Sequence[Root],
        inside: tuple[fmpq, fmpq],
    ) -> None:
        self.both, self.expression, self.level = both, expression, level
        self.low, self.high = pieces.low, pieces.high
        ends = [self.low, *(end for root in roots for end in (root.low, root.high)), self.high]
        middles = [(left + right) / 2 for left, right in zip(ends[::2], ends[1::2], strict=True)]
        self.fine = [bool(pieces.at(middle) <= level) for middle in middles]
        """Of each cell, whether the function is at most the number there."""
        (p,) = expression.ring.gens()
        self.roots = [
            Root(p - self.low, self.low, self.low),
            *roots,
            Root(p - self.high, self.high, self.high),
        ]
        self.belongs = [inside[0] < self.low, *(True for _ in roots), self.high < inside[1]]
        """Of what is between cells, and of the ends, whether it is a value that the parameter may have."""
        around = zip([False, *self.fine], [*self.fine, False], strict=True)
        self.allowed = [
            one or two or (mine and _touches(pieces, level, root, before))
            for root, mine, (one, two), before in zip(
                self.roots, self.belongs, around, [middles[0], *middles], strict=True
            )
        ]
        self.alone = [
            allowed and not (one or two)
            for allowed, one, two in zip(self.allowed, [False, *self.fine], [*self.fine, False], strict=True)
        ]
        self.nowhere = not any(self.allowed)
        self.step = (self.high - self.low) / 8
        while any(two.low - one.high <= 2 * self.step for one, two in pairwise(self.roots)):
            self.step /= 2

    def narrow(self) -> None:
        """Halve all intervals."""
        self.step /= 2
        for root in self.roots:
            root.halve()

    def places(self) -> list[tuple[fmpq, fmpq]]:
        """Return the intervals between cells; one around a number, if the function is larger beside it."""
        rooms = (
            self.step if alone and root.rational else 0
            for root, alone in zip(self.roots, self.alone, strict=True)
        )
        return [
            (max(self.low, root.low - room), min(self.high, root.high + room))
            for root, room in zip(self.roots, rooms, strict=True)
        ]

    def best(self) -> Best | None:
        """Return the bounds as far as they are known; None where there is none from above."""
        if self.nowhere:
            return Best(None, None, None, None)
        uppers = [
            (_at_most(self.expression, *place), root)
            for place, root, allowed in zip(self.places(), self.roots, self.allowed, strict=True)
            if allowed
        ]
        known = [(bound, root) for bound, root in uppers if bound is not None]
        if len(known) < len(uppers):
            return None
        upper, root = max(known, key=lambda found: found[0])
        values = [(self.expression.at({self.expression.names[0]: x}), x) for x in self.points()]
        lower, at = max(values, key=lambda found: found[0], default=(None, None))
        return Best(lower, upper, at, None if root.rational else root)

    def points(self) -> Iterator[fmpq]:
        """Yield points where the function is at most the number: ends of cells, and rational zeros."""
        places = self.places()
        for fine, (_, left), (right, _) in zip(self.fine, places, places[1:], strict=False):
            if fine:
                yield left if left > self.low else left + self.step
                yield right if right < self.high else right - self.step
        for root, allowed, mine in zip(self.roots, self.allowed, self.belongs, strict=True):
            if allowed and mine and root.rational:
                yield root.low

    def shown(self) -> dict[str, Any]:
        """Return where the interval is cut, and what is shown of each part."""
        places = self.places()
        parts: list[tuple[fmpq, fmpq, bool]] = []
        for number, (left, right) in enumerate(places):
            if left < right:
                parts.append((left, right, self.allowed[number]))
            if number < len(self.fine):
                parts.append((right, places[number + 1][0], self.fine[number]))
        cells: list[tuple[fmpq, str]] = []
        for left, right, fine in parts:
            if fine:
                cells.append((right, "value"))
            else:
                cells += [(end, "delta") for end in self.exceeded(left, right)]
        return {"cuts": tuple(end for end, _ in cells[:-1]), "cells": tuple(kind for _, kind in cells)}

    def exceeded(self, low: fmpq, high: fmpq) -> Iterator[fmpq]:
        """Yield the upper ends of parts in which coefficients show that some event gains more."""
        middle = (low + high) / 2
        for gains in self.both:
            more = gains.chosen((middle,)) - self.level * gains.denominator
            if more(middle) > 0 and min(bernstein_coefficients(monomials_of(more), ((low, high),))) >= 0:
                yield high
                return
        yield from self.exceeded(low, middle)
        yield from self.exceeded(middle, high)


def _touches(pieces: Pieces, level: fmpq, root: Root, before: fmpq) -> bool:
    """Tell whether the function is the number at a zero, by a point in the cell before it."""
    if root.rational:
        return bool(pieces.at(root.low) <= level)
    value = pieces.value(before)
    excess = value.numerator - level * value.denominator
    return any(str(factor) == str(root.polynomial) for factor, _ in factors_of(excess))


def _at_most(expression: RationalFunction, low: fmpq, high: fmpq) -> fmpq | None:
    """Return a bound on a quotient over an interval, its value on a point; None where none is known."""
    values = quotient_coefficients(expression, ((low, high),))
    return None if values is None else max(values)
