"""The laws of draws: integers, each range of which has an exact probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Any

import numpy as np
from flint import fmpq

from bisimdist.exact.doubles import as_double

Array = np.ndarray[Any, Any]


@dataclass(frozen=True, slots=True)
class Uniform:
    """The integers 0, …, count - 1, each with the same probability.

    part_of: where it is drawn as a part of another draw: of which, and how many times it counts there.
    """

    count: int  # how many
    part_of: tuple[int, int] | None = None

    @property
    def low(self) -> int:
        return 0

    @property
    def high(self) -> int:
        return self.count - 1

    def mass(self, low: float, high: float) -> fmpq:
        """Return the exact probability of a range."""
        return fmpq(int(high) - int(low) + 1, self.count)

    def weight(self, low: float, high: float) -> float:
        """Return about the probability of a range."""
        return (high - low + 1) / self.count

    def weights(self, lows: Array, highs: Array) -> Array:
        """Return about the probabilities of ranges."""
        found: Array = (highs - lows + 1) / float(self.count)
        return found

    def points(self, lows: Array, highs: Array) -> Array:
        """Return exactly how many of `count` points are in each range."""
        return (highs - lows + 1).astype(object)

    def middle(self, low: float, high: float) -> int:
        """Return the last integer of the first half of a range."""
        return (int(low) + int(high)) // 2


@dataclass(frozen=True, slots=True)
class Geometric:
    """An integer k in proportion to ``ratio**|k|``, from `low` on, which is 0 or minus infinity."""

    ratio: fmpq
    low: float

    @property
    def high(self) -> float:
        return inf

    def mass(self, low: float, high: float) -> fmpq:
        """Return the exact probability of a range."""
        if low < 0:
            if high < 0:
                return self.mass(-high, -low)
            return self.mass(0, high) + (self.mass(1, -low) if low < 0 else 0)
        whole = 1 if self.low == 0 else 1 + self.ratio
        return (self.ratio ** int(low) - (self.ratio ** (int(high) + 1) if high < inf else 0)) / whole

    def weight(self, low: float, high: float) -> float:
        """Return about the probability of a range."""
        return as_double(self.mass(low, high))

    def middle(self, low: float, high: float) -> int:
        """Return the last integer of the first part of a range."""
        if low == -inf:
            return -1 if high >= 0 else 2 * int(high) - 1
        if high == inf:
            return int(2 * low + 1) if low >= 0 else -1
        return (int(low) + int(high)) // 2


class Marginal:
    """One of several draws that together are in boxes: each integer counts as often as the others leave room.

    lows, highs: its range in each box.
    room: how many points the other draws have in each box: integers of any size.
    count: how many points all draws have anywhere. The whole has the probability of the boxes, not 1.
    """

    __slots__ = ("_before", "_filled", "_rough", "_starts", "_steps", "count", "high", "low")

    def __init__(self, lows: Array, highs: Array, room: Array, count: int) -> None:
        self.count = count
        self.low, self.high = int(lows.min()), int(highs.max())
        ends = np.concatenate([lows, highs + 1])
        self._starts, place = np.unique(ends, return_inverse=True)
        change = np.zeros(len(self._starts), dtype=object)
        np.add.at(change, place.ravel(), np.concatenate([room, -room]))
        self._steps = np.cumsum(change)
        """How often an integer counts from a start on, up to the next one."""
        sizes = np.diff(self._starts).astype(object) * self._steps[:-1]
        self._before = np.concatenate([np.zeros(1, dtype=object), np.cumsum(sizes)])
        self._filled = np.concatenate([[0], np.cumsum(self._steps[:-1] != 0)])
        self._rough = (self._before / count).astype(np.float64)

    def _until(self, values: Array) -> Array:
        """Return how many points are below integers."""
        place = np.clip(np.searchsorted(self._starts, values, "right") - 1, 0, len(self._starts) - 1)
        found: Array = self._before[place] + self._steps[place] * (values - self._starts[place]).astype(
            object
        )
        return found

    def points(self, lows: Array, highs: Array) -> Array:
        """Return exactly how many of `count` points are in each range."""
        return self._until(highs + 1) - self._until(lows)

    def weights(self, lows: Array, highs: Array) -> Array:
        """Return about the probabilities of ranges; 0 if it is 0."""
        low, high = (
            np.interp(lows, self._starts, self._rough),
            np.interp(highs + 1, self._starts, self._rough),
        )
        first = np.clip(np.searchsorted(self._starts, lows, "right") - 1, 0, None)
        last = np.searchsorted(self._starts, highs + 1, "left")
        empty = self._filled[np.minimum(last, len(self._filled) - 1)] == self._filled[first]
        found: Array = np.where(empty, 0.0, np.maximum(high - low, 1e-300))
        return found

    def mass(self, low: float, high: float) -> fmpq:
        """Return the exact probability of a range."""
        return fmpq(int(self.points(*_alone(low, high))[0]), self.count)

    def weight(self, low: float, high: float) -> float:
        """Return about the probability of a range."""
        return float(self.weights(*_alone(low, high))[0])

    def middle(self, low: float, high: float) -> int:
        """Return the last integer of the first half of a range."""
        return (int(low) + int(high)) // 2


def _alone(low: float, high: float) -> tuple[Array, Array]:
    return np.array([int(low)]), np.array([int(high)])


Finite = Uniform | Marginal
Law = Uniform | Geometric | Marginal
