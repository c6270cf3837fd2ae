"""Exact and floating-point solutions of large sparse linear systems x = A x + b."""

from bisimdist.fixpoint.linear.exact import satisfies, solve_exact
from bisimdist.fixpoint.linear.rough import solve_float
from bisimdist.fixpoint.linear.system import ExactSolution, SingularSystemError, SparseRow, SparseSystem

__all__ = [
    "ExactSolution",
    "SingularSystemError",
    "SparseRow",
    "SparseSystem",
    "satisfies",
    "solve_exact",
    "solve_float",
]
