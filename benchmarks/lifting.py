"""One multiplicative lifting: our exact solver beside Z3, SciPy's HiGHS and PuLP with CBC."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from flint import fmpq

from benchmarks.foreign import as_fraction, foreign_solvers
from benchmarks.tables import NOT_INSTALLED, Size, Table, milliseconds, ratio
from benchmarks.timing import Clock, Spent, median_of, spent_by
from bisimdist.lp.multiplicative import find_ratio_violation, lift_ratio

__all__ = ["FAMILIES", "RatioProblem", "lifting_tables", "make_problem", "ratio_solvers"]

FAMILIES = ("random", "tied", "near-tied")
OURS = "`lift_ratio`, with both proofs checked"
BASELINE = "Z3 Optimize"
Z3_SECONDS = 60
"""How long Z3 may take for one program."""


@dataclass(frozen=True, slots=True)
class RatioProblem:
    """Masses of k sources and of k sinks, and the ratio of each source and sink."""

    supply: list[fmpq]
    demand: list[fmpq]
    ratios: list[list[fmpq]]

    @property
    def size(self) -> int:
        return len(self.supply)

    def arguments(self) -> tuple[dict[int, fmpq], dict[int, fmpq], Callable[[int, int], fmpq]]:
        """Return what `lift_ratio` takes: sources are the states from 0 on, sinks those from k on."""
        k = self.size
        first, second = dict(enumerate(self.supply)), dict(enumerate(self.demand, k))
        return first, second, lambda i, j: self.ratios[i][j - k]


def make_problem(family: str, size: int, seed: int) -> RatioProblem:
    """Return a problem: the same for the same arguments."""
    draw = random.Random(f"{family} {size} {seed}")
    whole = max(100, 10 * size)

    def masses() -> list[fmpq]:
        if family == "tied":
            return [fmpq(1, size)] * size
        cuts = sorted(draw.sample(range(1, whole), size - 1))
        return [fmpq(b - a, whole) for a, b in zip([0, *cuts], [*cuts, whole], strict=True)]

    def entry() -> fmpq:
        if family == "random":
            return fmpq(draw.randint(100, 400), 100)
        if family == "tied":
            return draw.choice((fmpq(3, 2), fmpq(2), fmpq(9, 4)))
        return fmpq(3, 2) + fmpq(draw.randrange(8), 2**60)

    supply, demand = masses(), masses()
    return RatioProblem(supply, demand, [[entry() for _ in range(size)] for _ in range(size)])


# -- the program max sum m u, sum m' v = 1, u_i <= R_ij v_j, as others want it ----------------------------


def _pulp_model(problem: RatioProblem) -> Any:
    import pulp  # noqa: PLC0415

    program = pulp.LpProblem("lifting", pulp.LpMaximize)
    variable = getattr(program, "add_variable", pulp.LpVariable)
    u = [variable(f"u_{i}", 0) for i in range(problem.size)]
    v = [variable(f"v_{j}", 0) for j in range(problem.size)]
    gains = zip(u, map(float, map(as_fraction, problem.supply)), strict=True)
    program.setObjective(pulp.LpAffineExpression(list(gains)))
    weights = zip(v, map(float, map(as_fraction, problem.demand)), strict=True)
    program += pulp.LpAffineExpression(list(weights)) == 1
    for x, row in zip(u, problem.ratios, strict=True):
        for y, entry in zip(v, row, strict=True):
            program += pulp.LpAffineExpression([(x, 1.0), (y, -float(as_fraction(entry)))]) <= 0
    return program


def _z3_solve(problem: RatioProblem) -> Fraction | None:
    """Return the optimum, or None where it is not found in time."""
    import z3  # noqa: PLC0415

    u = [z3.Real(f"u{i}") for i in range(problem.size)]
    v = [z3.Real(f"v{j}") for j in range(problem.size)]
    optimiser = z3.Optimize()
    optimiser.set("timeout", Z3_SECONDS * 1000)
    optimiser.add(*(x >= 0 for x in u + v))
    optimiser.add(z3.Sum([z3.RealVal(str(m)) * y for m, y in zip(problem.demand, v, strict=True)]) == 1)
    for x, row in zip(u, problem.ratios, strict=True):
        optimiser.add(*(x <= z3.RealVal(str(entry)) * y for y, entry in zip(v, row, strict=True)))
    goal = z3.Sum([z3.RealVal(str(m)) * x for m, x in zip(problem.supply, u, strict=True)])
    objective = optimiser.maximize(goal)
    if optimiser.check() != z3.sat:
        return None
    return Fraction(str(objective.value().as_fraction()))


def _scipy_solve(problem: RatioProblem) -> float:
    from scipy.optimize import linprog  # noqa: PLC0415
    from scipy.sparse import coo_array  # noqa: PLC0415

    k = problem.size
    rows = np.arange(k * k)
    entries = np.concatenate(
        [np.ones(k * k), [-float(as_fraction(entry)) for row in problem.ratios for entry in row]]
    )
    places = (np.concatenate([rows, rows]), np.concatenate([rows // k, k + rows % k]))
    matrix = coo_array((entries, places), shape=(k * k, 2 * k)).tocsr()
    gains = [-float(as_fraction(mass)) for mass in problem.supply] + [0.0] * k
    weights = [0.0] * k + [float(as_fraction(mass)) for mass in problem.demand]
    found = linprog(gains, A_ub=matrix, b_ub=np.zeros(k * k), A_eq=[weights], b_eq=[1.0], method="highs")
    return -float(found.fun)


@dataclass(frozen=True, slots=True)
class RatioSolver:
    """A solver of somebody else."""

    name: str
    exact: bool
    solve: Callable[[RatioProblem], object]
    largest: int
    largest_quick: int
    installed: bool = True


def ratio_solvers() -> list[RatioSolver]:
    """Return all of them, installed or not, the baseline of the ratios first."""
    known = {solver.name: solver for solver in foreign_solvers()}
    found = [
        RatioSolver(BASELINE, True, _z3_solve, 30, 10),
        RatioSolver("scipy HiGHS", False, _scipy_solve, 50, 50),
    ]

    def by_pulp(name: str) -> Callable[[RatioProblem], object]:
        return lambda problem: known[name].solve(_pulp_model(problem))

    pulp = ("PuLP + CBC", "PuLP + HiGHS")
    return found + [RatioSolver(name, False, by_pulp(name), 50, 30, known[name].installed) for name in pulp]


# -- the table --------------------------------------------------------------------------------------------


class _OverTimeError(Exception):
    """A solver did not answer in time."""


@dataclass(slots=True)
class _Cells:
    spent: dict[str, Spent] = field(default_factory=dict)
    over: set[str] = field(default_factory=set)

    def cells(self, name: str, base: str) -> tuple[str, str]:
        if name not in self.spent:
            return "-", "-"
        shown = ("> " if name in self.over else "") + milliseconds(self.spent[name].cpu)
        if base not in self.spent:
            return shown, "-"
        return shown, ("> " if base in self.over else "") + ratio(self.spent[base].cpu, self.spent[name].cpu)

    def measure(self, name: str, work: Callable[[int], object], count: int, budget: float) -> None:
        """Take the median over problems, after one that is not counted, for so many seconds at most."""
        clock = Clock.start()
        try:
            work(0)
        except _OverTimeError:
            self.over.add(name)
            self.spent[name] = clock.spent()
            return
        times: list[Spent] = []
        for index in range(count):
            times.append(spent_by(partial(work, index)))
            if sum(spent.cpu for spent in times) > budget:
                break
        self.spent[name] = median_of(times)


def _measured(family: str, size: int, solvers: list[RatioSolver], *, full: bool) -> _Cells:
    problems = [make_problem(family, size, seed) for seed in range(30 if full else 10)]
    budget = 20.0 if full else 2.0
    asked = [problem.arguments() for problem in problems]
    optima = [lift_ratio(*arguments) for arguments in asked]
    result = _Cells()
    result.measure(OURS, lambda index: lift_ratio(*asked[index]), len(problems), budget)

    def check(index: int) -> None:
        if find_ratio_violation(*asked[index], optima[index]) is not None:
            raise AssertionError(f"{family} {size} {index}: the proofs are wrong")

    result.measure("… of which the proofs", check, len(problems), budget)
    for solver in solvers:
        if not solver.installed or size > (solver.largest if full else solver.largest_quick):
            continue

        def solve(index: int, solver: RatioSolver = solver) -> None:
            value, known = solver.solve(problems[index]), optima[index].ratio
            if value is None:
                raise _OverTimeError
            if known is None:
                raise AssertionError(f"{family} {size} {index}: no ratio is infinite here")
            wanted = as_fraction(known)
            found = Fraction(str(value)) if solver.exact else Fraction(float(str(value)))
            if found != wanted and (solver.exact or abs(found - wanted) > Fraction(1, 10**6)):
                raise AssertionError(f"{solver.name}: {float(found)}, not {float(wanted)}")

        result.measure(solver.name, solve, len(problems), budget)
    return result


def lifting_tables(size: Size) -> Iterator[Table]:
    """One multiplicative lifting beside Z3, HiGHS and CBC."""
    sizes = size.pick((4,), (4, 10, 30), (4, 10, 30, 50))
    full = size is Size.FULL
    solvers = ratio_solvers()
    exact = {solver.name for solver in solvers if solver.exact}
    for family in FAMILIES:
        columns = [_measured(family, k, solvers, full=full) for k in sizes]
        heads = [head for k in sizes for head in (f"k = {k}", f"{BASELINE} / row")]
        table = Table(
            f"One multiplicative lifting, family `{family}`: milliseconds CPU",
            ("solver", "answer", *heads),
        )
        names = [OURS, "… of which the proofs", *(solver.name for solver in solvers)]
        for name in names:
            answer = "float" if name not in exact and name not in names[:2] else "exact"
            cells = [cell for column in columns for cell in column.cells(name, BASELINE)]
            missing = any(solver.name == name and not solver.installed for solver in solvers)
            table.add(name, NOT_INSTALLED if missing else answer, *cells)
        if family == FAMILIES[-1]:
            table.remarks = (
                "k sources and k other states as sinks, one direction. Others solve max sum m u, sum m' v = "
                "1, "
                "u_i <= R_ij v_j, with building their model; every value is compared with ours, exactly or "
                "to "
                "six digits. random: masses and ratios over 100; tied: equal masses, ratios 3/2, 2, 9/4; "
                "near-tied: ratios 3/2 + r 2^-60, r < 8, which no double can tell apart. Medians over "
                f"{30 if full else 10} problems, or as many as {20 if full else 2} s allow; Z3 is stopped "
                f"after {Z3_SECONDS} s (>).",
            )
        yield table
