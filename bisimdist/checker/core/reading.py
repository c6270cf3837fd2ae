"""From text to numbers and shapes: whatever does not fit is malformed, and nothing is repaired.

Here and in all that reads, `MalformedCertificate` is raised where a document does not have the shape that is
asked for, or asks for too much work, and `RuleViolation` where it has, but breaks a rule, which the message
names. Numbers that cannot hold what their rules forbid are made here, and the work on a document is counted.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, NoReturn, Self
from weakref import finalize

from bisimdist.checker.core.arithmetic import COMPARISONS, OPERATIONS, Terms

MAX_DIGITS = 4000  # longer integers must be hexadecimal, which is read in linear time

MAX_EXPONENT = 10_000

_CHUNK = 500  # digits that every interpreter converts, whatever limit it was started with
_DECIMAL_BITS = 13_288  # every integer of at most 4000 decimal digits fits
_INTEGER = re.compile(r"0|-?(?:[1-9][0-9]*|0x[0-9a-fA-F]+)")
_MODEL_FRACTION = re.compile(r"([+-]?[0-9]+)\s*/\s*([0-9]+)")
_MODEL_DECIMAL = re.compile(r"([+-]?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]{1,6}))?")


class MalformedCertificate(ValueError):  # noqa: N818
    """The text is no certificate (or the model file no model): nothing was checked."""


class RuleViolation(Exception):  # noqa: N818
    """The text is a certificate, but a rule fails: it proves nothing. Does not leave the checker."""


@contextmanager
def of_model_file() -> Iterator[None]:
    """Say of what is wrong in it that it stands in the model file, which makes it malformed."""
    try:
        yield
    except (MalformedCertificate, RuleViolation) as error:
        raise MalformedCertificate(f"model file: {error}") from error


class Written(str):
    """A number of a model file, as it is written there."""

    __slots__ = ()


def shown(value: object) -> str:
    """Return at most 60 printable ASCII characters that show a value; different texts stay different."""
    if isinstance(value, list | dict):
        return "an array" if isinstance(value, list) else "an object"
    if isinstance(value, int) and not isinstance(value, bool):
        text = decimal_text(value)
    else:
        text = ascii(str(value)) if isinstance(value, str) else ascii(value)
    return text if len(text) <= 60 else f"{text[:44]}...#{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def decode(text: str | bytes, *, numbers: bool) -> object:
    """Read a JSON document, refusing duplicate keys, bytes that are not UTF-8, NaN and infinity.

    With `numbers`, every number becomes the text that is written (`Written`). Without, an integer is an
    integer, and a number with a point or an exponent is refused: it would be read as a binary float.
    """

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        result: dict[str, object] = {}
        for key, value in pairs:
            if key in result:
                raise MalformedCertificate(f"the key {shown(key)} occurs twice in one object")
            result[key] = value
        return result

    def refuse(number: str) -> NoReturn:
        raise MalformedCertificate(
            f"the number {shown(number)} stands bare; expected a string with a rational"
        )

    def whole(number: str) -> int:
        return integer(number, "a number")

    try:
        # What is no text of bytes may hold halves of characters, which no file can.
        content = text.encode("utf-8") if isinstance(text, str) else text
        result: object = json.loads(
            content.decode("utf-8"),
            object_pairs_hook=unique,
            parse_constant=refuse,
            parse_float=Written if numbers else refuse,
            parse_int=Written if numbers else whole,
        )
    except UnicodeDecodeError as error:
        raise MalformedCertificate(f"byte {error.start} is not UTF-8") from error
    except UnicodeEncodeError as error:
        raise MalformedCertificate(f"character {error.start} is no character of UTF-8") from error
    except json.JSONDecodeError as error:
        raise MalformedCertificate(f"line {error.lineno}: not JSON, no certificate: {error.msg}") from error
    except RecursionError as error:
        raise MalformedCertificate("the document is nested too deeply") from error
    return result


def digest_of(data: object) -> str:
    """Return the SHA-256 of plain data as canonical JSON: sorted keys, no blanks."""
    text = json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def record(
    value: object, where: str, required: tuple[str, ...], optional: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Return a JSON object that has all the required keys, and besides them only optional ones."""
    result = mapping(value, where)
    for key in required:
        if key not in result:
            raise MalformedCertificate(f"{where} has no {key!r}")
    for key in result:
        if key not in required and key not in optional:
            raise MalformedCertificate(f"{where} has the unknown key {shown(key)}")
    return result


def mapping(value: object, where: str) -> dict[str, Any]:
    """Return a JSON object whose keys are names."""
    if not isinstance(value, dict):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected an object")
    return value


def items(value: object, where: str) -> list[Any]:
    """Return a JSON array."""
    if not isinstance(value, list):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected an array")
    return value


def item(value: object, where: str) -> str:
    """Return a JSON string."""
    if isinstance(value, Written):
        raise MalformedCertificate(f"{where} is the number {shown(value)}; expected a string")
    return number_text(value, where)


def number_text(value: object, where: str) -> str:
    """Return a JSON string, or in a model file a number, as it is written."""
    if not isinstance(value, str):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected a string")
    return value


def choice(value: object, where: str, known: Iterable[str]) -> str:
    """Return a JSON string that is one of those that are known."""
    known = list(known)
    if value not in known:
        raise MalformedCertificate(f"{where} is {shown(value)}; expected {' or '.join(map(repr, known))}")
    return item(value, where)


def natural(value: object, where: str, below: int | None = None) -> int:
    """Return a bare JSON integer that is not negative and, where asked, below another one."""
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise MalformedCertificate(f"{where} is {shown(value)}; expected a natural number")
    if below is not None and value >= below:
        raise MalformedCertificate(f"{where} is {shown(value)}; expected a number below {below}")
    return value


def integer(value: object, where: str) -> int:
    """Read an integer: decimal (of at most 4000 digits) or, from ``0x``, hexadecimal."""
    text = item(value, where)
    if not _INTEGER.fullmatch(text):
        raise MalformedCertificate(f"{where} is {shown(text)}; expected an integer such as 12 or 0x1f")
    if "x" in text:
        return int(text, 16)
    return _decimal(text, where)


def _decimal(text: str, where: str) -> int:
    digits = text.lstrip("+-")
    if len(digits) > MAX_DIGITS:
        raise MalformedCertificate(
            f"{where} has {len(text)} decimal digits; integers of more than {MAX_DIGITS} are written as 0x..."
        )
    result = 0
    for start in range(0, len(digits), _CHUNK):
        chunk = digits[start : start + _CHUNK]
        result = result * 10 ** len(chunk) + int(chunk)
    return -result if text[0] == "-" else result


def decimal_text(number: int) -> str:
    """Write an integer in decimal, however low the interpreter's own limit of digits is."""
    chunks = []
    spend((number.bit_length() // 30) ** 2)
    rest = abs(number)
    while rest >= 10**_CHUNK:
        rest, chunk = divmod(rest, 10**_CHUNK)
        chunks.append(f"{chunk:0{_CHUNK}d}")
    return ("-" if number < 0 else "") + str(rest) + "".join(reversed(chunks))


def decimal_rational(number: Fraction) -> str:
    """Write a rational in lowest terms, in decimal whatever its length: as digests take it."""
    above, below = decimal_text(number.numerator), decimal_text(number.denominator)
    return above if below == "1" else f"{above}/{below}"


def rational(value: object, where: str) -> Fraction:
    """Read a rational: an integer, or an integer, a slash and a positive integer."""
    above, slash, below = item(value, where).partition("/")
    denominator = integer(below, where) if slash else 1
    if denominator <= 0:
        raise MalformedCertificate(f"{where} is {shown(value)}; expected a positive denominator")
    return Counted.ratio(integer(above, where), denominator)


def model_number(value: object, where: str) -> Fraction:
    """Read a probability as model files write it: ``3/5``, ``0.6``, ``6e-1`` or ``1``, always exactly."""
    text = number_text(value, where).strip()
    if match := _MODEL_FRACTION.fullmatch(text):
        below = _decimal(match[2], where)
        if below == 0:
            raise MalformedCertificate(f"{where} is {shown(text)}; the denominator is zero")
        return Counted.ratio(_decimal(match[1], where), below)
    if not (match := _MODEL_DECIMAL.fullmatch(text)):
        raise MalformedCertificate(f"{where} is {shown(text)}; expected a number such as 3/5, 0.6, 6e-1 or 1")
    sign, whole, part, exponent = match.groups()
    shift = int(exponent or 0)
    if abs(shift) > MAX_EXPONENT:
        raise MalformedCertificate(f"{where} is {shown(text)}; its exponent is beyond {MAX_EXPONENT}")
    places = shift - len(part or "")
    number = Counted.ratio(
        _decimal(sign + whole + (part or ""), where) * 10 ** max(places, 0), 10 ** max(-places, 0)
    )
    if max(abs(number.numerator), number.denominator).bit_length() > _DECIMAL_BITS:
        raise MalformedCertificate(f"{where} is {shown(text)}; it has more than {MAX_DIGITS} digits")
    return number


def text_of(number: Fraction) -> str:
    """Write a rational in lowest terms, with hexadecimal integers where decimal ones are too long."""
    parts = (number.numerator,) if number.denominator == 1 else (number.numerator, number.denominator)
    return "/".join(decimal_text(part) if part.bit_length() < _DECIMAL_BITS else hex(part) for part in parts)


MAX_WORK = 30_000_000_000  # in products of two digits of 30 bits, each of which takes about a nanosecond

LEAST_WORK, WORK_OF_A_BYTE = 4_000_000_000, 50_000
"""What a document may ask for however short it is, and what it may for each of its bytes, up to the limit."""

WORK_OF_EVERY_BYTE = 20_000  # what it may for each of its bytes beyond the limit

LEAST_HELD, HELD_FOR_A_BYTE = 1 << 30, 1_000
"""How many bits may be held in numbers that are worked out, and how many more for each byte of a document."""

OVERHEAD = 100  # what a product of short integers costs in all

LOOK = 5 * OVERHEAD  # what it costs to look at a state, at an entry of a row, or at a pair

ENTRY = 500  # how many bits it takes to hold an entry of a list or a set

LONG = 10_000  # how many bits may be in what holds no memory of its own: a number, a polynomial

OPERATION = 20 * OVERHEAD  # what an operation on short fractions costs in all

_left: ContextVar[list[int] | None] = ContextVar("left", default=None)


@contextmanager
def limited(size: int) -> Iterator[None]:
    """Count the work on one document of so many bytes; what is checked inside of it counts for it."""
    most = max(min(MAX_WORK, LEAST_WORK + WORK_OF_A_BYTE * size), WORK_OF_EVERY_BYTE * size)
    token = _left.set([most, LEAST_HELD + HELD_FOR_A_BYTE * size])
    try:
        yield
    finally:
        _left.reset(token)


def spend(work: int) -> None:
    """Count work before it is done."""
    left = _left.get()
    if left is not None:
        if work > left[0]:
            afford(work)
        left[0] -= work


def hold(bits: int) -> None:
    """Count memory for numbers before it is taken; what they are needed for takes it until the end."""
    left = _left.get()
    if left is not None:
        demand_room(bits)
        left[1] -= bits


def demand_room(bits: int) -> None:
    """Refuse to take more memory than what is left."""
    left = _left.get()
    if left is not None and bits > left[1]:
        raise MalformedCertificate("the document asks for more memory than a certificate may")


def hold_for(owner: object, bits: int) -> None:
    """Count memory for what is worked out as long as its owner lives; what is short is let pass."""
    left = _left.get()
    if left is not None and bits > LONG:
        hold(bits)
        finalize(owner, _release, left, bits).atexit = False


def _release(left: list[int], bits: int) -> None:
    left[1] += bits


def remaining() -> list[int] | None:
    """Return what is left of work and of memory; both change. None where nothing is counted."""
    return _left.get()


def afford(work: int) -> None:
    """Refuse work that is more than what is left, before the first part of it is done."""
    left = _left.get()
    if left is not None and work > left[0]:
        raise MalformedCertificate("the document asks for more work than a certificate may")


def product_work(first_bits: int, second_bits: int, count: int = 1) -> int:
    """Return what products of integers of so many bits cost."""
    return count * (OVERHEAD + (1 + first_bits // 30) * (1 + second_bits // 30))


def fraction_work(bits: int, count: int = 1) -> int:
    """Return what operations on fractions cost whose parts have so many bits: lowest terms are dear."""
    return count * (60 * OVERHEAD + (1 + bits // 30) ** 2)


def common(denominators: Iterable[int]) -> int:
    """Return the least common multiple of integers, counted."""
    result = 1
    for denominator in denominators:
        spend(product_work(result.bit_length(), denominator.bit_length()))
        result = lcm(result, denominator)
    return result


def _counted(work: Callable[[int, int, int, int], Any], *, swapped: bool = False) -> Callable[..., Any]:
    """Return what does something with a number and another one, and counts it before."""

    def operated(one: Any, other: Any) -> Any:
        if other.__class__ is int:
            c, d = other, 1
        else:
            try:
                c, d = other._numerator, other._denominator
            except AttributeError:
                return NotImplemented
        a, b = one._numerator, one._denominator
        left = _left.get()
        if left is not None:
            bits, others = a.bit_length() + b.bit_length(), c.bit_length() + d.bit_length()
            work_of_it = OPERATION + (1 + bits // 30) * (1 + others // 30)
            if work_of_it > left[0]:
                afford(work_of_it)
            left[0] -= work_of_it
        return work(c, d, a, b) if swapped else work(a, b, c, d)

    return operated


def _made(work: Callable[[int, int, int, int], Terms]) -> Callable[[int, int, int, int], Counted]:
    def made(a: int, b: int, c: int, d: int) -> Counted:
        above, below = work(a, b, c, d)
        bits = above.bit_length() + below.bit_length()
        number: Any = object.__new__(Counted if bits <= LONG else _Long)
        number._numerator, number._denominator = above, below
        if bits > LONG:
            hold_for(number, bits)
        result: Counted = number
        return result

    return made


def _compared(work: Callable[[int, int], bool]) -> Callable[[int, int, int, int], bool]:
    return lambda a, b, c, d: work(a * d, c * b)


class Counted(Fraction):
    """A rational whose arithmetic is counted, as is that of all that comes of it."""

    __slots__ = ()

    @classmethod
    def ratio(cls, above: int, below: int) -> Counted:
        """Return a quotient of integers, brought to lowest terms."""
        spend(product_work(above.bit_length(), below.bit_length()))
        return cls(above, below)

    def __neg__(self) -> Fraction:
        """Return the number with the other sign."""
        return 0 - self

    def __abs__(self) -> Fraction:
        """Return the number without its sign."""
        return self if self.numerator >= 0 else -self


class _Long(Counted):
    """A rational that is so long that it holds memory for as long as it lives."""


def _power(number: Fraction, exponent: int) -> Fraction:
    bits = abs(exponent) * max(number.numerator.bit_length(), number.denominator.bit_length())
    spend(OPERATION + product_work(bits, bits, 4))
    power: Fraction = Fraction.__pow__(number, exponent)
    result = (Counted if bits <= LONG else _Long)(power)
    if bits > LONG:
        hold_for(result, 2 * bits)
    return result


for _name, _operation in OPERATIONS.items():
    setattr(Counted, f"__{_name}__", _counted(_made(_operation)))
    setattr(Counted, f"__r{_name}__", _counted(_made(_operation), swapped=True))
for _name, _comparison in COMPARISONS.items():
    setattr(Counted, f"__{_name}__", _counted(_compared(_comparison)))
setattr(Counted, "__pow__", _power)  # noqa: B010


class _Bounded(Counted):
    """A rational in an interval; what is outside of it cannot be made."""

    __slots__ = ()
    interval: ClassVar[str]
    holds: ClassVar[staticmethod[[Fraction | int], bool]]

    def __new__(cls, number: Fraction | int) -> Self:
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
