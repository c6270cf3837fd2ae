"""How fast numbers change with each draw, for very many boxes at once: it narrows enclosures.

A number that is computed differs from the real function of its draws by no more than an error, which is
bounded here as well. The real function lies near its value in the middle of a box: not farther away than
its slopes allow (Moore, Interval Analysis, 1966, section 6: the mean value form).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Range = tuple[Any, Any]

ROUNDED, LIBM, WAVE, TINY = 2.0**-50, 2.0**-44, 2.0**-40, 2.0**-1000
"""How wrong a computed value is at most: of what rounds once, of a libm; of sine and cosine at all."""


@dataclass(frozen=True, slots=True)
class Smooth:
    """A real function of draws, in boxes."""

    low: Any
    high: Any
    error: Any  # how far what is computed is away at most
    slopes: Range  # the least and the greatest slope, a row for each draw; 0 for a constant

    @classmethod
    def constant(cls, value: float) -> Smooth:
        return cls(value, value, 0.0, (0.0, 0.0))


def _wide(low: Any, high: Any, share: float = ROUNDED) -> Range:
    return low - (np.abs(low) * share + TINY), high + (np.abs(high) * share + TINY)


def _times(one: Range, two: Range) -> Range:
    parts = [a * b for a in one for b in two]
    low, high = (function.reduce(np.broadcast_arrays(*parts)) for function in (np.minimum, np.maximum))
    return _wide(low, high)


def _plus(one: Range, two: Range) -> Range:
    return _wide(one[0] + two[0], one[1] + two[1])


def _minus(one: Range, two: Range) -> Range:
    return _wide(one[0] - two[1], one[1] - two[0])


def _most(found: Range) -> Any:
    return np.maximum(np.abs(found[0]), np.abs(found[1]))


def _inverse(x: Smooth) -> Range:
    """Return 1/x where x is above 0 or below 0."""
    known = (x.low > 0) | (x.high < 0)
    return _wide(np.where(known, 1 / x.high, np.nan), np.where(known, 1 / x.low, np.nan))


def _log1p(x: Smooth) -> Range:
    known = x.low > -1
    return _wide(np.where(known, 1 / (1 + x.high), np.nan), np.where(known, 1 / (1 + x.low), np.nan), LIBM)


def _log(x: Smooth) -> Range:
    low, high = _inverse(x)
    return np.where(low > 0, low, np.nan), high


def _root(x: Smooth) -> Range:
    known = x.low > 0
    return _wide(
        np.where(known, 0.5 / np.sqrt(x.high), np.nan), np.where(known, 0.5 / np.sqrt(x.low), np.nan), LIBM
    )


def _turning(function: Callable[..., Any], sign: float) -> Callable[[Smooth], Range]:
    def slope(x: Smooth) -> Range:
        middle, slack = sign * function((x.low + x.high) / 2), (x.high - x.low) * 0.5000001 + WAVE
        return np.maximum(middle - slack, -1.0), np.minimum(middle + slack, 1.0)

    return slope


def _size(x: Smooth) -> Range:
    return np.where(x.low >= 0, 1.0, -1.0), np.where(x.high <= 0, -1.0, 1.0)


ALONE: dict[Callable[..., Any], tuple[Callable[[Smooth], Range], float, float]] = {
    operator.neg: (lambda _: (-1.0, -1.0), 0.0, 0.0),
    np.negative: (lambda _: (-1.0, -1.0), 0.0, 0.0),
    **dict.fromkeys((operator.pos, float, np.float64), (lambda _: (1.0, 1.0), 0.0, 0.0)),
    **dict.fromkeys((operator.abs, math.fabs, np.absolute), (_size, 0.0, 0.0)),
    **dict.fromkeys((math.exp, np.exp), (lambda x: _wide(np.exp(x.low), np.exp(x.high), LIBM), LIBM, 0.0)),
    **dict.fromkeys((math.log, np.log), (_log, LIBM, 0.0)),
    **dict.fromkeys((math.log1p, np.log1p), (_log1p, LIBM, 0.0)),
    **dict.fromkeys((math.sqrt, np.sqrt), (_root, LIBM, 0.0)),
    **dict.fromkeys((math.sin, np.sin), (_turning(np.cos, 1.0), 0.0, WAVE)),
    **dict.fromkeys((math.cos, np.cos), (_turning(np.sin, -1.0), 0.0, WAVE)),
}
"""By function its slope, and how wrong it is: relative to its value, and at all."""

SUMS = {operator.add: _plus, np.add: _plus, operator.sub: _minus, np.subtract: _minus}
PRODUCTS, QUOTIENTS = {operator.mul, np.multiply}, {operator.truediv, np.divide}
SMOOTH = {*ALONE, *SUMS, *PRODUCTS, *QUOTIENTS}
"""What has slopes here; a number that is made with anything else has none."""


def smoothed(function: Callable[..., Any], found: Range, given: Sequence[Smooth]) -> Smooth:
    """Return the real function behind a number that is made of others."""
    size = _most(found)
    if function in ALONE:
        slope, share, wrong = ALONE[function]
        x = given[0]
        inner = slope(x)
        error = np.where(x.error == 0, 0.0, _most(inner) * x.error) + size * share + wrong
        slopes = _times(inner, x.slopes)
    else:
        x, y = given
        if function in SUMS:
            error, slopes = x.error + y.error, SUMS[function](x.slopes, y.slopes)
        elif function in PRODUCTS:
            error = _most((x.low, x.high)) * y.error + _most((y.low, y.high)) * x.error + x.error * y.error
            slopes = _plus(_times(x.slopes, (y.low, y.high)), _times(y.slopes, (x.low, x.high)))
        else:
            one = _inverse(y)
            value = _times((x.low, x.high), one)
            error = (x.error + _most(value) * y.error) * _most(one)
            slopes = _times(_minus(x.slopes, _times(value, y.slopes)), one)
        error = error * (1 + ROUNDED) + size * ROUNDED
    error = error * (1 + ROUNDED) + np.where(error == 0, 0.0, TINY)
    return Smooth(found[0] - error, found[1] + error, error, slopes)


def difference(one: Smooth, two: Smooth) -> Smooth:
    """Return the difference of two real functions; its error is of what is computed of both."""
    return Smooth(
        one.low - two.high, one.high - two.low, one.error + two.error, _minus(one.slopes, two.slopes)
    )


def radius(slopes: Range, halves: Array) -> Any:
    """Return how far a real function is from its value in the middle of each box, for each draw.

    slopes: its slopes.
    halves: how far the ends of a box are from its middle, a row for each draw.
    """
    return _most(slopes) * halves * (1 + ROUNDED)
