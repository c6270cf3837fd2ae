"""The table of linear programs: the kernel and the doors of the project beside every other solver."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
from flint import fmpq

from benchmarks.foreign import Data, Foreign, HighsRounds, as_rational, foreign_solvers
from benchmarks.instances import FAMILIES, Batch, make_batch
from benchmarks.tables import NOT_INSTALLED, Size, Table, milliseconds, ratio
from benchmarks.timing import Clock, Spent, median_of, spent_by
from bisimdist.lp.batch import INTERPRETED, BatchBasis, TransportBatch
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.optimum import verify
from bisimdist.lp.solve import solve

__all__ = ["lp_tables"]

SIZES = (4, 10, 30, 100)
COUNTS = {4: 2000, 10: 600, 30: 150, 100: 15}
ROUNDS = 4
BASELINE = "PuLP + CBC"
KEPT = "highspy, model kept, warm"
FINE = 1 << 50


@dataclass(slots=True)
class Column:
    """What one size took, by solver, for one program."""

    size: int
    spent: dict[str, Spent] = field(default_factory=dict)
    exact: set[str] = field(default_factory=set)

    def add(self, name: str, spent: Spent, *, exact: bool) -> None:
        self.spent[name] = spent
        if exact:
            self.exact.add(name)


def lp_tables(size: Size) -> Iterator[Table]:
    """One linear program of the skewed lifting: the kernel and `lp.solve` beside every other solver."""
    load_machine_code()
    for family in FAMILIES:
        yield _family_table(family, size)


def load_machine_code() -> None:
    """Compile the kernel or load it, so that no measurement does."""
    batch = make_batch("random", 4, INTERPRETED + 1, 1)
    packed = batch.packed()
    basis, everything = BatchBasis.start(packed), np.arange(len(packed))
    for _ in range(2):
        basis.solve(packed, everything, batch.vector(0, batch.one), one=batch.one)
    basis.proved(packed, everything, batch.vector(0, batch.one), one=batch.one)


def _family_table(family: str, how: Size) -> Table:
    columns = []
    full = how is not Size.QUICK
    for size in SIZES[: how.pick(2, 4, 4)]:
        count = COUNTS[size] if full else max(12, COUNTS[size] // 4)
        batch = make_batch(family, size, count, ROUNDS)
        column = Column(size)
        values = _kernel(batch, column)
        _doors(batch, column, values, full=full)
        for solver in foreign_solvers():
            if solver.installed and size <= (solver.largest if full else solver.largest_quick):
                _foreign(solver, batch, column, values, full=full)
        if HighsRounds.installed():
            _warm_highs(batch, column, values)
        columns.append(column)
    return _table(family, columns)


def _started(packed: TransportBatch) -> BatchBasis:
    basis = BatchBasis.start(packed)
    basis.solved = INTERPRETED + 1  # at once in machine code, which is loaded
    return basis


def _kernel(batch: Batch, column: Column) -> list[list[fmpq]]:
    """Measure the batched kernel; return the exact values, by round and program."""
    count = len(batch)
    packed = batch.packed()
    column.add("kernel: packing the programs, once", spent_by(batch.packed).scaled(1 / count), exact=True)
    everything = np.arange(count)
    one = batch.one if batch.one <= packed.finest else FINE
    vectors = [batch.vector(k, one) for k in range(len(batch.rounds))]
    warm = _started(packed)
    cold_times, warm_times, read_times = [], [], []
    values = []
    for round_, vector in enumerate(vectors):
        cold = _started(packed)
        cold_times.append(spent_by(partial(_exactly, cold, batch, packed, everything, vector, round_, one)))
        times = spent_by(partial(_exactly, warm, batch, packed, everything, vector, round_, one))
        if round_:
            warm_times.append(times)
        clock = Clock.start()
        values.append([_read(warm, batch, packed, round_, index) for index in range(count)])
        read_times.append(clock.spent())
    column.add("kernel, warm: exact and verified", median_of(warm_times).scaled(1 / count), exact=True)
    column.add("kernel, cold: exact and verified", median_of(cold_times).scaled(1 / count), exact=True)
    read = median_of(read_times)
    both = Spent(*(a + b for a, b in zip(median_of(warm_times), read, strict=True)))
    column.add("kernel, warm, value and witnesses read as rationals", both.scaled(1 / count), exact=True)
    return values


def _exactly(  # noqa: PLR0913, PLR0917
    basis: BatchBasis,
    batch: Batch,
    packed: TransportBatch,
    everything: Int64Array,
    vector: Int64Array,
    round_: int,
    one: int,
) -> None:
    """Solve all programs of a round, and prove that every one is optimal for the exact costs."""
    basis.solve(packed, everything, vector, one=one)
    if one == batch.one:
        if not basis.proved(packed, everything, vector, one=one).all():
            raise RuntimeError("the kernel left a program unproved")
        return
    # the costs were rounded: what is too close to call is settled in integers of any size
    near = basis.undecided(packed, everything, vector, one=one, band=2 * (packed.room + 2))
    for index in everything[near].tolist():
        basis.settle(packed, index, batch.costs(round_, index), batch.one)


def _read(basis: BatchBasis, batch: Batch, packed: TransportBatch, round_: int, index: int) -> fmpq:
    """Return the value of one program, having read its flows and its tree as exact numbers.

    Potentials follow from the tree and the costs; where costs were rounded they have to be worked out anew.
    """
    program = batch.programs[index]
    costs = batch.costs(round_, index)
    sources, sinks = len(program.sources), len(program.sinks)
    nodes = packed.nodes_of(index)
    flows, parents = basis.flows(packed, index), basis.parent[nodes].tolist()
    total = 0
    moves, given_up = [], []
    for v, (above, carried) in enumerate(zip(parents, flows, strict=True)):
        if carried == 0:
            continue
        if above < 0:
            if v < sources:
                total += carried * batch.one
                given_up.append((v, fmpq(carried, program.whole)))
            continue
        i, j = (v, above - sources) if v < sources else (above, v - sources)
        total += carried * costs[i * sinks + j]
        moves.append((i, j, fmpq(carried, program.whole)))
    [fmpq(potential, batch.one) for potential in basis.potential[nodes].tolist()]
    return fmpq(total, program.whole * batch.one)


def _samples(column: Column, *, full: bool) -> int:
    few = {4: 30, 10: 30, 30: 9, 100: 3}[column.size]
    return few if full else max(3, few // 3)


def _doors(batch: Batch, column: Column, values: list[list[fmpq]], *, full: bool) -> None:
    """Measure the common door for single problems, on the full problem of all states of both supports."""
    problems = [batch.problem(0, index) for index in range(min(len(batch), _samples(column, full=full)))]
    names = {"transport": "one problem, `lp.solve`", "simplex": "one problem, exact simplex"}
    for backend, name in names.items():
        if backend == "simplex" and column.size > (30 if full else 10):
            continue
        times, checks = [], []
        for index, problem in enumerate(problems):
            clock = Clock.start()
            optimum = solve(problem, backend)
            times.append(clock.spent())
            clock = Clock.start()
            verify(problem, optimum)
            checks.append(clock.spent())
            _agree(name, optimum.value, values[0][index])
        column.add(name, median_of(times), exact=True)
        if backend == "transport":
            both = (Spent(a.wall + b.wall, a.cpu + b.cpu) for a, b in zip(times, checks, strict=True))
            column.add("one problem, `lp.solve`, then `verify`", median_of(both), exact=True)


def _foreign(solver: Foreign, batch: Batch, column: Column, values: list[list[fmpq]], *, full: bool) -> None:
    building, whole = [], []
    for index in range(min(len(batch), _samples(column, full=full))):
        data = Data.of(batch, 0, index)
        clock = Clock.start()
        model = solver.build(data)
        building.append(clock.spent())
        value = solver.solve(model)
        whole.append(clock.spent())
        _agree(solver.name, value, values[0][index])
    column.add(solver.name, median_of(whole), exact=solver.exact)
    column.add(f"… of which building for {solver.name}", median_of(building), exact=solver.exact)


def _warm_highs(batch: Batch, column: Column, values: list[list[fmpq]]) -> None:
    times = []
    for index in range(min(len(batch), 10)):
        rounds = HighsRounds(Data.of(batch, 0, index))
        for round_ in range(1, len(batch.rounds)):
            costs = [cost / batch.one for cost in batch.costs(round_, index)]
            clock = Clock.start()
            value = rounds.run(costs)
            times.append(clock.spent())
            _agree("highspy", value, values[round_][index])
    column.add(KEPT, median_of(times), exact=False)


def _agree(name: str, value: object, expected: fmpq) -> None:
    """Raise if a solver does not find the optimum: exactly, or to seven digits in floating point."""
    exact = as_rational(value) if isinstance(value, Fraction) else value
    good = abs(exact - float(expected)) < 1e-7 if isinstance(exact, float) else exact == expected
    if not good:
        raise RuntimeError(f"{name} found {exact} where {expected} is the optimum")


def _table(family: str, columns: list[Column]) -> Table:
    head: list[str] = ["solver", "answer"]
    for column in columns:
        head += [f"k = {column.size}", "ratio"]
    table = Table(
        f"Linear programs, family `{family}`: milliseconds a program, wall (CPU)",
        head,
        [
            f"k sources and k sinks; alpha 1, 5001/5000 and 3/2 in turn; {FAMILIES[family]}. "
            f"Ratio: CPU time of {BASELINE} over that of the row. Kernel rows: time of a whole round over "
            "the number of programs, with the proof of every basis, without packing; others: median over "
            "programs, with building.",
            *_best(columns),
        ],
    )
    for name in _not_installed():
        table.add(name, NOT_INSTALLED, *["-"] * (len(head) - 2))
    for name in dict.fromkeys(name for column in columns for name in column.spent):
        cells = [name, "exact" if any(name in column.exact for column in columns) else "float"]
        for column in columns:
            spent, base = column.spent.get(name), column.spent.get(BASELINE)
            cells.append("-" if spent is None else f"{milliseconds(spent.wall)} ({milliseconds(spent.cpu)})")
            cells.append("-" if spent is None or base is None else ratio(base.cpu, spent.cpu))
        table.add(*cells)
    return table


def _not_installed() -> list[str]:
    missing = [solver.name for solver in foreign_solvers() if not solver.installed]
    return missing if HighsRounds.installed() else [*missing, KEPT]


def _best(columns: list[Column]) -> list[str]:
    """Say how the kernel compares with the best exact solver of others, size by size."""
    names = [solver.name for solver in foreign_solvers() if solver.exact]
    parts = []
    kinds: dict[str, Callable[[str], str]] = {
        "warm": lambda _: "kernel, warm: exact and verified",
        "warm and read": lambda _: "kernel, warm, value and witnesses read as rationals",
        "cold": lambda _: "kernel, cold: exact and verified",
    }
    for column in columns:
        found = {name: column.spent[name].cpu for name in names if name in column.spent}
        if found:
            best = min(found, key=lambda name: found[name])
            ratios = ", ".join(
                f"{ratio(found[best], column.spent[key('')].cpu)} {kind}" for kind, key in kinds.items()
            )
            parts.append(f"k = {column.size}: {ratios} ({best})")
    return ["Against the best exact solver of others: " + "; ".join(parts) + "."] if parts else []
