"""From what is known of a composition to bounds on delta, and back to epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from flint import arb, arb_poly, fmpq, fmpz

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.cells import Grid
from bisimdist.privacy.compose.engine.measures import Measure


@dataclass(frozen=True)
class Known:
    """What is known of a composition in one direction."""

    measure: Measure  # the integers
    grid: Grid  # what they stand for

    def upper(self, epsilon: fmpq) -> fmpq:
        """Return an upper bound on delta."""
        found, grid = self.measure, self.grid
        first = max(int((epsilon / grid.step).floor()) + 1, found.low)
        entries = found.above.coeffs()[first - found.low :]
        with working_precision(grid.bits):
            whole = arb(sum(entries, fmpz(0)))
            part = arb_poly(entries)((-arb(grid.step)).exp()) * (arb(epsilon - grid.step * first)).exp()
            total = ((whole - part) + found.excess) / grid.unit
            value = total.upper().fmpq()
        return max(fmpq(0), min(fmpq(1), value))

    @cached_property
    def tests(self) -> tuple[list[fmpz], list[fmpz]]:
        """By label, from the largest on, the masses of P and Q at this label or a larger one."""
        found = self.measure
        sums = []
        for part in (found.p, found.q):
            entries = part.coeffs()
            entries += [fmpz(0)] * (found.size - len(entries))
            sums.append(list(accumulate(reversed(entries))))
        return sums[0], sums[1]

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return a lower bound on delta: what the best test by labels shows."""
        unit = self.grid.unit
        with working_precision(self.grid.bits):
            alpha = (arb(epsilon).exp() * unit).upper().ceil().unique_fmpz()
        p_sums, q_sums = self.tests
        best = max(p * unit - q * alpha for p, q in zip(p_sums, q_sums, strict=True))
        return fmpq(max(best, fmpz(0)), unit * unit) + fmpq(self.measure.sure, unit)
