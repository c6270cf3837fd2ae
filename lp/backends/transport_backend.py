"""The transportation kernel as a back-end: direct couplings, and the general simplex where detours pay."""

from dataclasses import dataclass
from typing import Literal

from bisimdist.lp.backends.base import refuse_option
from bisimdist.lp.direct import solve_direct
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.progress import NEVER, Deadline


@dataclass(frozen=True, slots=True)
class TransportBackend:
    """The default: exact, for every problem; see `bisimdist.lp.direct`."""

    name: str = "transport"
    exact: Literal[True] = True

    def available(self) -> bool:
        """Tell that it can be run: always."""
        return True

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses."""
        return solve_direct(problem, deadline=deadline)


def make(option: str) -> TransportBackend:
    """Return the back-end; it has no options."""
    refuse_option("transport", option)
    return TransportBackend()
