"""The best value of an expression over a parameter where delta is at most a number, from both sides.

The zeros of the expression's derivative, of what delta lacks to the number on each piece, and the breaks of
the pieces cut the interval into cells: in a cell delta is at most the number everywhere, or nowhere, and the
expression only rises, or only falls. See docs/theory/parameters.md.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq

from bisimdist.errors import LimitError, UsageError
from bisimdist.exact.bernstein import bernstein_coefficients, evaluate
from bisimdist.models.polynomial import RationalFunction, monomials_of
from bisimdist.models.positivity import Sign, sign_on_box
from bisimdist.models.roots import Root, factors_of, isolated
from bisimdist.privacy.pieces import Pieces
from bisimdist.progress import NEVER, Deadline

__all__ = ["Best", "best_of"]

ROUNDS = 200
"""How often intervals are halved."""


@dataclass(frozen=True, slots=True)
class Best:
    """Bounds on the best value, and what shows them.

    Parameters
    ----------
    lower, upper
        The bounds; both None where delta is more than the number everywhere.
    at
        Where the expression is at least the lower bound.
    root
        The zero at which the best value is, where it is not a rational number or an end of the interval.
    cuts, cells
        Where the interval is cut, and for each part ``"value"`` (the expression is at most the upper bound)
        or ``"delta"`` (delta is more than the number).
    """

    lower: fmpq | None
    upper: fmpq | None
    at: fmpq | None
    root: Root | None
    cuts: tuple[fmpq, ...]
    cells: tuple[str, ...]

    @property
    def width(self) -> fmpq:
        """How far apart the bounds are, where both are known."""
        return fmpq(0) if self.upper is None or self.lower is None else self.upper - self.lower


def best_of(
    pieces: Pieces, expression: RationalFunction, level: fmpq, gap: fmpq, *, deadline: Deadline = NEVER
) -> Best:
    """Return the best value of an expression where a function is at most a number.

    Parameters
    ----------
    pieces
        The function.
    expression
        What is as large as possible, over the same parameter.
    level
        The number.
    gap
        How far apart the bounds may be.
    deadline
        When to stop with bounds that are farther apart.

    Raises
    ------
    UsageError
        If the denominator of the expression is not shown to keep its sign.
    LimitError
        If there is no bound from above in time.

    Examples
    --------
    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> from bisimdist.privacy.parametric import ParametricGraph
    >>> from bisimdist.privacy.pieces import pieces_of
    >>> both = ParametricGraph(parametric_cryptographers(2)).gains(fmpq(1), 0, 1)
    >>> found = pieces_of(both, fmpq(0), fmpq(1))
    >>> p = RationalFunction.of(found.values[0].numerator.context().gens()[0])
    >>> best = best_of(found, p, fmpq(1, 4), fmpq(1, 100))
    >>> best.lower, best.upper, best.at
    (3/4, 3/4, 3/4)
    """
    low, high = pieces.low, pieces.high
    if sign_on_box(expression.denominator, [(low, high)]) not in {Sign.POSITIVE, Sign.NEGATIVE}:
        raise UsageError(f"the denominator of {expression} is not shown to have no zero; expected none")
    excess = [value.numerator - level * value.denominator for value in pieces.values]
    above, below = expression.numerator, expression.denominator
    name = above.context().names()[0]
    slope = above.derivative(name) * below - above * below.derivative(name)
    known = {str(f): f for polynomial in (*excess, slope) for f, _ in factors_of(polynomial)}
    known |= {str(root.polynomial): root.polynomial for root in pieces.breaks}
    roots = isolated(known.values(), low, high)
    work = _Cells(pieces, expression, level, roots)
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
    return found


class _Cells:
    """The cells of an interval, and the zeros between them, with intervals that become narrower."""

    def __init__(
        self, pieces: Pieces, expression: RationalFunction, level: fmpq, roots: Sequence[Root]
    ) -> None:
        self.low, self.high = pieces.low, pieces.high
        self.expression, self.roots = expression, roots
        ends = [self.low, *(end for root in roots for end in (root.low, root.high)), self.high]
        middles = [(left + right) / 2 for left, right in zip(ends[::2], ends[1::2], strict=True)]
        self.fine = [bool(pieces.at(middle) <= level) for middle in middles]
        """Of each cell, whether the function is at most the number there."""
        self.allowed = [
            before or after or _touches(pieces, level, root, middle)
            for root, before, after, middle in zip(roots, self.fine, self.fine[1:], middles, strict=False)
        ]
        """The same of each zero between two cells."""
        self.nowhere = not any(self.fine) and not any(self.allowed)
        self.step = (self.high - self.low) / 8
        while any(two.low - one.high <= 2 * self.step for one, two in pairwise(roots)):
            self.step /= 2

    def narrow(self) -> None:
        """Halve all intervals."""
        self.step /= 2
        for root in self.roots:
            root.halve()

    def place(self, number: int) -> tuple[fmpq, fmpq]:
        """Return the interval of a zero; around a rational one, if the function is larger on both sides."""
        root = self.roots[number]
        alone = self.allowed[number] and not (self.fine[number] or self.fine[number + 1])
        room = self.step if alone and root.rational else fmpq(0)
        return max(self.low, root.low - room), min(self.high, root.high + room)

    def best(self) -> Best | None:
        """Return the bounds as far as they are known; None where there is none from above."""
        places = [self.place(number) for number in range(len(self.roots))]
        uppers: list[tuple[fmpq | None, Root | None]] = [
            (_at_most(self.expression, *place), root)
            for place, root, allowed in zip(places, self.roots, self.allowed, strict=True)
            if allowed
        ]
        ends = ((self.low, self.fine[0]), (self.high, self.fine[-1]))
        uppers += [(_at_most(self.expression, end, end), None) for end, fine in ends if fine]
        known = [(bound, root) for bound, root in uppers if bound is not None]
        if len(known) < len(uppers):
            return None
        cuts, cells = self.shown(places)
        if not known:
            return Best(None, None, None, None, cuts, cells)
        upper, root = max(known, key=lambda found: found[0])
        values = [(self.expression.at({self.expression.names[0]: x}), x) for x in self.points(places)]
        lower, at = max(values, key=lambda found: found[0], default=(None, None))
        return Best(lower, upper, at, None if root is None or root.rational else root, cuts, cells)

    def points(self, places: Sequence[tuple[fmpq, fmpq]]) -> Iterator[fmpq]:
        """Yield points where the function is at most the number: ends of cells, and rational zeros."""
        ends = [self.low + self.step, *(end for place in places for end in place), self.high - self.step]
        for fine, *both in zip(self.fine, ends[::2], ends[1::2], strict=True):
            if fine:
                yield from (point for point in both if self.low < point < self.high)
        for root, allowed in zip(self.roots, self.allowed, strict=True):
            if allowed and root.rational:
                yield root.low

    def shown(self, places: Sequence[tuple[fmpq, fmpq]]) -> tuple[tuple[fmpq, ...], tuple[str, ...]]:
        """Return where the interval is cut, and what is shown of each part."""
        kinds = ("delta", "value")
        cuts: list[fmpq] = []
        cells = [kinds[self.fine[0]]]
        for (left, right), allowed, fine in zip(places, self.allowed, self.fine[1:], strict=True):
            cuts.append(left)
            if left < right:
                cuts.append(right)
                cells.append(kinds[allowed])
            cells.append(kinds[fine])
        return tuple(cuts), tuple(cells)


def _touches(pieces: Pieces, level: fmpq, root: Root, before: fmpq) -> bool:
    """Tell whether the function is the number at a zero, by a point in the cell before it."""
    if root.rational:
        return bool(pieces.at(root.low) <= level)
    value = pieces.value(before)
    excess = value.numerator - level * value.denominator
    return any(str(factor) == str(root.polynomial) for factor, _ in factors_of(excess))


def _at_most(expression: RationalFunction, low: fmpq, high: fmpq) -> fmpq | None:
    """Return a bound on a quotient over an interval, its value on a point; None where none is known."""
    parts = [monomials_of(part) for part in (expression.numerator, expression.denominator)]
    if low == high:
        above, below = ([evaluate(part, (low,))] for part in parts)
    else:
        degree = max(key[0] for part in parts for key in part)
        above, below = (list(bernstein_coefficients(part, ((low, high),), (degree,))) for part in parts)
    if len({b > 0 for b in below}) > 1 or not all(below):
        return None
    return max(a / b for a, b in zip(above, below, strict=True))
