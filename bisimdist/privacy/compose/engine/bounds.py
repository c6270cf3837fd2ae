"""From what is known of a composition to bounds on delta, and back to epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from flint import arb, fmpq, fmpz

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.measures import Measure


@dataclass(frozen=True)
class Known:
    """What is known of a composition in one direction."""

    measure: Measure  # the integers, and what they stand for

    def upper(self, epsilon: fmpq) -> fmpq:
        """Return an upper bound on delta."""
        found, grid = self.measure, self.measure.grid
        first = max(int((epsilon / grid.step).floor()) + 1, found.low)
        entries = found.above.coeffs()[first - found.low :]
        with working_precision(grid.bits):
            part = grid.other.mass(entries, first) * arb(epsilon).exp()
            value = (grid.mass(entries, first) - part + found.excess).upper().fmpq()
        return max(fmpq(0), min(fmpq(1), value))

    @cached_property
    def tests(self) -> tuple[list[fmpz], list[fmpz]]:
        """By label, from the largest on, in units of ``10**-fine``: P and Q of this label or a larger one."""
        found, whole = self.measure, fmpz(10) ** self.measure.grid.fine
        sums: list[list[fmpz]] = []
        with working_precision(found.grid.bits):
            for part, grid, up in ((found.p, found.grid, False), (found.q, found.grid.other, True)):
                entries, fall, total = part.coeffs(), grid.fall, arb(0)
                entries += [fmpz(0)] * (found.size - len(entries))
                unit, masses = grid.unit(found.low) * whole, []
                for entry in entries:
                    masses.append(unit * entry)
                    unit *= fall
                sums.append([])
                for mass in reversed(masses):
                    total += mass
                    end = total.upper().ceil() if up else total.lower().floor()
                    sums[-1].append(end.unique_fmpz())
        return sums[0], sums[1]

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return a lower bound on delta: what the best test by labels shows."""
        grid = self.measure.grid
        unit = fmpz(10) ** grid.fine
        with working_precision(grid.bits):
            alpha = (arb(epsilon).exp() * unit).upper().ceil().unique_fmpz()
            sure = self.measure.sure.lower().fmpq()
        p_sums, q_sums = self.tests
        best = max(p * unit - q * alpha for p, q in zip(p_sums, q_sums, strict=True))
        return fmpq(max(best, fmpz(0)), unit * unit) + max(fmpq(0), sure)
