"""Which products are made on which grids, chosen by guesses; and their execution, which rests on none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import groupby, pairwise
from math import ceil, floor, inf, log, log2, log10
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz_poly

from bisimdist.errors import LimitError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.cells import measured
from bisimdist.privacy.compose.engine.laws import NOTHING, AtomsAt
from bisimdist.privacy.compose.engine.measures import Grid, Measure, coarsened, cut, multiplied
from bisimdist.privacy.compose.engine.rough import Factor, Rough, Saddle
from bisimdist.progress import Limits

LONGEST_CELL = 4096
MOST_ENTRIES = 4_000_000  # how many losses a measure may have
MOST_DIGITS = 50_000_000  # in all: a product takes seconds then, and nothing interrupts it

BASE, HALVED = 0.25, 0.1875
"""By which variance both sides part, in squares of the step: where a law is cut, where a grid is halved."""

Step = tuple[Any, ...]
"""``("cells", factor, level, low, runs)``; of steps by number ``("coarsen", one, low, high)`` and
``("multiply", one, other, low, high)``."""


def level_of(runs: int) -> int:
    """Return how often the step of the last grid is halved where so many copies are still to be made.

    A polynomial costs as much as its losses reach, divided by the step, and parts both sides by the number of
    copies times the square of the step: their sums are least where the third powers of the steps are
    proportional to what is reached, divided by that number. One run reaches about a tenth as far as all.
    """
    return round(log2(runs * 1.1 / (0.1 + runs**-0.5)) / 3)


def lattice(factors: Sequence[Factor], digits: int) -> fmpq | None:
    """Return the largest step of a grid that all losses lie on; None where there is none."""
    laws = [law for one in factors for law in (one.law, one.below) if isinstance(law, AtomsAt)]
    if len(laws) < 2 * len(factors):
        return None
    losses = [loss for law in laws for loss, *_ in law.make(digits).points]
    exact = [loss for loss in losses if isinstance(loss, fmpq)]
    return (reduce(fmpq.gcd, exact, NOTHING) or None) if len(exact) == len(losses) else None


def variance_of(runs: int) -> float:
    """Return by how much the runs of a factor part both sides, in squares of the last step."""
    levels = [(runs >> k, level_of(runs >> k)) for k in range(runs.bit_length())]
    passed = [(m, level) for (_, more), (m, less) in pairwise(levels) for level in range(less, more)]
    return float(BASE * runs / 4 ** levels[0][1] + sum(HALVED * m / 4**level for m, level in passed))


@dataclass(kw_only=True)
class Work:
    """A computation: how fine it has to be, and its steps, each with what is known after it."""

    factors: Sequence[Factor]
    grid: Grid  # the last one
    left: float  # left and right: how much mass may be cut off, relative to the whole, and as a power of ten
    right: float
    goals: Sequence[Saddle]  # what delta is like near each epsilon that counts
    scales: Sequence[fmpq]  # by factor: the logarithm of a unit, where the loss is 0
    below: bool = True  # whether bounds from below are wanted too
    flat: bool  # whether all losses lie on the last grid
    gap: float = inf  # how far the largest loss of all is above the least loss that counts
    limits: Limits
    steps: list[Step] = field(default_factory=list)
    found: list[Measure] = field(default_factory=list)

    @property
    def parts(self) -> int:
        """How often tails are cut, about."""
        return 4 + sum(3 * max(1, factor.runs.bit_length()) for factor in self.factors)

    def run(self) -> None:
        """Compose all factors."""
        with working_precision(self.grid.bits):
            powers = sorted(map(self._power, range(len(self.factors))), key=lambda k: self.found[k].size)
            reduce(lambda one, other: self._multiply(one, other, 1), powers)

    def _power(self, number: int) -> int:
        """Compose all runs of a factor: its squares, and on the way those that the number of runs has."""
        runs, whole = self.factors[number].runs, None
        level = 0 if self.flat else level_of(runs)
        square = self._cells(number, level, runs)
        while True:
            if runs % 2:
                whole = square if whole is None else self._multiply(whole, square, 1)
                if runs == 1:
                    return whole
            runs //= 2
            square = self._multiply(square, square, runs)
            while level > level_of(runs):
                level -= 1
                square = self._coarsen(square, runs)
                whole = None if whole is None else self._coarsen(whole, 1)

    def _cells(self, number: int, level: int, copies: int) -> int:
        factor = self.factors[number]
        grid = replace(self.grid, step=self.grid.step / 2**level, scale=self.scales[number])
        cuts = self._cuts(factor, as_double(grid.step), copies * self.parts)
        lengths = groupby(last - first for first, last in pairwise(cuts))
        runs = tuple((length, sum(1 for _ in some)) for length, some in lengths)
        made = measured(factor.law, factor.below, grid, cuts, self.limits.deadline)
        if not self.below:
            made = replace(made, p=fmpz_poly(), q=fmpz_poly(), sure=arb(0))
        return self._kept(("cells", number, level, cuts[0], runs), made, cuts[0], cuts[-1])

    def _cuts(self, factor: Factor, step: float, parts: int) -> Sequence[int]:
        """Choose where a law is cut: finely where its losses count, coarsely elsewhere."""
        rough, tilt = factor.rough, min(one.tilt for one in self.goals)
        start, end = rough.ends(self.left / parts, self.right - log10(parts), tilt)
        # where all others have their largest loss, a smaller one does not count; grids blur that a little
        start = max(start, min(end, float(rough.losses[-1]) - 2 * self.gap) - 20 * as_double(self.grid.step))
        low, high = floor(start / step), max(ceil(end / step), floor(start / step) + 1)
        memory = self.limits.memory
        # a grid holds some ten measures at a time, of three integers for each loss
        room = [] if memory is None else [memory // (15 * self.grid.digits + 2000)]
        most = min(MOST_ENTRIES, MOST_DIGITS // self.grid.digits, *room)
        if high - low > most:
            raise LimitError(f"more than {most} losses would be needed")
        if isinstance(factor.law, AtomsAt) or high - low < 256:
            return range(low, high + 1)
        density, cuts, length = self._density(rough), [low], LONGEST_CELL

        def long(start: int, end: int) -> bool:
            # a cell may be as long as where the law is densest inside of it
            first, last = np.searchsorted(rough.losses, (start * step, end * step))
            return bool(3 * log(end - start) > -5.5 - density[max(first - 1, 0) : last + 1].max())

        while cuts[-1] < high:
            length = min(2 * length, LONGEST_CELL)
            while length > 1 and long(cuts[-1], cuts[-1] + length):
                length //= 2
            cuts.append(min(cuts[-1] + length, high))
        return cuts

    def _density(self, rough: Rough) -> Any:
        """Return how dense a law is at its losses, as far as these count, as a logarithm."""
        dense = rough.masses - np.log(np.maximum(np.gradient(rough.losses), 1e-300))
        # a loss counts as much as all others may make up for what it falls short
        others = [(one, one.delta * log(10) - rough.moments(one.tilt)[0]) for one in self.goals]
        found = [dense + np.minimum(most + one.tilt * rough.losses, 0) for one, most in others]
        return np.max([one - one.max() for one in found], axis=0)

    def _coarsen(self, place: int, copies: int) -> int:
        return self._trimmed(("coarsen", place), coarsened(self.found[place]), copies)

    def _multiply(self, one: int, other: int, copies: int) -> int:
        return self._trimmed(("multiply", one, other), multiplied(self.found[one], self.found[other]), copies)

    def _trimmed(self, step: Step, made: Measure, copies: int) -> int:
        """Cut off tails that do not count."""
        parts, grid, low, high = copies * self.parts, made.grid, made.low, made.low + made.size - 1
        entries, labels = made.entries(made.above), made.entries(made.p)
        left, moved, fall = made.above(1) * arb(self.left / parts), arb(0), grid.fall
        # what is known from above may lie at a greater loss than the labels do
        for entry, seen in zip(entries, labels, strict=True):
            moved = (moved + max(entry, seen)) / fall
            if low == high or not moved < left:
                break
            low += 1
        right = arb(10) ** arb(self.right) / parts / grid.unit(high)
        for entry in reversed(entries):
            right -= entry
            if low == high or not right > 0:
                break
            high, right = high - 1, right * fall
        return self._kept((*step, low, high), made, low, high)

    def _kept(self, step: Step, made: Measure, low: int, high: int) -> int:
        self.steps.append(step)
        self.found.append(cut(made, low, high))
        self.limits.deadline.check()
        return len(self.found) - 1
