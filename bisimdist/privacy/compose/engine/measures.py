"""What is known of a composition: a measure that dominates it, and a statistic that it can be seen through.

Masses are integers in units of ``10**-digits``, and the entry k of a polynomial stands for the loss
``h * (low + k)``. From above: the measure of P by loss, whatever is uncertain at a greater loss or
in `excess`. From below: a label for each outcome, with the masses of both sides by label, those of P rounded
down and those of Q rounded up. Why both are bounds: ``docs/theory/composition.md``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from flint import fmpz, fmpz_poly


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Integers for both sides on one window of the grid.

    Parameters
    ----------
    low
        The index of the first entries.
    size
        How many entries there are.
    above
        The dominating measure.
    excess
        Mass of it at an infinite loss.
    p, q
        Masses of the labels under P, at most, and under Q, at least.
    sure
        Mass of P, at most, where Q has none.
    """

    low: int
    size: int
    above: fmpz_poly
    excess: fmpz
    p: fmpz_poly
    q: fmpz_poly
    sure: fmpz


def divided_up(value: fmpz_poly, unit: fmpz) -> fmpz_poly:
    """Divide all entries, none of which is negative, rounding up.

    Division by a constant takes entries that are less than it in size for 0, so nothing may be negative here.

    >>> divided_up(fmpz_poly([0, 1, 9, 10, 11]), fmpz(10)).coeffs()
    [0, 1, 1, 1, 2]
    """
    return (value + fmpz_poly([unit - 1] * value.length())) // unit


def multiplied(one: Measure, other: Measure, unit: fmpz) -> Measure:
    """Return what is known of two independent mechanisms together."""
    whole = one.above(1)
    square = one is other
    return Measure(
        low=one.low + other.low,
        size=one.size + other.size - 1,
        above=divided_up(one.above * other.above, unit),
        excess=one.excess - ((-other.excess * whole) // unit),
        p=one.p * other.p // unit if not square else one.p**2 // unit,
        q=divided_up(one.q * other.q, unit),
        sure=one.sure + other.sure - (-((-one.sure * other.sure) // unit)),
    )


def cut(found: Measure, low: int, high: int) -> Measure:
    """Return the same on a smaller window of the grid, from `low` to `high`."""
    first, last = low - found.low, high - found.low + 1
    above, p, q = (_coefficients(part, found.size) for part in (found.above, found.p, found.q))
    kept = above[first:last]
    kept[0] += sum(above[:first], fmpz(0))
    seen = []
    for part in (p, q):
        some = part[first:last]
        some[-1] += sum(part[last:], fmpz(0))
        seen.append(fmpz_poly(some))
    return replace(
        found,
        low=low,
        size=last - first,
        above=fmpz_poly(kept),
        excess=found.excess + sum(above[last:], fmpz(0)),
        p=seen[0],
        q=seen[1],
    )


def coarsened(found: Measure, share: fmpz, unit: fmpz) -> Measure:
    """Return the same on a grid of twice the step.

    found: the measure.
    share: at least ``e**h / (1 + e**h)`` in units: what of an odd entry has to go up.
    unit: one, in units.
    """
    low, odd = found.low // 2, found.low % 2
    size = (found.low + found.size) // 2 + 1 - low
    parts = []
    for part in (found.above, found.p, found.q):
        entries = [fmpz(0)] * odd + _coefficients(part, found.size)
        entries += [fmpz(0)] * (2 * size - len(entries))
        parts.append((fmpz_poly(entries[0::2]), fmpz_poly(entries[1::2])))
    (even, middle), *labels = parts
    up = divided_up(middle * share, unit)
    shifted = fmpz_poly([0, 1])
    p, q = (first + second for first, second in labels)
    return replace(found, low=low, size=size, above=even + middle - up + shifted * up, p=p, q=q)


def _coefficients(part: fmpz_poly, size: int) -> list[fmpz]:
    entries: list[fmpz] = part.coeffs()
    return entries + [fmpz(0)] * (size - len(entries))
