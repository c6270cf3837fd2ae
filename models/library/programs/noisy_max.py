"""Report noisy max: which count is largest, and variants of it.

The noisy counts are looked at one after another, so that only the largest has to be remembered.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .noise import clipped_geometric, two_sided_geometric


def _largest(counts: tuple[int, ...], noisy: Callable[[int], int]) -> tuple[int, int]:
    """Return the largest noisy count and where it stands first."""
    best, winner = noisy(counts[0]), 0
    for place, count in enumerate(counts[1:], 1):
        value = noisy(count)
        if value > best:
            best, winner = value, place
    return best, winner


def noisy_max(counts: tuple[int, ...], rng: Any) -> int:
    """Return which count is largest with two-sided noise, a = 1/2: ratio at most 4 if each changes by one."""
    return _largest(counts, lambda count: two_sided_geometric(count, rng))[1]


def noisy_max_one_sided(counts: tuple[int, ...], rng: Any) -> int:
    """Return the same with one-sided noise, ties to the first: the ratio is at most 4 as well."""
    return _largest(counts, lambda count: count + rng.geometric("1/2"))[1]


def noisy_max_clipped(counts: tuple[int, ...], rng: Any, most: int = 6) -> int:
    """Return the same with clipped noise: BROKEN, the clip breaks the bound of 4."""
    return _largest(counts, lambda count: clipped_geometric(count, rng, most))[1]


def noisy_max_value(counts: tuple[int, ...], rng: Any, most: int = 6) -> int:
    """Return the largest noisy count itself: BROKEN, it tells more than which one is.

    Source: Ding, Wang, Wang, Zhang, Kifer, "Detecting Violations of Differential Privacy", CCS 2018, Section
        4.1.
    """
    return _largest(counts, lambda count: clipped_geometric(count, rng, most))[0]
