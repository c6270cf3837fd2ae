"""Gamma_alpha by its definition: every pair, every state, one linear program a direction, no shortcut."""

from __future__ import annotations

from collections.abc import Callable

from flint import fmpq

from bisimdist.lp.optimum import verify
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.solve import solve
from bisimdist.models.lmc import LMC

__all__ = ["Distance", "gamma", "is_fixed_point", "lifting", "make_distance", "one_direction"]

Distance = tuple[tuple[fmpq, ...], ...]
"""d as a matrix over all states, by index."""

ZERO = fmpq(0)
ONE = fmpq(1)


def make_distance(lmc: LMC, function: Callable[[int, int], fmpq]) -> Distance:
    """Return the matrix of a distance that is zero on the diagonal and one between labels."""

    def entry(i: int, j: int) -> fmpq:
        if i == j:
            return ZERO
        return function(i, j) if lmc.labels[i] == lmc.labels[j] else ONE

    states = range(len(lmc))
    return tuple(tuple(entry(i, j) for j in states) for i in states)


def _masses(lmc: LMC, s: int) -> tuple[fmpq, ...]:
    row = dict(lmc.rows[s])
    return tuple(row.get(i, ZERO) for i in range(len(lmc)))


def one_direction(  # noqa: PLR0917
    lmc: LMC, alpha: fmpq, d: Distance, s: int, t: int, backend: str = "simplex"
) -> fmpq:
    """Return sup over f of (int f dmu_s - alpha int f dmu_t), on all states at once."""
    problem = SkewedProblem(alpha, _masses(lmc, s), _masses(lmc, t), d)
    optimum = solve(problem, backend)
    verify(problem, optimum)
    return optimum.value


def lifting(  # noqa: PLR0917
    lmc: LMC, alpha: fmpq, d: Distance, s: int, t: int, backend: str = "simplex"
) -> fmpq:
    """Return K_alpha(d)(mu_s, mu_t), the larger of both directions."""
    return max(one_direction(lmc, alpha, d, s, t, backend), one_direction(lmc, alpha, d, t, s, backend))


def gamma(lmc: LMC, alpha: fmpq, d: Distance, backend: str = "simplex") -> Distance:
    """Return Gamma_alpha(d) for every pair."""
    values: dict[tuple[int, int], fmpq] = {}

    def entry(i: int, j: int) -> fmpq:
        pair = (min(i, j), max(i, j))
        if pair not in values:
            values[pair] = lifting(lmc, alpha, d, *pair, backend)
        return values[pair]

    return make_distance(lmc, entry)


def is_fixed_point(lmc: LMC, alpha: fmpq, d: Distance, backend: str = "simplex") -> bool:
    """Tell whether Gamma_alpha(d) = d exactly."""
    return gamma(lmc, alpha, d, backend) == d
