"""The exact solution of sparse linear systems against the dense exact solver of FLINT.

Every measurement runs in a process of its own, so that its peak memory means something.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator

from flint import fmpq_mat, fmpz_mat

from benchmarks.tables import Size, Table, fine_seconds, ratio
from benchmarks.timing import Clock, peak_memory, run_apart
from bisimdist.linear import SparseSystem, solve_exact, solve_float

__all__ = ["linear_system_tables"]

DENSE_LIMIT = 1650
"""Larger systems are not given to the dense solver: minutes, and gigabytes."""


def policy(size: int, bits: int) -> SparseSystem:
    """Two to six random successors a row, about 2 % of the mass lost in the mean, scales of so many bits."""
    generator = random.Random(size)
    rows = []
    for _ in range(size):
        scale = generator.randrange(2 ** (bits - 1), 2**bits)
        lost = round(scale * generator.random() / 25)
        columns = generator.sample(range(size), generator.randint(2, 6))
        cuts = sorted(generator.randrange(scale - lost) for _ in columns[1:])
        weights = [high - low for low, high in zip([0, *cuts], [*cuts, scale - lost], strict=True)]
        entries = tuple((column, weight) for column, weight in zip(columns, weights, strict=True) if weight)
        rows.append((scale, generator.randint(0, lost), entries))
    return SparseSystem(tuple(rows))


def nearly_singular(size: int, bits: int) -> SparseSystem:
    """The same without loss but for 1e-9 of the mass of each row."""
    rows = []
    for _, constant, entries in policy(size, bits).rows:
        total = sum(weight for _, weight in entries)
        wide = tuple((column, weight * 10**9) for column, weight in entries)
        rows.append((total * (10**9 + 1), min(constant, total), wide))
    return SparseSystem(tuple(rows))


def cycle(size: int, bits: int) -> SparseSystem:
    """One long cycle."""
    scale = 2**bits - 1
    return SparseSystem(tuple((scale, i % 3, (((i + 1) % size, scale - 2 - i % 5),)) for i in range(size)))


def small_components(size: int, bits: int) -> SparseSystem:
    """Cycles of five unknowns, each of which depends on earlier ones."""
    generator = random.Random(size)
    rows = []
    for i in range(size):
        scale, first = generator.randrange(2 ** (bits - 1), 2**bits), i // 5 * 5
        entries = [(first + (i + 1) % 5, scale // 3)]
        if first:
            entries.append((generator.randrange(max(0, first - 30), first), scale // 4))
        rows.append((scale, 3, tuple(entries)))
    return SparseSystem(tuple(rows))


def dense_seconds(system: SparseSystem, kind: type) -> float:
    """Time the dense exact solver over the integers (p-adic lifting) or the rationals."""
    size = system.size
    matrix, constants = fmpz_mat(size, size), fmpz_mat(size, 1)
    for index, (scale, constant, entries) in enumerate(system.rows):
        matrix[index, index] += scale
        constants[index, 0] = constant
        for column, weight in entries:
            matrix[index, column] -= weight
    clock = Clock.start()
    kind(matrix).solve(kind(constants))
    return clock.spent().cpu


def exact_row(family: str, size: int, bits: int) -> Iterator[dict[str, float]]:
    """Measure the sparse solvers on one system."""
    system = FAMILIES[family](size, bits)
    solve_exact(policy(150, 8))  # warm up
    clock = Clock.start()
    solve_float(system)
    rough = clock.spent().cpu
    clock = Clock.start()
    solution = solve_exact(system)
    yield {
        "float": rough,
        "exact": clock.spent().cpu,
        "digits": max(value.bit_length() for value in solution.denominators) * 0.30103,
        "memory": peak_memory(),
    }


def dense_row(family: str, size: int, bits: int) -> Iterator[dict[str, float]]:
    """Measure the dense solvers on one system, the rational one where it is not hopeless."""
    system = FAMILIES[family](size, bits)
    found = {"dense": dense_seconds(system, fmpz_mat)}
    yield found
    if size <= 500:
        yield found | {"rational": dense_seconds(system, fmpq_mat)}


FAMILIES: dict[str, Callable[[int, int], SparseSystem]] = {
    "policy": policy,
    "nearly singular": nearly_singular,
    "cycle": cycle,
    "small components": small_components,
}


def _cases(size: Size) -> Iterator[tuple[str, int, int]]:
    structured = list(FAMILIES)[1:]
    for unknowns in size.pick((100,), (100, 500, 1650), (100, 500, 1650, 5000)):
        yield from (("policy", unknowns, bits) for bits in (8, 16, 40))
    for unknowns in size.pick((100,), (500, 1650), (500, 1650, 5000)):
        yield from ((family, unknowns, 8) for family in structured)
    if size is Size.FULL:
        yield "policy", 10000, 8


def linear_system_tables(size: Size) -> Iterator[Table]:
    """Exact sparse linear systems beside the dense solvers of FLINT."""
    table = Table(
        "Exact linear systems: CPU seconds",
        (
            *("family", "unknowns", "scale bits", "digits", "float s", "exact s", "MB"),
            *("fmpz_mat s", "fmpq_mat s", "ratio"),
        ),
        ("The dense solvers are given what they do in a minute. Ratio: fmpz_mat over ours.",),
    )
    for family, unknowns, bits in _cases(size):
        row = run_apart(exact_row, family, unknowns, bits)
        few = unknowns <= 500 or (bits == 8 and (size is Size.FULL or family == "policy"))
        dense = run_apart(dense_row, family, unknowns, bits) if few and unknowns <= DENSE_LIMIT else {}
        table.add(
            *(family, str(unknowns), str(bits), f"{row['digits']:.0f}"),
            *(fine_seconds(row["float"]), fine_seconds(row["exact"]), f"{row['memory']:.0f}"),
            *(fine_seconds(dense[key]) if key in dense else "-" for key in ("dense", "rational")),
            ratio(dense["dense"], row["exact"]) if dense else "-",
        )
    yield table
