"""Long Kleene iterations in exact arithmetic, rounded outwards so that numbers stay short.

From below, every iterate is a lower bound of bd_alpha: the start 0 is one, Gamma_alpha is monotone, and
rounding is downwards. The iterates converge to bd_alpha up to the rounding, in general without reaching it,
so that they prove nothing about delta.

From above, every iterate is an upper bound of the GREATEST fixed point, hence of bd_alpha; but it may stay
far above bd_alpha, where mass can circulate for ever.
"""

from __future__ import annotations

from flint import fmpq, fmpz

from bisimdist.models.lmc import LMC
from tests.reference.bd_oracle import ONE, ZERO, Distance, gamma, make_distance

__all__ = ["iterate_above", "iterate_below", "round_down", "round_up"]


def round_down(value: fmpq, bits: int) -> fmpq:
    """Return the largest multiple of 2**-bits that is at most the value."""
    scale = fmpz(1) << bits
    return fmpq((value * scale).floor(), scale)


def round_up(value: fmpq, bits: int) -> fmpq:
    """Return the smallest multiple of 2**-bits that is at least the value."""
    return -round_down(-value, bits)


def iterate_below(lmc: LMC, alpha: fmpq, rounds: int, *, bits: int | None = 80) -> Distance:
    """Iterate Gamma_alpha from 0, rounding down to multiples of 2**-bits (never where bits is None).

    Ends early at an iterate that its successor repeats; with bits None that is bd_alpha itself.
    """
    d = make_distance(lmc, lambda i, j: ZERO)
    for _ in range(rounds):
        image = gamma(lmc, alpha, d)
        if bits is not None:
            image = tuple(tuple(round_down(x, bits) for x in row) for row in image)
        if image == d:
            break
        d = image
    return d


def iterate_above(lmc: LMC, alpha: fmpq, rounds: int, *, bits: int | None = 80) -> Distance:
    """Iterate Gamma_alpha from 1 (0 on the diagonal), rounding up to multiples of 2**-bits."""
    d = make_distance(lmc, lambda i, j: ONE)
    for _ in range(rounds):
        image = gamma(lmc, alpha, d)
        if bits is not None:
            image = tuple(tuple(round_up(x, bits) for x in row) for row in image)
        if image == d:
            break
        d = image
    return d
