"""Which products are made on which grids, chosen by guesses; and their execution, which rests on none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from math import ceil, floor, inf, log2, log10
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpz_poly

from bisimdist.errors import LimitError
from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.bounds import Known
from bisimdist.privacy.compose.engine.cells import Window, measured
from bisimdist.privacy.compose.engine.laws import AtomsAt, Law
from bisimdist.privacy.compose.engine.measures import Grid, Measure, coarsened, cut, multiplied
from bisimdist.privacy.compose.engine.rough import Chances, Rough
from bisimdist.progress import Deadline

LONGEST_CELL = 4096
MOST_ENTRIES = 4_000_000  # how many losses a measure may have

BASE, HALVED = 0.25, 0.1875
"""By which variance both sides part, in squares of the step: where a law is cut, where a grid is halved."""

Step = tuple[Any, ...]
"""``("cells", factor, level, low, runs)``; of steps by number ``("coarsen", one, low, high)`` and
``("multiply", one, other, low, high)``."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A mechanism in one direction, so many times."""

    law: Law  # what dominates it
    below: Law | None  # what it dominates; None where nothing is known
    runs: int  # how often
    rough: Rough = field(repr=False)  # the law in doubles
    seen: Rough = field(repr=False)  # the other one


@dataclass(frozen=True, slots=True)
class Need:
    """How fine the work has to be."""

    step: fmpq  # the step of the last grid
    digits: int  # masses are in units of ``10**-digits``, if losses have no weight
    fine: int  # masses are worked out to ``10**-fine``
    left: float  # left and right: how much mass may be cut off, relative to the whole, and as a power of ten
    right: float
    goals: Sequence[Chances]  # how likely losses go beyond each epsilon that counts
    tilt: fmpq  # how fast units of masses fall with the loss
    scales: Sequence[fmpq]  # by factor: the logarithm of a unit, where the loss is 0
    below: bool = True  # whether bounds from below are wanted too
    # by factor: how far one run reaches, relative to all runs together
    reaches: Sequence[float] = ()
    gap: float = inf  # how far the largest loss of all is above the least loss that counts


def level_of(runs: int, reach: float) -> int:
    """Return how often the step of the last grid is halved where so many copies are still to be made.

    A polynomial costs as much as its losses reach, divided by the step, and parts both sides by the number of
    copies times the square of the step: their sums are least where the third powers of the steps are
    proportional to what is reached, divided by that number.
    """
    if reach == inf:  # all losses lie on the grid
        return 0
    return round(log2(runs * (1 + reach) / (reach + runs**-0.5)) / 3)


def lattice(factors: Sequence[Factor], digits: int) -> fmpq | None:
    """Return the largest step of a grid that all losses lie on; None where there is none."""
    found = fmpq(0)
    for law in (law for factor in factors for law in (factor.law, factor.below)):
        if not isinstance(law, AtomsAt):
            return None
        for loss, *_ in law.make(digits).points:
            if not isinstance(loss, fmpq):
                return None
            found = fmpq(int((found.p * loss.q).gcd(loss.p * found.q)), int(found.q * loss.q))
    return found or None


def variance_of(runs: int, reach: float) -> float:
    """Return by how much the runs of a factor part both sides, in squares of the last step."""
    level = level_of(runs, reach)
    found = float(BASE * runs / 4**level)
    while level:
        runs //= 2
        while level > level_of(max(runs, 1), reach):
            level -= 1
            found += HALVED * max(runs, 1) / 4**level
    return found


@dataclass
class Work:
    """The steps that were made, each with what is known after it."""

    factors: Sequence[Factor]
    need: Need
    deadline: Deadline
    most: int = MOST_ENTRIES
    steps: list[Step] = field(default_factory=list)
    found: list[Measure] = field(default_factory=list)
    _count: int = 1

    def grid(self, level: int) -> Grid:
        """Return the grid of a level."""
        need = self.need
        return Grid(need.step / 2**level, need.digits, need.fine, need.tilt, fmpq(0))

    @cached_property
    def known(self) -> Known:
        """What is known of all factors together."""
        return Known(self.found[-1])

    def run(self) -> None:
        """Compose all factors."""
        with working_precision(self.grid(0).bits):
            self._run()

    def _run(self) -> None:
        self._count = 4 + sum(3 * max(1, factor.runs.bit_length()) for factor in self.factors)
        powers = sorted(
            (self._power(number) for number in range(len(self.factors))), key=lambda k: self.found[k].size
        )
        last = powers[0]
        for other in powers[1:]:
            last = self._multiply(last, other, 1)

    def _power(self, number: int) -> int:
        """Compose all runs of a factor: its squares, and on the way those that the number of runs has."""
        runs, reach = self.factors[number].runs, self.need.reaches[number]
        level = level_of(runs, reach)
        square = self._cells(number, level, runs)
        whole: int | None = None
        while True:
            if runs % 2:
                whole = square if whole is None else self._multiply(whole, square, 1)
                if runs == 1:
                    return whole
            runs //= 2
            square = self._multiply(square, square, runs)
            while level > level_of(runs, reach):
                level -= 1
                square = self._coarsen(square, runs)
                whole = None if whole is None else self._coarsen(whole, 1)

    def _cells(self, number: int, level: int, copies: int) -> int:
        factor, grid = self.factors[number], replace(self.grid(level), scale=self.need.scales[number])
        window = window_of(factor, grid, self.need, copies * self._count, self.most)
        self.steps.append(("cells", number, level, window.low, window.runs))
        made = measured(factor.law, factor.below, grid, window, self.deadline)
        if not self.need.below:
            made = replace(made, p=fmpz_poly(), q=fmpz_poly(), sure=arb(0))
        self.found.append(cut(made, window.low, window.high))
        self.deadline.check()
        return len(self.found) - 1

    def _coarsen(self, place: int, copies: int) -> int:
        return self._kept(("coarsen", place), coarsened(self.found[place]), copies)

    def _multiply(self, one: int, other: int, copies: int) -> int:
        return self._kept(("multiply", one, other), multiplied(self.found[one], self.found[other]), copies)

    def _kept(self, step: Step, made: Measure, copies: int) -> int:
        """Cut off tails that do not count."""
        parts, grid, low = copies * self._count, made.grid, made.low
        entries, labels = (part.coeffs() for part in (made.above, made.p))
        entries += [0] * (made.size - len(entries))
        left, moved, fall = made.above(1) * arb(self.need.left / parts), arb(0), grid.fall
        # what is known from above may lie at a greater loss than the labels do
        for entry, seen in zip_longest(entries[:-1], labels[: made.size - 1], fillvalue=0):
            moved = (moved + max(entry, seen)) / fall
            if not moved < left:
                break
            low += 1
        high = made.low + made.size - 1
        right = arb(10) ** arb(self.need.right) / parts / grid.unit(high)
        for entry in reversed(entries):
            right -= entry
            if not right > 0 or high <= low:
                break
            high -= 1
            right *= fall
        self.steps.append((*step, low, high))
        self.found.append(cut(made, low, high))
        self.deadline.check()
        return len(self.found) - 1


def window_of(factor: Factor, grid: Grid, need: Need, parts: float, most: int) -> Window:
    """Choose where a law is cut: finely where its losses count, coarsely elsewhere."""
    step = float(grid.step)
    ends = [
        law.ends(need.left / parts, need.right - log10(parts), float(need.tilt))
        for law in (factor.rough, factor.seen)
    ]
    start, end = min(low for low, _ in ends), ends[0][1]
    # where all others have their largest loss, a smaller one does not count; grids blur that a little
    start = max(start, min(end, factor.rough.largest - 2 * need.gap) - 20 * float(need.step))
    low, high = floor(start / step), max(ceil(end / step), floor(start / step) + 1)
    if high - low > most:
        raise LimitError(f"more than {most} losses would be needed")
    if isinstance(factor.law, AtomsAt) or high - low < 256:
        return Window(low, ((1, high - low),))
    runs: list[tuple[int, int]] = []
    for length in _lengths(factor.rough, need.goals, step, low, high):
        if runs and runs[-1][0] == length:
            runs[-1] = length, runs[-1][1] + 1
        else:
            runs.append((length, 1))
    return Window(low, tuple(runs))


def _lengths(rough: Rough, goals: Sequence[Chances], step: float, low: int, high: int) -> Iterator[int]:
    widths = np.gradient(rough.losses)
    best = np.full(len(rough.losses), -np.inf)
    for goal in goals:
        # a loss counts as much as all others may make up for what it falls short
        rest = [bound - rough.moments(tilt)[0] + tilt * rough.losses for tilt, bound in goal]
        dense = rough.masses - np.log(np.maximum(widths, 1e-300)) + np.minimum(np.min(rest, axis=0), 0)
        best = np.maximum(best, dense - dense.max())
    at, length = low, LONGEST_CELL
    while at < high:
        length = min(2 * length, LONGEST_CELL)
        while length > 1:
            # a cell may be as long as where the law is densest inside of it
            first, last = np.searchsorted(rough.losses, (at * step, (at + length) * step))
            if 3 * np.log(length) <= -5.5 - float(best[max(first - 1, 0) : last + 1].max()):
                break
            length //= 2
        length = min(length, high - at)
        yield length
        at += length
