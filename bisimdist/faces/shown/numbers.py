"""Names and numbers as a person reads them: nothing cut silently, every rounding in the sound direction."""

from __future__ import annotations

from flint import fmpq

from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.rational import format_rational

LONG = 32
DIGITS = 6
LONG_DIGITS = 12


def is_long(value: fmpq) -> bool:
    """Tell whether a rational has too many digits to be shown to a person in full."""
    return len(format_rational(value)) > LONG


def at_most(bound: fmpq) -> str:
    """Return an upper bound with a decimal that is rounded up wherever it is rounded.

    >>> at_most(fmpq(1, 2500)), at_most(fmpq(1, 3))
    ('1/2500 = 0.0004', '1/3 <= 0.333334')
    """
    return _directed(bound, upward=True)


def at_least(bound: fmpq) -> str:
    """Return a lower bound with a decimal that is rounded down wherever it is rounded.

    >>> at_least(fmpq(1, 3))
    '1/3 >= 0.333333'
    """
    return _directed(bound, upward=False)


def _directed(bound: fmpq, *, upward: bool) -> str:
    rounded = decimal_above if upward else decimal_below
    text = format_rational(bound)
    sign = "<=" if upward else ">="
    if len(text) > LONG:
        decimal, exact = rounded(bound, LONG_DIGITS)
        return decimal if exact else f"{sign} {decimal} (rounded {'up' if upward else 'down'})"
    if bound.q == 1:
        return text
    decimal, exact = rounded(bound, DIGITS)
    return f"{text} = {decimal}" if exact else f"{text} {sign} {decimal}"


def interval(lower: fmpq | None, upper: fmpq | None) -> str:
    """Return the ends of an interval, long ones as decimals rounded outwards; None is infinity.

    >>> interval(fmpq(1, 3), fmpq(10**40 + 1, 2 * 10**40))
    '1/3 to 0.500000000001'
    >>> interval(fmpq(2), None)
    '2 to inf'
    """
    low = high = "inf"
    if lower is not None:
        low = decimal_below(lower, LONG_DIGITS)[0] if is_long(lower) else format_rational(lower)
    if upper is not None:
        high = decimal_above(upper, LONG_DIGITS)[0] if is_long(upper) else format_rational(upper)
    return f"{low} to {high}"


def short_rational(value: fmpq) -> str:
    """Return a rational in full where it is short, and between two decimals where it is not.

    >>> short_rational(fmpq(5001, 5000))
    '5001/5000'
    """
    if not is_long(value):
        return format_rational(value)
    low, high = decimal_below(value, LONG_DIGITS)[0], decimal_above(value, LONG_DIGITS)[0]
    return low if low == high else f"[{low}, {high}]"


def exact_value(value: fmpq | None) -> str:
    """Return a value in full; None is infinity."""
    return "inf" if value is None else format_rational(value)


def short_value(value: fmpq | None) -> str:
    """Return a value as `short_rational` does; None is infinity."""
    return "inf" if value is None else short_rational(value)


def between(low: str, high: str) -> str:
    """Return two decimals as an interval, one where they agree.

    >>> between("0", "0"), between("0.69314", "0.69315")
    ('0', '[0.69314, 0.69315]')
    """
    return low if low == high else f"[{low}, {high}]"
