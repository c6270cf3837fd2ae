"""Budgets by every pair of neighbours and every answer."""

from __future__ import annotations

from itertools import product

from flint import fmpq

from bisimdist.budgets.engine.budget import Adjacency, QueryFamily


def enumerated(family: QueryFamily, adjacency: Adjacency) -> tuple[fmpq | None, int]:
    """Return the budget, None if it is infinite, and how many pairs of neighbours there are."""
    inputs = list(product(range(family.levels), repeat=family.count))
    ratios: list[fmpq] = []
    infinite = False
    pairs = 0
    for one, two in product(inputs, repeat=2):
        moves = [abs(a - b) for a, b in zip(one, two, strict=True)]
        if max(moves) != 1 or (adjacency is Adjacency.ONE and sum(moves) > 1):
            continue
        pairs += 1
        for answer in range(len(family.answers)):
            p, q = family.chance(answer, one), family.chance(answer, two)
            infinite = infinite or bool(p and not q)
            ratios += [p / q] if q else []
    return (None if infinite else max(ratios)), pairs
