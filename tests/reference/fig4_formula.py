"""The least pre-fixed point as a formula of linear arithmetic with quantifiers: an oracle for tiny chains.

phi(d, f) says that f does not tell any pair of states further apart than d does. "d is a pre-fixed point" is
that phi(d, f) holds for all f; the premise of "no other one is smaller" is again a statement about all f.

References
----------
.. [1] Chistikov, Murawski, Purser, "Bisimilarity Distances for Approximate Differential Privacy",
   ATVA 2018, Figure 4.
"""

from __future__ import annotations

from typing import Any

import z3
from flint import fmpq

from bisimdist.models.lmc import LMC
from tests.reference.fig5_formula import real

__all__ = ["least_prefixed_point", "printed_formula_holds"]

Table = dict[tuple[int, int], Any]


def _pairs(lmc: LMC) -> list[tuple[int, int]]:
    states = range(len(lmc))
    return [(i, j) for i in states for j in range(i) if lmc.labels[i] == lmc.labels[j]]


def _unknowns(lmc: LMC, name: str) -> tuple[Table, list[Any]]:
    """Return a distance, symmetric, 0 on the diagonal and 1 between labels, and its variables."""
    states = range(len(lmc))
    table: Table = {(i, j): z3.RealVal(int(lmc.labels[i] != lmc.labels[j])) for i in states for j in states}
    variables = []
    for i, j in _pairs(lmc):
        table[i, j] = table[j, i] = z3.Real(f"{name}_{i}_{j}")
        variables.append(table[i, j])
    return table, variables


def _in_range(variables: list[Any]) -> Any:
    return z3.And([True, *(z3.And(x >= 0, x <= 1) for x in variables)])


def _phi(lmc: LMC, alpha: fmpq, d: Table, f: list[Any]) -> Any:
    states = range(len(lmc))
    takes_part = z3.And([f[i] - real(alpha) * f[j] <= d[i, j] for i in states for j in states if i != j])

    def gain(s: int, t: int) -> Any:
        masses = dict(lmc.rows[s])
        for j, p in lmc.rows[t]:
            masses[j] = masses.get(j, fmpq(0)) - alpha * p
        return z3.Sum([z3.RealVal(0), *(real(mass) * f[i] for i, mass in masses.items())])

    claims = [claim for s, t in _pairs(lmc) for claim in (gain(s, t) <= d[s, t], gain(t, s) <= d[s, t])]
    return z3.Implies(takes_part, z3.And([True, *claims]))


def _prefixed(lmc: LMC, alpha: fmpq, d: Table, name: str) -> Any:
    f = [z3.Real(f"{name}_{i}") for i in range(len(lmc))]
    return z3.ForAll(f, z3.Implies(_in_range(f), _phi(lmc, alpha, d, f)))


def least_prefixed_point(lmc: LMC, alpha: fmpq, seconds: float = 20.0) -> dict[tuple[int, int], fmpq] | None:
    """Return the distances of the pairs of one label; None where Z3 does not find them in time."""
    d, variables = _unknowns(lmc, "d")
    other, others = _unknowns(lmc, "e")
    least = z3.ForAll(
        others,
        z3.Implies(
            z3.And(_in_range(others), _prefixed(lmc, alpha, other, "g")),
            z3.And([True, *(x <= y for x, y in zip(variables, others, strict=True))]),
        ),
    )
    solver = z3.SolverFor("LRA")
    solver.set("timeout", int(seconds * 1000))
    solver.add(_in_range(variables), _prefixed(lmc, alpha, d, "f"), least)
    if solver.check() != z3.sat:
        return None
    model = solver.model()
    values = (str(model.eval(x, model_completion=True)) for x in variables)
    return {pair: fmpq(*map(int, value.split("/"))) for pair, value in zip(_pairs(lmc), values, strict=True)}


def printed_formula_holds(lmc: LMC, alpha: fmpq) -> bool:
    """Tell whether the formula as printed is satisfiable: the quantifier of f is around the implication."""
    d, variables = _unknowns(lmc, "d")
    other, others = _unknowns(lmc, "e")
    f = [z3.Real(f"g_{i}") for i in range(len(lmc))]
    least = z3.ForAll(
        [*others, *f],
        z3.Implies(
            z3.And(_in_range(others), _in_range(f), _phi(lmc, alpha, other, f)),
            z3.And([True, *(x <= y for x, y in zip(variables, others, strict=True))]),
        ),
    )
    solver = z3.SolverFor("LRA")
    solver.add(_in_range(variables), _prefixed(lmc, alpha, d, "f"), least)
    found = solver.check()
    assert found != z3.unknown
    return bool(found == z3.sat)
