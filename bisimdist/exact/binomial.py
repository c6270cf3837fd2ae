"""Tails of binomial distributions, bounded in integers, and the intervals of Clopper and Pearson."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from flint import fmpq, fmpz

from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq

BITS = 96  # how many leading bits are kept; what is cut off is rounded up

INTERVAL_BITS = 40


@dataclass(frozen=True, slots=True)
class Magnitude:
    """The number ``mantissa * 2**exponent``, which is never below what it stands for."""

    mantissa: int
    exponent: int = 0

    def __mul__(self, other: Magnitude) -> Magnitude:
        mantissa, exponent = self.mantissa * other.mantissa, self.exponent + other.exponent
        spare = mantissa.bit_length() - BITS
        return (
            Magnitude(-(-mantissa >> spare), exponent + spare) if spare > 0 else Magnitude(mantissa, exponent)
        )

    def __pow__(self, power: int) -> Magnitude:
        result, square = Magnitude(1), self * Magnitude(1)
        while power:
            if power & 1:
                result *= square
            square *= square
            power >>= 1
        return result


def tail_at_most(successes: int, trials: int, probability: fmpq, risk: fmpq) -> bool:
    """Tell whether P(X >= successes) <= risk is proved, for X binomial.

    With p rounded up to a / 2**96, the first summand C(n, k) p^k (1 - p)^(n - k) is multiplied by
    1 + r_k + r_k r_(k+1) + ..., where r_i = (n - i) p / ((i + 1) (1 - p)) falls: what follows a summand s is
    at most s r / (1 - r). All is done in integers that are rounded up; what is decided by less than one
    part in 2**60 is not proved. Where r_k >= 1, k is at most the median.

    ``successes``, ``trials``: what was counted; at least one success.
    ``probability``: of a success in one trial.
    """
    whole = 1 << BITS
    chance = int((probability * whole).ceil())
    rest = whole - chance
    if chance <= 0 or rest <= 0:
        return chance <= 0
    first = _ways(trials, successes) * Magnitude(chance, -BITS) ** successes
    first *= Magnitude(rest, -BITS) ** (trials - successes)
    most = _quotient(risk, first)
    total = term = whole
    for i in range(successes, trials + 1):
        up, down = (trials - i) * chance, (i + 1) * rest
        if up >= down or total > most:
            return False
        if total - (-term * up // (down - up)) <= most:
            return True
        term = -(-term * up // down)
        total += term
    return False


def _quotient(risk: fmpq, first: Magnitude) -> int:
    """Return how often a magnitude fits into a number, times 2**96, rounded down, or somewhat less."""
    if first.mantissa.bit_length() + first.exponent < -risk.q.bit_length() - 2 * BITS:
        return 1 << (3 * BITS)
    return int(((risk / first.mantissa) * fmpq(2) ** (BITS - first.exponent)).floor())


@lru_cache(maxsize=16)
def _ways(trials: int, successes: int) -> Magnitude:
    return Magnitude(int(fmpz.bin_uiui(trials, successes))) * Magnitude(1)


def lower_end(successes: int, trials: int, risk: fmpq) -> fmpq:
    """Return the largest multiple p of 2**-40 that is proved to have P(X >= successes | p) <= risk."""
    if not 0 <= successes <= trials or trials < 1:
        raise UsageError(f"{successes} of {trials} trials is no count")
    if not 0 < risk <= fmpq(1, 2):
        raise UsageError(f"the risk is {2 * risk}; expected a number strictly between 0 and 1")
    if successes == 0:
        return fmpq(0)
    low, high = 0, -(-(successes << INTERVAL_BITS) // trials)  # there it is about one half
    while high - low > 1:
        middle = (low + high) // 2
        if tail_at_most(successes, trials, fmpq(middle, 1 << INTERVAL_BITS), risk):
            low = middle
        else:
            high = middle
    return fmpq(low, 1 << INTERVAL_BITS)


def binomial_interval(successes: int, trials: int, risk: ExactNumber) -> tuple[fmpq, fmpq]:
    """Return the interval of Clopper and Pearson for a probability, rounded outwards.

    ``risk``: the probability that the interval misses, half of it on either side; in (0, 1).
    returns: two multiples of 2**-40. The lower end p has P(X >= successes | p) <= risk / 2, the upper end P(X
        <= successes | p) <= risk / 2, both proved in integers.
    Raises UsageError if the counts or the risk make no sense.
    Source: Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the case of the
    binomial", Biometrika 26, 1934.

    >>> low, high = binomial_interval(0, 10, "1/20")
    >>> low, 0.308 < int(high.p) / int(high.q) < 0.309
    (0, True)
    """
    half = to_fmpq(risk) / 2
    if half == fmpq(1, 2):
        raise UsageError("the risk is 1; expected a number strictly between 0 and 1")
    return lower_end(successes, trials, half), 1 - lower_end(trials - successes, trials, half)
