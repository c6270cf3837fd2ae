"""What a run needs to know of numbers that depend on draws: boxes of draws are divided until it is known."""

from __future__ import annotations

import heapq
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count, product
from math import prod
from typing import Any

from bisimdist.programs.control import Outside
from bisimdist.programs.replay import arrays
from bisimdist.programs.replay.cutting import Segment, alone, cut
from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.many import FAST, Many, region_of
from bisimdist.programs.replay.node import FINE, UNDECIDED, Node, Plan, Raised, outcome_of
from bisimdist.programs.replay.region import (
    Box,
    Boxes,
    Factor,
    Region,
    Ties,
    changed,
    compared,
    halves,
    weight_of,
)
from bisimdist.programs.replay.rules import Enclosure
from bisimdist.programs.replay.tape import NEW, Changed, GivenUp, Parts, current, key_of

MOST_PARTS = 50_000
"""So many ranges of a draw are looked at where a run needs to know."""

MOST_BOXES = 20_000
"""So many boxes are looked at together."""

MANY = 1 << 24

LEAST_PART = 1e-40
"""A range of less probability is not looked at."""


class Asked:
    """A condition on numbers that depend on draws."""

    __slots__ = ("_plan", "classify", "compare", "draws", "many", "nodes")

    def __init__(
        self,
        nodes: Sequence[Any],
        classify: Callable[..., Any],
        compare: Callable[[Any, Any], Any] | None = None,
    ) -> None:
        self.nodes = nodes
        self.classify = classify
        self.compare = compare
        self.draws = sorted({draw for node in nodes if isinstance(node, Node) for draw in node.draws})
        self._plan: Plan | None = None
        self.many: Many | None = None

    @property
    def plan(self) -> Plan:
        """How to compute the numbers."""
        if self._plan is None:
            self._plan = Plan(self.nodes)
        return self._plan

    def divide(self, laws: Sequence[Law], region: Region, budget: int) -> Parts:
        """Divide a region by outcomes: boxes of more than one open draw within the budget, best first."""
        if len(self.draws) == 1:
            parts = cut(self.nodes, self.classify, laws, region)
            if parts is not None:
                return parts, [], 1
        if self.draws:
            outcome = outcome_of(self.plan, self.classify, *region.hull(laws))
            if outcome is not UNDECIDED:
                return [(outcome, region)], [], 1
        involved, rest = region.apart(self.draws)
        many = len(self.draws) > 1 or sum(len(factor.boxes) for factor in involved) > FAST
        if many and not self._bare(laws):
            at_once = self._many().divide(laws, region, budget * FAST)
            if at_once is not None:
                return at_once
        taken = {draw for factor in involved for draw in factor.draws}
        draws = tuple(sorted(taken.union(self.draws)))
        count = prod(len(factor.boxes) for factor in involved)
        if count > MOST_BOXES:
            longest = max(involved, key=lambda one: len(one.boxes))
            return [], list(_divided(laws, region, longest)), len(longest.boxes) // FAST
        heap = _Heap(laws, draws)
        for boxes in product(*(factor.boxes for factor in involved)):
            heap.add(*_joined(draws, involved, boxes, laws))
        found = _Found(laws, draws, rest)
        budget = max(budget, min(2 * count, MOST_BOXES))
        while heap.items and heap.work < budget:
            box, ties = heap.pop()
            self._look(laws, draws, box, ties, heap, found)
        return found.regions(), heap.left(rest), heap.work

    def _many(self) -> Many:
        """Return how to divide very many boxes."""
        if self.many is None:
            points = getattr(self.classify, "points", False)
            decide: Any = arrays.pointed if points else arrays.known if self.classify is _fine else None
            if self.compare is not None:
                decide = arrays.compared(self.compare)
            self.many = Many(self.plan, self.draws, self.classify, decide, apart=self.compare is None)
        return self.many

    def _look(  # noqa: PLR0913, PLR0917
        self, laws: Sequence[Law], draws: tuple[int, ...], box: Box, ties: Ties, heap: _Heap, found: _Found
    ) -> None:
        """Decide a box, or divide it."""
        lows, highs = dict(zip(draws, box[0], strict=True)), dict(zip(draws, box[1], strict=True))
        undone = [draw for draw in self.draws if lows[draw] != highs[draw]]
        tied = [draw for draw in undone if any(draw in tie[:2] for tie in ties)] if ties else []
        if len(undone) == 1 and not tied:
            draw = undone[0]
            k = draws.index(draw)
            parts, work = segments(laws, lows, highs, draw, self.plan, self.classify)
            heap.work += work // 4
            for outcome, low, high in parts:
                found.add(outcome, (changed(box[0], k, low), changed(box[1], k, high)), ties)
            return
        outcome = outcome_of(self.plan, self.classify, lows, highs)
        if outcome is not UNDECIDED:
            found.add(outcome, box, ties)
        elif undone and not tied and self._bare(laws):
            pair = self.nodes[0].draws[0], self.nodes[1].draws[0]
            for answer, part, more in compared(draws, box, pair, self.compare):  # type: ignore[arg-type]
                found.add(answer, part, (*ties, *more))
        elif undone:
            draw = widest(laws, lows, highs, undone)
            for part, kept in halves(draws, box, ties, draw, laws[draw]):
                heap.add(part, kept)

    def _bare(self, laws: Sequence[Law]) -> bool:
        """Tell whether two draws with the same law are compared."""
        if self.compare is None or len(self.nodes) != 2 or len(self.draws) != 2:
            return False
        one, two = self.nodes
        if not (isinstance(one, Node) and isinstance(two, Node)):
            return False
        law = laws[one.draws[0]]
        return (
            one.arguments is two.arguments is None
            and one.scale is not None
            and one.scale == two.scale
            and type(law) is Uniform
            and law == laws[two.draws[0]]
        )


@dataclass(slots=True, eq=False)
class _Heap:
    """Boxes that are not decided, the most probable first."""

    laws: Sequence[Law]
    draws: tuple[int, ...]
    items: list[tuple[float, int, Box, Ties]] = field(default_factory=list)
    work: int = 0
    order: Iterator[int] = field(default_factory=count)

    def add(self, box: Box, ties: Ties) -> None:
        weight = weight_of(self.laws, self.draws, box, ties)
        if weight > 0:
            heapq.heappush(self.items, (-weight, next(self.order), box, ties))

    def pop(self) -> tuple[Box, Ties]:
        self.work += 1
        return heapq.heappop(self.items)[2:]

    def left(self, rest: tuple[Factor, ...]) -> list[Region]:
        """Return what was not decided, as a region for all boxes with the same pairs."""
        found = _Found(self.laws, self.draws, rest)
        for _, _, box, ties in self.items:
            found.add(None, box, ties)
        return [region for _, region in found.regions()]


@dataclass(slots=True, eq=False)
class _Found:
    """Boxes by outcome and pairs."""

    laws: Sequence[Law]
    draws: tuple[int, ...]
    rest: tuple[Factor, ...]
    boxes: dict[Any, tuple[Any, Ties, list[Box]]] = field(default_factory=dict)

    def add(self, outcome: Any, box: Box, ties: Ties) -> None:
        key = key_of(outcome), ties
        if key not in self.boxes:
            self.boxes[key] = outcome, ties, []
        self.boxes[key][2].append(box)

    def regions(self) -> list[tuple[Any, Region]]:
        """Return a region for each outcome, and for each set of pairs."""
        found = []
        for outcome, ties, boxes in self.boxes.values():
            if len(boxes) == 1 and not ties:
                factors = tuple(
                    alone(draw, self.laws[draw], (((low,), (high,)),))
                    for draw, low, high in zip(self.draws, *boxes[0], strict=True)
                )
            else:
                weight = sum(weight_of(self.laws, self.draws, box, ties) for box in boxes)
                factors = (Factor(self.draws, boxes, weight, ties),)
            found.append((outcome, Region((*self.rest, *factors))))
        return found


def _joined(
    draws: tuple[int, ...], factors: Sequence[Factor], boxes: Sequence[Box], laws: Sequence[Law]
) -> tuple[Box, Ties]:
    """Join boxes of several factors, and whole ranges of the draws that are in none."""
    if len(factors) == 1 and factors[0].draws == draws:
        return boxes[0], factors[0].ties
    ranges = {draw: (laws[draw].low, laws[draw].high) for draw in draws}
    for factor, (lows, highs) in zip(factors, boxes, strict=True):
        ranges.update(zip(factor.draws, zip(lows, highs, strict=True), strict=True))
    ties = tuple(tie for factor in factors for tie in factor.ties)
    lows, highs = zip(*(ranges[draw] for draw in draws), strict=True) if draws else ((), ())
    return (lows, highs), ties


def _divided(laws: Sequence[Law], region: Region, factor: Factor) -> Iterator[Region]:
    """Divide a factor with many boxes into two."""
    rest = tuple(other for other in region.factors if other is not factor)
    if isinstance(factor.boxes, Boxes):
        half = len(factor.boxes) // 2
        yield region_of(laws, factor.draws, rest, factor.boxes[:half])
        yield region_of(laws, factor.draws, rest, factor.boxes[half:])
        return
    order = sorted(factor.boxes, key=lambda box: -weight_of(laws, factor.draws, box, factor.ties))
    middle = len(order) // 2
    for boxes in (order[:middle], order[middle:]):
        weight = sum(weight_of(laws, factor.draws, box, factor.ties) for box in boxes)
        yield Region((*rest, Factor(factor.draws, boxes, weight, factor.ties)))


def told_apart(
    nodes: Sequence[Any],
    classify: Callable[..., Any],
    compare: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Return what is so in this run; the other ways are left for other runs."""
    run = current.run
    for node in nodes:
        if isinstance(node, Node):
            if node.run is not run:
                raise Changed
            node.used = True
    outcome = run.again()
    return run.decided(Asked(nodes, classify, compare)) if outcome is NEW else outcome


def settled(node: Node) -> None:
    """Find out whether computing a number raises an exception.

    Raises what it raises, if it does.
    """
    outcome = told_apart((node,), _fine)
    if type(outcome) is Raised:
        raise outcome.error


def known(node: Any) -> Any:
    """Return the one value that a number has in this run, which is told apart from all others."""
    if not isinstance(node, Node):
        return node
    try:
        outcome = told_apart((node,), _known)
    except GivenUp:
        lows, highs = node.run.region.hull(node.run.laws)
        if any(highs[draw] - lows[draw] > MANY for draw in node.draws):
            raise Outside(
                "a drawn number with very many values is asked for as a single one",
                "round it first, or release it as a number",
            ) from None
        raise
    if type(outcome) is Raised:
        raise outcome.error
    return outcome


def _fine(found: Enclosure) -> Any:
    return UNDECIDED if found is None else FINE


def _known(found: Enclosure) -> Any:
    if found is None:
        return UNDECIDED
    low, high = found
    if low is high or (low == high and (low != 0 or math.copysign(1, low) == math.copysign(1, high))):
        return low
    return UNDECIDED


_known.points = True  # type: ignore[attr-defined]


def widest(
    laws: Sequence[Law], lows: Mapping[int, float], highs: Mapping[int, float], draws: Sequence[int]
) -> int:
    """Return the draw that is known least; of several the one with the fewest values."""
    return max(draws, key=lambda d: (laws[d].weight(lows[d], highs[d]), -(highs[d] - lows[d])))


def segments(  # noqa: PLR0913, PLR0917
    laws: Sequence[Law],
    least: Mapping[int, float],
    greatest: Mapping[int, float],
    draw: int,
    plan: Plan,
    classify: Callable[..., Any],
    most: int = MOST_PARTS,
) -> tuple[list[Segment], int]:
    """Divide the range of a draw into ranges with one outcome each; what is not decided is left out.

    laws, least, greatest: the draws that matter, and their ranges.
    draw: which one to divide; all others that matter are single integers.
    plan, classify: what the outcome depends on, and the outcome of its enclosures.
    most: so many ranges are looked at.
    """
    law = laws[draw]
    lows, highs = dict(least), dict(greatest)
    heap = [(-law.weight(lows[draw], highs[draw]), lows[draw], highs[draw])]
    done: list[tuple[float, float, Any]] = []
    work = 0
    while heap:
        weight, low, high = heapq.heappop(heap)
        lows[draw], highs[draw] = low, high
        outcome = outcome_of(plan, classify, lows, highs)
        work += 1
        if outcome is not UNDECIDED:
            done.append((low, high, outcome))
        elif low != high and work < most and -weight > LEAST_PART:
            middle = law.middle(low, high)
            heapq.heappush(heap, (-law.weight(low, middle), low, middle))
            heapq.heappush(heap, (-law.weight(middle + 1, high), middle + 1, high))
    done.sort(key=operator.itemgetter(0))
    parts: list[Segment] = []
    for low, high, outcome in done:
        if parts and parts[-1][2] == low - 1 and key_of(parts[-1][0]) == key_of(outcome):
            parts[-1] = outcome, parts[-1][1], high
        else:
            parts.append((outcome, low, high))
    return parts, work
