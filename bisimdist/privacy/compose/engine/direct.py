"""Bounds on delta that need no grid: of one run of one mechanism, and beyond the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from flint import arb, fmpq

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import AtomsAt, Law
from bisimdist.privacy.compose.engine.plan import Factor

MOST_DIGITS = 750  # of delta: less is only said to be at most 10**-700


@dataclass(frozen=True, slots=True)
class Direct:
    """One run of one mechanism: delta is a sum, or the difference of two tails."""

    factor: Factor  # the mechanism
    relative: int  # how many digits of delta are wanted

    def upper(self, epsilon: fmpq) -> fmpq:
        """Return an upper bound on delta."""
        return _precise(self.factor.law, epsilon, self.relative)[1]

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return a lower bound on delta."""
        below = self.factor.below
        return fmpq(0) if below is None else _precise(below, epsilon, self.relative)[0]


def _precise(law: Law, epsilon: fmpq, relative: int) -> tuple[fmpq, fmpq]:
    """Return bounds on delta that agree in so many digits, if there are such."""
    most, digits = MOST_DIGITS + int(epsilon.ceil()) // 2, 2 * relative
    while True:
        low, high = _delta(law, epsilon, digits)
        if high - low <= low / 10**relative or high == 0 or digits > most:
            return low, high
        if isinstance(law, AtomsAt) and high - low > fmpq(1, 10 ** (digits // 2)):
            return low, high  # mass that is cut off for good
        digits *= 2


def _delta(law: Law, epsilon: fmpq, digits: int) -> tuple[fmpq, fmpq]:
    with working_precision(digits * 10 // 3 + 64):
        alpha = arb(epsilon).exp()
        if isinstance(law, AtomsAt):
            atoms = law.make(digits)
            # only a loss above epsilon gains, however little is known of the masses of others
            gains = [arb(p) - alpha * q for loss, p, q in atoms.points if not loss <= epsilon]
            low = sum((gain for gain in gains if gain > 0), arb(atoms.sure[0]))
            high = sum((gain for gain in gains if not gain <= 0), arb(atoms.sure[0])) + atoms.lost[0]
            low -= atoms.lost[0] + alpha * atoms.lost[1]
        else:
            p, q = law.above(arb(epsilon))
            low = high = p - alpha * q
        return max(fmpq(0), low.lower().fmpq()), min(fmpq(1), max(fmpq(0), high.upper().fmpq()))


@dataclass(frozen=True, slots=True)
class Capped:
    """What is known where no finite loss is greater: delta is the mass of infinite ones."""

    least: fmpq  # at most the sum of the largest finite losses of what the mechanisms dominate
    largest: fmpq  # at least that of what dominates them
    low: fmpq  # low and high: bounds on the mass of infinite losses
    high: fmpq

    def upper(self, epsilon: fmpq) -> fmpq:
        """Return an upper bound on delta."""
        return self.high if epsilon >= self.largest else fmpq(1)

    def lower(self, epsilon: fmpq) -> fmpq:
        """Return a lower bound on delta, which holds for every epsilon."""
        del epsilon
        return self.low


def capped(factors: Sequence[Factor], digits: int) -> Capped | None:
    """Return what is known beyond the largest loss; None where losses have no end."""
    with working_precision(digits * 10 // 3 + 64):
        doubt = arb(1)
        least: arb | fmpq = fmpq(0)
        largest: arb | fmpq = fmpq(0)
        for factor in factors:
            above = _end(factor.law, digits)
            if above is None:
                return None
            below = above if factor.below is factor.law else _end(factor.below, digits)
            doubt *= (1 - arb(above.sure) - above.lost[0]).nonnegative_part() ** factor.runs
            largest = largest + above.largest * factor.runs
            if below is not None and not any(below.lost):  # what is lost may make every loss less
                least = least + below.largest * factor.runs
        high = (1 - doubt).upper().fmpq()
        ends = (
            least if isinstance(least, fmpq) else least.lower().fmpq(),
            largest if isinstance(largest, fmpq) else largest.upper().fmpq(),
        )
    return Capped(*ends, infinite(factors, digits), min(fmpq(1), max(fmpq(0), high)))


def infinite(factors: Sequence[Factor], digits: int) -> fmpq:
    """Return a lower bound on the mass of infinite losses, and so on delta at every epsilon."""
    with working_precision(digits * 10 // 3 + 64):
        finite = arb(1)
        for factor in factors:
            if isinstance(factor.below, AtomsAt):
                atoms = factor.below.make(digits)
                if not any(atoms.lost):  # what is lost may make every loss less
                    finite *= (1 - arb(atoms.sure[0])).nonnegative_part() ** factor.runs
        return max(fmpq(0), (1 - finite).lower().fmpq())


@dataclass(frozen=True, slots=True)
class _End:
    """The largest finite loss of a law, the mass of P at infinity, and what is lost."""

    largest: arb | fmpq
    sure: arb | fmpq
    lost: tuple[arb | fmpq, arb | fmpq]


def _end(law: Law | None, digits: int) -> _End | None:
    """Return how the losses of a law end; None where they have no end."""
    nothing = (fmpq(0), fmpq(0))
    if law is None or (isinstance(law, AtomsAt) and not law.finite):
        return None
    if isinstance(law, AtomsAt):
        atoms = law.make(digits)
        losses = [loss for loss, *_ in atoms.points]
        exact = [loss for loss in losses if isinstance(loss, fmpq)]
        if len(exact) == len(losses):
            return _End(max(exact, default=fmpq(0)), atoms.sure[0], atoms.lost)
        return _End(reduce(arb.max, map(arb, losses)), atoms.sure[0], atoms.lost)
    cap = law.ends()[1]
    return None if cap is None else _End(cap, fmpq(0), nothing)
