"""Composition of finite mechanisms by brute force: every outcome of all runs, and 200 digits of e^epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Context, Decimal
from fractions import Fraction
from math import comb

DIGITS = 200

Masses = Sequence[tuple[Fraction, Fraction]]


def exponential(value: Fraction) -> Fraction:
    """Return e^value, off by less than one part in 10^199."""
    context = Context(prec=DIGITS + 20)
    power = context.exp(context.divide(Decimal(value.numerator), Decimal(value.denominator)))
    return Fraction(power)


def outcomes(masses: Masses, runs: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield the masses of so many runs: how often each outcome occurs is all that matters."""
    if len(masses) == 1:
        yield masses[0][0] ** runs, masses[0][1] ** runs
        return
    (p, q), rest = masses[0], masses[1:]
    for count in range(runs + 1):
        ways = comb(runs, count)
        for more_p, more_q in outcomes(rest, runs - count):
            yield ways * p**count * more_p, ways * q**count * more_q


def delta(mechanisms: Sequence[tuple[Masses, int]], epsilon: Fraction) -> Fraction:
    """Return the larger delta of both directions, off by less than 10^-190."""
    alpha = exponential(epsilon)
    joint: list[tuple[Fraction, Fraction]] = [(Fraction(1), Fraction(1))]
    for masses, runs in mechanisms:
        several = list(outcomes(masses, runs))
        joint = [(p * x, q * y) for p, q in joint for x, y in several]
    return max(
        sum((max(a - alpha * b, Fraction(0)) for a, b in side), Fraction(0))
        for side in (joint, [(q, p) for p, q in joint])
    )


def sampled_sums(masses: Sequence[Fraction], rate: Fraction, values: Sequence[int]) -> dict[int, Fraction]:
    """Return the law of the sum of a Poisson sample of some values, and noise on -n, ..., n."""
    law = {0: Fraction(1)}
    for value in values:
        more: dict[int, Fraction] = {}
        for at, mass in law.items():
            for to, share in ((at, 1 - rate), (at + value, rate)):
                more[to] = more.get(to, Fraction(0)) + mass * share
        law = more
    reach = len(masses) // 2
    found: dict[int, Fraction] = {}
    for at, mass in law.items():
        for k, noise in enumerate(masses):
            place = at + k - reach
            found[place] = found.get(place, Fraction(0)) + mass * noise
    return found
