"""Z3's optimisation over the reals as a back-end: slow, exact, and independent of our own solvers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import z3
from flint import fmpq, fmpz

from bisimdist.lp.backends.base import (
    ExactBackend,
    SolverStatus,
    remaining_seconds,
    require_optimal,
    without_option,
)
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.progress import NEVER, Deadline

# By name, because results of Z3 cannot be keys.
_STATUS = {"sat": SolverStatus.OPTIMAL, "unsat": SolverStatus.INFEASIBLE, "unknown": SolverStatus.LIMIT}


def real(value: fmpq, context: z3.Context) -> Any:
    """Return a rational as a constant of Z3."""
    return z3.RealVal(str(value), context)


def exact_value(model: Any, term: Any) -> fmpq:
    """Return the rational that a term has in a model of Z3."""
    number = model.eval(term, model_completion=True)
    return fmpq(fmpz(number.numerator().as_string()), fmpz(number.denominator().as_string()))


@dataclass(frozen=True, slots=True)
class Z3Backend(ExactBackend):
    """Exact; solves the program of the potentials and the program of the couplings, each by itself."""

    name: str = "z3"
    exact: Literal[True] = True

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses."""
        potential = self._maximise(problem, deadline)
        moves, given_up = self._minimise(problem, deadline)
        value = sum((f * c for f, c in zip(potential, problem.excess(), strict=True)), fmpq(0))
        return SkewedOptimum(value, potential, moves, given_up)

    def _model(self, optimiser: Any, deadline: Deadline) -> Any:
        seconds = remaining_seconds(deadline)
        if seconds is not None:
            optimiser.set("timeout", max(int(seconds * 1000), 1))
        require_optimal(_STATUS[str(optimiser.check())], self.name)
        return optimiser.model()

    def _maximise(self, problem: SkewedProblem, deadline: Deadline) -> tuple[fmpq, ...]:
        n = len(problem)
        context = z3.Context()  # one that threads share crashes the interpreter
        number = partial(real, context=context)
        f = [z3.Real(f"f{i}", context) for i in range(n)]
        alpha = number(problem.alpha)
        optimiser = z3.Optimize(ctx=context)
        for i in range(n):
            optimiser.add(f[i] >= 0, f[i] <= 1)
            optimiser.add(
                *(f[i] - alpha * f[j] <= number(problem.distance[i][j]) for j in range(n) if j != i)
            )
        optimiser.maximize(
            z3.Sum([number(fmpq(0))] + [number(c) * x for c, x in zip(problem.excess(), f, strict=True)])
        )
        model = self._model(optimiser, deadline)
        return tuple(exact_value(model, x) for x in f)

    def _minimise(
        self, problem: SkewedProblem, deadline: Deadline
    ) -> tuple[dict[tuple[int, int], fmpq], dict[int, fmpq]]:
        n = len(problem)
        context = z3.Context()
        number = partial(real, context=context)
        alpha = number(problem.alpha)
        w = {(i, j): z3.Real(f"w{i}_{j}", context) for i in range(n) for j in range(n) if i != j}
        eta = [z3.Real(f"eta{i}", context) for i in range(n)]
        optimiser = z3.Optimize(ctx=context)
        optimiser.add(*(x >= 0 for x in w.values()), *(x >= 0 for x in eta))
        for i, c in enumerate(problem.excess()):
            out = z3.Sum([eta[i]] + [w[i, j] for j in range(n) if j != i])
            into = z3.Sum([number(fmpq(0))] + [w[j, i] for j in range(n) if j != i])
            optimiser.add(out - alpha * into >= number(c))
        optimiser.minimize(
            z3.Sum([number(fmpq(0))] + eta + [number(problem.distance[i][j]) * x for (i, j), x in w.items()])
        )
        model = self._model(optimiser, deadline)
        moves = {arc: exact_value(model, x) for arc, x in w.items()}
        given_up = {i: exact_value(model, x) for i, x in enumerate(eta)}
        return {arc: x for arc, x in moves.items() if x}, {i: x for i, x in given_up.items() if x}


make = without_option(Z3Backend)
