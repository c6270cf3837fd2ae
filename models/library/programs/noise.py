"""Exact noise on integers, from fair draws."""

from __future__ import annotations

from fractions import Fraction
from typing import Any


def two_sided_geometric(x: int, rng: Any, a: str = "1/2") -> int:
    """Return x + z with ``P(z)`` in proportion to ``a^|z|``: the ratio of neighbours is 1 / a."""
    noisy: int = x + rng.two_sided_geometric(a)
    return noisy


def clipped_geometric(x: int, rng: Any, most: int = 6) -> int:
    """Return x + z with ``P(z)`` in proportion to ``2^-|z|``, all beyond `most` at its ends.

    The ends have more than their share from one side and nothing from the other: the clip costs privacy.
    """
    noisy: int = x + rng.two_sided_geometric("1/2", most)
    return noisy


def bernoulli_exp(p: Fraction, rng: Any) -> bool:
    """Return True with probability ``exp(-p)``, for p at least 0.

    Source: Canonne, Kamath, Steinke, "The Discrete Gaussian for Differential Privacy", NeurIPS 2020,
        Algorithm 1.
    """
    while p > 1:
        if not bernoulli_exp(Fraction(1), rng):
            return False
        p -= 1
    k = 1
    while rng.flip(p / k):
        k += 1
    return k % 2 == 1


def discrete_laplace(x: int, rng: Any, scale: int = 1) -> int:
    """Return x + z with ``P(z)`` in proportion to ``exp(-|z| / scale)``: pure epsilon is 1 / scale."""
    while True:
        u: int = rng.randrange(scale)
        if not bernoulli_exp(Fraction(u, scale), rng):
            continue
        v = 0
        while bernoulli_exp(Fraction(1), rng):
            v += 1
        z = u + scale * v
        negative = rng.randrange(2)
        if negative and z == 0:
            continue
        return x + (-z if negative else z)


def discrete_gaussian(x: int, rng: Any, variance: int = 1) -> int:
    """Return x + z with ``P(z)`` in proportion to ``exp(-z^2 / (2 variance))``, by rejection."""
    scale = 1
    while scale * scale <= variance:
        scale += 1
    while True:
        z = discrete_laplace(0, rng, scale)
        if bernoulli_exp((abs(z) - Fraction(variance, scale)) ** 2 / (2 * variance), rng):
            return x + z
