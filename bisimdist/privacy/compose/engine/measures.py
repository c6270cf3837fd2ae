"""What is known of a composition: a measure that dominates it, and a statistic that it can be seen through.

Masses are integers, and the entry k of a polynomial stands for the loss ``h * (low + k)``. The unit falls
with the loss, so that masses that count alike have as many digits. From above: the measure of P by loss,
whatever is uncertain at a greater loss or in `excess`. From below: a label for each outcome, with the masses
of both sides by label, those of P rounded down and those of Q rounded up. Why both are bounds:
``docs/theory/composition.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate, repeat
from math import log
from operator import mul

import numpy as np
from flint import arb, arb_poly, fmpq, fmpz, fmpz_poly

from bisimdist.exact.doubles import as_double
from bisimdist.exact.precision import working_precision

GUARD_BITS = 72
TINY = fmpq(1, 1 << 4000)
FAR = 64  # how much less than epsilon the least loss of a test may be


@dataclass(frozen=True, slots=True)
class Grid:
    """The losses that count, and the units of masses there: 10^-digits e^(scale - tilt loss)."""

    step: fmpq  # the distance of two losses
    digits: int
    fine: int  # masses are worked out to ``10**-fine``
    tilt: fmpq
    scale: fmpq

    @property
    def bits(self) -> int:
        """How precise balls are."""
        return self.fine * 10 // 3 + GUARD_BITS + int((1 / self.step).ceil()).bit_length()

    @property
    def other(self) -> Grid:
        """The grid with the units of masses of Q."""
        return replace(self, tilt=self.tilt + 1)

    @property
    def fall(self) -> arb:
        """What a unit is at the next loss, relative to that before."""
        return (-arb(self.tilt * self.step)).exp()

    def unit(self, place: int) -> arb:
        """Return the unit at a loss."""
        return arb(self.scale - self.tilt * self.step * place).exp() / fmpz(10) ** self.digits

    def mass(self, entries: Sequence[fmpz], place: int) -> arb:
        """Return the mass of entries from a loss on."""
        return arb_poly(entries)(self.fall) * self.unit(place)


@dataclass(frozen=True)
class Measure:
    """Integers for both sides on one window of the grid.

    Parameters
    ----------
    grid
        The grid.
    low
        The index of the first entries.
    size
        How many entries there are.
    above
        The dominating measure.
    excess
        Mass of it at an infinite loss, at most.
    p, q
        Masses of the labels under P, at most, and under Q, at least.
    sure
        Mass of P, at most, where Q has none.
    """

    grid: Grid
    low: int
    size: int
    above: fmpz_poly
    excess: arb
    p: fmpz_poly
    q: fmpz_poly
    sure: arb

    def entries(self, part: fmpz_poly) -> list[fmpz]:
        """Return all entries of a polynomial."""
        found: list[fmpz] = part.coeffs()
        return found + [fmpz(0)] * (self.size - len(found))

    def _sums(self, part: fmpz_poly, grid: Grid) -> Iterator[arb]:
        """Return the mass of a polynomial from each place on, from the largest place on."""
        units = accumulate(repeat(grid.fall, self.size - 1), mul, initial=grid.unit(self.low))
        masses = [unit * entry for unit, entry in zip(units, self.entries(part), strict=True)]
        return accumulate(reversed(masses))

    @cached_property
    def _tails(self) -> list[list[arb]]:
        """By place, from the largest on, the mass of `above` from there on, and as much of Q."""
        with working_precision(self.grid.bits):
            return [list(self._sums(self.above, grid)) for grid in (self.grid, self.grid.other)]

    @cached_property
    def tests(self) -> list[tuple[list[fmpz], np.ndarray]]:
        """By label, from the largest on, P and Q of this label or a larger one.

        In units of ``10**-fine``, and their logarithms.
        """
        with working_precision(self.grid.bits):
            unit, grid = fmpz(10) ** self.grid.fine, self.grid
            p, q = self._sums(self.p, grid), self._sums(self.q, grid.other)
            sides = [down(mass * unit) for mass in p], [up(mass * unit) for mass in q]
        return [(some, np.array([log(max(int(mass), 1)) for mass in some])) for some in sides]

    def bounds(self, epsilon: fmpq) -> tuple[fmpq, fmpq]:
        """Return bounds on delta; the lower one is what the best test by labels shows."""
        unit, ((p, log_p), (q, log_q)) = fmpz(10) ** self.grid.fine, self.tests
        last, step = self.low + self.size - 1, self.grid.step
        count = min(self.size, last - int((epsilon / step).floor()))
        most = max(1, last - int(((epsilon - FAR) / step).floor()))
        # any test is a bound; doubles choose it, among those that the check looks at
        lost = np.exp(np.minimum((log_q - log_p)[:most] + as_double(epsilon), 0))
        best = int(np.argmax(log_p[:most] + np.log(np.maximum(1 - lost, 1e-300))))
        with working_precision(self.grid.bits):
            alpha, high = arb(epsilon).exp(), self.excess
            if count > 0:
                high = high + self._tails[0][count - 1] - self._tails[1][count - 1] * alpha
            gain = max(p[best] * unit - q[best] * up(alpha * unit), fmpz(0))
            low = fmpq(gain, unit * unit) + within_unit(self.sure.lower())
            return low, within_unit(high.upper(), above=True)


def within_unit(value: arb, *, above: bool = False) -> fmpq:
    """Return the number next to a known one that is from 0 to 1; one that is hardly there is rounded.

    above: whether it is a bound from above.
    """
    if not value.is_finite():
        return fmpq(above)
    if TINY < value < 1:
        return value.fmpq()
    return TINY if above and 0 < value < 1 else fmpq(value >= 1)


def up(value: arb) -> fmpz:
    """Round a mass up."""
    return max(fmpz(0), value.upper().ceil().unique_fmpz())


def down(value: arb) -> fmpz:
    """Round a mass down."""
    return max(fmpz(0), value.lower().floor().unique_fmpz())


def divided_up(value: fmpz_poly, unit: fmpz) -> fmpz_poly:
    """Divide all entries, none of which is negative, rounding up.

    Division by a constant takes entries that are less than it in size for 0, so nothing may be negative here.

    >>> divided_up(fmpz_poly([0, 1, 9, 10, 11]), fmpz(10)).coeffs()
    [0, 1, 1, 1, 2]
    """
    return (value + fmpz_poly([unit - 1] * value.length())) // unit


def multiplied(one: Measure, other: Measure) -> Measure:
    """Return what is known of two independent mechanisms together."""
    unit = fmpz(10) ** one.grid.digits
    return Measure(
        grid=replace(one.grid, scale=one.grid.scale + other.grid.scale),
        low=one.low + other.low,
        size=one.size + other.size - 1,
        above=divided_up(one.above * other.above, unit),
        excess=one.excess + other.excess * one.grid.mass(one.above.coeffs(), one.low),
        p=one.p * other.p // unit,
        q=divided_up(one.q * other.q, unit),
        sure=one.sure + other.sure - one.sure * other.sure,
    )


def cut(found: Measure, low: int, high: int) -> Measure:
    """Return the same on a smaller window of the grid, from `low` to `high`."""
    grid, first, last = found.grid, low - found.low, high - found.low + 1
    above, p, q = (found.entries(part) for part in (found.above, found.p, found.q))
    kept = above[first:last]
    kept[0] += up(arb_poly([fmpz(0), *above[:first][::-1]])(1 / grid.fall))
    # mass that may lie anywhere has the last label, and stays: a label beyond becomes the last one
    beyond, more = (arb_poly([fmpz(0), *part[last:]]) for part in (p, q))
    p, q = p[first:last], q[first:last]
    p[-1] += down(beyond(grid.fall))
    q[-1] += up(more(grid.other.fall))
    excess = found.excess + grid.mass(above[last:], high + 1)
    # a mass of one is enough, and what is at the least loss counts for no other
    kept[0] -= min(kept[0], down((grid.mass(kept, low) + excess - 1) / grid.unit(low)))
    above, p, q = (fmpz_poly(part) for part in (kept, p, q))
    return replace(found, low=low, size=last - first, above=above, excess=excess, p=p, q=q)


def coarsened(found: Measure) -> Measure:
    """Return the same on a grid of twice the step."""
    grid, one = found.grid, fmpz(1) << found.grid.bits
    less, low, odd = (-arb(grid.step)).exp(), found.low // 2, found.low % 2

    def halves(part: fmpz_poly) -> tuple[fmpz_poly, fmpz_poly]:
        entries = [fmpz(0)] * odd + part.coeffs()
        return fmpz_poly(entries[0::2]), fmpz_poly(entries[1::2])

    def moved(part: fmpz_poly, factor: arb) -> fmpz_poly:
        return divided_up(part * up(factor * one), one)

    (above, middle), (p, p_middle), (q, q_middle) = map(halves, (found.above, found.p, found.q))
    # an odd entry is split over both of its neighbours
    raised, lowered = moved(middle, 1 / (1 + less) / grid.fall), moved(middle, less / (1 + less) * grid.fall)
    return replace(
        found,
        grid=replace(grid, step=2 * grid.step),
        low=low,
        size=(found.low + found.size) // 2 + 1 - low,
        above=above + lowered + fmpz_poly([0, 1]) * raised,
        p=p + p_middle * down(grid.fall * one) // one,
        q=q + moved(q_middle, grid.other.fall),
    )
