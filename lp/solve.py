"""The common door to all back-ends: whatever solves, the answer is exact.

Source: CMP18 Definition 9.
"""

from __future__ import annotations

from bisimdist.errors import LinearProgramError
from bisimdist.lp.backends.base import Backend, ExactBackend, ProposingBackend, get_backend
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal, exact_from_proposal
from bisimdist.progress import NEVER, Deadline


def solve(
    problem: SkewedProblem, backend: str | Backend = "transport", *, deadline: Deadline = NEVER
) -> SkewedOptimum:
    """Solve a skewed problem exactly with a back-end.

    Parameters
    ----------
    problem
        The problem.
    backend
        A name (see `bisimdist.lp.backends.base.get_backend`) or a back-end. One that works in floating
        point only proposes; its proposal is checked, and repaired where it is wrong, in exact arithmetic.
    deadline
        When to give up.

    Returns
    -------
    SkewedOptimum
        The exact value with both witnesses.

    Raises
    ------
    UsageError
        If there is no such back-end.
    LinearProgramError
        If the back-end cannot be run, or cannot solve this problem.
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> from flint import fmpq
    >>> half = fmpq(1, 2)
    >>> distance = ((fmpq(0), half), (half, fmpq(0)))
    >>> problem = SkewedProblem(fmpq(2), (fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)), distance)
    >>> solve(problem, "z3").value == solve(problem).value == half
    True
    """
    solver = get_backend(backend) if isinstance(backend, str) else backend
    found = ask(problem, solver, deadline=deadline)
    return exact_from_proposal(problem, found, deadline=deadline) if isinstance(found, Proposal) else found


def ask(problem: SkewedProblem, solver: Backend, *, deadline: Deadline = NEVER) -> SkewedOptimum | Proposal:
    """Return what a back-end says of a problem, which is a proposal where it works in floating point.

    Raises LinearProgramError if the back-end cannot be run, or cannot solve this problem.
    """
    if isinstance(solver, ExactBackend):
        return solver.solve(problem, deadline=deadline)
    if isinstance(solver, ProposingBackend):
        return solver.propose(problem, deadline=deadline)
    raise LinearProgramError(f"the back-end {solver.name!r} neither solves nor proposes")
