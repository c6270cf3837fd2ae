"""Bounds on delta that need no grid: of one run of one mechanism, and beyond the largest loss."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

from flint import arb, fmpq

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.laws import NOTHING, AtomsAt, Law, Number, rational
from bisimdist.privacy.compose.engine.measures import within_unit

MOST_DIGITS = 750  # of delta: less is only said to be at most 10**-700

Loss = tuple[Law, "Law | None", int]
"""What dominates a mechanism, what it dominates if that is known, and how often it runs."""


def once(loss: Loss, epsilon: fmpq, relative: int) -> tuple[fmpq, fmpq]:
    """Return bounds on delta of one run."""
    law, below, _ = loss
    low, high = _precise(law, epsilon, relative)
    if below is not law:
        low = NOTHING if below is None else _precise(below, epsilon, relative)[0]
    return low, high


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


def caps_of(losses: Sequence[Loss], digits: int) -> Caps:
    """Return what is known of the largest losses of a list."""
    with working_precision(digits * 10 // 3 + 64):
        least, largest, finite, doubt = NOTHING, NOTHING, arb(1), arb(1)
        for law, below, runs in losses:
            end, sure, lost = _end(law, digits)
            largest = None if largest is None or end is None else largest + end * runs
            doubt *= (1 - arb(sure) - lost[0]).nonnegative_part() ** runs
            end, sure, lost = (None, NOTHING, lost) if below is None else _end(below, digits)
            if not any(lost):  # what is lost may make every loss less
                finite *= (1 - arb(sure)).nonnegative_part() ** runs
                least += end * runs if end is not None else 0
        most = None if largest is None else rational(largest, arb.upper)
        low, high = within_unit((1 - finite).lower()), within_unit((1 - doubt).upper(), above=True)
        return Caps(rational(least, arb.lower), most, low, high)


def _end(law: Law, digits: int) -> tuple[Number | None, Number, tuple[Number, Number]]:
    """Return the largest finite loss of a law, if any, the mass of P at infinity, and what is lost."""
    if not isinstance(law, AtomsAt):
        return law.ends()[1], NOTHING, (NOTHING, NOTHING)
    atoms = law.make(digits)
    losses = [loss for loss, *_ in atoms.points] or [NOTHING]
    exact = [loss for loss in losses if isinstance(loss, fmpq)]
    largest = max(exact) if len(exact) == len(losses) else reduce(arb.max, map(arb, losses))
    return largest if law.finite else None, atoms.sure[0], atoms.lost
