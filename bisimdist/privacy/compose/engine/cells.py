"""From a law of the privacy loss to integers on a grid: cells, rounded in known directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, fmpq, fmpz, fmpz_poly

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import Atoms, AtomsAt, Law
from bisimdist.privacy.compose.engine.measures import Measure
from bisimdist.progress import NEVER, Deadline

GUARD_BITS = 72


@dataclass(frozen=True, slots=True)
class Grid:
    """The losses that count, and how fine masses are."""

    step: fmpq  # the distance of two losses
    digits: int  # masses are in units of ``10**-digits``

    @property
    def unit(self) -> fmpz:
        """One, in units."""
        return fmpz(10) ** self.digits

    @property
    def bits(self) -> int:
        """How precise balls are."""
        return self.digits * 10 // 3 + GUARD_BITS + int((1 / self.step).ceil()).bit_length()


@dataclass(frozen=True, slots=True)
class Window:
    """Where a law is cut into cells: runs of (length, count) from the first index on."""

    low: int  # the first cut
    runs: tuple[tuple[int, int], ...]  # how long cells are, in steps of the grid, and how many of them follow

    @property
    def high(self) -> int:
        """The last cut."""
        return self.low + sum(length * count for length, count in self.runs)

    def cuts(self) -> list[int]:
        """Return all cuts in order."""
        found = [self.low]
        for length, count in self.runs:
            found += range(found[-1] + length, found[-1] + length * count + 1, length)
        return found


Cell = tuple[int, int, arb, arb]  # between which indices the loss lies, and the masses of P and of Q there


def cells_of(law: Law, grid: Grid, window: Window, deadline: Deadline) -> tuple[list[Cell], Atoms]:
    """Return cells, and what is in none of them; those of atoms may be out of the window."""
    if isinstance(law, AtomsAt):
        return _atomic(law.make(grid.digits + 8), grid)
    cuts = window.cuts()
    tails = []
    for index in cuts:
        deadline.check()
        tails.append(law.above(arb(grid.step * index)))
    cells = [
        (low, high, p - next_p, q - next_q)
        for low, high, (p, q), (next_p, next_q) in zip(cuts, cuts[1:], tails, tails[1:], strict=False)
    ]
    first, last = tails[0], tails[-1]
    # what is to the left of all cuts: from above it lies at the first one, from below it is nothing
    cells.append((cuts[0], cuts[0], arb(0).union(1 - first[0]), arb(0)))
    return cells, Atoms((), lost=(last[0], last[1]))


def _atomic(atoms: Atoms, grid: Grid) -> tuple[list[Cell], Atoms]:
    found: dict[tuple[int, int], list[arb]] = {}
    for loss, p, q in atoms.points:
        place = loss / grid.step
        if isinstance(place, fmpq):
            low = int(place.floor())
            high = low if low == place else low + 1
        else:
            low = int(place.lower().floor().unique_fmpz())
            high = int(place.upper().ceil().unique_fmpz())
        both = found.setdefault((low, high), [arb(0), arb(0)])
        both[0] += p
        both[1] += q
    cells = [(low, high, p, q) for (low, high), (p, q) in found.items()]
    return cells, Atoms((), atoms.sure, atoms.lost)


def measured(law: Law, below: Law | None, grid: Grid, window: Window, deadline: Deadline = NEVER) -> Measure:
    """Return what is known of one run of a mechanism.

    law: a law that dominates the mechanism.
    below: one that the mechanism dominates, None where there is none but that of an answer without meaning.
    grid, window: the grid; where it is cut.
    """
    low, high, unit = window.low, window.high, grid.unit
    # a mass of Q is multiplied by as much as e to the loss
    large = max(abs(grid.step * low), abs(grid.step * high))
    with working_precision(grid.bits + int(large * 3 / 2)):
        cells, rest = cells_of(law, grid, window, deadline)
        above = [fmpz(0)] * (high - low + 1)
        excess = _up(arb(rest.sure[0]) + rest.lost[0], unit)
        shares: dict[int, tuple[arb, arb]] = {}
        for start, end, p, q in cells:
            if end > high:
                excess += _up(arb(p), unit)
                continue
            if end <= low or start < low or start == end:
                above[max(end, low) - low] += _up(p, unit)
                continue
            if end - start not in shares:
                part = (-arb(grid.step * (end - start))).exp()
                shares[end - start] = part, 1 / (1 - part)
            _, whole = shares[end - start]
            up = (p - q * arb(grid.step * start).exp()) * whole
            above[end - low] += _up(up, unit)
            above[start - low] += _up(p - up, unit)
        if below is not None and below is not law:
            cells, rest = cells_of(below, grid, window, deadline)
        p_labels, q_labels, sure = _labels(below, cells, rest, grid, window)
    return Measure(
        low=low,
        size=high - low + 1,
        above=fmpz_poly(above),
        excess=excess,
        p=fmpz_poly(p_labels),
        q=fmpz_poly(q_labels),
        sure=sure,
    )


def _labels(
    below: Law | None, cells: Sequence[Cell], rest: Atoms, grid: Grid, window: Window
) -> tuple[list[fmpz], list[fmpz], fmpz]:
    low, high, unit = window.low, window.high, grid.unit
    p_labels, q_labels = ([fmpz(0)] * (high - low + 1) for _ in range(2))
    if below is None:
        p_labels[0] = q_labels[0] = unit
        return p_labels, q_labels, fmpz(0)
    for start, end, p, q in cells:
        label = (start + max(start, end - 1)) // 2
        if label >= low:
            place = min(label, high) - low
            p_labels[place] += _down(p, unit)
            q_labels[place] += _up(arb(q), unit)
    q_labels[-1] += _up(arb(rest.lost[1]), unit)
    sure = _down(rest.sure[0], unit)
    if isinstance(below, AtomsAt):
        if rest.lost[1]:
            p_labels[-1], sure = p_labels[-1] + sure, fmpz(0)
        # mass of P that may lie anywhere is taken away where it would show most
        doubt = _up(arb(rest.lost[0]), unit)
        for place in range(high - low, -1, -1):
            less = min(doubt, p_labels[place])
            p_labels[place] -= less
            doubt -= less
            if not doubt:
                break
    return p_labels, q_labels, sure


def _up(value: arb, unit: fmpz) -> fmpz:
    return max(fmpz(0), (value * unit).upper().ceil().unique_fmpz())


def _down(value: arb | fmpq, unit: fmpz) -> fmpz:
    return max(fmpz(0), (arb(value) * unit).lower().floor().unique_fmpz())
