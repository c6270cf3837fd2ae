"""Numbers that cannot hold what is not allowed: a side condition belongs to the number, not to its use."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar, Self

from bisimdist.checker.core.reading import RuleViolation, rational, shown, text_of

__all__ = ["Amount", "Mass", "Share", "Skew"]


class _Bounded(Fraction):
    """A rational in an interval; what is outside of it cannot be made."""

    __slots__ = ()
    interval: ClassVar[str]
    holds: ClassVar[staticmethod[[Fraction | int], bool]]

    def __new__(cls, number: Fraction | int) -> Self:
        """Make the number."""
        if not cls.holds(number):
            raise ValueError(f"{shown(text_of(Fraction(number)))} is not {cls.interval}")
        return super().__new__(cls, number)

    @classmethod
    def of(cls, number: Fraction | int, where: str) -> Self:
        """Make the number of a rule; `where` begins with the name of the rule."""
        if not cls.holds(number):
            raise RuleViolation(f"{where} is {shown(text_of(Fraction(number)))}; expected {cls.interval}")
        return super().__new__(cls, number)

    @classmethod
    def by(cls, rule: str) -> Callable[[object, str], Self]:
        """Return what reads the number of a rule."""
        return lambda value, where: cls.of(rational(value, where), f"{rule}: {where}")


class Skew(_Bounded):
    """A number of at least 1: a skew, a ratio, e to a distance."""

    __slots__ = ()
    interval = "at least 1"
    holds = staticmethod(lambda number: number >= 1)


class Mass(_Bounded):
    """A number that is not negative."""

    __slots__ = ()
    interval = "at least 0"
    holds = staticmethod(lambda number: number >= 0)


class Amount(_Bounded):
    """A number that is positive."""

    __slots__ = ()
    interval = "more than 0"
    holds = staticmethod(lambda number: number > 0)


class Share(_Bounded):
    """A number from 0 to 1."""

    __slots__ = ()
    interval = "between 0 and 1"
    holds = staticmethod(lambda number: 0 <= number <= 1)
