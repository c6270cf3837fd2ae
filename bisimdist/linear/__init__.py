"""Exact and floating-point solutions of large sparse linear systems x = A x + b.

A strategy of the fixed-point engine leaves such a system. It is solved component by component, small ones
densely, large ones by numeric lifting (Wan06) and reading off the rationals by continued fractions; every
equation is checked in integers, and that there is but one solution is proved
(``docs/theory/linear-systems.md``). `simplex` finds nonnegative combinations.
"""

from bisimdist.linear.exact import satisfies, solve_exact
from bisimdist.linear.rough import solve_float
from bisimdist.linear.system import ExactSolution, SingularSystemError, SparseRow, SparseSystem

__all__ = [
    "ExactSolution",
    "SingularSystemError",
    "SparseRow",
    "SparseSystem",
    "satisfies",
    "solve_exact",
    "solve_float",
]
