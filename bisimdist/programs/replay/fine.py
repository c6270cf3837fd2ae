"""All values of a number that depends on one draw, where there are very many: found in arrays.

Enclosures are those of single ranges, to the last bit: at a single integer the functions of the program
itself answer, one call for each.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bisimdist.programs.replay import arrays
from bisimdist.programs.replay.draws import Uniform
from bisimdist.programs.replay.node import DRAW, UNDECIDED, Plan, outcome_of
from bisimdist.programs.replay.region import Boxes
from bisimdist.programs.replay.rules import LIBM
from bisimdist.progress import NEVER, Deadline

Array = np.ndarray[Any, Any]

MOST_OPEN, AT_ONCE = 1 << 19, 1 << 18
"""So many ranges may be open together, and so many are looked at at once."""


def _answers(f: Callable[..., Any], values: Any) -> Array:
    """Return what a function makes of each value; nan where it raises an exception."""

    def one(value: float) -> Any:
        try:
            return float(f(value))
        except (ArithmeticError, ValueError):
            return math.nan

    return np.asarray(np.frompyfunc(one, 1, 1)(values)).astype(np.float64)


def _own(f: Callable[..., Any], ranges: arrays.Ranges) -> tuple[Any, Any]:
    """Enclose a function of a libm that grows: exactly at points."""
    low, high = ranges[0]
    point = low == high
    least = _answers(f, low)
    most = np.where(point, least, np.nan)
    open_ones = np.flatnonzero(~point)
    most[open_ones] = _answers(f, np.broadcast_to(high, most.shape)[open_ones])
    below, above = least, most
    for _ in range(LIBM):
        below, above = np.nextafter(below, -math.inf), np.nextafter(above, math.inf)
    return np.where(point, least, below), np.where(point, most, above)


def _root(_: Callable[..., Any], ranges: arrays.Ranges) -> tuple[Any, Any]:
    return np.sqrt(ranges[0][0]), np.sqrt(ranges[0][1])


OWN: dict[Callable[..., Any], Callable[..., tuple[Any, Any]]] = {
    **dict.fromkeys(
        (math.exp, math.log, math.log1p, math.expm1, math.log2, math.log10, np.exp, np.log), _own
    ),
    **dict.fromkeys((np.log1p, np.expm1, np.log2, np.log10), _own),
    **dict.fromkeys((math.sqrt, np.sqrt), _root),
}
INEXACT = {math.sin, math.cos, np.sin, np.cos}


def values_at_once(  # noqa: PLR0913, PLR0917
    plan: Plan,
    known: Callable[..., Any],
    law: Any,
    draw: int,
    span: tuple[float, float],
    deadline: Deadline = NEVER,
) -> Iterator[tuple[Any, int, int]] | None:
    """Yield each value with how many of the integers of a range lead to it, and with one of these.

    plan: how to compute the numbers.
    known: what says what they are, as `bisimdist.programs.replay.released.Released.known`.
    law, draw, span: the draw, and a range of it.
    returns: None where that is not done in arrays.
    """
    work = arrays.Arrays(plan, OWN)
    functions = {function for _, function, rule, _ in plan.steps if rule is not DRAW}
    if not work.usable or functions & INEXACT or type(law) is not Uniform or span[1] >= arrays.LARGE:
        return None
    boxes = Boxes(*(np.array([[int(end)]], dtype=np.int64) for end in span))
    done: list[tuple[Boxes, Array]] = []
    single: list[Boxes] = []
    while len(boxes):
        undecided = []
        for start in range(0, len(boxes), AT_ONCE):
            deadline.check()
            part = boxes[start : start + AT_ONCE]
            decided, keys = arrays.pointed(work.enclosures({draw: 0}, part.lows, part.highs))
            sure = np.flatnonzero(decided)
            done.append((part[sure], keys[sure]))
            undecided.append(part[np.flatnonzero(~decided)])
        boxes = arrays.stacked(undecided)
        alone = (boxes.lows == boxes.highs)[:, 0]
        single.append(boxes[np.flatnonzero(alone)])
        boxes = boxes[np.flatnonzero(~alone)]
        if len(boxes) > MOST_OPEN or sum(map(len, single)) > MOST_OPEN:
            return None
        boxes = arrays.halved(boxes, [0], np.ones(1))
    return _grouped(plan, known, draw, done, arrays.stacked(single))


def _grouped(
    plan: Plan, known: Callable[..., Any], draw: int, done: list[tuple[Boxes, Array]], single: Boxes
) -> Iterator[tuple[Any, int, int]]:
    """Yield the values of ranges that are known, and of single integers; each kind is asked once."""
    every = arrays.stacked([boxes for boxes, _ in done])
    sizes = (every.highs - every.lows + 1)[:, 0]
    for rows in arrays.groups(np.concatenate([keys for _, keys in done])) if len(every) else ():
        place = int(every.lows[rows[0], 0])
        outcome = outcome_of(plan, known, {draw: place}, {draw: place})
        yield outcome, int(sizes[rows].sum()), place
    for place in single.lows[:, 0].tolist():
        outcome = outcome_of(plan, known, {draw: place}, {draw: place})
        if outcome is not UNDECIDED:
            yield outcome, 1, place
