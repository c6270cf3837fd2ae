"""The sparse vector technique: which answers are above a threshold, and variants of it.

References
----------
.. [1] Lyu, Su, Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017, Figure 1.
"""

from __future__ import annotations

from typing import Any

from bisimdist.models.library.programs.noise import clipped_geometric, two_sided_geometric

__all__ = ["above_threshold", "svt_no_query_noise", "svt_no_stop", "svt_shows_value", "svt_stops_clipped"]


def above_threshold(answers: tuple[int, ...], rng: Any, threshold: int = 0) -> int | None:
    """Return the first answer above the threshold, both with noise, a = 1/2: the ratio is at most 8.

    The threshold costs 2, and the one query above it 2 for its own change and 2 for that of the threshold.
    """
    level = two_sided_geometric(threshold, rng)
    for place, answer in enumerate(answers):
        if two_sided_geometric(answer, rng) >= level:
            return place
    return None


def svt_stops_clipped(answers: tuple[int, ...], rng: Any, most: int = 6) -> int | None:
    """Return the same with clipped noise, so that many queries are few states."""
    level = clipped_geometric(0, rng, most)
    for place, answer in enumerate(answers):
        if clipped_geometric(answer, rng, most) >= level:
            return place
    return None


def svt_no_query_noise(answers: tuple[int, ...], rng: Any) -> tuple[bool, ...]:
    """Compare answers without noise to a noisy threshold (variant 5): NOT PRIVATE, outputs are impossible."""
    level = two_sided_geometric(0, rng)
    return tuple(answer >= level for answer in answers)


def svt_no_stop(answers: tuple[int, ...], rng: Any, most: int = 4) -> tuple[bool, ...]:
    """Go on after answers above the threshold (variant 6): NOT PRIVATE, delta grows with the queries."""
    level = clipped_geometric(0, rng, most)
    return tuple(clipped_geometric(answer, rng, most) >= level for answer in answers)


def svt_shows_value(answers: tuple[int, ...], rng: Any) -> tuple[int, int] | None:
    """Return the noisy answer that was above (variant 3): NOT PRIVATE, it tells about the threshold."""
    level = two_sided_geometric(0, rng)
    for place, answer in enumerate(answers):
        noisy = two_sided_geometric(answer, rng)
        if noisy >= level:
            return place, noisy
    return None
