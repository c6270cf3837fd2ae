"""Bounds that carry their direction: an upper bound cannot pass for a lower one.

The engines work with bare ``fmpq`` and so do the answers that users read (``answer.pairs[0].upper`` is a
number to compute with); the types here stand where bounds of both directions meet.
"""

from __future__ import annotations

from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import BisimdistError, UsageError


class DirectionError(BisimdistError, TypeError):
    """An upper bound was used as a lower one, or the reverse."""


@dataclass(frozen=True, slots=True)
class _Bound:
    value: fmpq

    def __post_init__(self) -> None:
        if not isinstance(self.value, fmpq):
            raise DirectionError(
                f"a bound holds an fmpq, not a {type(self.value).__name__}; convert with to_fmpq"
            )

    def _same_direction(self, other: object) -> fmpq:
        if not isinstance(other, _Bound):
            raise DirectionError(
                f"{type(self).__name__} meets a bare {type(other).__name__}; say which bound"
            )
        if type(other) is not type(self):
            raise DirectionError(f"{type(self).__name__} meets {type(other).__name__}; directions do not mix")
        return other.value

    def __lt__(self, other: object) -> bool:
        return bool(self.value < self._same_direction(other))

    def __le__(self, other: object) -> bool:
        return bool(self.value <= self._same_direction(other))

    def __gt__(self, other: object) -> bool:
        return bool(self.value > self._same_direction(other))

    def __ge__(self, other: object) -> bool:
        return bool(self.value >= self._same_direction(other))


@dataclass(frozen=True, slots=True)
class UpperBound(_Bound):
    """A number proved to be at least the quantity it is about."""

    def proves_at_most(self, threshold: fmpq) -> bool:
        """Tell whether the quantity is thereby at most the threshold; False says nothing."""
        return bool(self.value <= threshold)


@dataclass(frozen=True, slots=True)
class LowerBound(_Bound):
    """A number proved to be at most the quantity it is about."""

    def proves_above(self, threshold: fmpq) -> bool:
        """Tell whether the quantity is thereby above the threshold; False says nothing."""
        return bool(self.value > threshold)


@dataclass(frozen=True, slots=True)
class Bracket:
    """A lower and an upper bound on the same quantity.

    Raises DirectionError if the two are exchanged.
    Raises UsageError if the lower bound exceeds the upper one, so that one of them is wrong.
    """

    lower: LowerBound
    upper: UpperBound

    def __post_init__(self) -> None:
        if not (isinstance(self.lower, LowerBound) and isinstance(self.upper, UpperBound)):
            raise DirectionError("a bracket is made of a LowerBound and an UpperBound, in this order")
        if self.lower.value > self.upper.value:
            raise UsageError(f"the lower bound {self.lower.value} exceeds the upper bound {self.upper.value}")

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        return bool(self.lower.value == self.upper.value)

    @property
    def width(self) -> fmpq:
        """How far apart the bounds are."""
        return self.upper.value - self.lower.value

    def at_most(self, threshold: fmpq) -> bool | None:
        """Decide whether the quantity is at most the threshold; None where the bracket leaves it open.

        >>> Bracket(LowerBound(fmpq(1, 2)), UpperBound(fmpq(1, 2))).at_most(fmpq(1, 2))
        True
        """
        if self.upper.proves_at_most(threshold):
            return True
        return False if self.lower.proves_above(threshold) else None
