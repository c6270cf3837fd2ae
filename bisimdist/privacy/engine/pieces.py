"""Delta of a pair as a function of one parameter: pieces that are quotients of polynomials, exactly.

Between zeros of the terms of `bisimdist.privacy.engine.parametric.Gains` every term has one sign, so that
what the best event gains is one function; delta is the larger of those of both directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import count, pairwise

from flint import fmpq, fmpq_mpoly

from bisimdist.models.polynomial import RationalFunction
from bisimdist.models.roots import Root, factors_of, isolated
from bisimdist.privacy.engine.parametric import Gains

WIDTH = fmpq(1, 2**30)
"""How wide the interval of a break that is not rational may be, as a part of the whole one."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """A continuous function on an open interval."""

    low: fmpq  # low and high: the ends of the interval
    high: fmpq
    breaks: tuple[Root, ...]  # where one piece ends and the next one begins, in order
    values: tuple[RationalFunction, ...]  # the pieces, one more than breaks

    def at(self, point: fmpq) -> fmpq:
        """Return the value at a point of the interval."""
        value = self.value(point)
        return value.at({value.names[0]: point})

    def value(self, point: fmpq) -> RationalFunction:
        return self.values[sum(root.before(point) for root in self.breaks)]

    def merged(self) -> Pieces:
        """Return the function without breaks between pieces that are the same."""
        kept = [k for k, (one, two) in enumerate(pairwise(self.values)) if one != two]
        values = (*(self.values[k] for k in kept), self.values[-1])
        return Pieces(self.low, self.high, tuple(self.breaks[k] for k in kept), values)


def pieces_of(both: Sequence[Gains], low: fmpq, high: fmpq) -> Pieces:
    """Return delta on an interval, by what the best events gain in both directions.

    There is a break wherever a term changes its sign, also where the pieces beside it are the same.

    >>> from bisimdist.models.library.dining_cryptographers import parametric_cryptographers
    >>> from bisimdist.privacy.engine.parametric import ParametricGraph
    >>> both = ParametricGraph(parametric_cryptographers(4)).gains(fmpq(1), 0, 1)
    >>> found = pieces_of(both, fmpq(0), fmpq(1)).merged()
    >>> found.breaks, str(found.values[0])
    ((), '-8*p^4 + 16*p^3 - 6*p^2 - 2*p + 1')
    """
    terms = [term for gains in both for term in gains.terms]
    known = {str(factor): factor for term in terms for factor, power in factors_of(term) if power % 2}
    needed = set(known)
    for _, difference in _differences(both, isolated(known.values(), low, high), low, high):
        known |= {str(factor): factor for factor, power in factors_of(difference) if power % 2}
    roots = isolated(known.values(), low, high)
    for root in roots:
        root.narrow((high - low) * WIDTH)
    values = [value for value, _ in _differences(both, roots, low, high)]
    kept = [
        k
        for k, (root, (one, two)) in enumerate(zip(roots, pairwise(values), strict=True))
        if one != two or str(root.polynomial) in needed
    ]
    below = both[0].denominator
    return Pieces(
        low,
        high,
        tuple(roots[k] for k in kept),
        tuple(RationalFunction(values[k], below) for k in (*kept, len(values) - 1)),
    )


def _differences(
    both: Sequence[Gains], roots: Sequence[Root], low: fmpq, high: fmpq
) -> list[tuple[fmpq_mpoly, fmpq_mpoly]]:
    """Return by interval between zeros what the better direction gains in the middle, and how much more."""
    found = []
    ends = [low, *(end for root in roots for end in (root.low, root.high)), high]
    for left, right in zip(ends[::2], ends[1::2], strict=True):
        for k in count(1):
            point = (left + (right - left) * fmpq(k, 2 * k + 1),)
            one, two = (gains.chosen(point) for gains in both)
            better, worse = (one, two) if one(*point) >= two(*point) else (two, one)
            if all(term(*point) for gains in both for term in gains.terms) and (
                better == worse or better(*point) != worse(*point)
            ):  # no zero of even multiplicity
                found.append((better, better - worse))
                break
    return found
