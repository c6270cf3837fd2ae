"""The exact simplex of the project as a back-end."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bisimdist.lp.backends.base import ExactBackend, without_option
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.simplex import solve_simplex
from bisimdist.progress import NEVER, Deadline


@dataclass(frozen=True, slots=True)
class SimplexBackend(ExactBackend):
    """Exact, for every problem; see `bisimdist.lp.simplex`."""

    name: str = "simplex"
    exact: Literal[True] = True

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses and its basis."""
        return solve_simplex(problem, deadline=deadline)


make = without_option(SimplexBackend)
