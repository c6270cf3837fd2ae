"""Draws that are compared with numbers as they are: where they part is computed at once, and kept."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.node import UNDECIDED, Node
from bisimdist.programs.replay.region import Box, Factor, Region

Segment = tuple[Any, float, float]
"""An outcome, and the range of a draw that leads to it."""


def cut(
    nodes: Sequence[Any], classify: Callable[..., Any], laws: Sequence[Law], region: Region
) -> list[tuple[Any, Region]] | None:
    """Return a region for each outcome where a draw itself, in one range, is compared with a number."""
    if len(nodes) != 2:
        return None
    node, other = nodes
    if not isinstance(node, Node) or node.scale is None or isinstance(other, Node):
        return None
    draw = node.draws[0]
    law = laws[draw]
    factor = next((one for one in region.factors if draw in one.draws), None)
    if factor is None:
        low, high, rest, cost = law.low, law.high, region.factors, region.cost
    elif len(factor.draws) > 1 or len(factor.boxes) > 1:
        return None
    else:
        ((low,), (high,)) = factor.boxes[0]
        rest = tuple(one for one in region.factors if one is not factor)
        cost = region.cost - factor.bits()
    if type(law) is not Uniform or not -1e18 < other < 1e18:
        return None
    parts = _parting(node.function, node.scale, classify, other, low, high)
    if parts is None:
        return None
    found: dict[Any, tuple[Any, list[Box]]] = {}
    for outcome, first, last in parts:
        found.setdefault(outcome, (outcome, []))[1].append(((first,), (last,)))
    made = []
    for outcome, boxes in found.values():
        mine = alone(draw, law, tuple(boxes))
        made.append((outcome, Region((*rest, mine), cost + mine.bits())))
    return made


@lru_cache(1 << 12, typed=True)
def _parting(  # noqa: PLR0913, PLR0917
    ends: Callable[[Any, Any], Any], scale: float, classify: Any, other: Any, low: float, high: float
) -> list[Segment] | None:
    """Return where a draw parts that is compared with a number; None where that is not known at once."""
    guess = math.floor(other / scale)
    cuts = sorted({low, *(k for k in (guess - 1, guess, guess + 1) if low < k <= high)})
    parts: list[Segment] = []
    for first, after in zip(cuts, [*cuts[1:], high + 1], strict=True):
        outcome = classify(ends(first, after - 1), (other, other))
        if outcome is UNDECIDED:
            return None
        if parts and parts[-1][0] == outcome:
            parts[-1] = outcome, parts[-1][1], after - 1
        else:
            parts.append((outcome, first, after - 1))
    return parts


@lru_cache(1 << 12)
def alone(draw: int, law: Law, boxes: tuple[Box, ...]) -> Factor:
    """Return what one draw may be."""
    weight = sum(law.weight(lows[0], highs[0]) for lows, highs in boxes)
    return Factor((draw,), boxes, weight)
