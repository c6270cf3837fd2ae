"""Reading and writing exact rationals; the one place that decides which objects count as exact."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TypeAlias

from flint import fmpq, fmpz

from bisimdist.errors import NumberError, NumberTypeError

ExactNumber: TypeAlias = int | str | Fraction | fmpq | fmpz
"""What the Python interface accepts as an exact number."""

MAX_CHARACTERS = 20_000
MAX_EXPONENT = 10_000

_DECIMAL = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?")
_FRACTION = re.compile(r"([+-]?[0-9]+)\s*/\s*([0-9]+)")


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def parse_rational(text: str) -> fmpq:
    """Read a rational as it is written: ``3/5``, ``0.6``, ``6e-1`` and ``1`` are exact.

    ``text``: a fraction of two integers, or a decimal with an optional exponent.
    returns: the number that is written, never a binary approximation of it.

    >>> parse_rational("0.1")
    1/10
    >>> parse_rational("6e-1") == parse_rational("3/5")
    True
    """
    stripped = text.strip()
    if len(stripped) > MAX_CHARACTERS:
        raise NumberError(
            f"a number of {len(stripped)} characters is longer than the {MAX_CHARACTERS} allowed"
        )
    match = _FRACTION.fullmatch(stripped)
    if match:
        denominator = fmpz(match[2])
        if denominator == 0:
            raise NumberError(f"{_shown(stripped)} has a zero denominator")
        return fmpq(fmpz(match[1].removeprefix("+")), denominator)
    match = _DECIMAL.fullmatch(stripped)
    if not match:
        raise NumberError(
            f"{_shown(stripped)} is not an exact number; expected a form such as 3/5, 0.6, 6e-1 or 1"
        )
    sign, whole, part, exponent = match.groups()
    part = part or ""
    # Zeros in front go first: int() refuses thousands of digits, however small the number that they write.
    size = (exponent or "").lstrip("+-").lstrip("0") or "0"
    if len(size) > 6 or int(size) > MAX_EXPONENT:
        raise NumberError(f"the exponent of {_shown(stripped)} is beyond the {MAX_EXPONENT} allowed")
    shift = (-int(size) if (exponent or "").startswith("-") else int(size)) - len(part)
    numerator = fmpz(sign.replace("+", "") + whole + part)
    power = fmpz(10) ** abs(shift)
    return fmpq(numerator * power) if shift >= 0 else fmpq(numerator, power)


def to_fmpq(value: ExactNumber) -> fmpq:
    """Return an exact number as ``fmpq``.

    Raises NumberTypeError if the value is a ``float`` (which has lost the number that was meant), or no
    number at all.
    Raises NumberError if the value is a text that is no number.

    >>> to_fmpq("0.6")
    3/5
    """
    if isinstance(value, fmpq):
        return value if type(value) is fmpq else fmpq(value)  # inside there are no others
    if isinstance(value, str):
        return parse_rational(value)
    if isinstance(value, bool):
        raise NumberTypeError(f"{value!r} is not a number; pass a string, an int, a Fraction or an fmpq")
    if isinstance(value, int | fmpz):
        return fmpq(value)
    if isinstance(value, Fraction):
        return fmpq(value.numerator, value.denominator)
    raise NumberTypeError(
        f"a {type(value).__name__} ({value!r}) is not exact; pass a string, an int, a Fraction or an fmpq"
    )


def format_rational(value: fmpq) -> str:
    """Write a rational in lowest terms: ``"1/2500"``, ``"0"``, ``"1"``.

    >>> format_rational(to_fmpq("0.0004"))
    '1/2500'
    """
    return str(value)


def shorten_rational(value: fmpq) -> str:
    """Write a rational for a person: exactly where that is short, else rounded down and said to be.

    >>> shorten_rational(to_fmpq("99/100"))
    '99/100'
    >>> shorten_rational(fmpq(1, 3**200))
    '0.000000000000... (a fraction of 98 characters)'
    """
    text = format_rational(value)
    if len(text) <= 60:
        return text
    if abs(value) >= 10**12:
        return f"{text[:12]}... (a number of {len(text)} characters)"
    sign = "-" if value < 0 else ""
    scaled = abs(value) * 10**12
    digits = str(scaled.p // scaled.q).rjust(13, "0")
    return f"{sign}{digits[:-12]}.{digits[-12:]}... (a fraction of {len(text)} characters)"
