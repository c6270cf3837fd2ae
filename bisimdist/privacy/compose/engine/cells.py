"""From a law of the privacy loss to integers on a grid: cells, rounded in known directions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from flint import arb, fmpz, fmpz_poly

from bisimdist.errors import LimitError
from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import Atoms, AtomsAt, Law, rational
from bisimdist.privacy.compose.engine.measures import Grid, Measure, down, up
from bisimdist.progress import NEVER, Deadline

MOST_BITS = 10**5  # with more of them a single ball takes seconds, and nothing interrupts that

Labels = tuple[fmpz_poly, fmpz_poly, arb]
Cell = tuple[int, int, arb, arb]  # between which indices the loss lies, and the masses of P and of Q there


def cells_of(law: Law, grid: Grid, cuts: Sequence[int], deadline: Deadline) -> tuple[list[Cell], Atoms]:
    """Return cells, and what is in none of them; those of atoms may be out of the window."""
    if isinstance(law, AtomsAt):
        atoms = law.make(grid.fine + 8)
        return list(_atomic(atoms, grid)), atoms
    tails = []
    for index in cuts:
        deadline.check()
        tails.append(law.above(arb(grid.step * index)))
    cells = [
        (low, high, p - next_p, q - next_q)
        for (low, (p, q)), (high, (next_p, next_q)) in pairwise(zip(cuts, tails, strict=True))
    ]
    # what is to the left of all cuts: from above it lies at the first one, from below it is nothing
    cells.append((cuts[0], cuts[0], arb(0).union(1 - tails[0][0]), arb(0)))
    return cells, Atoms((), lost=tails[-1])


def _atomic(atoms: Atoms, grid: Grid) -> Iterator[Cell]:
    found: dict[tuple[int, int], tuple[arb, arb]] = {}
    for loss, p, q in atoms.points:
        place = loss / grid.step
        key = int(rational(place, arb.lower).floor()), int(rational(place, arb.upper).ceil())
        before = found.get(key, (arb(0), arb(0)))
        found[key] = before[0] + p, before[1] + q
    return ((*key, *masses) for key, masses in found.items())


def measured(law: Law, below: Law, grid: Grid, cuts: Sequence[int], deadline: Deadline = NEVER) -> Measure:
    """Return what is known of one run of a mechanism.

    law: a law that dominates the mechanism.
    below: one that the mechanism dominates.
    grid, cuts: the grid; where it is cut.
    """
    low, high = cuts[0], cuts[-1]
    # a mass of Q is multiplied by as much as e to the loss, and one of P by as much as the tilt says
    large = max(abs(grid.step * low), abs(grid.step * high)) * (1 + grid.tilt) + abs(grid.scale)
    bits = grid.bits + int(large * 3 / 2)
    if bits > MOST_BITS:
        raise LimitError(f"losses of {float(large):.0f} need too many digits")
    with working_precision(bits):
        cells, rest = cells_of(law, grid, cuts, deadline)
        above = [fmpz(0)] * (high - low + 1)
        excess = arb(rest.sure[0]) + rest.lost[0]
        share = cache(lambda length: 1 - (-arb(grid.step * length)).exp())
        for start, end, p, q in cells:
            if end > high:
                excess += p
            elif end <= low or start < low or start == end:
                above[max(end, low) - low] += up(p / grid.unit(max(end, low)))
            else:
                more = (p - q * arb(grid.step * start).exp()) / share(end - start)
                above[end - low] += up(more / grid.unit(end))
                above[start - low] += up((p - more) / grid.unit(start))
        if below is not law:
            cells, rest = cells_of(below, grid, cuts, deadline)
        labels = _labels(cells, rest, grid, range(low, high + 1))
    return Measure(grid, low, len(above), fmpz_poly(above), excess, *labels)


def _labels(cells: Sequence[Cell], rest: Atoms, grid: Grid, places: Sequence[int]) -> Labels:
    """Return the masses of P and of Q by label, and that of P where Q has none."""
    p_labels, q_labels = ([fmpz(0)] * len(places) for _ in range(2))
    low, high, other = places[0], places[-1], grid.other
    for start, end, p, q in cells:
        label = (start + max(start, end - 1)) // 2
        if low <= label <= high:
            p_labels[label - low] += down(p / grid.unit(label))
            q_labels[label - low] += up(q / other.unit(label))
    q_labels[-1] += up(rest.lost[1] / other.unit(high))
    sure, doubt = arb(rest.sure[0]), arb(rest.lost[0])
    if rest.lost[0] or rest.lost[1]:
        p_labels[-1], sure = p_labels[-1] + down(sure / grid.unit(high)), arb(0)
    # mass of P that may lie anywhere is taken away where it would show most
    for k in reversed([k for k, mass in enumerate(p_labels) if mass]):
        less, mass = up(doubt / grid.unit(low + k)), p_labels[k]
        p_labels[k] -= min(less, mass)
        if less <= mass:
            break
        doubt -= mass * grid.unit(low + k)
    return fmpz_poly(p_labels), fmpz_poly(q_labels), sure
