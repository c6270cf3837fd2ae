"""The measures of certificates of kind ``leakage``: functions of masses, and how values go along edges.

Roots and logarithms are enclosed in integers, here and by nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from bisimdist.checker.core.effort import product_work, spend

__all__ = ["Affinity", "Enclosure", "Guess", "Measure", "Power", "Relative", "logarithm", "root", "times"]

BITS = 320
"""How many bits of a root or a logarithm are right."""

Enclosure = tuple[Fraction, Fraction]
"""A number lies between the two."""

_ZERO = Fraction(0)
NOTHING: Enclosure = _ZERO, _ZERO


def times(value: Fraction, factor: Enclosure, *, up: bool) -> Fraction:
    """Return a bound on the product of a number and one that is enclosed."""
    return value * factor[(value >= 0) == up]


class Measure(ABC):
    """A convex and positively homogeneous function of masses."""

    @abstractmethod
    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure | None:
        """Return the function of masses that are not all of them 0; None for infinity."""

    @abstractmethod
    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return (f, k) with V = f V' + k if rows are scaled; `total` is that of the first one before."""

    def vanishes(self, rows: Sequence[Sequence[int]]) -> bool:
        """Tell whether the value is 0 because of rows that are 0."""
        return not any(map(any, rows))


class Guess(Measure):
    """max(0, ...): what the best of several guesses gains beyond one more."""

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure:
        """Return the largest of the masses, at least 0."""
        best = Fraction(max(0, *masses))
        return best, best

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the scale, which all rows have in common."""
        del total
        return (scales[0], scales[0]), NOTHING


class Pair(Measure):
    """A function of two masses, 0 where the first is."""

    def vanishes(self, rows: Sequence[Sequence[int]]) -> bool:
        """Tell whether the first row is 0."""
        return not any(rows[0])


class Power(Pair):
    """x^b y^(1-b)."""

    def __init__(self, order: int) -> None:
        self.order = order

    def _power(self, x: Fraction, y: Fraction) -> Enclosure:
        bits = max(part.bit_length() for number in (x, y) for part in (number.numerator, number.denominator))
        spend(product_work(bits * self.order, bits * self.order, 4))
        power = x**self.order / y ** (self.order - 1)
        return power, power

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure | None:
        """Return the power."""
        x, y = map(Fraction, masses)
        if not x:
            return NOTHING
        return self._power(x, y) if y else None

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the power of the scales."""
        del total
        return self._power(scales[0], scales[1]), NOTHING


class Affinity(Pair):
    """-sqrt(x y)."""

    def vanishes(self, rows: Sequence[Sequence[int]]) -> bool:
        """Tell whether a row is 0."""
        return not all(map(any, rows))

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure:
        """Return the root, negated."""
        low, high = root(Fraction(masses[0]) * masses[1])
        return -high, -low

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the root of the product of the scales."""
        del total
        return root(scales[0] * scales[1]), NOTHING


class Relative(Pair):
    """x ln(x/y)."""

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure | None:
        """Return the product of x and the logarithm."""
        x, y = map(Fraction, masses)
        if not x:
            return NOTHING
        if not y:
            return None
        low, high = logarithm(x / y)
        return x * low, x * high

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the scale of the first row, and what the quotient of the scales adds."""
        left, right = scales
        low, high = logarithm(left / right)
        return (left, left), (left * total * low, left * total * high)


def root(value: Fraction) -> Enclosure:
    """Return bounds on a square root, which are the same where it is rational."""
    product = value.numerator * value.denominator
    shift = max(0, BITS - product.bit_length() // 2)
    spend(product_work(product.bit_length() + 2 * shift, product.bit_length() + 2 * shift, 4))
    shifted = product << (2 * shift)
    floor = isqrt(shifted)
    unit = value.denominator << shift
    return Fraction(floor, unit), Fraction(floor + (floor * floor != shifted), unit)


def logarithm(value: Fraction) -> Enclosure:
    """Return bounds on the natural logarithm of a positive number."""
    if value == 1:
        return NOTHING
    shift = 0  # what is close to 1 is not shifted: its logarithm has as many digits as any other
    if not Fraction(1, 2) <= value <= 2:
        shift = value.numerator.bit_length() - value.denominator.bit_length()
    rest = value / Fraction(2) ** shift
    low, high = _near_one(rest)
    if not shift:
        return low, high
    two = _near_one(Fraction(2))
    return shift * two[shift < 0] + low, shift * two[shift > 0] + high


def _near_one(value: Fraction) -> Enclosure:
    """Return bounds on the logarithm of a number from 1/2 to 2: 2 (t + t^3/3 + ...) for t = (v-1)/(v+1)."""
    quotient = (value - 1) / (value + 1)
    if not quotient:
        return NOTHING
    small = quotient.denominator.bit_length() - quotient.numerator.bit_length()
    bits = BITS + small
    spend(product_work(2 * bits, 2 * bits, bits))
    unit = 1 << bits
    square = quotient * quotient
    # |t| <= 1/3: rounded down at every step, a power lacks less than 1 + 1/9 + ... units, and its part of the
    # sum one more; what comes after the last one is less than two units
    numerator, denominator = square.numerator, square.denominator
    term = abs(quotient.numerator) * unit // quotient.denominator
    total, terms, odd = 0, 0, 1
    while term:
        total += term // odd
        term = term * numerator // denominator
        odd += 2
        terms += 1
    low, high = Fraction(2 * total, unit), Fraction(2 * (total + _slack(terms)), unit)
    return (low, high) if quotient > 0 else (-high, -low)


def _slack(terms: int) -> int:
    """Return how many units so many terms, each rounded down twice, and what comes after them may lack."""
    return 2 * terms + 4
