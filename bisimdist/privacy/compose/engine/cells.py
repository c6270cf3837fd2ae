"""From a law of the privacy loss to integers on a grid: cells, rounded in known directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import arb, fmpq, fmpz, fmpz_poly

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import Atoms, AtomsAt, Law
from bisimdist.privacy.compose.engine.measures import Grid, Measure
from bisimdist.progress import NEVER, Deadline


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
        return _atomic(law.make(grid.fine + 8), grid)
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
    low, high = window.low, window.high
    # a mass of Q is multiplied by as much as e to the loss, and one of P by as much as the tilt says
    large = max(abs(grid.step * low), abs(grid.step * high)) * (1 + grid.tilt) + abs(grid.scale)
    with working_precision(grid.bits + int(large * 3 / 2)):
        cells, rest = cells_of(law, grid, window, deadline)
        above = [fmpz(0)] * (high - low + 1)
        excess = arb(rest.sure[0]) + rest.lost[0]
        shares: dict[int, tuple[arb, arb]] = {}
        for start, end, p, q in cells:
            if end > high:
                excess += p
                continue
            if end <= low or start < low or start == end:
                above[max(end, low) - low] += _up(p / grid.unit(max(end, low)))
                continue
            if end - start not in shares:
                part = (-arb(grid.step * (end - start))).exp()
                shares[end - start] = part, 1 / (1 - part)
            _, whole = shares[end - start]
            up = (p - q * arb(grid.step * start).exp()) * whole
            above[end - low] += _up(up / grid.unit(end))
            above[start - low] += _up((p - up) / grid.unit(start))
        if below is not None and below is not law:
            cells, rest = cells_of(below, grid, window, deadline)
        p_labels, q_labels, sure = _labels(below, cells, rest, grid, window)
    return Measure(
        grid=grid,
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
) -> tuple[list[fmpz], list[fmpz], arb]:
    low, high, other = window.low, window.high, grid.other
    p_labels, q_labels = ([fmpz(0)] * (high - low + 1) for _ in range(2))
    if below is None:
        p_labels[0], q_labels[0] = _down(1 / grid.unit(low)), _up(1 / other.unit(low))
        return p_labels, q_labels, arb(0)
    for start, end, p, q in cells:
        label = (start + max(start, end - 1)) // 2
        if low <= label <= high:
            p_labels[label - low] += _down(p / grid.unit(label))
            q_labels[label - low] += _up(q / other.unit(label))
    q_labels[-1] += _up(rest.lost[1] / other.unit(high))
    sure = arb(rest.sure[0])
    if isinstance(below, AtomsAt):
        if rest.lost[0] or rest.lost[1]:
            p_labels[-1], sure = p_labels[-1] + _down(sure / grid.unit(high)), arb(0)
        # mass of P that may lie anywhere is taken away where it would show most
        doubt = arb(rest.lost[0])
        for place in range(high, low - 1, -1):
            less = min(_up(doubt / grid.unit(place)), p_labels[place - low])
            p_labels[place - low] -= less
            doubt -= less * grid.unit(place)
            if doubt <= 0:
                break
    return p_labels, q_labels, sure


def _up(value: arb) -> fmpz:
    return max(fmpz(0), value.upper().ceil().unique_fmpz())


def _down(value: arb) -> fmpz:
    return max(fmpz(0), value.lower().floor().unique_fmpz())
