"""Numbers as answers give them out: exact rationals that Python's own numbers can be held against."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from decimal import Context, Decimal
from typing import TYPE_CHECKING, Any

from flint import fmpq, fmpz

from bisimdist.errors import NumberTypeError

__all__ = ["Exact", "Numbers"]

DIGITS = Context(prec=400)
"""More than anybody formats."""


def _other(value: object) -> Any:
    """Return what to compute with, or NotImplemented.

    Raises
    ------
    NumberTypeError
        For a float: whether it is equal to an exact number is no question that anybody means.
    """
    if isinstance(value, int | fmpq | fmpz):
        return value
    if isinstance(value, float):
        raise NumberTypeError(
            f"{value!r} is a float, and this number is exact; expected a Fraction, or float(...) of it"
        )
    if isinstance(value, Decimal) and value.is_finite():
        return fmpq(*value.as_integer_ratio())
    if isinstance(value, numbers.Rational):
        return fmpq(int(value.numerator), int(value.denominator))
    return NotImplemented


def _computed(operation: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
    def method(self: fmpq, value: object) -> Any:
        other = _other(value)
        if other is NotImplemented:
            return other
        pair = (other, fmpq(self)) if swapped else (fmpq(self), other)
        return _out(operation(*pair))

    return method


class Exact(fmpq):  # type: ignore[misc]
    """An exact rational: an ``fmpq`` that is equal to the Fraction, Decimal or integer of the same value.

    It is a ``numbers.Rational``, so that ``Fraction(x)`` works; sums and products with these are exact.
    Formats as ``f"{x:.3f}"`` round to nearest: they are for people.

    Raises
    ------
    NumberTypeError
        Where it is held against a float.

    Examples
    --------
    >>> from fractions import Fraction
    >>> x = Exact(1, 10)
    >>> x == Fraction(1, 10) == Decimal("0.1"), x + Fraction(1, 5), f"{x:.2%}"
    (True, 3/10, '10.00%')
    """

    __slots__ = ()

    __add__, __radd__ = _computed(operator.add), _computed(operator.add, swapped=True)
    __sub__, __rsub__ = _computed(operator.sub), _computed(operator.sub, swapped=True)
    __mul__, __rmul__ = _computed(operator.mul), _computed(operator.mul, swapped=True)
    __truediv__, __rtruediv__ = _computed(operator.truediv), _computed(operator.truediv, swapped=True)
    __eq__, __ne__ = _computed(operator.eq), _computed(operator.ne)
    __lt__, __le__ = _computed(operator.lt), _computed(operator.le)
    __gt__, __ge__ = _computed(operator.gt), _computed(operator.ge)
    __hash__ = fmpq.__hash__

    @property
    def numerator(self) -> int:
        """The numerator in lowest terms."""
        return int(self.p)

    @property
    def denominator(self) -> int:
        """The denominator in lowest terms, positive."""
        return int(self.q)

    def __neg__(self) -> Exact:
        return Exact(-fmpq(self))

    def __abs__(self) -> Exact:
        return Exact(abs(fmpq(self)))

    def __format__(self, form: str) -> str:
        if not form or form[-1] not in "eEfFgG%":
            return format(str(self), form)
        return format(DIGITS.divide(Decimal(self.numerator), Decimal(self.denominator)), form)

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (self.numerator, self.denominator)


numbers.Rational.register(Exact)


def _out(value: Any) -> Any:
    """Return what leaves: rationals, and those in short tuples, as `Exact`."""
    if type(value) is fmpq:
        return Exact(value)
    if type(value) is tuple and value and type(value[0]) in {fmpq, tuple}:
        return tuple(map(_out, value))
    return value


class Numbers:
    """Something whose attributes are numbers that leave the project."""

    __slots__ = ()

    if not TYPE_CHECKING:  # attributes have the types that they are declared with

        def __getattribute__(self, name: str) -> Any:
            return _out(object.__getattribute__(self, name))
