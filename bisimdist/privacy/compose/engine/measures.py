"""What is known of a composition: a measure that dominates it, and a statistic that it can be seen through.

Masses are integers, and the entry k of a polynomial stands for the loss ``h * (low + k)``. The unit falls
with the loss, so that masses that count alike have as many digits. From above: the measure of P by loss,
whatever is uncertain at a greater loss or in `excess`. From below: a label for each outcome, with the masses
of both sides by label, those of P rounded down and those of Q rounded up. Why both are bounds:
``docs/theory/composition.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from flint import arb, arb_poly, fmpq, fmpz, fmpz_poly

GUARD_BITS = 72


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


@dataclass(frozen=True, slots=True, kw_only=True)
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


def divided_up(value: fmpz_poly, unit: fmpz) -> fmpz_poly:
    """Divide all entries, none of which is negative, rounding up.

    Division by a constant takes entries that are less than it in size for 0, so nothing may be negative here.

    >>> divided_up(fmpz_poly([0, 1, 9, 10, 11]), fmpz(10)).coeffs()
    [0, 1, 1, 1, 2]
    """
    return (value + fmpz_poly([unit - 1] * value.length())) // unit


def multiplied(one: Measure, other: Measure) -> Measure:
    """Return what is known of two independent mechanisms together."""
    unit, square = fmpz(10) ** one.grid.digits, one is other
    return Measure(
        grid=replace(one.grid, scale=one.grid.scale + other.grid.scale),
        low=one.low + other.low,
        size=one.size + other.size - 1,
        above=divided_up(one.above * other.above, unit),
        excess=one.excess + other.excess * one.grid.mass(one.above.coeffs(), one.low),
        p=one.p * other.p // unit if not square else one.p**2 // unit,
        q=divided_up(one.q * other.q, unit),
        sure=one.sure + other.sure - one.sure * other.sure,
    )


def cut(found: Measure, low: int, high: int) -> Measure:
    """Return the same on a smaller window of the grid, from `low` to `high`."""
    grid, first, last = found.grid, low - found.low, high - found.low + 1
    above, p, q = (_coefficients(part, found.size) for part in (found.above, found.p, found.q))
    kept = above[first:last]
    moved = arb_poly([fmpz(0), *above[:first][::-1]])(1 / grid.fall)
    kept[0] += moved.upper().ceil().unique_fmpz()
    # mass that may lie anywhere has the last label, and stays: a label beyond becomes the last one
    beyond, more = (arb_poly([fmpz(0), *part[last:]]) for part in (p, q))
    p, q = p[first:last], q[first:last]
    p[-1] += beyond(grid.fall).lower().floor().unique_fmpz()
    q[-1] += more(grid.other.fall).upper().ceil().unique_fmpz()
    excess = found.excess + grid.mass(above[last:], high + 1)
    # a mass of one is enough, and what is at the least loss counts for no other
    surplus = ((grid.mass(kept, low) + excess - 1) / grid.unit(low)).lower().floor().unique_fmpz()
    kept[0] -= max(fmpz(0), min(kept[0], surplus))
    return replace(
        found,
        low=low,
        size=last - first,
        above=fmpz_poly(kept),
        excess=excess,
        p=fmpz_poly(p),
        q=fmpz_poly(q),
    )


def coarsened(found: Measure) -> Measure:
    """Return the same on a grid of twice the step."""
    low, odd = found.low // 2, found.low % 2
    size = (found.low + found.size) // 2 + 1 - low
    grid, one = found.grid, fmpz(1) << found.grid.bits
    less = (-arb(grid.step)).exp()
    # what of an odd entry goes up, and what goes down
    raised, lowered, hidden = (
        (value * one).upper().ceil().unique_fmpz()
        for value in (1 / (1 + less) / grid.fall, less / (1 + less) * grid.fall, grid.other.fall)
    )
    seen = (grid.fall * one).lower().floor().unique_fmpz()
    parts = []
    for part in (found.above, found.p, found.q):
        entries = [fmpz(0)] * odd + _coefficients(part, found.size)
        entries += [fmpz(0)] * (2 * size - len(entries))
        parts.append((fmpz_poly(entries[0::2]), fmpz_poly(entries[1::2])))
    (above, middle), (p, p_middle), (q, q_middle) = parts
    up, down = divided_up(middle * raised, one), divided_up(middle * lowered, one)
    return replace(
        found,
        grid=replace(grid, step=2 * grid.step),
        low=low,
        size=size,
        above=above + down + fmpz_poly([0, 1]) * up,
        p=p + p_middle * seen // one,
        q=q + divided_up(q_middle * hidden, one),
    )


def _coefficients(part: fmpz_poly, size: int) -> list[fmpz]:
    entries: list[fmpz] = part.coeffs()
    return entries + [fmpz(0)] * (size - len(entries))
