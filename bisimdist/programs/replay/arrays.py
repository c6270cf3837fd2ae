"""Many boxes of draws at once: enclosures in arrays, wider than those of single boxes.

An array says which boxes are decided, and which decisions are the same. What a decision is, one box of each
kind is asked in the usual way (`bisimdist.programs.replay.decision`).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bisimdist.programs.replay.draws import Geometric, Law
from bisimdist.programs.replay.node import DRAW, Plan
from bisimdist.programs.replay.region import Boxes, Region
from bisimdist.programs.replay.rules import grid_of
from bisimdist.programs.replay.slopes import ROUNDED, SMOOTH, Smooth, difference, radius, smoothed

LARGE, FINITE = 2.0**53, math.inf
"""Greater integers, and greater doubles, are not known here: below, every integer is a double."""

RELATIVE, TINY, WAVE, NEAR = 2.0**-44, 2.0**-1000, 2.0**-40, 2.0**-30
"""By how much enclosures are widened: what numpy computes for arrays, and what a libm computes, is nearer."""

Array = np.ndarray[Any, Any]
Ranges = Sequence[tuple[Any, Any]]


def _corners(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    (a, b), (c, d) = ranges
    one, two, three, four = f(a, c), f(a, d), f(b, c), f(b, d)
    return (
        np.minimum(np.minimum(one, two), np.minimum(three, four)),
        np.maximum(np.maximum(one, two), np.maximum(three, four)),
    )


def _quotient(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    low, high = ranges[1]
    zero = np.logical_not((low > 0) | (high < 0))
    found = _corners(f, ranges)
    return np.where(zero, np.nan, found[0]), np.where(zero, np.nan, found[1])


def _absolute(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    low, high = ranges[0]
    most = np.maximum(np.abs(low), np.abs(high))
    return np.where((low > 0) | (high < 0), np.minimum(np.abs(low), np.abs(high)), 0.0 * most), most


def _squared(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    low, high = _absolute(f, ranges)
    return low * low, high * high


def _each(function: Callable[..., Any]) -> Callable[..., tuple[Any, Any]]:
    """Return the rule of a function that grows, and that numpy computes as Python does."""

    def rule(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
        return function(ranges[0][0]), function(ranges[0][1])

    return rule


def _nearly(function: Callable[..., Any], least: float = -math.inf) -> Callable[..., tuple[Any, Any]]:
    """Return the rule of a function that grows above a bound, nearly as computed; it keeps its sign."""

    def rule(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
        outside = np.logical_not(ranges[0][0] > least)
        low, high = function(ranges[0][0]), function(ranges[0][1])
        wide = low - (np.abs(low) * RELATIVE + TINY), high + (np.abs(high) * RELATIVE + TINY)
        low = np.where(low >= 0, np.maximum(wide[0], 0.0), wide[0])
        high = np.where(high <= 0, np.minimum(wide[1], 0.0), wide[1])
        return np.where(outside, np.nan, low), np.where(outside, np.nan, high)

    return rule


def _wave(function: Callable[..., Any], first: float) -> Callable[..., tuple[Any, Any]]:
    """Return the rule of sine and cosine, which are 1 at the first place, and turn there and each pi on."""

    def rule(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
        low, high = ranges[0]
        outside = np.logical_not((low > -1e6) & (high < 1e6))
        ends = function(low), function(high)
        least, most = np.minimum(*ends) - WAVE, np.maximum(*ends) + WAVE
        one, last = np.ceil(low / math.pi - first - NEAR), np.floor(high / math.pi - first + NEAR)
        several = last > one
        even = np.remainder(one, 2.0) == 0
        most = np.where(several | ((one == last) & even), 1.0, np.minimum(most, 1.0))
        least = np.where(several | ((one == last) & ~even), -1.0, np.maximum(least, -1.0))
        return np.where(outside, np.nan, least), np.where(outside, np.nan, most)

    return rule


def _grid(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    """Enclose the number of the nearest multiple of a power of two, ties up: exactly."""
    top, bottom = float(ranges[1][0]), float(ranges[2][0])
    if math.frexp(top)[0] != 0.5 or math.frexp(bottom)[0] != 0.5:
        return np.nan, np.nan

    def number(value: Any) -> Any:
        scaled = value * (bottom / top)
        whole = np.floor(scaled)
        return whole + (scaled - whole >= 0.5)

    return number(ranges[0][0]), number(ranges[0][1])


def _signed(_: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    """Enclose a number with the sign of another one: exactly where that has one sign, and no zero."""
    size = _absolute(np.abs, ranges[:1])
    low, high = ranges[1]
    return np.where(low > 0, size[0], -size[1]), np.where(high < 0, -size[0], size[1])


def _sum(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    return f(ranges[0][0], ranges[1][0]), f(ranges[0][1], ranges[1][1])


def _difference(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    return f(ranges[0][0], ranges[1][1]), f(ranges[0][1], ranges[1][0])


def _negative(f: Callable[..., Any], ranges: Ranges) -> tuple[Any, Any]:
    return f(ranges[0][1]), f(ranges[0][0])


_SAME: tuple[tuple[Callable[..., tuple[Any, Any]], tuple[Any, ...]], ...] = (
    (_sum, (operator.add, np.add)),
    (_difference, (operator.sub, np.subtract)),
    (_corners, (operator.mul, np.multiply)),
    (_quotient, (operator.truediv, np.divide)),
    (_negative, (operator.neg, np.negative)),
    (_absolute, (operator.abs, math.fabs, np.absolute)),
    (_signed, (math.copysign, np.copysign)),
    (_each(operator.pos), (float, np.float64)),
    (_each(np.trunc), (int, math.trunc)),
    (_each(np.rint), (round, np.rint)),
    (_each(np.floor), (math.floor, np.floor)),
    (_each(np.ceil), (math.ceil, np.ceil)),
    (_grid, (grid_of,)),
    (_nearly(np.exp), (math.exp, np.exp)),
    (_nearly(np.log, 0.0), (math.log, np.log)),
    (_nearly(np.log1p, -1.0), (math.log1p, np.log1p)),
    (_nearly(np.sqrt, -1e-300), (math.sqrt, np.sqrt)),
    (_wave(np.cos, 0.0), (math.cos, np.cos)),
    (_wave(np.sin, 0.5), (math.sin, np.sin)),
)

RULES = {function: rule for rule, functions in _SAME for function in functions}
"""By function how it is enclosed in arrays; a number that needs another one is left to single boxes."""

INTEGERS = {int, round, grid_of, math.floor, math.ceil, math.trunc}
"""What makes an integer; sums and products of integers are some as well."""

ONE_ARGUMENT = {round, math.log, math.exp}
"""What means something else with another argument."""


def _constant(value: Any) -> float | None:
    if isinstance(value, Fraction) and value.denominator & (value.denominator - 1):
        return None
    if type(value) not in {int, float, np.float64, Fraction} or not abs(value) < LARGE:
        return None
    return float(value)


@dataclass(frozen=True, slots=True)
class Looked:
    """What is known of some numbers in many boxes.

    ranges: the least and the greatest value of each number in each box, or nan where nothing is known.
    smooth: of each number the real function behind it, if its slopes are known: where a draw is used twice.
    """

    ranges: list[tuple[Any, Any]]
    smooth: list[Smooth | None]
    behind: list[Smooth | None]  # the same; of a number that is rounded that of what is rounded
    middles: list[tuple[Any, Any]]  # as `ranges`, in the middle of each box
    halves: Array  # how far the ends of a box are from its middle, a row for each draw

    def pulls(self, *, apart: bool) -> Array | None:
        """Return how much each draw changes the numbers, or two numbers that are compared, in each box."""
        known = [one for one in self.behind if one is not None]
        if len(known) < len(self.behind):
            return None
        if not apart:
            known = [difference(*known)]
        found: Array = sum(radius(one.slopes, self.halves) for one in known)
        return found


class Arrays:
    """How to enclose numbers for many boxes; `usable` tells whether that is known.

    plan: how to enclose them for one box.
    own: other rules, for some functions.
    """

    __slots__ = ("behind", "draws", "limits", "narrowed", "plan", "repeated", "rules", "slots", "usable")

    def __init__(self, plan: Plan, own: Mapping[Any, Callable[..., Any]] | None = None) -> None:
        self.plan = plan
        self.rules = {**RULES, **(own or {})}
        self.draws = sorted({origin[0] for _, _, rule, origin in plan.steps if rule is DRAW})
        self.limits = [LARGE if slot is not None and type(slot[0]) is int else FINITE for slot in plan.slots]
        self.slots = [None if slot is None else _constant(slot[0]) for slot in plan.slots]
        self.usable = all(
            slot is None or constant is not None
            for slot, constant in zip(plan.slots, self.slots, strict=True)
        ) and all(
            _draws(function)
            if rule is DRAW
            else function in self.rules and not (function in ONE_ARGUMENT and len(origin) > 1)
            for _, function, rule, origin in plan.steps
        )
        for place, function, rule, origin in plan.steps if self.usable else ():
            if rule is DRAW:
                whole = type(function(0, 0)[0]) is int
            else:
                whole = function in INTEGERS or all(self.limits[k] == LARGE for k in origin)
            self.limits[place] = LARGE if whole else FINITE
        self.narrowed, self.repeated = self._uses()
        self.behind = list(range(len(self.slots)))
        for place, function, rule, origin in plan.steps:
            if rule is not DRAW and function not in SMOOTH:
                self.behind[place] = self.behind[origin[0]]

    def _uses(self) -> tuple[set[int], bool]:
        """Return the places where slopes narrow an enclosure, and whether any draw is used more than once."""
        uses: list[dict[int, int]] = [{} for _ in self.slots]
        wanted = set(self.plan.roots)
        for place, function, rule, origin in self.plan.steps:
            if rule is DRAW:
                uses[place] = {origin[0]: 1}
                continue
            for k in origin:
                for draw, count in uses[k].items():
                    uses[place][draw] = uses[place].get(draw, 0) + count
            if function not in SMOOTH:
                wanted.update(origin)
        together: dict[int, int] = {}
        for root in self.plan.roots:
            for draw, count in uses[root].items():
                together[draw] = together.get(draw, 0) + count
        narrowed = {k for k in wanted if max(uses[k].values(), default=0) > 1}
        return narrowed, max(together.values(), default=0) > 1

    def enclosures(self, columns: dict[int, int], lows: Array, highs: Array) -> Looked:
        """Return what is known of each number in each box."""
        mine = [columns[draw] for draw in self.draws]
        middle = (lows + highs) // 2
        halves = np.maximum(highs - middle, middle - lows)[:, mine].T.astype(np.float64)
        roots = self.plan.roots
        with np.errstate(all="ignore"):
            central = self._walked(columns, (middle, middle), None, None)[0] if self.repeated else None
            slots, smooth = self._walked(columns, (lows, highs), central, halves if self.repeated else None)
        return Looked(
            [slots[root] for root in roots],
            [smooth[root] for root in roots],
            [smooth[self.behind[root]] for root in roots],
            [] if central is None else [central[root] for root in roots],
            halves,
        )

    def _walked(
        self, columns: dict[int, int], sides: tuple[Array, Array], central: Any, halves: Array | None
    ) -> tuple[list[Any], list[Smooth | None]]:
        """Enclose all numbers, in order; with slopes if the halves of boxes are given."""
        slots: list[Any] = [None if constant is None else (constant, constant) for constant in self.slots]
        smooth = [None if constant is None else Smooth.constant(constant) for constant in self.slots]
        for place, function, rule, origin in self.plan.steps:
            if rule is DRAW:
                column = columns[origin[0]]
                found = _drawn(function, sides[0][:, column]), _drawn(function, sides[1][:, column])
                slots[place] = found
                scale = self.plan.scales[place]
                if scale is not None and halves is not None:
                    slope = np.zeros((len(self.draws), 1))
                    slope[self.draws.index(origin[0])] = scale
                    smooth[place] = Smooth(*found, 0.0, (slope, slope))
                continue
            ranges = [slots[k] for k in origin]
            same = function in {operator.mul, np.multiply} and origin[0] == origin[1]
            most = self.limits[place]
            low, high = (_squared if same else self.rules[function])(function, ranges)
            unknown = np.logical_not((np.abs(low) < most) & (np.abs(high) < most) & (low <= high))
            slots[place] = np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)
            if halves is None or function not in SMOOTH:
                continue
            given = [one for k in origin if (one := smooth[k]) is not None]
            if len(given) == len(origin):
                smooth[place] = one = smoothed(function, slots[place], given)
                if central is not None and place in self.narrowed:
                    slots[place] = _narrowed(slots[place], one, central[place], halves)
        return slots, smooth


def _narrowed(found: tuple[Any, Any], one: Smooth, middle: tuple[Any, Any], halves: Array) -> tuple[Any, Any]:
    """Return an enclosure that is not farther from the middle than slopes allow."""
    far = radius(one.slopes, halves).sum(axis=0) * (1 + ROUNDED) + 2 * one.error
    far += (np.abs(middle[0]) + np.abs(middle[1]) + far) * ROUNDED
    low, high = np.fmax(found[0], middle[0] - far), np.fmin(found[1], middle[1] + far)
    unknown = np.isnan(found[0])
    return np.where(unknown, np.nan, low), np.where(unknown, np.nan, high)


def _drawn(function: Callable[..., Any], values: Array) -> Array:
    return np.asarray(function(values, values)[0], dtype=np.float64)


def _draws(function: Callable[..., Any]) -> bool:
    """Tell whether values of a draw are made of arrays as they are of integers."""
    try:
        values = np.arange(3)
        found = function(values, values)[0]
    except (TypeError, ValueError, AttributeError):
        return False
    if not isinstance(found, np.ndarray) or found.dtype.char not in "dl":
        return False
    return all(found[k] == function(k, k)[0] for k in range(3))


Decision = tuple[Array, Array]
"""Which boxes are decided, and a row for each that is the same where the outcome is."""


def compared(compare: Callable[..., Any]) -> Callable[[Looked], Decision] | None:
    """Return what tells which boxes are decided by an order, and how; None for other comparisons."""
    swapped = {operator.gt: operator.lt, operator.ge: operator.le}
    way: Any = swapped.get(compare, compare)
    if way not in {operator.lt, operator.le}:
        return None
    turn = -1 if compare in swapped else 1

    def decide(looked: Looked) -> Decision:
        (a, b), (c, d) = looked.ranges[::turn]
        true = way(b, c)
        known = np.logical_not(np.isnan(a) | np.isnan(b) | np.isnan(c) | np.isnan(d))
        decided = true | np.logical_not(way(a, d))
        if looked.middles and None not in looked.smooth:
            low, high = _distance(looked, turn)
            true |= high < 0
            decided |= (high < 0) | (low > 0)
        return known & decided, np.where(true, 1.0, 0.0)[:, None]

    return decide


def _distance(looked: Looked, turn: int) -> tuple[Any, Any]:
    """Enclose the difference of two numbers by its slopes."""
    one, two = looked.smooth[::turn]
    (a, b), (c, d) = looked.middles[::turn]
    gap = difference(one, two)  # type: ignore[arg-type]
    far = radius(gap.slopes, looked.halves).sum(axis=0) * (1 + ROUNDED) + 2 * gap.error
    far = far + (np.abs(a) + np.abs(b) + np.abs(c) + np.abs(d) + far) * ROUNDED
    return a - d - far, b - c + far


def pointed(looked: Looked) -> Decision:
    """Tell which boxes have one value of each number, and which."""
    decided = np.logical_and.reduce([low == high for low, high in looked.ranges])
    return decided, np.stack([low + np.zeros(len(decided)) for low, _ in looked.ranges], axis=1) + 0.0


def known(looked: Looked) -> Decision:
    """Tell in which boxes a number is known to be one."""
    decided = np.logical_not(np.isnan(looked.ranges[0][0]))
    return decided, np.zeros((len(decided), 1))


def joined(laws: Sequence[Law], draws: tuple[int, ...], region: Region, most: int) -> Boxes | None:
    """Return the boxes of some draws of a region; None where there are too many, or not of plain draws."""
    involved, _ = region.apart(draws)
    if not all(type(laws[draw]) is not Geometric and laws[draw].high < LARGE for draw in draws):
        return None
    count = math.prod(len(factor.boxes) for factor in involved)
    if count > most or any(factor.ties for factor in involved):
        return None
    lows = np.tile(np.array([int(laws[draw].low) for draw in draws], dtype=np.int64), (count, 1))
    highs = np.tile(np.array([int(laws[draw].high) for draw in draws], dtype=np.int64), (count, 1))
    before, after = 1, count
    for factor in involved:
        after //= len(factor.boxes)
        boxes = Boxes.of(factor.boxes)
        for k, draw in enumerate(factor.draws):
            column = draws.index(draw)
            lows[:, column] = np.tile(np.repeat(boxes.lows[:, k], after), before)
            highs[:, column] = np.tile(np.repeat(boxes.highs[:, k], after), before)
        before *= len(factor.boxes)
    return Boxes(lows, highs)


def groups(keys: Array) -> Iterator[Array]:
    """Yield the rows that are the same."""
    _, inverse = np.unique(keys, axis=0, return_inverse=True)
    order = np.argsort(inverse.ravel(), kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(inverse.ravel()[order])) + 1)


def halved(boxes: Boxes, columns: Sequence[int], counts: Array, pulls: Array | None = None) -> Boxes:
    """Divide each box at the middle of the draw, among some, that changes most, or that is known least."""
    sizes = (boxes.highs - boxes.lows)[:, columns]
    wide = sizes / counts
    if pulls is not None:
        usable = np.isfinite(pulls).all(axis=1) & (np.where(sizes > 0, pulls, 0.0).max(axis=1) > 0)
        wide = np.where(usable[:, None], pulls, wide)
    wide = np.where(sizes > 0, wide, -1.0)
    column = np.asarray(columns)[np.argmax(wide, axis=1)]
    rows = np.arange(len(boxes))
    middle = (boxes.lows[rows, column] + boxes.highs[rows, column]) // 2
    lows, highs = boxes.lows.copy(), boxes.highs.copy()
    highs[rows, column], lows[rows, column] = middle, middle + 1
    return Boxes(np.concatenate([boxes.lows, lows]), np.concatenate([highs, boxes.highs]))


def stacked(parts: Sequence[Boxes]) -> Boxes:
    """Return the boxes of several arrays in one."""
    return Boxes(
        np.concatenate([part.lows for part in parts]), np.concatenate([part.highs for part in parts])
    )
