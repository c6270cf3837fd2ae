"""How a certificate writes its numbers: decimal where short, else hexadecimal (read in linear time)."""

from __future__ import annotations

from flint import fmpq, fmpz

from bisimdist.exact.number import Unreduced

DECIMAL_DIGITS = 60  # longer integers are written in hexadecimal


def integer_text(value: fmpz | int, *, digits: int = DECIMAL_DIGITS) -> str:
    """Write an integer.

    >>> integer_text(-12), integer_text(2**256, digits=20)[:6]
    ('-12', '0x1000')
    """
    number = int(value)
    if number.bit_length() * 30103 // 100000 < digits:  # at most so many digits, one in doubt included
        return str(number)
    return hex(number)


def rational_text(value: fmpq | Unreduced, *, digits: int = DECIMAL_DIGITS) -> str:
    """Write a rational, in lowest terms if it is in these.

    >>> rational_text(fmpq(4, 6))
    '2/3'
    """
    numerator = integer_text(value.p, digits=digits)
    return numerator if value.q == 1 else f"{numerator}/{integer_text(value.q, digits=digits)}"


def rational_of(text: str) -> fmpq:
    """Read a rational that `rational_text` has written.

    >>> rational_of(rational_text(fmpq(2**256, 3))) == fmpq(2**256, 3)
    True
    """
    numerator, _, denominator = text.partition("/")
    return fmpq(int(numerator, 0), int(denominator or "1", 0))


def value_text(value: fmpq | None) -> str:
    """Write a value; None is infinity."""
    return "inf" if value is None else rational_text(value)
