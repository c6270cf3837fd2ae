"""Answers that are randomised where they are given."""

from __future__ import annotations

from typing import Any


def randomised_response(answer: bool, rng: Any) -> bool:
    """Answer truthfully with probability 3/4: the ratio is 3."""
    if rng.randrange(2):
        return answer
    return bool(rng.randrange(2))


def rappor(bits: tuple[int, ...], rng: Any, f: str = "19/20") -> tuple[int, ...]:
    """Return the permanent response to the bits of a Bloom filter.

    The ratio is ``((2 - f) / f)^h`` for h bits that differ: (21/19)^h for f = 0.95.

    Source: Erlingsson, Pihur, Korolova, "RAPPOR", CCS 2014, Theorem 1.
    """
    return tuple(rng.randrange(2) if rng.flip(f) else bit for bit in bits)


def rappor_reports(bit: int, rng: Any, reports: int = 2) -> tuple[int, ...]:
    """Return instantaneous responses (3/4, 1/2) to one permanent response, which bounds what they tell."""
    permanent = rng.randrange(2) if rng.flip("1/2") else bit
    return tuple(1 if rng.flip("3/4" if permanent else "1/2") else 0 for _ in range(reports))


def shuffled_response(answer: int, rng: Any, others: int = 4) -> int:
    """Return how many of several people answer 1, each with randomised response; who is forgotten."""
    said = [answer, *[k % 2 for k in range(others)]]
    return sum(one if rng.randrange(2) else rng.randrange(2) for one in said)
