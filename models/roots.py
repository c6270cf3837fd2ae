"""Real zeros of polynomials in one variable, isolated exactly.

The Bernstein coefficients over an interval change their sign at least as often as the polynomial has zeros
inside, and where they change it once it has exactly one (Descartes' rule).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from flint import fmpq, fmpq_mpoly

from bisimdist.exact.bernstein import tensor_of
from bisimdist.models.polynomial import monomials_of


@dataclass(slots=True, eq=False)
class Root:
    """A zero of an irreducible polynomial, the only one in an interval; a rational one is both its ends."""

    polynomial: fmpq_mpoly
    low: fmpq
    high: fmpq

    @property
    def rational(self) -> bool:
        """Whether the interval is a point."""
        return bool(self.low == self.high)

    def halve(self) -> None:
        """Keep the half of the interval that has the zero."""
        if not self.rational:
            middle = (self.low + self.high) / 2
            if (self.polynomial(middle) > 0) == (self.polynomial(self.low) > 0):
                self.low = middle
            else:
                self.high = middle

    def before(self, point: fmpq) -> bool:
        """Tell whether the zero is less than a number, which it is not."""
        while self.low < point < self.high:
            self.halve()
        return bool(self.high <= point)

    def narrow(self, width: fmpq) -> None:
        """Halve the interval until it is no wider than this."""
        while self.high - self.low > width:
            self.halve()


def factors_of(polynomial: fmpq_mpoly) -> list[tuple[fmpq_mpoly, int]]:
    """Return the irreducible factors of a polynomial that are not constant, with their multiplicities."""
    return [(factor, int(power)) for factor, power in polynomial.factor()[1]] if polynomial else []


def isolated(factors: Iterable[fmpq_mpoly], low: fmpq, high: fmpq) -> list[Root]:
    """Return all zeros of different irreducible polynomials between two numbers, in order.

    Their intervals have no point in common, and do not reach the ends.

    >>> from bisimdist.models.polynomial import parameter_ring
    >>> (p,) = parameter_ring(["p"]).gens()
    >>> [(root.low, root.high) for root in isolated([p**2 - 2, 2 * p - 1], fmpq(0), fmpq(2))]
    [(1/2, 1/2), (1, 3/2)]
    """
    roots = [root for factor in factors for root in _roots(factor, low, high)]
    for root in roots:
        while root.low <= low or root.high >= high:
            root.halve()
    while True:
        roots.sort(key=lambda root: root.low)
        close = [(one, two) for one, two in pairwise(roots) if two.low <= one.high]
        if not close:
            return roots
        for pair in close:
            for root in pair:
                root.halve()


def _roots(polynomial: fmpq_mpoly, low: fmpq, high: fmpq) -> Iterator[Root]:
    """Yield the zeros of an irreducible polynomial strictly between two numbers."""
    coefficients = monomials_of(polynomial)
    if max(coefficients) == (1,):
        zero = -coefficients.get((0,), fmpq(0)) / coefficients[1,]
        if low < zero < high:
            yield Root(polynomial, zero, zero)
        return
    waiting = [(low, high, tensor_of(coefficients, ((low, high),)))]
    while waiting:
        left, right, tensor = waiting.pop()
        signs = [entry > 0 for entry in tensor.entries if entry]
        changes = sum(one != two for one, two in pairwise(signs))
        if changes == 1:
            yield Root(polynomial, left, right)
        elif changes:
            middle = (left + right) / 2
            below, above = tensor.halves(0, fmpq(1, 2))
            waiting += [(left, middle, below), (middle, right, above)]
