"""Decides exactly on which side of a power of e a rational lies."""

from __future__ import annotations

from flint import fmpq

from bisimdist.exact.logarithm import alpha_above, alpha_below, log_enclosure
from bisimdist.exact.rational import to_fmpq

MAX_EXPONENT = 700  # up to here powers of e are enclosed directly; beyond, logarithms of ratios are


def below_exponential(ratio: fmpq, epsilon: fmpq) -> bool:
    """Tell exactly whether a ratio of at least 1 is at most e^epsilon.

    >>> below_exponential(fmpq(3), to_fmpq("1.0986")), below_exponential(fmpq(3), to_fmpq("1.0987"))
    (False, True)
    """
    if epsilon < 0:
        return False
    if epsilon == 0 or ratio == 1:
        return bool(ratio == 1)
    if epsilon > MAX_EXPONENT:
        # e^epsilon > e^700 decides all but astronomical ratios; those are compared by their logarithms.
        return below_exponential(ratio, fmpq(MAX_EXPONENT)) or _logarithm_below(ratio, epsilon)
    bits = 64
    while True:  # e^epsilon is irrational, so that enough bits decide
        if ratio <= alpha_below(epsilon, denominator_bits=bits):
            return True
        if ratio >= alpha_above(epsilon, denominator_bits=bits):
            return False
        bits *= 2


def _logarithm_below(ratio: fmpq, epsilon: fmpq) -> bool:
    digits = 20
    while True:
        low, high = (to_fmpq(text) for text in log_enclosure(ratio, digits))
        if high <= epsilon or low >= epsilon:
            return bool(high <= epsilon)
        digits *= 2
