"""Very many boxes of draws, divided by a condition at once; what was divided before is not divided again.

A loop that rejects asks the same of fresh draws, and so do runs on other inputs: the boxes are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bisimdist.programs.replay import arrays
from bisimdist.programs.replay.draws import Law, Marginal
from bisimdist.programs.replay.node import UNDECIDED, Plan, Raised, outcome_of
from bisimdist.programs.replay.region import Boxes, Factor, Region
from bisimdist.programs.replay.tape import Parts, key_of

FAST, AT_ONCE, MOST_FAST = 128, 1 << 15, 1 << 20
"""In arrays so many boxes count as one; so many are looked at at once, and so many are one region at most."""

MOST_KEPT = 1 << 22
"""So many boxes are kept of what was divided."""

Outcomes = dict[Any, tuple[Any, list[Boxes]]]


@dataclass(frozen=True, slots=True)
class Divided:
    """How some boxes were divided: by outcome those that have it, and those that are left.

    parts, left: they, with about their probability.
    """

    parts: list[tuple[Any, Boxes, float]]
    left: tuple[Boxes, float] | None
    given: Sequence[Factor]  # what was divided: it is kept, since it is known by where it lies in memory

    def size(self) -> int:
        return sum(len(boxes) for _, boxes, _ in self.parts) + (len(self.left[0]) if self.left else 0)

    def placed(self, draws: tuple[int, ...], rest: tuple[Factor, ...], work: int) -> Parts:
        """Return the parts as regions of some draws."""
        left = [] if self.left is None else [Region((*rest, Factor(draws, *self.left)))]
        parts = [
            (outcome, Region((*rest, Factor(draws, boxes, weight)))) for outcome, boxes, weight in self.parts
        ]
        return parts, left, work


_divided: dict[Any, Divided] = {}


def forget() -> None:
    """Forget what was divided."""
    _divided.clear()


class Many:
    """A condition that divides many boxes at once.

    classify: the outcome of their enclosures.
    decide: what tells which boxes in arrays are decided; None where that is not known.
    apart: whether they are known one by one, not compared.
    """

    __slots__ = ("apart", "classify", "decide", "draws", "plan", "work")

    def __init__(
        self, plan: Plan, draws: Sequence[int], classify: Callable[..., Any], decide: Any, *, apart: bool
    ) -> None:
        self.plan = plan
        self.draws = draws
        self.classify = classify
        self.apart = apart
        self.work = arrays.Arrays(plan)
        self.decide: Callable[[arrays.Looked], arrays.Decision] | None = decide if self.work.usable else None

    def divide(self, laws: Sequence[Law], region: Region, budget: int) -> Parts | None:
        """Divide boxes, as long as there is one draw for each of their sides."""
        if self.decide is None:
            return None
        involved, rest = region.apart(self.draws)
        draws = tuple(sorted({*self.draws, *(draw for factor in involved for draw in factor.draws)}))
        boxes = arrays.joined(laws, draws, region, MOST_FAST)
        if boxes is None:
            return None
        key = self._key(laws, draws, involved, budget)
        if (kept := _divided.get(key)) is not None:
            return kept.placed(draws, rest, 1)
        found, remaining, done = self._divided(laws, draws, boxes, budget)
        mine: list[Any] = [laws[draw] for draw in draws]
        made = Divided(
            [(outcome, every, _weight(every, mine)) for outcome, every in found],
            (remaining, _weight(remaining, mine)) if len(remaining) else None,
            involved,
        )
        if sum(kept.size() for kept in _divided.values()) + made.size() > MOST_KEPT:
            forget()
        _divided[key] = made
        return made.placed(draws, rest, done // FAST)

    def _key(
        self, laws: Sequence[Law], draws: tuple[int, ...], involved: Sequence[Factor], budget: int
    ) -> Any:
        """Return what decides how boxes are divided, whichever draws they are of."""
        places = tuple(
            (one.boxes if type(one.boxes) is tuple else id(one.boxes), tuple(map(draws.index, one.draws)))
            for one in involved
        )
        return (
            self.plan.form(draws),
            self.classify,
            tuple(laws[draw] for draw in draws),
            places,
            budget,
        )

    def _divided(
        self, laws: Sequence[Law], draws: tuple[int, ...], boxes: Boxes, budget: int
    ) -> tuple[list[tuple[Any, Boxes]], Boxes, int]:
        columns = {draw: k for k, draw in enumerate(draws)}
        mine = [columns[draw] for draw in self.draws]
        counts = np.array([float(laws[draw].high) + 1 for draw in self.draws])
        finite: list[Any] = [laws[draw] for draw in draws]
        weighed = any(type(law) is Marginal for law in finite)
        found: Outcomes = {}
        left: list[Boxes] = []
        done, budget = 0, max(budget, 2 * len(boxes))
        while len(boxes) and done < budget:
            done += len(boxes)
            undecided, pulls = [], []
            for start in range(0, len(boxes), AT_ONCE):
                part = boxes[start : start + AT_ONCE]
                looked = self.work.enclosures(columns, part.lows, part.highs)
                decided, keys = self.decide(looked)  # type: ignore[misc]
                sure = np.flatnonzero(decided)
                for rows in arrays.groups(keys[sure]) if len(sure) else ():
                    done += FAST
                    self._ask(part[sure[rows]], draws, found, left)
                open_ones = np.flatnonzero(~decided)
                undecided.append(part[open_ones])
                pull = looked.pulls(apart=self.apart)
                pulls.append(None if pull is None else pull[:, open_ones].T)
            boxes = arrays.stacked(undecided)
            single = (boxes.lows[:, mine] == boxes.highs[:, mine]).all(axis=1)
            for row in np.flatnonzero(single).tolist():
                done += FAST
                self._ask(boxes[row : row + 1], draws, found, [])
            wide = np.flatnonzero(~single)
            boxes = boxes[wide]
            if done < budget:
                pull = None if pulls[0] is None else np.concatenate(pulls)[wide]  # type: ignore[arg-type]
                boxes = arrays.halved(boxes, mine, counts, pull)
                if weighed:
                    boxes = boxes[np.flatnonzero(boxes.weights(finite))]
        left.append(boxes)
        parts = [(outcome, arrays.stacked(every)) for outcome, every in found.values()]
        return parts, arrays.stacked(left), done

    def _ask(self, boxes: Boxes, draws: tuple[int, ...], found: Outcomes, left: list[Boxes]) -> None:
        """Ask one point of some boxes, which have one outcome, for it; zeros differ in their sign."""
        lows, highs = (dict(zip(draws, side, strict=True)) for side in boxes[0])
        outcome = outcome_of(self.plan, self.classify, lows, lows)
        if isinstance(outcome, float | tuple) and _zero(outcome):
            outcome = outcome_of(self.plan, self.classify, lows, highs)
        if outcome is UNDECIDED or type(outcome) is Raised:
            if len(boxes) > 1 or outcome is UNDECIDED:
                left.append(boxes)
                return
        elif len(boxes) > 1 and isinstance(outcome, float | tuple) and _zero(outcome):
            for row in range(len(boxes)):
                self._ask(boxes[row : row + 1], draws, found, left)
            return
        found.setdefault(key_of(outcome), (outcome, []))[1].append(boxes)


def _zero(outcome: Any) -> bool:
    """Tell whether an outcome has a zero with a sign."""
    parts = outcome if isinstance(outcome, tuple) else (outcome,)
    return any(isinstance(part, float) and part == 0 for part in parts)


def _weight(boxes: Boxes, laws: Sequence[Any]) -> float:
    return float(boxes.weights(laws).sum())


def region_of(laws: Sequence[Law], draws: tuple[int, ...], rest: tuple[Factor, ...], boxes: Boxes) -> Region:
    """Return a region with many boxes."""
    return Region((*rest, Factor(draws, boxes, _weight(boxes, [laws[draw] for draw in draws]))))
