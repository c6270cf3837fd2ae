"""Every solver that PuLP drives as a back-end: it proposes in floating point."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import pulp

from bisimdist.errors import LinearProgramError, UsageError, visible
from bisimdist.lp.backends.base import SolverStatus, remaining_seconds, require_optimal
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.refinement import Proposal, rough
from bisimdist.progress import NEVER, Deadline

_DEFAULTS = ("PULP_CBC_CMD", "COIN_CMD", "HiGHS", "GLPK_CMD")
_STATUS = {
    pulp.LpStatusOptimal: SolverStatus.OPTIMAL,
    pulp.LpStatusInfeasible: SolverStatus.INFEASIBLE,
    pulp.LpStatusUnbounded: SolverStatus.UNBOUNDED,
    pulp.LpStatusNotSolved: SolverStatus.UNKNOWN,
    pulp.LpStatusUndefined: SolverStatus.UNKNOWN,
}


def _silently(function: Any, *arguments: Any, **options: Any) -> Any:
    """Call PuLP without its warnings of what the next version will rename."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return function(*arguments, **options)


@cache
def _greeted() -> None:
    """Let HiGHS greet into nothing: once in a process it does so on standard output."""
    highs = import_module("highspy")
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:  # there may be no standard output
        kept = os.dup(1)
        try:
            os.dup2(nowhere.fileno(), 1)
            highs.Highs()
        finally:
            os.dup2(kept, 1)
            os.close(kept)


Variables = dict[tuple[int, int], Any]


def _program(problem: SkewedProblem) -> tuple[Any, Variables, list[Any]]:
    """Return a problem as PuLP takes it, with its variables: what moves, and what is given up."""
    n = len(problem)
    program = pulp.LpProblem("coupling", pulp.LpMinimize)
    variable = getattr(program, "add_variable", pulp.LpVariable)  # the old way before PuLP 3.3
    arcs = [(i, j) for i in range(n) for j in range(n) if i != j and problem.distance[i][j] < 1]
    w = {(i, j): variable(f"w_{i}_{j}", 0) for i, j in arcs}
    eta = [variable(f"eta_{i}", 0) for i in range(n)]
    costs = [(x, rough(problem.distance[i][j])) for (i, j), x in w.items()] + [(x, 1.0) for x in eta]
    program.setObjective(pulp.LpAffineExpression(costs))
    alpha = rough(problem.alpha)
    terms: list[list[tuple[Any, float]]] = [[(x, 1.0)] for x in eta]
    for (i, j), x in w.items():
        terms[i].append((x, 1.0))
        terms[j].append((x, -alpha))
    for i, c in enumerate(problem.excess()):
        program += (pulp.LpAffineExpression(terms[i]) >= rough(c), f"node_{i}")
    return program, w, eta


def program_text(problem: SkewedProblem, format: str, comments: Sequence[str]) -> str:
    """Return a problem as PuLP writes it.

    ``problem``: the problem; its numbers are rounded to doubles.
    """
    program, _, _ = _silently(_program, problem)
    write, sign = (program.writeLP, "\\") if format == "lp" else (program.writeMPS, "*")
    with tempfile.TemporaryDirectory(prefix="bisimdist-") as directory:
        path = Path(directory) / f"program.{format}"
        _silently(write, str(path))
        written = path.read_text()
    return "".join(f"{sign} {visible(line)}\n" for line in comments) + written


@dataclass(frozen=True, slots=True)
class PulpBackend:
    """Floating point; by default CBC, or what else PuLP finds."""

    # PuLP's name of the solver, such as ``"HiGHS"``; empty for CBC, or for the first other free solver that
    # there is where PuLP comes without CBC
    solver: str = ""
    exact: Literal[False] = False

    @property
    def name(self) -> str:
        """The name with its option."""
        return f"pulp:{self.solver}" if self.solver else "pulp"

    def _chosen(self) -> str | None:
        known = pulp.listSolvers()
        for candidate in (self.solver,) if self.solver else _DEFAULTS:
            if candidate in known and _silently(pulp.getSolver, candidate, msg=False).available():
                return candidate
        return None

    def available(self) -> bool:
        """Tell whether PuLP finds the solver on this machine."""
        return bool(_silently(self._chosen))

    def propose(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> Proposal:
        """Return flows, and potentials where the solver tells them."""
        proposal: Proposal = _silently(self._propose, problem, deadline)
        return proposal

    def _propose(self, problem: SkewedProblem, deadline: Deadline) -> Proposal:
        n = len(problem)
        if n == 0:
            return Proposal({}, {}, ())
        chosen = self._chosen()
        if chosen is None:
            raise LinearProgramError(f"the back-end {self.name!r} finds no such solver on this machine")
        program, w, eta = _program(problem)
        self._run(program, chosen, deadline)
        pays = [self._pays(program, f"node_{i}") for i in range(n)]
        return Proposal(
            {arc: amount for arc, x in w.items() if (amount := x.varValue or 0.0) > 0},
            {i: amount for i, x in enumerate(eta) if (amount := x.varValue or 0.0) > 0},
            None if None in pays else tuple(x for x in pays if x is not None),
        )

    def _run(self, program: Any, chosen: str, deadline: Deadline) -> None:
        options: dict[str, Any] = {"msg": False}
        seconds = remaining_seconds(deadline)
        if seconds is not None:
            options["timeLimit"] = seconds
        # A directory of its own, so that nothing stays behind even where a solver is killed.
        with tempfile.TemporaryDirectory(prefix="bisimdist-") as directory:
            if chosen == "HiGHS":
                _greeted()
            solver = pulp.getSolver(chosen, **options)
            solver.tmpDir = directory
            try:
                status = _STATUS.get(program.solve(solver), SolverStatus.UNKNOWN)
            except Exception as error:  # PuLP lets errors of every kind through from its solvers
                deadline.check()
                raise LinearProgramError(f"the back-end {self.name!r} failed: {error}") from error
        if status is SolverStatus.UNKNOWN and deadline.passed():
            status = SolverStatus.LIMIT
        require_optimal(status, self.name)

    @staticmethod
    def _pays(program: Any, name: str) -> float | None:
        by_name = getattr(program, "get_constraint_by_name", None)
        constraint = by_name(name) if by_name else program.constraints[name]
        price = getattr(constraint, "pi", None)
        return None if price is None else float(price)


def make(option: str) -> PulpBackend:
    """Return the back-end; its option is PuLP's name of a solver, in any case, without _CMD if you like."""
    if option.lower() in {"", "cbc"}:
        return PulpBackend()
    known = {name.lower(): name for name in pulp.listSolvers()}
    name = known.get(option.lower()) or known.get(f"{option.lower()}_cmd")
    if name is None:
        listed = ", ".join(sorted(known.values()))
        raise UsageError(f"PuLP knows no solver {option!r}; expected CBC or one of {listed}")
    return PulpBackend(name)
