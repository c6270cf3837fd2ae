"""Bounds on delta that need no grid: of one run of one mechanism, and beyond the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from flint import arb, fmpq

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import ENDLESS, NOTHING, AtomsAt, Law, Number, rational
from bisimdist.privacy.compose.engine.measures import within_unit
from bisimdist.privacy.compose.engine.rough import DIGITS, Factor

MOST_DIGITS = 750  # of delta: less is only said to be at most 10**-700


def once(one: Factor, epsilon: fmpq, relative: int) -> tuple[fmpq, fmpq]:
    """Return bounds on delta of one run."""
    low, high = _precise(one.law, epsilon, relative)
    return low if one.below is one.law else _precise(one.below, epsilon, relative)[0], high


def _precise(law: Law, epsilon: fmpq, relative: int) -> tuple[fmpq, fmpq]:
    """Return bounds that agree in so many digits if they can: a sum, or the difference of two tails."""
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
        return within_unit(low.lower()), within_unit(high.upper(), above=True)


@dataclass(frozen=True, slots=True)
class Caps:
    """What is known of the largest and of infinite losses: beyond the largest one delta is their mass."""

    least: fmpq  # at most the sum of the largest finite losses of what the mechanisms dominate
    largest: fmpq | None  # at least that of what dominates them; None where losses have no end
    low: fmpq  # at most the mass of infinite losses, and so delta at every epsilon
    high: fmpq  # at least that mass


def caps_of(factors: Sequence[Factor]) -> Caps:
    """Return what is known of the largest losses of a list."""
    with working_precision(DIGITS * 10 // 3 + 64):
        least, largest, finite, doubt = NOTHING, NOTHING, arb(1), arb(1)
        for one in factors:
            end, sure, lost = _end(one.law)
            largest += end * one.runs
            doubt *= (1 - arb(sure) - lost[0]).nonnegative_part() ** one.runs
            end, sure, lost = _end(one.below)
            if not any(lost):  # what is lost may make every loss less
                finite *= (1 - arb(sure)).nonnegative_part() ** one.runs
                least += end * one.runs
        most = rational(largest, arb.upper) if arb(largest).is_finite() else None
        low, high = within_unit((1 - finite).lower()), within_unit((1 - doubt).upper(), above=True)
        return Caps(rational(least, arb.lower) if arb(least).is_finite() else NOTHING, most, low, high)


def _end(law: Law) -> tuple[Number, Number, tuple[Number, Number]]:
    """Return the largest finite loss of a law, the mass of P at infinity, and what is lost."""
    if not isinstance(law, AtomsAt):
        return law.ends()[1], NOTHING, (NOTHING, NOTHING)
    atoms = law.make(DIGITS)
    losses = [loss for loss, *_ in atoms.points] or [NOTHING]
    exact = [loss for loss in losses if isinstance(loss, fmpq)]
    largest = max(exact) if len(exact) == len(losses) else reduce(arb.max, map(arb, losses))
    return largest if law.finite else ENDLESS, atoms.sure[0], atoms.lost
