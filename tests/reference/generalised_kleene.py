"""Generalised metrics by their definition, in doubles: suprema over functions on all states, round by round.

Nothing is shared with the engine: all ordered pairs of all states, no merging, no coupling, and the linear
programs are those of the definition (the supremum over f), solved by scipy.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
from scipy.optimize import linprog

from bisimdist.models.pa import PA

__all__ = ["iterate", "lifted"]

Table = list[list[float]]
Floats = Sequence[float]


def lifted(first: Floats, second: Floats, distance: Table, *, additive: bool) -> float:
    """Return K(d) of two sub-distributions; multiplicative tables hold ratios."""
    if additive:
        return max(_difference(first, second, distance), _difference(second, first, distance))
    return max(_ratio(first, second, distance), _ratio(second, first, distance))


def _constraints(distance: Table, *, additive: bool) -> tuple[list[list[float]], list[float]]:
    size = len(distance)
    rows, bounds = [], []
    for i, j in product(range(size), repeat=2):
        if i == j or math.isinf(distance[i][j]):
            continue
        row = [0.0] * size
        row[i] = 1.0
        row[j] = -1.0 if additive else -distance[i][j]
        rows.append(row)
        bounds.append(distance[i][j] if additive else 0.0)
    return rows, bounds


def _difference(first: Floats, second: Floats, distance: Table) -> float:
    rows, bounds = _constraints(distance, additive=True)
    gain = [q - p for p, q in zip(first, second, strict=True)]
    found = linprog(gain, A_ub=rows or None, b_ub=bounds or None, bounds=(0, 1))
    return -float(found.fun)


def _ratio(first: Floats, second: Floats, distance: Table) -> float:
    if sum(second) == 0:
        return 1.0 if sum(first) == 0 else math.inf
    rows, bounds = _constraints(distance, additive=False)
    found = linprog(
        [-p for p in first],
        A_ub=rows or None,
        b_ub=bounds or None,
        A_eq=[list(second)],
        b_eq=[1.0],
        bounds=(0, None),
    )
    return math.inf if found.status == 3 else -float(found.fun)


def iterate(automaton: PA, rounds: int, *, additive: bool, discount: float = 1.0) -> Table:
    """Return the k-th iterate of the functional from distance zero, for all states."""
    size = len(automaton)
    zero, top = (0.0, 1.0) if additive else (1.0, math.inf)
    steps: list[list[tuple[str, list[float]]]] = [[] for _ in range(size)]
    for step in automaton.transitions:
        row = np.zeros(size)
        for target, p in step.row:
            row[target] += int(p.p) / int(p.q)
        steps[step.source].append((step.action, row.tolist()))
    table = [[zero] * size for _ in range(size)]
    for _ in range(rounds):
        known: dict[tuple[tuple[float, ...], tuple[float, ...]], float] = {}

        def cost(mine: Floats, other: Floats, before: Table = table, cache: dict = known) -> float:  # type: ignore[type-arg]
            key = (tuple(mine), tuple(other))
            if key not in cache:
                raw = zero if mine == other else lifted(mine, other, before, additive=additive)
                cache[key] = discount * raw if additive else raw**discount
            return float(cache[key])

        table = [[_hausdorff(steps[s], steps[t], cost, zero, top) for t in range(size)] for s in range(size)]
    return table


def _hausdorff(
    mine: list[tuple[str, list[float]]],
    other: list[tuple[str, list[float]]],
    cost: Callable[[Floats, Floats], float],
    zero: float,
    top: float,
) -> float:
    value = zero
    for one, two in ((mine, other), (other, mine)):
        for action, row in one:
            value = max(value, min((cost(row, answer) for a, answer in two if a == action), default=top))
    return value
