"""The transportation kernel as a back-end: direct couplings, and the general simplex where detours pay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from bisimdist.lp.backends.base import ExactBackend, without_option
from bisimdist.lp.direct import solve_direct
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.progress import NEVER, Deadline


@dataclass(frozen=True, slots=True)
class TransportBackend(ExactBackend):
    """The default: exact, for every problem; see `bisimdist.lp.direct`."""

    name: str = "transport"
    exact: Literal[True] = True

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses."""
        return solve_direct(problem, deadline=deadline)


make = without_option(TransportBackend)
