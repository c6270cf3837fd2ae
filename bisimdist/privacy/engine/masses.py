"""Masses of several worlds after the same labels, as rows of integers: information states as matrices."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd
from typing import Any

from bisimdist.privacy.engine.signed import SignedChain

Matrix = tuple[tuple[int, tuple[int, ...]], ...]
"""(state, its masses in all worlds, not all of them 0), by ascending state."""

Sums = dict[int, list[int]]


def followers(chain: SignedChain, matrix: Matrix, arm: Any) -> Iterator[tuple[int, Sums]]:
    """Yield what a matrix becomes with each label that can follow, times the denominator of the chain.

    The arm is one of those that the chain offers.
    """
    if not matrix:
        return
    width = range(len(matrix[0][1]))
    seen: dict[int, Sums] = {}
    for (_, masses), moves in zip(matrix, chain.rows(matrix, arm), strict=True):
        for label, group in moves:
            into = seen.setdefault(label, {})
            for target, weight in group:
                sums = into.get(target)
                if sums is None:
                    into[target] = [mass * weight for mass in masses]
                else:
                    for k in width:
                        sums[k] += masses[k] * weight
    for label in sorted(seen):
        yield label, seen[label]


def split_by_label(chain: SignedChain, sums: Mapping[int, Sequence[int]]) -> Iterator[dict[int, list[int]]]:
    """Yield the parts of masses on states of one label, as the first label of a trace tells them apart."""
    parts: dict[str, dict[int, list[int]]] = {}
    for state, masses in sums.items():
        parts.setdefault(chain.model.labels[state], {})[state] = list(masses)
    yield from parts.values()


def by_rows(sums: Mapping[int, Sequence[int]]) -> tuple[tuple[int, ...], Matrix]:
    """Return the greatest common factor of every row, and the matrix without them.

    A factor is 0 where a row is.
    """
    states = sorted(sums)
    factors = tuple(gcd(*row) for row in zip(*(sums[state] for state in states), strict=True))
    rows = tuple(
        (
            state,
            tuple(mass // factor if factor else 0 for mass, factor in zip(sums[state], factors, strict=True)),
        )
        for state in states
    )
    return factors, tuple(row for row in rows if any(row[1]))


def by_one_factor(sums: Mapping[int, Sequence[int]]) -> tuple[int, Matrix]:
    """Return the greatest common factor of all entries, and the matrix without it."""
    kept = sorted((state, tuple(row)) for state, row in sums.items() if any(row))
    factor = gcd(*(mass for _, row in kept for mass in row))
    if factor > 1:
        kept = [(state, tuple(mass // factor for mass in row)) for state, row in kept]
    return factor, tuple(kept)
