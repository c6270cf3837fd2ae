"""The measures of certificates of kind ``leakage``: functions of masses, and how values go along edges.

Roots and logarithms are enclosed in integers, here and by nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt

from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import LOOK, product_work, spend

BITS = 320  # how many bits of a root or a logarithm are right

Enclosure = tuple[Fraction, Fraction]  # a number lies between the two

_ZERO = Fraction(0)
NOTHING: Enclosure = _ZERO, _ZERO


def times(value: Fraction, factor: Enclosure, *, up: bool) -> Fraction:
    """Return a bound on the product of a number and one that is enclosed."""
    return sorted(value * end for end in counted(factor))[up]


class Measure(ABC):
    """A convex and positively homogeneous function of masses."""

    @property
    def needed(self) -> tuple[int, ...]:
        """The rows without which its value is 0."""
        return ()

    @abstractmethod
    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure | None:
        """Return the function of masses that are not all of them 0; None for infinity."""

    @abstractmethod
    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return (f, k) with V = f V' + k if rows are scaled; `total` is that of the first one before."""


class Guess(Measure):
    """max(0, ...): what the best of several guesses gains beyond one more."""

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure:
        """Return the largest of the masses, at least 0."""
        best = Fraction(max(0, *masses))
        return best, best

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the scale, which all rows have in common."""
        del total
        scale, *_ = scales
        return (scale, scale), NOTHING


class Ratio(Measure):
    """A function of two masses, 0 where the first is and infinite where only the second is."""

    @property
    def needed(self) -> tuple[int, ...]:
        return (0,)

    @abstractmethod
    def of(self, x: Fraction, y: Fraction) -> Enclosure:
        """Return the function of two positive masses."""

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure | None:
        x, y = map(Fraction, masses)
        if not x:
            return NOTHING
        return self.of(x, y) if y else None


class Power(Ratio):
    """x^b y^(1-b)."""

    def __init__(self, order: int) -> None:
        self.order = order

    def of(self, x: Fraction, y: Fraction) -> Enclosure:
        spend(_power_work(x, y, self.order))
        power = x**self.order / y ** (self.order - 1)
        return power, power

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        del total
        return self.of(*scales), NOTHING


class Affinity(Measure):
    """-sqrt(x y)."""

    @property
    def needed(self) -> tuple[int, ...]:
        return (0, 1)

    def phi(self, masses: Sequence[Fraction | int]) -> Enclosure:
        low, high = root(Fraction(masses[0]) * masses[1])
        return -high, -low

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the root of the product of the scales."""
        del total
        return root(scales[0] * scales[1]), NOTHING


class Relative(Ratio):
    """x ln(x/y)."""

    def of(self, x: Fraction, y: Fraction) -> Enclosure:
        """Return the product of x and the logarithm."""
        low, high = logarithm(x / y)
        return x * low, x * high

    def along(self, scales: Sequence[Fraction], total: int) -> tuple[Enclosure, Enclosure]:
        """Return the scale of the first row, and what the quotient of the scales adds."""
        left, right = scales
        return (left, left), self.of(left * total, right * total)


def root(value: Fraction) -> Enclosure:
    """Return bounds on a square root, which are the same where it is rational."""
    product = value.numerator * value.denominator << 2 * BITS
    spend(product_work(product.bit_length(), product.bit_length(), 4))
    floor = isqrt(product)
    unit = value.denominator << BITS
    return Fraction(floor, unit), Fraction(floor + (floor * floor != product), unit)


def logarithm(value: Fraction) -> Enclosure:
    """Return bounds on the natural logarithm of a positive number, which are the same where it is 0."""
    if value < 1:
        low, high = logarithm(1 / value)
        return -high, -low
    shift = (value.numerator // value.denominator).bit_length() - 1
    (low, high), two = _near_one(value / (1 << shift)), _near_one(Fraction(2))
    return low + shift * two[0], high + shift * two[1]


def _near_one(value: Fraction) -> Enclosure:
    """Return bounds on the logarithm of a number from 1 to 2: 2 (t + t^3/3 + ...) for t = (v-1)/(v+1)."""
    quotient = (value - 1) / (value + 1)
    bits = BITS + quotient.denominator.bit_length() - quotient.numerator.bit_length()
    spend(product_work(2 * bits, 2 * bits, bits))
    unit = 1 << bits
    square = quotient * quotient
    # t <= 1/3: rounded down at every step, a power lacks less than 1 + 1/9 + ... = 9/8 units, and so the
    # first part of the sum less than 1, the next ones 3/8 + 1 each, what is left in the end less than 1/2
    term = quotient.numerator * unit // quotient.denominator
    total, slack, odd = 0, 0, 1
    while term:
        spend(LOOK)
        total += term // odd
        term = term * square.numerator // square.denominator
        odd += 2
        slack += 2
    return Fraction(2 * total, unit), Fraction(2 * (total + slack), unit)


def _power_work(x: Fraction, y: Fraction, order: int) -> int:
    bits = max(part.bit_length() for number in (x, y) for part in (number.numerator, number.denominator))
    return product_work(bits * order, bits * order, 4)
