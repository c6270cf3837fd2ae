"""The laws of draws: integers, each range of which has an exact probability."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from flint import fmpq

from bisimdist.exact.doubles import as_double


@dataclass(frozen=True, slots=True)
class Uniform:
    """The integers 0, …, count - 1, each with the same probability.

    Parameters
    ----------
    count
        How many.
    part_of
        Where it is drawn as a part of another draw: of which, and how many times it counts there.
    """

    count: int
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


Law = Uniform | Geometric
