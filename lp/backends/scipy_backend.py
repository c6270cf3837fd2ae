"""SciPy's HiGHS as a back-end: it proposes in floating point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import coo_array

from bisimdist.lp.backends.base import (
    ProposingBackend,
    SolverStatus,
    remaining_seconds,
    require_optimal,
    without_option,
)
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal, rough
from bisimdist.progress import NEVER, Deadline

_STATUS = {
    0: SolverStatus.OPTIMAL,
    1: SolverStatus.LIMIT,
    2: SolverStatus.INFEASIBLE,
    3: SolverStatus.UNBOUNDED,
    4: SolverStatus.UNKNOWN,
}


@dataclass(frozen=True, slots=True)
class ScipyBackend(ProposingBackend):
    """Floating point; the coupling program as a sparse matrix."""

    name: str = "scipy"
    exact: Literal[False] = False

    def propose(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> Proposal:
        """Return flows and potentials in floating point."""
        n = len(problem)
        if n == 0:
            return Proposal({}, {}, ())
        arcs = [(i, j) for i in range(n) for j in range(n) if i != j and problem.distance[i][j] < 1]
        costs = [rough(problem.distance[i][j]) for i, j in arcs] + [1.0] * n
        # Rows are negated: at most minus the excess.
        tails = [i for i, _ in arcs]
        heads = [j for _, j in arcs]
        places = list(range(len(arcs)))
        rows = tails + heads + list(range(n))
        columns = places + places + list(range(len(arcs), len(arcs) + n))
        entries = [-1.0] * len(arcs) + [rough(problem.alpha)] * len(arcs) + [-1.0] * n
        matrix = coo_array((entries, (rows, columns)), shape=(n, len(arcs) + n)).tocsr()
        seconds = remaining_seconds(deadline)
        result = linprog(
            np.array(costs),
            A_ub=matrix,
            b_ub=np.array([-rough(c) for c in problem.excess()]),
            method="highs",
            options={} if seconds is None else {"time_limit": seconds},
        )
        require_optimal(_STATUS[int(result.status)], self.name)
        flows = [float(x) for x in result.x]
        return Proposal(
            {arc: x for arc, x in zip(arcs, flows, strict=False) if x > 0},
            {i: x for i, x in enumerate(flows[len(arcs) :]) if x > 0},
            tuple(-float(x) for x in result.ineqlin.marginals),
        )


make = without_option(ScipyBackend)
