"""What is asked of delta, checked and rounded."""

from __future__ import annotations

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.logarithm import alpha_above, alpha_below
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.interactive import Interactive
from bisimdist.models.kinds import StateModel


def check_rounds(system: StateModel, rounds: int | None, *, fixed: bool) -> None:
    """Refuse rounds where nobody asks, and sequences that are fixed beforehand without rounds."""
    if fixed and not isinstance(system, Interactive):
        raise UsageError("rounds and sequences of actions need an interactive model; this one has no analyst")
    if rounds is not None and rounds < 0:
        raise UsageError(f"there are {rounds} rounds; expected at least 0")
    if fixed and rounds is None:
        raise UsageError("a sequence that is fixed beforehand has an end; say how many rounds there are")


FINE = fmpq(1, 1 << 160)  # how near e**epsilon decides what rounding left open


def enclosing(epsilon: ExactNumber, gap: fmpq | None) -> tuple[fmpq, fmpq]:
    """Return rationals above and below e**epsilon, so close that bounds at them may be as close as the gap.

    Delta has a slope of at most 1 in alpha: rounding takes no more than a quarter of the gap.
    """
    above, below = alpha_above(epsilon), alpha_below(epsilon)
    if gap and 4 * (above - below) > gap:
        bits = int((8 * above / gap).ceil()).bit_length()
        above, below = (f(epsilon, denominator_bits=bits) for f in (alpha_above, alpha_below))
    return fmpq(above), fmpq(below)
