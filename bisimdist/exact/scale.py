"""The two scales on which probabilities are compared, values that may be infinite, bounds on both sides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.exact.thresholds import below_exponential

Value: TypeAlias = fmpq | None
"""A distance; None is infinity, the largest of all. Multiplicative ones are given as e to the distance."""


def at_most(first: Value, second: Value) -> bool:
    """Tell whether the first value is at most the second.

    >>> at_most(fmpq(3), None), at_most(None, fmpq(3)), at_most(None, None)
    (True, False, True)
    """
    return second is None or (first is not None and first <= second)


def larger(first: Value, second: Value) -> Value:
    """Return the larger one of two values."""
    return second if at_most(first, second) else first


def smaller(first: Value, second: Value) -> Value:
    """Return the smaller one of two values."""
    return first if at_most(first, second) else second


def sign(first: Value, second: Value) -> int:
    """Return -1, 0 or 1 as the first value is less than, equal to or larger than the second."""
    return 0 if first == second else -1 if at_most(first, second) else 1


class Scale(Enum):
    """How two probabilities are compared."""

    MULTIPLICATIVE = "multiplicative"
    """By the difference of their logarithms; values are ratios, e to the distance."""
    ADDITIVE = "additive"  # by their difference; values are the distance itself, from 0 to 1

    @classmethod
    def called(cls, kind: Scale | str, what: str) -> Scale:
        """Return the scale of a name, or of itself."""
        if isinstance(kind, cls):
            return kind
        names = [scale.value for scale in cls]
        if kind not in names:
            raise UsageError(f"there is no {what} {kind!r}; expected {' or '.join(names)}")
        return cls(kind)

    @property
    def least(self) -> fmpq:
        """The value of equal things."""
        return fmpq(0) if self is Scale.ADDITIVE else fmpq(1)

    @property
    def greatest(self) -> Value:
        """What no value exceeds."""
        return fmpq(1) if self is Scale.ADDITIVE else None

    def between(self, x: fmpq, y: fmpq) -> Value:
        """Return the distance of two probabilities."""
        if self is Scale.ADDITIVE:
            return abs(x - y)
        if x == y:
            return fmpq(1)
        return None if x == 0 or y == 0 else max(x / y, y / x)


class Bounded(Numbers):
    """What is proved of a number from both sides; None stands for infinity."""

    __slots__ = ()

    lower: Exact | None
    upper: Exact | None

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return bool(self.lower == self.upper)


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds(Bounded):
    """What is proved of a number from both sides.

    ``lower``, ``upper``: proved bounds on the value; None stands for infinity.
    Raises UsageError if the lower bound is above the upper one, or below what the scale has.
    """

    lower: Exact | None
    upper: Exact | None

    def __post_init__(self) -> None:
        least = self.scale.least
        if not (at_most(least, self.lower) and at_most(self.lower, self.upper)):
            raise UsageError(f"bounds {self.lower} and {self.upper}; expected {least} <= lower <= upper")

    @property
    def scale(self) -> Scale:
        """What the numbers are."""
        return Scale.MULTIPLICATIVE

    @property
    def ratio(self) -> Exact | None:
        """The upper bound of a multiplicative distance, which is e to the distance where `exact`."""
        if self.scale is Scale.ADDITIVE:
            raise UsageError("an additive distance has no ratio")
        return self.upper

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the distance, ``"inf"`` where it is or may be infinite."""
        if self.scale is Scale.MULTIPLICATIVE:
            below = "inf" if self.lower is None else log_enclosure(self.lower, digits)[0]
            above = "inf" if self.upper is None else log_enclosure(self.upper, digits)[1]
            return below, above
        lower, upper = self.lower or fmpq(0), self.upper if self.upper is not None else fmpq(1)
        return decimal_below(lower, digits)[0], decimal_above(upper, digits)[0]

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether the distance is at most epsilon; None where the bounds do not decide that."""
        value = to_fmpq(epsilon)

        def below(bound: Value) -> bool:
            if bound is None:
                return False
            return (
                below_exponential(bound, value)
                if self.scale is Scale.MULTIPLICATIVE
                else bool(bound <= value)
            )

        return True if below(self.upper) else None if below(self.lower) else False
