"""The solvers that others keep, each given the transportation program that the kernel solves, or its dual.

A solver is a pair of functions: one builds its model, the other solves it and returns the optimum. What is
not installed is said to be so: the exact ones are ``pip install pycddlib python-qsoptex``, and need the
libraries cddlib and QSopt_ex with their headers.
"""

from __future__ import annotations

import importlib
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import fmpq

from benchmarks.instances import Batch
from bisimdist.lp.direct import program_of
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.program import Program

__all__ = ["Data", "Foreign", "HighsRounds", "KeptHighs", "as_fraction", "as_rational", "foreign_solvers"]


@dataclass(frozen=True, slots=True)
class Data:
    """One program in plain rationals: what is the same for every solver, made before the clock starts."""

    supply: list[Fraction]
    capacity: list[Fraction]
    costs: list[list[Fraction]]

    @classmethod
    def of(cls, batch: Batch, round_: int, index: int) -> Data:
        program: Program = batch.programs[index]
        costs, size = batch.costs(round_, index), batch.size
        return cls(
            [Fraction(amount, program.whole) for amount in program.supply],
            [Fraction(amount, program.whole) for amount in program.capacity],
            [[Fraction(cost, batch.one) for cost in costs[i * size : (i + 1) * size]] for i in range(size)],
        )

    @classmethod
    def of_problem(cls, problem: SkewedProblem) -> Data:
        """Return the program of direct couplings of a problem."""
        program, _ = program_of(problem)
        costs = [[as_fraction(problem.distance[i][j]) for j in program.sinks] for i in program.sources]
        supply, capacity = (
            [Fraction(amount, program.whole) for amount in amounts]
            for amounts in (program.supply, program.capacity)
        )
        return cls(supply, capacity, costs)


@dataclass(frozen=True, slots=True)
class Foreign:
    """A solver of somebody else."""

    name: str
    exact: bool
    build: Callable[[Data], Any]
    solve: Callable[[Any], object]
    largest: int
    """It is not given larger programs in the full tables."""
    largest_quick: int
    installed: bool = True


def _installed(module: str) -> bool:
    try:
        importlib.import_module(module)
    except ImportError:
        return False
    return True


def _silently(work: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        return work(*arguments, **options)


# -- PuLP -------------------------------------------------------------------------------------------------


def _pulp_model(data: Data) -> Any:
    return _silently(_pulp_model_loud, data)


def _pulp_model_loud(data: Data) -> Any:
    import pulp  # noqa: PLC0415

    program = pulp.LpProblem("transport", pulp.LpMinimize)
    variable = getattr(program, "add_variable", pulp.LpVariable)
    sources, sinks = range(len(data.supply)), range(len(data.capacity))
    x = [[variable(f"x_{i}_{j}", 0) for j in sinks] for i in sources]
    given_up = [variable(f"g_{i}", 0) for i in sources]
    costs = [(x[i][j], float(data.costs[i][j])) for i in sources for j in sinks]
    program.setObjective(pulp.LpAffineExpression(costs + [(g, 1.0) for g in given_up]))
    for i in sources:
        terms = [(x[i][j], 1.0) for j in sinks] + [(given_up[i], 1.0)]
        program += pulp.LpAffineExpression(terms) >= float(data.supply[i])
    for j in sinks:
        program += pulp.LpAffineExpression([(x[i][j], 1.0) for i in sources]) <= float(data.capacity[j])
    return program


def _pulp_solver(name: str) -> Callable[[Any], float]:
    def solve(program: Any) -> float:
        import pulp  # noqa: PLC0415

        _silently(program.solve, _silently(pulp.getSolver, name, msg=False))
        return float(pulp.value(program.objective))

    return solve


def _pulp_has(name: str) -> bool:
    if not _installed("pulp"):
        return False
    import pulp  # noqa: PLC0415

    return name in pulp.listSolvers() and bool(_silently(pulp.getSolver, name, msg=False).available())


# -- Z3 ---------------------------------------------------------------------------------------------------


def _z3_model(data: Data) -> Any:
    """Build the program of the potentials, which suits Z3 better than that of the flows."""
    import z3  # noqa: PLC0415

    u = [z3.Real(f"u{i}") for i in range(len(data.supply))]
    v = [z3.Real(f"v{j}") for j in range(len(data.capacity))]
    optimiser = z3.Optimize()
    optimiser.add(*(x >= 0 for x in u), *(x <= 1 for x in u), *(y >= 0 for y in v))
    for x, costs in zip(u, data.costs, strict=True):
        optimiser.add(*(x - y <= z3.RealVal(str(cost)) for y, cost in zip(v, costs, strict=True)))
    gains = [z3.RealVal(str(amount)) * x for amount, x in zip(data.supply, u, strict=True)]
    losses = [z3.RealVal(str(-amount)) * y for amount, y in zip(data.capacity, v, strict=True)]
    return optimiser, optimiser.maximize(z3.Sum(gains + losses))


def _z3_solve(model: Any) -> Fraction:
    optimiser, objective = model
    optimiser.check()
    return Fraction(str(objective.value().as_fraction()))


# -- scipy's HiGHS ----------------------------------------------------------------------------------------


def _scipy_model(data: Data) -> Any:
    from scipy.sparse import coo_array  # noqa: PLC0415

    m, n = len(data.supply), len(data.capacity)
    cells = np.arange(m * n)
    rows = np.concatenate([cells // n, np.arange(m), m + cells % n])
    columns = np.concatenate([cells, m * n + np.arange(m), cells])
    entries = np.concatenate([-np.ones(m * n + m), np.ones(m * n)])
    matrix = coo_array((entries, (rows, columns)), shape=(m + n, m * n + m)).tocsr()
    costs = [float(cost) for row in data.costs for cost in row] + [1.0] * m
    return costs, matrix, [-float(a) for a in data.supply] + [float(b) for b in data.capacity]


def _scipy_solve(model: Any) -> float:
    from scipy.optimize import linprog  # noqa: PLC0415

    costs, matrix, bounds = model
    return float(linprog(costs, A_ub=matrix, b_ub=bounds, method="highs").fun)


# -- exact solvers ----------------------------------------------------------------------------------------


def _cdd_model(data: Data) -> Any:
    """Build the dual, the program of the potentials: cddlib likes few columns and many rows."""
    cdd = importlib.import_module("cdd.gmp")

    m, n = len(data.supply), len(data.capacity)
    rows: list[list[Fraction | int]] = []
    for i in range(m):
        for j in range(n):  # u_i - v_j <= cost
            rows.append(
                [data.costs[i][j], *(-int(k == i) for k in range(m)), *(int(k == j) for k in range(n))]
            )
    for i in range(m):
        rows.append([1, *(-int(k == i) for k in range(m)), *([0] * n)])
    for k in range(m + n):
        rows.append([0, *(int(k == v) for v in range(m + n))])
    objective = [0, *data.supply, *(-amount for amount in data.capacity)]
    matrix = cdd.matrix_from_array(
        rows, rep_type=cdd.RepType.INEQUALITY, obj_type=cdd.LPObjType.MAX, obj_func=objective
    )
    return cdd.linprog_from_matrix(matrix)


def _cdd_solve(model: Any) -> Fraction:
    cdd = importlib.import_module("cdd.gmp")

    cdd.linprog_solve(model)
    return Fraction(model.obj_value)


def _qsopt_model(data: Data) -> Any:
    qsoptex = importlib.import_module("qsoptex")

    program = qsoptex.ExactProblem()
    sources, sinks = range(len(data.supply)), range(len(data.capacity))
    for i in sources:
        for j in sinks:
            program.add_variable(name=f"x{i}_{j}", objective=data.costs[i][j], lower=0, upper=None)
    for i in sources:
        program.add_variable(name=f"g{i}", objective=1, lower=0, upper=None)
    for i in sources:
        terms = {f"x{i}_{j}": 1 for j in sinks} | {f"g{i}": 1}
        program.add_linear_constraint(qsoptex.ConstraintSense.GREATER, terms, rhs=data.supply[i])
    for j in sinks:
        terms = {f"x{i}_{j}": 1 for i in sources}
        program.add_linear_constraint(qsoptex.ConstraintSense.LESS, terms, rhs=data.capacity[j])
    program.set_objective_sense(qsoptex.ObjectiveSense.MINIMIZE)
    return program


def _qsopt_solve(model: Any) -> Fraction:
    model.solve()
    return Fraction(model.get_objective_value())


def foreign_solvers() -> list[Foreign]:
    """Return all of them, installed or not, PuLP's CBC first: it is the baseline of the ratios."""
    pulp = [
        Foreign(title, False, _pulp_model, _pulp_solver(name), 100, 30, _pulp_has(name))
        for name, title in (("PULP_CBC_CMD", "PuLP + CBC"), ("HiGHS", "PuLP + HiGHS"))
    ]
    return [
        *pulp,
        Foreign("scipy HiGHS", False, _scipy_model, _scipy_solve, 100, 100),
        Foreign("Z3 Optimize", True, _z3_model, _z3_solve, 30, 10),
        Foreign("cddlib (GMP)", True, _cdd_model, _cdd_solve, 30, 10, _installed("cdd.gmp")),
        Foreign("QSopt_ex", True, _qsopt_model, _qsopt_solve, 100, 30, _installed("qsoptex")),
    ]


class KeptHighs:
    """HiGHS through its own interface, the model kept, so that the basis stays warm when numbers change."""

    def __init__(self, costs: Sequence[float], matrix: Any, lower: Any, upper: Any, most: float) -> None:
        """Take a program: minimal costs of columns from 0 to `most`, rows of a sparse matrix with bounds."""
        highspy = importlib.import_module("highspy")

        columns = matrix.tocsc()
        program = highspy.HighsLp()
        program.num_col_, program.num_row_ = len(costs), len(lower)
        program.col_cost_ = np.array(costs)
        program.col_lower_ = np.zeros(len(costs))
        program.col_upper_ = np.full(len(costs), most)
        program.row_lower_, program.row_upper_ = np.array(lower), np.array(upper)
        program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        program.a_matrix_.start_ = columns.indptr
        program.a_matrix_.index_ = columns.indices
        program.a_matrix_.value_ = columns.data
        self.solver: Any = highspy.Highs()
        self.solver.silent()
        self.solver.passModel(program)
        self.unbounded = highspy.HighsModelStatus.kUnbounded

    @staticmethod
    def installed() -> bool:
        return _installed("highspy")

    def solve(self) -> float:
        """Return the optimum, which may be minus infinity."""
        self.solver.run()
        if self.solver.getModelStatus() == self.unbounded:
            return -math.inf
        return float(self.solver.getInfo().objective_function_value)


class HighsRounds(KeptHighs):
    """A transportation program of which only the costs change from round to round."""

    def __init__(self, data: Data) -> None:
        costs, matrix, bounds = _scipy_model(data)
        super().__init__(costs, matrix, [-math.inf] * len(bounds), bounds, math.inf)
        self.solve()

    def run(self, costs: Sequence[float]) -> float:
        """Solve for other costs, without those of giving up."""
        count = len(costs)
        self.solver.changeColsCost(count, np.arange(count, dtype=np.int32), np.array(costs))
        return self.solve()


def as_rational(value: Fraction) -> fmpq:
    return fmpq(value.numerator, value.denominator)


def as_fraction(value: fmpq) -> Fraction:
    return Fraction(int(value.p), int(value.q))
