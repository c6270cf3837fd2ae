"""Regions: what the draws of a run may be, as a product of factors; each factor is a union of boxes.

A condition divides only the factor of the draws that it asks for, so what is known of other draws stays as
one. Probabilities are exact.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from math import inf, log2, prod
from typing import Any

import numpy as np
from flint import fmpq

from bisimdist.programs.replay.draws import Finite, Geometric, Law, Marginal, Uniform

Box = tuple[tuple[float, ...], tuple[float, ...]]
"""The least and the greatest integers of some draws."""

Tie = tuple[int, int, bool]
"""Two draws with the same range: the first is smaller than the second, or (true) they are equal."""

Ties = tuple[Tie, ...]


class Boxes(Sequence[Box]):
    """Very many boxes, in arrays.

    lows, highs: the least and the greatest integers, a row for each box.
    """

    __slots__ = ("highs", "lows", "marginals")

    def __init__(self, lows: np.ndarray[Any, Any], highs: np.ndarray[Any, Any]) -> None:
        self.lows = lows
        self.highs = highs
        self.marginals: dict[tuple[int, int], Marginal] = {}

    @classmethod
    def of(cls, boxes: Sequence[Box]) -> Boxes:
        """Return boxes in arrays."""
        if isinstance(boxes, Boxes):
            return boxes
        return cls(*(np.array([box[k] for box in boxes], dtype=np.int64) for k in (0, 1)))

    def __len__(self) -> int:
        return len(self.lows)

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, int):
            return tuple(self.lows[place].tolist()), tuple(self.highs[place].tolist())
        return Boxes(self.lows[place], self.highs[place])

    def __iter__(self) -> Iterator[Box]:
        yield from zip(map(tuple, self.lows.tolist()), map(tuple, self.highs.tolist()), strict=True)

    def points(self, laws: Sequence[Finite]) -> int:
        """Return how many points are in them, of draws with these laws."""
        columns = [law.points(self.lows[:, k], self.highs[:, k]) for k, law in enumerate(laws)]
        return int(prod(columns[1:], start=columns[0]).sum())

    def weights(self, laws: Sequence[Finite]) -> np.ndarray[Any, Any]:
        """Return about the probability of each."""
        columns = [law.weights(self.lows[:, k], self.highs[:, k]) for k, law in enumerate(laws)]
        return prod(columns[1:], start=columns[0])


@dataclass(eq=False, slots=True)
class Factor:
    """What some draws may be."""

    draws: tuple[int, ...]  # which ones
    boxes: Sequence[Box]  # ranges for them, which do not overlap
    weight: float  # about their probability
    ties: Ties = ()  # pairs of them that depend on each other; no draw is in two of them
    _mass: fmpq | None = None

    def bits(self) -> float:
        """Return about how many bits it costs to be here."""
        return -log2(self.weight) if self.weight > 0 else inf

    def mass(self, laws: Sequence[Law]) -> fmpq:
        """Return the exact probability; the laws of its draws are the same in all runs."""
        if self._mass is None:
            self._mass = self._computed(laws)
        return self._mass

    def _computed(self, laws: Sequence[Law]) -> fmpq:
        mine = [laws[draw] for draw in self.draws]
        if isinstance(self.boxes, Boxes):
            finite = [law for law in mine if not isinstance(law, Geometric)]
            return fmpq(self.boxes.points(finite), prod(law.count for law in finite))
        if all(type(law) is Uniform for law in mine):
            tied: list[tuple[int, int, bool]] = [
                (self.draws.index(one), self.draws.index(two), equal) for one, two, equal in self.ties
            ]
            total = 0
            for lows, highs in self.boxes:
                sizes = [int(high) - int(low) + 1 for low, high in zip(lows, highs, strict=True)]
                for one, two, equal in tied:
                    sizes[one], sizes[two] = (1 if equal else (sizes[one] - 1)), sizes[one]
                total += prod(sizes)
            down = prod(law.count for law in mine if isinstance(law, Uniform))
            return fmpq(total, down << sum(not equal for _, _, equal in tied))
        found = fmpq(0)
        for lows, highs in self.boxes:
            one_box = fmpq(1)
            for law, low, high in zip(mine, lows, highs, strict=True):
                one_box *= law.mass(low, high)
            found += one_box
        return found

    def single(self, chooser: random.Random) -> Iterator[tuple[int, int]]:
        """Yield an integer for each draw at random, as boxes and pairs allow."""
        lows, highs = chooser.choice(self.boxes)
        found = {
            draw: _inside(chooser, low, high) for draw, low, high in zip(self.draws, lows, highs, strict=True)
        }
        for one, two, equal in self.ties:
            k = self.draws.index(one)
            if equal:
                found[two] = found[one]
            else:
                found[one] = chooser.randint(int(lows[k]), int(highs[k]) - 1)
                found[two] = chooser.randint(found[one] + 1, int(highs[k]))
        yield from found.items()


def _inside(chooser: random.Random, low: float, high: float) -> int:
    if low == high:
        return int(low)
    if low == -inf:
        return int(high) - int(chooser.expovariate(0.3)) if high < inf else int(chooser.gauss(0, 3))
    if high == inf:
        return int(low) + int(chooser.expovariate(0.3))
    return chooser.randint(int(low), int(high))


class Region:
    """What all draws may be: those that are in no factor may be anything.

    factors: they share no draw.
    cost: about how many bits it costs to be here; None computes it.
    """

    __slots__ = ("cost", "factors")

    def __init__(self, factors: tuple[Factor, ...] = (), cost: float | None = None) -> None:
        self.factors = factors
        self.cost = sum(factor.bits() for factor in factors) if cost is None else cost

    def mass(self, laws: Sequence[Law]) -> fmpq:
        """Return the exact probability."""
        return prod((factor.mass(laws) for factor in self.factors), start=fmpq(1))

    def apart(self, draws: Collection[int]) -> tuple[list[Factor], tuple[Factor, ...]]:
        """Return the factors of some draws, and the others."""
        mine = [factor for factor in self.factors if not set(draws).isdisjoint(factor.draws)]
        return mine, tuple(factor for factor in self.factors if all(factor is not one for one in mine))

    def hull(self, laws: Sequence[Law]) -> tuple[list[float], list[float]]:
        """Return by draw the least and the greatest integer."""
        lows: list[float] = [law.low for law in laws]
        highs: list[float] = [law.high for law in laws]
        for factor in self.factors:
            for k, draw in enumerate(factor.draws):
                if draw < len(lows):
                    if isinstance(factor.boxes, Boxes):
                        lows[draw] = int(factor.boxes.lows[:, k].min())
                        highs[draw] = int(factor.boxes.highs[:, k].max())
                        continue
                    lows[draw] = min(box[0][k] for box in factor.boxes)
                    highs[draw] = max(box[1][k] for box in factor.boxes)
        return lows, highs

    def single(self, laws: Sequence[Law], chooser: random.Random) -> list[int]:
        """Return an integer for each draw at random."""
        found = dict(pair for factor in self.factors for pair in factor.single(chooser))
        return [
            found[draw] if draw in found else _inside(chooser, law.low, law.high)
            for draw, law in enumerate(laws)
        ]


WHOLE = Region()


def marginal(laws: Sequence[Law], factor: Factor, draw: int) -> Marginal | None:
    """Return the law of one of the draws of a factor with boxes; None where they are in pairs, or endless."""
    mine = [laws[one] for one in factor.draws]
    if factor.ties or not all(type(law) is Uniform for law in mine):
        return None
    boxes = Boxes.of(factor.boxes)
    k = factor.draws.index(draw)
    others = [j for j in range(len(mine)) if j != k]
    count = prod(law.count for law in mine if isinstance(law, Uniform))
    found = boxes.marginals.get((k, count))
    if found is None:
        sizes = (boxes.highs - boxes.lows + 1)[:, others].astype(object)
        found = Marginal(boxes.lows[:, k], boxes.highs[:, k], np.multiply.reduce(sizes, axis=1), count)
        boxes.marginals[k, count] = found
    return found


def asked(laws: Sequence[Law], values: Sequence[int]) -> list[int]:
    """Return what a program is told that asks for these draws: parts are put together."""
    found: dict[int, int] = {}
    for draw, (law, value) in enumerate(zip(laws, values, strict=True)):
        part = law.part_of if isinstance(law, Uniform) else None
        if part is None:
            found[draw] = value
        else:  # the quotient comes first
            found[part[0]] = part[1] * value + (found[part[0]] if part[1] == 1 else 0)
    return [*found.values()]


def weight_of(laws: Sequence[Law], draws: Sequence[int], box: Box, ties: Ties) -> float:
    """Return about the probability of a box."""
    lows, highs = box
    found = 1.0
    for draw, low, high in zip(draws, lows, highs, strict=True):
        found *= laws[draw].weight(low, high)
    for one, _, equal in ties:
        k = draws.index(one)
        size = highs[k] - lows[k] + 1
        found *= 1 / size if equal else (size - 1) / (2 * size)
    return found


def changed(values: tuple[float, ...], k: int, value: float) -> tuple[float, ...]:
    """Return the same numbers but for one."""
    return (*values[:k], value, *values[k + 1 :])


def halves(draws: Sequence[int], box: Box, ties: Ties, draw: int, law: Law) -> Iterator[tuple[Box, Ties]]:
    """Divide the range of a draw at its middle, and that of its partner."""
    lows, highs = box
    k = draws.index(draw)
    low, high = lows[k], highs[k]
    middle = law.middle(low, high)
    tie = next((tie for tie in ties if draw in tie[:2]), None)
    if tie is None:
        yield (lows, changed(highs, k, middle)), ties
        yield (changed(lows, k, middle + 1), highs), ties
        return
    one, two, equal = draws.index(tie[0]), draws.index(tie[1]), tie[2]
    rest = tuple(other for other in ties if other is not tie)

    def part(first: tuple[float, float], second: tuple[float, float]) -> Box:
        return (
            changed(changed(lows, one, first[0]), two, second[0]),
            changed(changed(highs, one, first[1]), two, second[1]),
        )

    for least, most in ((low, middle), (middle + 1, high)):
        if equal or least < most:
            yield part((least, most), (least, most)), ties if least < most else rest
    if not equal:
        yield part((low, middle), (middle + 1, high)), rest


def compared(
    draws: Sequence[int], box: Box, pair: tuple[int, int], compare: Callable[[Any, Any], Any]
) -> Iterator[tuple[bool, Box, Ties]]:
    """Divide a box by how two draws with one law, which are in no pair, compare."""
    lows, highs = box
    one, two = draws.index(pair[0]), draws.index(pair[1])
    low, high = max(lows[one], lows[two]), min(highs[one], highs[two])
    if low > high:
        yield bool(compare(lows[one], lows[two])), box, ()
        return

    def parts(k: int) -> Iterable[tuple[float, float]]:
        every = (
            (lows[k], min(highs[k], low - 1)),
            (max(lows[k], low), min(highs[k], high)),
            (max(lows[k], high + 1), highs[k]),
        )
        return [part for part in every if part[0] <= part[1]]

    for mine, other in product(parts(one), parts(two)):
        made = (
            changed(changed(lows, one, mine[0]), two, other[0]),
            changed(changed(highs, one, mine[1]), two, other[1]),
        )
        if mine != (low, high) or other != (low, high):
            yield bool(compare(mine[0], other[0])), made, ()
        elif low == high:
            yield bool(compare(0, 0)), made, ()
        else:
            yield bool(compare(0, 0)), made, ((*pair, True),)
            yield bool(compare(0, 1)), made, ((*pair, False),)
            yield bool(compare(1, 0)), made, ((pair[1], pair[0], False),)
