"""Numbers on the command line: exact, and refused with the name of the option where they are out of range."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from bisimdist.errors import NumberError, UsageError

if TYPE_CHECKING:
    from flint import fmpq

__all__ = [
    "alpha_number",
    "at_least",
    "discount",
    "memory_bytes",
    "nonnegative_number",
    "numbered",
    "order_number",
    "positive_number",
    "seconds",
    "unit_number",
]

MAX_SECONDS = 10**9
MEBIBYTE = 2**20
MOST_ORDER = 1000


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def numbered(option: str, text: str) -> fmpq:
    """Return the exact number that an option carries.

    Raises
    ------
    UsageError
        If it is none.
    """
    # Imported here: what takes no number does not pay for it.
    from bisimdist.exact.rational import parse_rational

    try:
        return parse_rational(text)
    except NumberError as error:
        raise UsageError(f"{option}: {error}") from error


def order_number(option: str, text: str) -> int:
    """Return an order of Rényi's divergence, an integer of at least 2."""
    if (
        not (text.strip().isascii() and text.strip().isdigit())
        or not 2 <= int(text.strip()[:9]) <= MOST_ORDER
    ):
        raise UsageError(f"{option} {_short(text)}: expected integers from 2 to {MOST_ORDER}, such as 2,3,8")
    return int(text)


def alpha_number(option: str, text: str | None) -> fmpq:
    """Return an alpha, which is at least one."""
    value = numbered(option, text or "")
    if value < 1:
        raise UsageError(
            f"{option} {_short(text or '')}: expected a number of at least 1, "
            "since alpha stands for e^epsilon with epsilon >= 0"
        )
    return value


@overload
def positive_number(option: str, text: str) -> fmpq: ...
@overload
def positive_number(option: str, text: None) -> None: ...
@overload
def positive_number(option: str, text: str | None) -> fmpq | None: ...
def positive_number(option: str, text: str | None) -> fmpq | None:
    """Return a number above zero, or None where the option was not given."""
    if text is None:
        return None
    value = numbered(option, text)
    if value <= 0:
        raise UsageError(f"{option} {_short(text)}: expected a number above 0")
    return value


def nonnegative_number(option: str, text: str | None) -> fmpq | None:
    """Return a number of at least zero, or None where the option was not given."""
    if text is None:
        return None
    value = numbered(option, text)
    if value < 0:
        raise UsageError(f"{option} {_short(text)}: expected at least 0")
    return value


def discount(option: str, text: str | None) -> fmpq:
    """Return a factor above 0 and at most 1, by default 1."""
    value = numbered(option, "1" if text is None else text)
    if not 0 < value <= 1:
        raise UsageError(f"{option} {_short(text or '')}: expected more than 0 and at most 1")
    return value


def unit_number(option: str, text: str | None) -> fmpq | None:
    """Return a number from zero to one, or None where the option was not given."""
    if text is None:
        return None
    value = numbered(option, text)
    if not 0 <= value <= 1:
        raise UsageError(f"{option} {_short(text)}: expected a number from 0 to 1")
    return value


def seconds(option: str, text: str | None) -> float | None:
    """Return a number of seconds, the one number that need not be exact, or None where it was not given."""
    if text is None:
        return None
    value = numbered(option, text)
    if value < 0:
        raise UsageError(f"{option} {_short(text)}: expected a number of seconds, at least 0")
    return float(min(value, MAX_SECONDS))


def memory_bytes(option: str, text: str | None) -> int | None:
    """Return how many bytes a number of MiB is, or None where it was not given."""
    if text is None:
        return None
    value = numbered(option, text)
    if value <= 0:
        raise UsageError(f"{option} {_short(text)}: expected a number of MiB above 0")
    return int((value * MEBIBYTE).floor())


def at_least(option: str, value: int, least: int) -> int:
    """Return an integer that is not below the least one."""
    if value < least:
        raise UsageError(f"{option} {value}: expected at least {least}")
    return value
