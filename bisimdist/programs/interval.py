"""All values of one draw at once, for as long as they are only compared with constants."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from numbers import Integral
from typing import NoReturn

from bisimdist.programs.control import ListValues, SplitInterval


class Compared:  # noqa: PLW1641 - who hashes it has to know it
    """What of a whole number is known is asked for by comparisons with constants."""

    __slots__ = ()

    def _below(self, bound: int) -> bool:
        """Tell whether the value is below an integer."""
        raise NotImplementedError

    def _is(self, value: int) -> bool:
        raise NotImplementedError

    def _number(self, other: object) -> int | Fraction:
        raise NotImplementedError

    def __lt__(self, other: object) -> bool:
        return self._below(ceil(self._number(other)))

    def __ge__(self, other: object) -> bool:
        return not self._below(ceil(self._number(other)))

    def __le__(self, other: object) -> bool:
        return self._below(floor(self._number(other)) + 1)

    def __gt__(self, other: object) -> bool:
        return not self._below(floor(self._number(other)) + 1)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, int | Fraction):
            return False
        return other == int(other) and self._is(int(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __bool__(self) -> bool:
        return not self._is(0)


class Interval(Compared):  # noqa: PLW1641 - hashing asks for the values
    """The integers ``low, …, high - 1``, at least two of them, each equally likely.

    A comparison that the whole interval decides is answered; any other divides the interval, and everything
    else asks for the values one by one.

    index: which of the intervals of a state this is.
    low, high: the integers from `low` up to, but without, `high`.
    """

    __slots__ = ("high", "index", "low")

    def __init__(self, index: int, low: int, high: int) -> None:
        self.index = index
        self.low = low
        self.high = high

    def _below(self, bound: int) -> bool:
        if self.high <= bound:
            return True
        if self.low >= bound:
            return False
        raise SplitInterval(self.index, (bound,))

    def _is(self, value: int) -> bool:
        if not self.low <= value < self.high:
            return False
        raise SplitInterval(self.index, (value, value + 1))

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if isinstance(other, Interval):
            raise ListValues(self.index)
        return super().__eq__(other)

    def _number(self, other: object) -> int | Fraction:
        if isinstance(other, int | Fraction):
            return other
        raise ListValues(self.index)

    def _listed(self, *_: object) -> NoReturn:
        raise ListValues(self.index)

    def __getattr__(self, name: str) -> NoReturn:
        raise ListValues(self.index)

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __rfloordiv__ = _listed
    __truediv__ = __rtruediv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __pow__ = __rpow__ = _listed
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = __and__ = __rand__ = __or__ = __ror__ = _listed
    __xor__ = __rxor__ = __neg__ = __pos__ = __abs__ = __invert__ = __index__ = __int__ = _listed
    __float__ = __round__ = __trunc__ = __floor__ = __ceil__ = __hash__ = __repr__ = __str__ = _listed
    __format__ = __len__ = __iter__ = __getitem__ = __call__ = __contains__ = _listed


Integral.register(Interval)  # so that Fraction(value, 4) asks for its parts, and does not refuse it


def plain(index: int, low: int, high: int) -> int | Interval:
    """Return the values from `low` to `high` as an interval, or the only one of them as an integer."""
    return low if high - low == 1 else Interval(index, low, high)
