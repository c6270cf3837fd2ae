"""Numbers on the command line: exact, and refused with the name of the option where they are out of range."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from bisimdist.errors import NumberError, UsageError

if TYPE_CHECKING:
    from flint import fmpq

MAX_SECONDS = 10**9
MEBIBYTE = 2**20
MOST_ORDER = 1000


def _short(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "..."


def grid(option: str, text: str) -> fmpq:
    """Return the distance of neighbouring points of a grid, such as ``2^-20``.

    Raises UsageError if it is no number above 0.
    """
    base, power, exponent = text.partition("^")
    try:
        found = numbered(option, base)
        if power:
            found **= int(exponent)
    except ValueError:
        found = fmpq(0)
    if found <= 0 or (power and abs(int(exponent)) > MOST_EXPONENT):
        raise UsageError(f"{option} {text[:60]}: expected a number above 0, such as 2^-20 or 1/1024")
    return found


def allowed(option: str, text: str) -> str:
    """Return the name of something that a program may do. Raises UsageError if it is none."""
    names = ("clock", "files", "network", "processes", "threads")
    if text not in names:
        raise UsageError(f"{option} {text[:60]}: expected one of {', '.join(names)}")
    return text


def numbered(option: str, text: str) -> fmpq:
    """Return the exact number that an option carries."""
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


def within(holds: Callable[[fmpq], bool], expected: str) -> Callable[[str, str | None], fmpq | None]:
    """Return what reads a number for which something holds, or None where the option was not given."""

    def read(option: str, text: str | None) -> fmpq | None:
        if text is None:
            return None
        value = numbered(option, text)
        if not holds(value):
            raise UsageError(f"{option} {_short(text)}: expected {expected}")
        return value

    return read


ALPHA = within(
    lambda value: value >= 1, "a number of at least 1, since alpha stands for e^epsilon with epsilon >= 0"
)
ANY = within(lambda _: True, "a number")
NONNEGATIVE = within(lambda value: value >= 0, "at least 0")
MOST_EXPONENT = 4096
OPEN_UNIT = within(lambda value: 0 < value < 1, "a number between 0 and 1, neither of the two")
POSITIVE = within(lambda value: value > 0, "a number above 0")
UNIT = within(lambda value: 0 <= value <= 1, "a number from 0 to 1")
_FACTOR = within(lambda value: 0 < value <= 1, "more than 0 and at most 1")
_MEMORY = within(lambda value: value > 0, "a number of MiB above 0")
_SECONDS = within(lambda value: value >= 0, "a number of seconds, at least 0")


def discount(option: str, text: str | None) -> fmpq:
    """Return a factor above 0 and at most 1, by default 1."""
    return _FACTOR(option, "1" if text is None else text) or numbered(option, "1")


def seconds(option: str, text: str | None) -> float | None:
    """Return a number of seconds, the one number that need not be exact, or None where it was not given."""
    value = _SECONDS(option, text)
    return None if value is None else float(min(value, MAX_SECONDS))


def memory_bytes(option: str, text: str | None) -> int | None:
    """Return how many bytes a number of MiB is, or None where it was not given."""
    value = _MEMORY(option, text)
    return None if value is None else int((value * MEBIBYTE).floor())


def at_least(option: str, value: int, least: int) -> int:
    """Return an integer that is not below the least one."""
    if value < least:
        raise UsageError(f"{option} {value}: expected at least {least}")
    return value
