"""From what is known of a composition to bounds on delta, and back to epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from flint import arb, fmpq

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
    def tests(self) -> tuple[list[arb], list[arb]]:
        """By label, from the largest on, the masses of P and Q at this label or a larger one."""
        found, sums = self.measure, []
        with working_precision(found.grid.bits):
            for part, grid in ((found.p, found.grid), (found.q, found.grid.other)):
                entries = part.coeffs()
                unit, fall, masses = grid.unit(found.low), grid.fall, []
                for place in range(found.size):
                    masses.append(unit * entries[place] if place < len(entries) else arb(0))
                    unit *= fall
                sums.append(list(accumulate(reversed(masses))))
        return sums[0], sums[1]

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return a lower bound on delta: what the best test by labels shows."""
        with working_precision(self.measure.grid.bits):
            alpha = arb(epsilon).exp()
            best = max((p - q * alpha).lower() for p, q in zip(*self.tests, strict=True))
            return max(fmpq(0), (best.max(arb(0)) + self.measure.sure).lower().fmpq())
