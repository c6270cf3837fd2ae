"""The dual of the skewed lifting exactly as it is printed, and the least fixed point that it gives.

It has no multiplier for f <= 1, so it is the dual of another program: see ``docs/errata.md``.

References
----------
.. [1] Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential Privacy",
   ATVA 2018, Lemma 3 and Figure 5.
"""

from __future__ import annotations

from typing import Any

import z3
from flint import fmpq

from bisimdist.models.lmc import LMC
from tests.reference.fig5_formula import real

__all__ = ["printed_dual", "printed_least_fixed_point"]

Table = list[list[fmpq]]


def _sum(terms: list[Any]) -> Any:
    return z3.Sum([z3.RealVal(0), *terms])


def printed_dual(left: list[fmpq], right: list[fmpq], alpha: fmpq, distance: Table) -> fmpq:
    """Return the optimum of the right-hand side of Lemma 3 for two distributions."""
    states = range(len(left))
    problem = z3.Optimize()
    omega = [[z3.Real(f"w_{i}_{j}") for j in states] for i in states]
    tau = [z3.Real(f"tau_{i}") for i in states]
    gamma = [z3.Real(f"gamma_{i}") for i in states]
    for x in (*tau, *gamma, *(x for row in omega for x in row)):
        problem.add(x >= 0, x <= 1)
    for i in states:
        problem.add(_sum(omega[i]) + tau[i] - gamma[i] == real(left[i]))
        problem.add(_sum([row[i] for row in omega]) + (tau[i] - gamma[i]) / real(alpha) <= real(right[i]))
    cost = _sum([omega[i][j] * real(distance[i][j]) for i in states for j in states])
    problem.minimize(cost)
    assert problem.check() == z3.sat
    return fmpq(*map(int, str(problem.model().eval(cost, model_completion=True)).split("/")))


def printed_least_fixed_point(lmc: LMC, alpha: fmpq) -> Table:
    """Iterate the printed formula from 0 until nothing changes."""
    states = range(len(lmc))
    rows = [[dict(lmc.rows[i]).get(j, fmpq(0)) for j in states] for i in states]
    pairs = [(i, j) for i in states for j in range(i) if lmc.labels[i] == lmc.labels[j]]
    distance = [[fmpq(lmc.labels[i] != lmc.labels[j]) for j in states] for i in states]
    while True:
        following = [list(row) for row in distance]
        for i, j in pairs:
            both = ((rows[i], rows[j]), (rows[j], rows[i]))
            following[i][j] = following[j][i] = max(printed_dual(*way, alpha, distance) for way in both)
        if following == distance:
            return distance
        distance = following
