"""Mechanisms of the literature with geometric noise, for integer answers and lists of any length.

A parameter without a default stands for every value. Each answer of a neighbour differs by at most 1: that of
one query only (``one``), or those of all queries (``all``). Wrong variants are marked with WRONG.

References
----------
.. [1] Dwork, Roth, "The Algorithmic Foundations of Differential Privacy", 2014, Sections 3.2, 3.3 and 3.6.
.. [2] Chan, Shi, Song, "Private and Continual Release of Statistics", 2011 (partial and prefix sums).
.. [3] Lyu, Su, Li, "Understanding the Sparse Vector Technique for Differential Privacy", VLDB 2017, Figure 1.
.. [4] Ding, Wang, Zhang, Kifer, "Free Gap Information from the Differentially Private Sparse Vector and Noisy
   Max Mechanisms", VLDB 2019.
.. [5] Barthe, Gaboardi, Grégoire, Hsu, Strub, "Proving Differential Privacy via Probabilistic Couplings",
   LICS 2016 (smart sum).
"""

from __future__ import annotations

from typing import Any


def randomised_response(bits: list[int], rng: Any) -> list[int]:
    """Tell each bit with probability 3/4: (1/3)^-1 if one bit differs."""
    return [bit if rng.flip("3/4") else 1 - bit for bit in bits]


def geometric_sum(answers: list[int], rng: Any, a: str = "1/2") -> int:
    """Return the noisy sum: a^-1 if one answer differs."""
    noisy: int = sum(answers) + rng.two_sided_geometric(a)
    return noisy


def histogram(counts: list[int], rng: Any, a: str = "1/2") -> list[int]:
    """Release noisy counts: a^-1 if one person is in one of them."""
    return [count + rng.two_sided_geometric(a) for count in counts]


def histogram_wrong_scale(counts: list[int], rng: Any) -> list[int]:
    """Release counts with noise of the inverse scale, WRONG for a ratio of 2: it is 4."""
    return [count + rng.two_sided_geometric("1/4") for count in counts]


def partial_sum(answers: list[int], rng: Any, a: str = "1/2") -> int:
    """Return the sum of the noisy answers: a^-1 if one answer differs."""
    total = 0
    for answer in answers:
        total = total + answer + rng.two_sided_geometric(a)
    return total


def prefix_sum(answers: list[int], rng: Any, a: str = "1/2") -> list[int]:
    """Release each sum of noisy answers: a^-1 if one answer differs."""
    released, total = [], 0
    for answer in answers:
        total = total + answer + rng.two_sided_geometric(a)
        released.append(total)
    return released


def smart_sum(answers: list[int], rng: Any, size: int) -> list[int]:
    """Release prefix sums in blocks: (1/2)^-2 if one answer differs."""
    released: list[int] = []
    following = block = before = 0
    for place, answer in enumerate(answers):
        if (place + 1) % size == 0:
            before = before + block + answer + rng.two_sided_geometric("1/2")
            following = before
            block = 0
        else:
            following = following + answer + rng.two_sided_geometric("1/2")
            block = block + answer
        released.append(following)
    return released


def noisy_max(answers: list[int], rng: Any, a: str = "1/2") -> int | None:
    """Return which noisy answer is largest, the first of them: a^-2 if all answers differ."""
    best, winner = 0, None
    for place, answer in enumerate(answers):
        noisy = answer + rng.two_sided_geometric(a)
        if winner is None or noisy > best:
            best, winner = noisy, place
    return winner


def exponential_noise_max(answers: list[int], rng: Any, a: str = "1/2") -> int | None:
    """Return the same with one-sided noise: a^-2 if all answers differ."""
    best, winner = 0, None
    for place, answer in enumerate(answers):
        noisy = answer + rng.geometric(a)
        if winner is None or noisy > best:
            best, winner = noisy, place
    return winner


def noisy_max_gap(answers: list[int], rng: Any, a: str = "1/2") -> tuple[int | None, int | None]:
    """Return which noisy answer is largest, and how much it may shrink: a^-2 if all answers differ."""
    best, winner = 0, None
    needed = None
    for place, answer in enumerate(answers):
        noisy = answer + rng.two_sided_geometric(a)
        if winner is None:
            best, winner = noisy, place
        elif noisy > best:
            needed = best + 1
            best, winner = noisy, place
        elif needed is None or noisy > needed:
            needed = noisy
    return winner, None if needed is None else best - needed


def noisy_max_gap_ties(answers: list[int], rng: Any, a: str = "1/2") -> tuple[int | None, int | None]:
    """Return the gap to the second largest, WRONG for a^-2: if it is 0, no earlier one is as large."""
    best, winner = 0, None
    second = None
    for place, answer in enumerate(answers):
        noisy = answer + rng.two_sided_geometric(a)
        if winner is None:
            best, winner = noisy, place
        elif noisy > best:
            second = best
            best, winner = noisy, place
        elif second is None or noisy > second:
            second = noisy
    return winner, None if second is None else best - second


def noisy_max_value(answers: list[int], rng: Any, a: str = "1/2") -> int | None:
    """Return the largest noisy answer itself, WRONG: its budget grows with the number of answers."""
    best = None
    for answer in answers:
        noisy = answer + rng.two_sided_geometric(a)
        if best is None or noisy > best:
            best = noisy
    return best


def sparse_vector_once(answers: list[int], rng: Any, threshold: int) -> list[bool]:
    """Tell which answer is above the threshold first: (1/2)^-4 if all answers differ."""
    told: list[bool] = []
    level = threshold + rng.two_sided_geometric("1/4")
    for answer in answers:
        if answer + rng.two_sided_geometric("1/2") >= level:
            told.append(True)
            break
        told.append(False)
    return told


def sparse_vector(answers: list[int], rng: Any, threshold: int, count: int) -> list[bool]:
    """Tell which answers are above until `count` are: (1/2)^-(2 + 2 count) if all answers differ."""
    assert count >= 1
    told: list[bool] = []
    level = threshold + rng.two_sided_geometric("1/4")
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/2") >= level)
        if told.count(True) == count:
            break
    return told


def sparse_vector_resampled(answers: list[int], rng: Any, threshold: int, count: int) -> list[bool]:
    """Draw the threshold anew after each answer above it: (1/2)^-(4 count) if all answers differ."""
    assert count >= 1
    told: list[bool] = []
    level = threshold + rng.two_sided_geometric("1/4")
    for answer in answers:
        told.append(answer + rng.two_sided_geometric("1/2") >= level)
        if told.count(True) == count:
            break
        if told[-1]:
            level = threshold + rng.two_sided_geometric("1/4")
    return told


def numerical_sparse_vector(answers: list[int], rng: Any, threshold: int, count: int) -> list[object]:
    """Release answers that are above, with new noise: (1/2)^-(2 + 3 count) if all answers differ."""
    assert count >= 1
    told: list[object] = []
    above = 0
    level = threshold + rng.two_sided_geometric("1/4")
    for answer in answers:
        if answer + rng.two_sided_geometric("1/2") >= level:
            told.append(answer + rng.two_sided_geometric("1/2"))
            above += 1
            if above == count:
                break
        else:
            told.append(False)
    return told


def adaptive_sparse_vector(answers: list[int], rng: Any, threshold: int, budget: int) -> list[object]:
    """Spend 2 on answers far above and 4 on others, up to `budget`: (1/2)^-(budget + 6) if all differ."""
    assert budget >= 0
    told: list[object] = []
    spent = 0
    level = threshold + rng.two_sided_geometric("1/4")
    for answer in answers:
        coarse = answer + rng.two_sided_geometric("1/2") - level
        if coarse >= 8:
            told.append(coarse)
            spent += 2
        else:
            fine = answer + rng.two_sided_geometric("1/4") - level
            if fine >= 0:
                told.append(fine)
                spent += 4
            else:
                told.append(False)
        if spent > budget:
            break
    return told


def partial_sum_constant(answers: list[int], rng: Any) -> int:
    """Return the sum of answers with noise for one answer, WRONG if all answers differ."""
    noisy: int = sum(answers) + rng.two_sided_geometric("1/2")
    return noisy
