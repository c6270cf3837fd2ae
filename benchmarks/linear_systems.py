"""Time the exact solution of sparse linear systems against the dense exact solver of FLINT.

Run ``python benchmarks/linear_systems.py`` for a table that takes a minute, with ``--full`` for the large
systems too. Every measurement runs in a process of its own, so that its peak memory means something.
"""

from __future__ import annotations

import argparse
import multiprocessing
import platform
import random
import resource
import time
from collections.abc import Callable

from flint import fmpq_mat, fmpz_mat

from bisimdist.linear import SparseSystem, solve_exact, solve_float

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
    started = time.perf_counter()
    kind(matrix).solve(kind(constants))
    return time.perf_counter() - started


def exact_row(family: Callable[[int, int], SparseSystem], size: int, bits: int) -> dict[str, float]:
    """Measure the sparse solvers on one system."""
    system = family(size, bits)
    solve_exact(policy(150, 8))  # warm up
    started = time.perf_counter()
    solve_float(system)
    middle = time.perf_counter()
    solution = solve_exact(system)
    ended = time.perf_counter()
    return {
        "float": middle - started,
        "exact": ended - middle,
        "digits": max(value.bit_length() for value in solution.denominators) * 0.30103,
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def dense_row(family: Callable[[int, int], SparseSystem], size: int, bits: int) -> dict[str, float]:
    """Measure the dense solvers on one system, the rational one where it is not hopeless."""
    system = family(size, bits)
    rational = dense_seconds(system, fmpq_mat) if size <= 500 else float("nan")
    return {"dense": dense_seconds(system, fmpz_mat), "rational": rational}


def run_apart(
    measure: Callable[[Callable[[int, int], SparseSystem], int, int], dict[str, float]],
    family: Callable[[int, int], SparseSystem],
    size: int,
    bits: int,
) -> dict[str, float]:
    """Run one measurement in a fresh process."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(measure, (family, size, bits))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also 5000 and 10000 unknowns (minutes)")
    full = parser.parse_args().full
    cases = [(policy, size, bits) for size in (100, 500, 1650) for bits in (8, 16, 40)]
    structured = (nearly_singular, cycle, small_components)
    cases += [(family, size, 8) for family in structured for size in (500, 1650)]
    if full:
        cases += [(policy, 5000, bits) for bits in (8, 16, 40)]
        cases += [(family, 5000, 8) for family in structured]
        cases += [(policy, 10000, 8)]
    print(f"{platform.machine()}, Python {platform.python_version()}; seconds, single process")
    print("| family | unknowns | scale bits | digits | float | exact | MB | fmpz_mat | fmpq_mat | ratio |")
    print("| --- | --: | --: | --: | --: | --: | --: | --: | --: | --: |")
    for family, size, bits in cases:
        row = run_apart(exact_row, family, size, bits)
        feasible = size <= 500 or (size <= DENSE_LIMIT and bits == 8 and (full or family is policy))
        dense = run_apart(dense_row, family, size, bits) if feasible else {}
        ratio = f"{dense['dense'] / row['exact']:.1f}" if dense else "-"
        others = " | ".join(
            f"{dense[key]:.3f}" if key in dense and dense[key] == dense[key] else "-"
            for key in ("dense", "rational")
        )
        print(
            f"| {family.__name__} | {size} | {bits} | {row['digits']:.0f} | {row['float']:.3f} "
            f"| {row['exact']:.3f} | {row['memory']:.0f} | {others} | {ratio} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
