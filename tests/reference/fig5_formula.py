"""BD-THRESHOLD as an existential formula over the reals, given to Z3: an oracle for tiny chains.

bd_alpha(s, t) <= theta holds if and only if there is a d with d(s, t) <= theta and Gamma_alpha(d) <= d (the
least fixed point is the least pre-fixed point), that is, with couplings of cost at most d in both directions
for every pair of one label. Costs are products of unknown flows with unknown distances, hence nonlinear.

The couplings are in the dual form w, tau, gamma, and eta, the dual of f <= 1: mass that is given up at cost
one. Without eta the dual is that of unbounded f, which is larger where a detour wins (a test shows it).

References
----------
.. [1] Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential Privacy",
   ATVA 2018, Figure 5 and Theorem 2.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import z3
from flint import fmpq

from bisimdist.models.lmc import LMC

__all__ = ["add_coupling", "bd_at_most"]


def real(value: fmpq) -> Any:
    return z3.RealVal(str(value))


def add_coupling(  # noqa: PLR0917
    solver: Any, lmc: LMC, alpha: fmpq, s: int, t: int, distance: Any, name: str, give_up: bool = True
) -> Any:
    """Constrain a coupling of (mu_s, mu_t) and return its cost; `distance` maps (i, j) of one label."""
    m, m_prime = dict(lmc.rows[s]), dict(lmc.rows[t])
    states = range(len(lmc))
    arcs = [(i, j) for i in states for j in states if i != j and lmc.labels[i] == lmc.labels[j]]
    w = {(i, j): z3.Real(f"w_{name}_{i}_{j}") for i, j in arcs}
    tau = [z3.Real(f"tau_{name}_{i}") for i in states]
    gamma = [z3.Real(f"gamma_{name}_{i}") for i in states]
    eta = [z3.Real(f"eta_{name}_{i}") if give_up else z3.RealVal(0) for i in states]
    solver.add(*(x >= 0 for x in (*w.values(), *tau, *gamma, *eta)))
    zero = z3.RealVal(0)
    for i in states:
        out = z3.Sum([zero] + [w[i, j] for j in states if (i, j) in w])
        into = z3.Sum([zero] + [w[j, i] for j in states if (j, i) in w])
        solver.add(out + eta[i] + tau[i] - gamma[i] == real(m.get(i, fmpq(0))))
        solver.add(into + (tau[i] - gamma[i]) / real(alpha) <= real(m_prime.get(i, fmpq(0))))
    return z3.Sum([zero, *eta] + [w[arc] * distance[arc] for arc in arcs])


def bd_at_most(  # noqa: PLR0917
    lmc: LMC, alpha: fmpq, s: int, t: int, theta: fmpq, seconds: float = 20.0
) -> bool | None:
    """Tell whether bd_alpha(s, t) <= theta; None where Z3 does not decide it in time."""
    if s == t:
        return bool(theta >= 0)
    if lmc.labels[s] != lmc.labels[t]:
        return bool(theta >= 1)
    solver = z3.SolverFor("QF_NRA")
    solver.set("timeout", int(seconds * 1000))
    distance: dict[tuple[int, int], Any] = {}
    pairs = [(i, j) for i, j in combinations(range(len(lmc)), 2) if lmc.labels[i] == lmc.labels[j]]
    for i, j in pairs:
        distance[i, j] = distance[j, i] = z3.Real(f"d_{i}_{j}")
        solver.add(distance[i, j] >= 0, distance[i, j] <= 1)
    for i, j in pairs:
        for name, (x, y) in (("f", (i, j)), ("b", (j, i))):
            cost = add_coupling(solver, lmc, alpha, x, y, distance, f"{name}_{i}_{j}")
            solver.add(cost <= distance[i, j])
    solver.add(distance[s, t] <= real(theta))
    result = solver.check()
    if result == z3.sat:
        return True
    return False if result == z3.unsat else None
