"""Decimals for people: rounded in a known direction, never through a binary float."""

from __future__ import annotations

from typing import Literal

from flint import fmpq, fmpz

from bisimdist.errors import UsageError

SMALLEST_PLAIN_EXPONENT = -7
LARGEST_PLAIN_EXPONENT = 20


def decimal_exponent(value: fmpq) -> int:
    """Return the e for which ``10**e <= |value| < 10**(e+1)``, for a value other than zero.

    >>> decimal_exponent(fmpq(1, 2500))
    -4
    """
    numerator, denominator = abs(value.p), value.q
    # log10(2) is about 0.30103; the guess is off by at most one or two, whatever the size.
    guess: int = (numerator.bit_length() - denominator.bit_length()) * 30103 // 100_000
    while not _at_least_power(numerator, denominator, guess):
        guess -= 1
    while _at_least_power(numerator, denominator, guess + 1):
        guess += 1
    return guess


def _at_least_power(numerator: fmpz, denominator: fmpz, exponent: int) -> bool:
    if exponent >= 0:
        return bool(numerator >= denominator * fmpz(10) ** exponent)
    return bool(numerator * fmpz(10) ** -exponent >= denominator)


def scaled_decimal(units: fmpz, places: int) -> str:
    """Write ``units * 10**-places`` as a decimal, in plain form where that is short enough to read.

    >>> scaled_decimal(fmpz(-81093), 5)
    '-0.81093'
    >>> scaled_decimal(fmpz(12), 11)
    '1.2e-10'
    """
    if units == 0:
        return "0"
    sign = "-" if units < 0 else ""
    digits = str(abs(units))
    exponent = len(digits) - 1 - places
    if SMALLEST_PLAIN_EXPONENT <= exponent <= LARGEST_PLAIN_EXPONENT:
        if places <= 0:
            return sign + digits + "0" * -places
        padded = digits.rjust(places + 1, "0")
        return f"{sign}{padded[:-places]}.{padded[-places:]}"
    mantissa = digits[0] + ("." + digits[1:] if len(digits) > 1 else "")
    return f"{sign}{mantissa}e{exponent}"


def _rounded(value: fmpq, digits: int, direction: Literal["down", "up"]) -> tuple[str, bool]:
    if digits < 1:
        raise UsageError(f"{digits} digits were asked for; expected at least 1")
    if value == 0:
        return "0", True
    places = digits - 1 - decimal_exponent(value)
    scaled = value * fmpz(10) ** places if places >= 0 else value / fmpz(10) ** -places
    units = scaled.floor() if direction == "down" else scaled.ceil()
    exact = bool(scaled == units)
    while exact and places > 0 and units % 10 == 0:
        units //= 10
        places -= 1
    return scaled_decimal(units, places), exact


def decimal_below(value: fmpq, digits: int = 6) -> tuple[str, bool]:
    """Return the largest decimal of that many significant digits below a rational, and whether it is equal.

    >>> decimal_below(fmpq(1, 3), 3)
    ('0.333', False)
    >>> decimal_below(fmpq(1, 2500), 3)
    ('0.0004', True)
    """
    return _rounded(value, digits, "down")


def decimal_above(value: fmpq, digits: int = 6) -> tuple[str, bool]:
    """Return the least decimal of that many significant digits above a rational, and whether it is equal.

    >>> decimal_above(fmpq(2, 3), 3)
    ('0.667', False)
    """
    return _rounded(value, digits, "up")
