"""Optima of skewed Kantorovich problems with the witnesses of both sides, and their exact check.

Source: CMP18 Lemma 3, CMP18 Remark 9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.errors import LinearProgramError
from bisimdist.lp.problem import SkewedProblem

_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class SkewedOptimum:
    """The exact value of a problem and what proves it.

    Parameters
    ----------
    value
        The optimum of both programs.
    potential
        f, the witness that the value is at least this much.
    moves
        ``{(i, j): w}`` with w > 0 and i != j: the flows of the coupling, which prove that the value is
        at most this much.
    given_up
        ``{i: eta}`` with eta > 0: mass that the coupling gives up at cost one.
    basis
        The columns of an optimal basis (see `bisimdist.lp.network`), or empty where the solver has none;
        a warm start for a neighbouring problem.
    pivots
        How many exact pivots the solver made.
    """

    value: fmpq
    potential: tuple[fmpq, ...]
    moves: Mapping[tuple[int, int], fmpq]
    given_up: Mapping[int, fmpq]
    basis: tuple[int, ...] = ()
    pivots: int = 0


def _sent(problem: SkewedProblem, optimum: SkewedOptimum) -> tuple[list[fmpq], list[fmpq]]:
    """Return for each node what leaves it (moved or given up) and what arrives."""
    leaving = [_ZERO] * len(problem)
    arriving = [_ZERO] * len(problem)
    for (i, j), amount in optimum.moves.items():
        leaving[i] += amount
        arriving[j] += amount
    for i, amount in optimum.given_up.items():
        leaving[i] += amount
    return leaving, arriving


def _potential_violation(problem: SkewedProblem, potential: tuple[fmpq, ...]) -> str | None:
    if len(potential) != len(problem):
        return f"the potential has {len(potential)} entries for {len(problem)} nodes"
    for i, f in enumerate(potential):
        if not 0 <= f <= 1:
            return f"the potential of node {i} is {f}, outside [0, 1]"
    scaled = [problem.alpha * f for f in potential]
    for i, f in enumerate(potential):
        if f == 0:
            continue  # f_i - alpha f_j <= 0 <= d_ij
        for j, d in enumerate(problem.distance[i]):
            if f - scaled[j] > d:
                return f"the potential breaks f_{i} - alpha f_{j} <= {d}: there it is {f - scaled[j]}"
    return None


def _coupling_violation(problem: SkewedProblem, optimum: SkewedOptimum) -> str | None:
    n = len(problem)
    for (i, j), amount in optimum.moves.items():
        if not (0 <= i < n and 0 <= j < n) or i == j:
            return f"the move {i} -> {j} is none between two of the {n} nodes"
        if amount <= 0:
            return f"the move {i} -> {j} carries {amount}; expected a positive mass"
    for i, amount in optimum.given_up.items():
        if not 0 <= i < n:
            return f"mass is given up at {i}, which is none of the {n} nodes"
        if amount <= 0:
            return f"the mass {amount} is given up at node {i}; expected a positive mass"
    leaving, arriving = _sent(problem, optimum)
    for i, c in enumerate(problem.excess()):
        carried = leaving[i] - problem.alpha * arriving[i]
        if carried < c:
            return f"the coupling carries only {carried} of the excess {c} away from node {i}"
    return None


def find_violation(problem: SkewedProblem, optimum: SkewedOptimum) -> str | None:
    """Return what is wrong with an optimum, in one line, or None where it is proved.

    Checked in exact arithmetic: the potential is feasible, the coupling is feasible, and both have the
    stated value. Weak duality then makes the value the optimum.
    """
    problem_found = _potential_violation(problem, optimum.potential) or _coupling_violation(problem, optimum)
    if problem_found:
        return problem_found
    gained = sum((f * c for f, c in zip(optimum.potential, problem.excess(), strict=True)), _ZERO)
    if gained != optimum.value:
        return f"the potential has the value {gained}, not {optimum.value}"
    spent = sum((w * problem.distance[i][j] for (i, j), w in optimum.moves.items()), _ZERO)
    spent += sum(optimum.given_up.values(), _ZERO)
    if spent != optimum.value:
        return f"the coupling has the cost {spent}, not {optimum.value}"
    return None


def verify(problem: SkewedProblem, optimum: SkewedOptimum) -> None:
    """Check an optimum and its witnesses exactly.

    Raises
    ------
    LinearProgramError
        Saying which condition fails, at which node, with both numbers.

    Examples
    --------
    >>> problem = SkewedProblem(fmpq(2), (fmpq(1),), (fmpq(0),), ((fmpq(0),),))
    >>> verify(problem, SkewedOptimum(fmpq(1), (fmpq(1),), {}, {0: fmpq(1)}))
    """
    violation = find_violation(problem, optimum)
    if violation is not None:
        raise LinearProgramError(violation)
