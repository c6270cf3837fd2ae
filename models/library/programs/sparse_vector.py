"""The sparse vector technique: which answers are above a threshold, in seven published variants.

Noise is geometric; e^epsilon is 16 to the power of the number of answers above that are told. All answers may
change by one.

References
----------
.. [1] Lyu, Su, Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017, Figure 1.
.. [2] Chen, Machanavajjhala, "On the Privacy Properties of Variants on the Sparse Vector Technique", 2015.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from .noise import clipped_geometric


def above_threshold(answers: tuple[int, ...], rng: Any, count: int = 1) -> tuple[bool, ...]:
    """Tell which answers are above, until `count` are (variant 1): the ratio is at most 16^count."""
    told: list[bool] = []
    level = rng.two_sided_geometric(Fraction(1, 4**count))
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/2") >= level)
        if told.count(True) == count:
            break
    return tuple(told)


def svt_resampled(answers: tuple[int, ...], rng: Any, count: int = 1) -> tuple[bool, ...]:
    """Draw the threshold anew after each answer above it (variant 2): the ratio is at most 16^count."""
    told: list[bool] = []
    level = rng.two_sided_geometric("1/4")
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/2") >= level)
        if told.count(True) == count:
            break
        if told[-1]:
            level = rng.two_sided_geometric("1/4")
    return tuple(told)


def svt_shows_value(answers: tuple[int, ...], rng: Any) -> tuple[int, int] | None:
    """Return the noisy answer that was above (variant 3): NOT PRIVATE, it tells about the threshold."""
    level = rng.two_sided_geometric("1/4")
    for place, answer in enumerate(answers):
        noisy = answer + rng.two_sided_geometric("1/4")
        if noisy >= level:
            return place, noisy
    return None


def svt_fixed_noise(answers: tuple[int, ...], rng: Any, count: int = 1) -> tuple[bool, ...]:
    """Share 16 as 2 and 8, whatever the count (variant 4): NOT AS CLAIMED, 16^((1 + 6 count) / 4) instead."""
    told: list[bool] = []
    level = rng.two_sided_geometric("1/2")
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/8") >= level)
        if told.count(True) == count:
            break
    return tuple(told)


def svt_no_query_noise(answers: tuple[int, ...], rng: Any) -> tuple[bool, ...]:
    """Compare answers without noise to a noisy threshold (variant 5): NOT PRIVATE, outputs are impossible."""
    level = rng.two_sided_geometric("1/4")
    return tuple(answer >= level for answer in answers)


def svt_no_stop(answers: tuple[int, ...], rng: Any) -> tuple[bool, ...]:
    """Go on after answers above the threshold (variant 6): NOT PRIVATE, the ratio grows with the answers."""
    level = rng.two_sided_geometric("1/4")
    return tuple([answer + rng.two_sided_geometric("1/4") >= level for answer in answers])


def svt_two_scales(answers: tuple[int, ...], rng: Any) -> tuple[bool, ...]:
    """Share 16 as 2 and 8 and never stop (generalised private threshold testing): NOT PRIVATE [2]_."""
    level = rng.two_sided_geometric("1/2")
    return tuple([answer + rng.two_sided_geometric("1/8") >= level for answer in answers])


def svt_stops_clipped(answers: tuple[int, ...], rng: Any, most: int = 6) -> int | None:
    """Return which answer is above first, with clipped noise: the clip costs privacy."""
    level = clipped_geometric(0, rng, most)
    for place, answer in enumerate(answers):
        if clipped_geometric(answer, rng, most) >= level:
            return place
    return None
