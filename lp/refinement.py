"""From a guess to the exact optimum: crash basis, exact check, a few exact pivots."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LinearProgramError
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.simplex import solve_simplex
from bisimdist.progress import NEVER, Deadline

_TIGHT = 1e-7
_NOTHING = 1e-12
_LARGEST = 10**9


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a solver without exact arithmetic believes to be an optimum.

    Nothing in it is trusted: it decides where the exact solver starts, never where it ends.
    """

    moves: Mapping[tuple[int, int], float]  # ``{(i, j): flow}``, approximately
    given_up: Mapping[int, float]  # ``{i: eta}``, approximately
    # f, approximately, or None; it tells which columns of flow zero belong to the basis
    potential: Sequence[float] | None = None


def rough(value: fmpq) -> float:
    """Return a double near a rational, cut off where foreign solvers begin to call numbers infinite.

    >>> rough(fmpq(1, 4)), rough(fmpq(-(10**400)))
    (0.25, -1000000000.0)
    """
    if abs(value) >= _LARGEST:
        return float(_LARGEST) if value > 0 else float(-_LARGEST)
    return float(value)


def _wanted_columns(problem: SkewedProblem, proposal: Proposal) -> list[int]:
    n = len(problem)
    alpha = rough(problem.alpha)
    spare = [-rough(c) for c in problem.excess()]
    flows: list[tuple[float, int]] = []
    for (i, j), amount in proposal.moves.items():
        if not (0 <= i < n and 0 <= j < n):
            raise LinearProgramError(f"the proposed move {i} -> {j} is none between two of the {n} nodes")
        if i == j or not amount > _NOTHING:
            continue  # also drops what is no number
        flows.append((amount, i * n + j))
        spare[i] += amount
        spare[j] -= alpha * amount
    for i, amount in proposal.given_up.items():
        if not 0 <= i < n:
            raise LinearProgramError(
                f"mass is proposed to be given up at {i}, which is none of the {n} nodes"
            )
        if amount > _NOTHING:
            flows.append((amount, i * (n + 1)))
            spare[i] += amount
    flows += [(amount, n * n + i) for i, amount in enumerate(spare) if amount > _TIGHT]
    flows.sort(key=lambda item: (-item[0], item[1]))
    columns = [column for _, column in flows]
    if proposal.potential is not None:
        columns += _tight_columns(problem, proposal.potential, alpha)
    return columns


def _tight_columns(problem: SkewedProblem, potential: Sequence[float], alpha: float) -> list[int]:
    """Return the columns that cost about what their potentials pay, the tightest first."""
    n = len(problem)
    if len(potential) != n:
        raise LinearProgramError(f"the proposed potential has {len(potential)} entries for {n} nodes")
    found: list[tuple[float, int]] = []
    for i, f in enumerate(potential):
        found += [(abs(1.0 - f), i * (n + 1)), (abs(f), n * n + i)]
        if f <= _TIGHT:
            continue  # an arc out of a node of potential zero is tight only where it is useless
        row = problem.distance[i]
        found += [
            (abs(rough(row[j]) - f + alpha * other), i * n + j)
            for j, other in enumerate(potential)
            if j != i and alpha * other <= f + _TIGHT
        ]
    return [column for _, column in sorted(item for item in found if item[0] <= _TIGHT)]


def exact_from_proposal(
    problem: SkewedProblem, proposal: Proposal, *, deadline: Deadline = NEVER
) -> SkewedOptimum:
    """Return the exact optimum of a problem, starting from a guess of it.

    The proposed columns are made independent and feasible exactly; the exact simplex then either finds
    at once that nothing can be improved, or improves it by as many pivots as the guess was wrong.

    ``proposal``: any guess; a bad one costs time, never exactness.
    Raises LinearProgramError if the proposal speaks of nodes that the problem does not have.

    >>> third = fmpq(1, 3)
    >>> problem = SkewedProblem(
    ...     fmpq(1), (fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)), ((fmpq(0), third), (third, fmpq(0)))
    ... )
    >>> exact_from_proposal(problem, Proposal({(0, 1): 0.9999999}, {})).value
    1/3
    """
    return solve_simplex(problem, _wanted_columns(problem, proposal), deadline=deadline)
