"""What a function makes of ranges of doubles and integers: enclosures by its own values at the ends.

The operations of IEEE 754 round exactly, so they are monotone where the exact operation is: what they make of
the ends encloses what they make of all values between. The functions of a libm do so up to a few units in the
last place, and a range of one point is answered by the function itself.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import product
from math import inf, nextafter
from typing import Any

import numpy as np

Enclosure = tuple[Any, Any] | None
"""The least and the greatest value; None where nothing is known, which may be no number at all."""
Rule = Callable[[Callable[..., Any], Sequence[tuple[Any, Any]]], Enclosure]

LIBM, OTHER = 2, 16
"""By how many units in the last place enclosures are widened: of exp, log and powers; of other functions."""

EXACT_TO = 2.0**52

WAVE = 2.0**-50
"""By how much computed values of sine and cosine are wrong at most, and the point between two ends."""

PI = Fraction("3.14159265358979323846264338327950288419716939937510")
"""No double below a million is so near to a pole of the tangent that more digits would matter."""


def _ordered(low: Any, high: Any) -> Enclosure:
    return (low, high) if low <= high else None


def increasing(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose a function that grows with its first argument, the others being points."""
    if any(low is not high and low != high for low, high in ranges[1:]):
        return None
    rest = [low for low, _ in ranges[1:]]
    return _ordered(f(ranges[0][0], *rest), f(ranges[0][1], *rest))


def growing(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose a function that grows with each of its arguments."""
    return _ordered(f(*(low for low, _ in ranges)), f(*(high for _, high in ranges)))


def difference(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    (a, b), (c, d) = ranges
    return _ordered(f(a, d), f(b, c))


def corners(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose a function that is monotone in each argument, whatever the other is."""
    found = [f(*ends) for ends in product(*ranges)]
    if any(value != value for value in found):  # noqa: PLR0124
        return None
    return min(found), max(found)


def squared(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose the product of a number with itself."""
    low, high = ranges[0]
    ends = f(low, low), f(high, high)
    return (min(ends), max(ends)) if low >= 0 or high <= 0 else _ordered(type(ends[0])(0), max(ends))


def quotient(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    low, high = ranges[1]
    return corners(f, ranges) if low > 0 or high < 0 else None


def floor_quotient(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    found = quotient(f, ranges)
    if found is None or (type(found[0]) is not int and max(abs(found[0]), abs(found[1])) >= EXACT_TO):
        return None
    return found


def remainder(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    (a, b), (n, m) = ranges
    if n != m or n <= 0 or not -inf < a <= b < inf:
        return None
    if a // n == b // n:
        return _ordered(f(a, n), f(b, n))
    return f(0 * a, n), (n - 1 if isinstance(a, int) and isinstance(n, int) else f(0 * a, n) + n)


def negative(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    low, high = ranges[0]
    return _ordered(f(high), f(low))


def absolute(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    low, high = f(ranges[0][0]), f(ranges[0][1])
    if ranges[0][0] >= 0:
        return _ordered(low, high)
    if ranges[0][1] <= 0:
        return _ordered(high, low)
    return type(low)(0), max(low, high)


def told(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose what is true or false of all numbers that are finite."""
    low, high = ranges[0]
    return increasing(f, ((low, low),)) if -inf < low <= high < inf else None


def power(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose powers."""
    (a, b), (n, m) = ranges
    if a > 0:
        found = corners(f, ranges)
        exact = isinstance(a, int) and isinstance(b, int) and isinstance(n, int) and n >= 0
        return found if exact or found is None else (moved(found[0], -LIBM), moved(found[1], LIBM))
    if n != m or n <= 0 or n != n // 1:
        return None
    ends = f(a, n), f(b, n)
    low, high = ends if n % 2 else (min(ends) if b < 0 else type(ends[0])(0), max(ends))
    return _ordered(low, high) if isinstance(low, int) else _ordered(moved(low, -LIBM), moved(high, LIBM))


def moved(value: Any, ulps: int) -> Any:
    """Return the value so many units in the last place away."""
    kind = type(value)
    if isinstance(value, np.floating):
        for _ in range(abs(ulps)):
            value = np.nextafter(value, kind(inf if ulps > 0 else -inf))
        return value
    toward = inf if ulps > 0 else -inf
    for _ in range(abs(ulps)):
        value = nextafter(value, toward)
    return value


def _monotone(ulps: int, least: float = -inf, most: float = inf, *, falls: bool = False) -> Rule:
    """Return the rule of a function that is monotone between bounds, nearly as computed."""

    def rule(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
        low, high = ranges[0]
        if not least <= low <= high <= most or len(ranges) > 1:
            return None
        wide = ulps * (4 if isinstance(low, np.float32) else 1)
        ends = f(low), f(high)
        if falls:
            ends = ends[1], ends[0]
        low, high = moved(ends[0], -wide), moved(ends[1], wide)
        zero = type(low)(0)  # an error is a part of the value, so it does not change the sign
        return _ordered(max(low, zero) if ends[0] >= 0 else low, min(high, zero) if ends[1] <= 0 else high)

    return rule


def wave(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose sine and cosine, which change by no more than their argument does."""
    low, high = ranges[0]
    if not -1e6 < low <= high < 1e6 or len(ranges) > 1:
        return None
    middle = f((low + high) / 2)
    one = type(middle)(1)
    slack = (float(high) - float(low)) * 0.5000001 + WAVE * (2**29 if isinstance(middle, np.float32) else 1)
    return max(-one, moved(type(middle)(middle - slack), -1)), min(
        one, moved(type(middle)(middle + slack), 1)
    )


def between_poles(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose a tangent: it grows, if no pole lies in the range."""
    low, high = ranges[0]
    if not -1e6 < low <= high < 1e6:
        return None
    first, last = (math.floor(Fraction(float(end)) / PI + Fraction(1, 2)) for end in (low, high))
    return _monotone(OTHER)(f, ranges) if first == last else None


def signed(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose a number with the sign of another one."""
    (a, b), (c, d) = ranges
    size = max(abs(a), abs(b))
    if c <= 0 <= d and c != d:
        return -f(size, 1.0), f(size, 1.0)
    sign = f(1.0, c)
    least = 0.0 if a <= 0 <= b else min(abs(a), abs(b))
    return (f(least, sign), f(size, sign)) if sign > 0 else (f(size, sign), f(least, sign))


def either(_: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose numpy's where: the condition is a point."""
    return ranges[1] if ranges[0][0] else ranges[2]


def shifted(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    if ranges[1][0] != ranges[1][1] or ranges[1][0] < 0 or not isinstance(ranges[0][0], int):
        return None
    return _ordered(f(ranges[0][0], ranges[1][0]), f(ranges[0][1], ranges[1][0]))


def masked(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose the lowest bits of a number."""
    (a, b), (n, m) = ranges
    if n != m or not isinstance(a, int) or not isinstance(n, int) or a < 0 or n < 0 or n & (n + 1):
        return None
    return (f(a, n), f(b, n)) if a // (n + 1) == b // (n + 1) else (0, n)


def whole(f: Callable[..., Any], ranges: Sequence[tuple[Any, Any]]) -> Enclosure:
    """Enclose what makes an integer of a finite number."""
    low, high = ranges[0]
    if low == -inf or high == inf:
        if isinstance(low, int) or isinstance(high, int):  # an integer without bounds
            return low, high
        return None
    return increasing(f, ranges)


def grid_of(value: Any, numerator: int, denominator: int) -> Any:
    """Return the number of the nearest multiple of a fraction, ties up; infinity stays."""
    if not math.isfinite(value):
        return value
    top, bottom = value.as_integer_ratio() if hasattr(value, "as_integer_ratio") else (value, 1)
    return (2 * int(top) * denominator + int(bottom) * numerator) // (2 * int(bottom) * numerator)


_EXP, _LOG = _monotone(LIBM), _monotone(LIBM, 0.0)

RULES: dict[Any, Rule] = {
    operator.add: growing,
    operator.sub: difference,
    operator.mul: corners,
    operator.truediv: quotient,
    operator.floordiv: floor_quotient,
    operator.mod: remainder,
    operator.pow: power,
    operator.neg: negative,
    operator.pos: increasing,
    operator.abs: absolute,
    operator.lshift: shifted,
    operator.rshift: shifted,
    operator.and_: masked,
    float: increasing,
    int: whole,
    round: whole,
    math.floor: whole,
    math.ceil: whole,
    math.trunc: whole,
    int.bit_length: lambda f, r: increasing(f, r) if r[0][0] >= 0 else None,
    grid_of: whole,
    math.fabs: absolute,
    math.exp: _EXP,
    math.log: _LOG,
    math.log2: _LOG,
    math.log10: _LOG,
    math.log1p: _monotone(LIBM, -1.0),
    math.expm1: _EXP,
    math.sqrt: _monotone(0, 0.0),
    math.tanh: _monotone(OTHER),
    math.atan: _monotone(OTHER),
    math.sinh: _monotone(OTHER),
    math.asin: _monotone(OTHER, -1.0, 1.0),
    math.acos: _monotone(OTHER, -1.0, 1.0, falls=True),
    math.erf: _monotone(OTHER),
    math.erfc: _monotone(OTHER, falls=True),
    math.cbrt: _monotone(OTHER),
    math.copysign: signed,
    math.isfinite: told,
    math.isinf: told,
    math.isnan: told,
    math.ldexp: increasing,
    math.degrees: increasing,
    math.radians: increasing,
    math.sin: wave,
    math.cos: wave,
    math.tan: between_poles,
    math.pow: power,
    np.add: growing,
    np.subtract: difference,
    np.multiply: corners,
    np.divide: quotient,
    np.floor_divide: floor_quotient,
    np.remainder: remainder,
    np.negative: negative,
    np.positive: increasing,
    np.absolute: absolute,
    np.fabs: absolute,
    np.power: power,
    np.square: absolute,
    np.maximum: growing,
    np.minimum: growing,
    np.floor: increasing,
    np.ceil: increasing,
    np.rint: increasing,
    np.trunc: increasing,
    np.sign: increasing,
    np.round: increasing,
    np.clip: growing,
    np.where: either,
    np.float64: increasing,
    np.float32: increasing,
    np.int64: whole,
    np.exp: _EXP,
    np.exp2: _EXP,
    np.log: _LOG,
    np.log2: _LOG,
    np.log10: _LOG,
    np.log1p: _monotone(LIBM, -1.0),
    np.expm1: _EXP,
    np.sqrt: _monotone(0, 0.0),
    np.tanh: _monotone(OTHER),
    np.arctan: _monotone(OTHER),
    np.cbrt: _monotone(OTHER),
    np.copysign: signed,
    np.sin: wave,
    np.cos: wave,
    np.tan: between_poles,
}
"""By function how it is enclosed; what is not named is known at single points only."""

PARTIAL = frozenset(
    {
        operator.truediv,
        operator.floordiv,
        operator.mod,
        operator.pow,
        operator.lshift,
        operator.rshift,
        int,
        round,
        math.floor,
        math.ceil,
        math.trunc,
        math.exp,
        math.log,
        math.log2,
        math.log10,
        math.log1p,
        math.expm1,
        math.sqrt,
        math.asin,
        math.acos,
        math.sinh,
        math.pow,
        math.ldexp,
    }
)
"""What raises an exception for some values: where it does is decided at once."""
