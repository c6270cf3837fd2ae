"""Numbers as answers give them out: exact rationals that Python's own numbers can be held against."""

from __future__ import annotations

import math
import numbers
from decimal import Context, Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias

from flint import fmpq, fmpz

from bisimdist.errors import NumberTypeError

Rational: TypeAlias = numbers.Rational | Decimal | fmpq | fmpz | int
"""What an exact number is compared and computed with."""

DIGITS = Context(prec=400)  # more than anybody formats


def _other(value: object) -> Any:
    """Return what to compute with, or NotImplemented.

    Raises NumberTypeError for what is in floating point: whether it equals an exact number is no question
    that anybody means.
    """
    if isinstance(value, int | fmpz):
        return value
    if isinstance(value, float | complex):
        raise NumberTypeError(
            f"{value!r} is in floating point, this number is exact; expected a Fraction, or float(...) of it"
        )
    if isinstance(value, Decimal) and value.is_finite():
        return fmpq(*value.as_integer_ratio())
    if isinstance(value, numbers.Rational):
        return fmpq(int(value.numerator), int(value.denominator))
    return NotImplemented


def _computed(name: str) -> Any:
    """Return an operation of `fmpq` that takes Python's numbers too."""
    operation = getattr(fmpq, name)

    def method(self: fmpq, value: object) -> Any:
        other = value if isinstance(value, fmpq) else _other(value)
        return other if other is NotImplemented else _out(operation(self, other))

    return method


class Exact(fmpq, numbers.Rational):  # type: ignore[misc]
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

    if TYPE_CHECKING:

        def __add__(self, other: Rational, /) -> Exact: ...
        def __radd__(self, other: Rational, /) -> Exact: ...
        def __sub__(self, other: Rational, /) -> Exact: ...
        def __rsub__(self, other: Rational, /) -> Exact: ...
        def __mul__(self, other: Rational, /) -> Exact: ...
        def __rmul__(self, other: Rational, /) -> Exact: ...
        def __truediv__(self, other: Rational, /) -> Exact: ...
        def __rtruediv__(self, other: Rational, /) -> Exact: ...
        def __lt__(self, other: Rational, /) -> bool: ...
        def __le__(self, other: Rational, /) -> bool: ...
        def __gt__(self, other: Rational, /) -> bool: ...
        def __ge__(self, other: Rational, /) -> bool: ...

    else:
        __add__, __radd__ = _computed("__add__"), _computed("__radd__")
        __sub__, __rsub__ = _computed("__sub__"), _computed("__rsub__")
        __mul__, __rmul__ = _computed("__mul__"), _computed("__rmul__")
        __truediv__, __rtruediv__ = _computed("__truediv__"), _computed("__rtruediv__")
        __eq__, __ne__ = _computed("__eq__"), _computed("__ne__")
        __lt__, __le__ = _computed("__lt__"), _computed("__le__")
        __gt__, __ge__ = _computed("__gt__"), _computed("__ge__")
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

    def as_integer_ratio(self) -> tuple[int, int]:
        """Return numerator and denominator."""
        return self.numerator, self.denominator

    def __floor__(self) -> int:
        return self.numerator // self.denominator

    def __ceil__(self) -> int:
        return -(-self.numerator // self.denominator)

    def __trunc__(self) -> int:
        return math.floor(self) if self > 0 else math.ceil(self)

    def __floordiv__(self, other: Any) -> int:
        ratio: Exact = self / other
        return math.floor(ratio)

    def __rfloordiv__(self, other: Any) -> int:
        ratio: Exact = other / self
        return math.floor(ratio)

    def __mod__(self, other: Any) -> Exact:
        return Exact(self - Exact(self // other) * other)

    def __rmod__(self, other: Any) -> Exact:
        return Exact(other - self * (other // self))

    def __pow__(self, exponent: object) -> Any:
        power = fmpq.__pow__(fmpq(self), exponent)
        return power if power is NotImplemented else _out(power)

    def __round__(self, digits: int | None = None) -> Any:
        rounded = round(Fraction(self.numerator, self.denominator), digits)
        return rounded if isinstance(rounded, int) else Exact(rounded.numerator, rounded.denominator)

    def __abs__(self) -> Exact:
        return Exact(abs(fmpq(self)))

    def __format__(self, form: str) -> str:
        if form[-1:] not in tuple("eEfFgG%") and not {".", ",", "_"} & set(form):
            return format(str(self), form)
        return format(DIGITS.divide(Decimal(self.numerator), Decimal(self.denominator)), form)

    def __reduce__(self) -> tuple[Any, ...]:
        return Exact, (self.numerator, self.denominator)


class Unreduced:
    """The rational p / q: of thousands of digits it is brought to lowest terms only where somebody looks."""

    __slots__ = ("_value", "p", "q")

    def __init__(self, p: fmpz, q: fmpz) -> None:
        self.p, self.q = p, q
        self._value: Exact | None = None

    @property
    def value(self) -> Exact:
        """The number, in lowest terms."""
        if self._value is None:
            self._value = Exact(self.p, self.q)
        return self._value


def _out(value: Any) -> Any:
    """Return what leaves: rationals, and those in short tuples and in mappings, as `Exact`."""
    if type(value) is fmpq:
        return Exact(value)
    if type(value) is Unreduced:
        return value.value
    if type(value) is tuple and value and type(value[0]) in {fmpq, tuple, type(None)}:
        return tuple(map(_out, value))
    if type(value) is dict and type(next(iter(value.values()), None)) is fmpq:
        return {name: _out(number) for name, number in value.items()}
    return value


class Numbers:
    """Something whose attributes are numbers that leave the project."""

    __slots__ = ()

    if not TYPE_CHECKING:  # attributes have the types that they are declared with

        def __getattribute__(self, name: str) -> Any:
            return _out(object.__getattribute__(self, name))
