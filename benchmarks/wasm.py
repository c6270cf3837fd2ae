"""Compiled code as chains: states a second, and the same code run along single paths by wasmtime."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import bisimdist
from benchmarks.programs import explored, walk
from benchmarks.tables import NOT_INSTALLED, Size, Table
from bisimdist.programs.inputs import literal_inputs
from bisimdist.programs.wasm.chance import Sampler, chances_of
from bisimdist.programs.wasm.exploring import CompiledExploration
from bisimdist.programs.wasm.given import Given
from bisimdist.programs.wasm.guard import guard
from bisimdist.programs.wasm.machine import Machine
from bisimdist.programs.wasm.module import Module

__all__ = ["compiled_tables"]

FOLDER = Path(bisimdist.__file__).parent / "models/library/programs/wasm"
TIMES = 5
RUNS = 1000
CHANCES = {
    "response.wasm": ("env.rnd8",),
    "table.wasm": ("env.rnd64", "env.rnd1"),
    "laplace.wasm": ("env.rnd64",),
}


def compiled_tables(size: Size) -> Iterator[Table]:
    """Compiled code as chains: states a second, beside the same from Python, and single runs in wasmtime."""
    table = Table(
        "Compiled code as chains: CPU time",
        (
            "code", "states", "runs", "exploring, ms", "states/s", "runs/s", "300 coins in Python, states/s",
            "wasmtime with the guard, paths/s",
        ),
        (
            "A run is an execution of the code from one draw to the next, for one part of what is drawn. "
            "The coins are a program in Python, explored in turns with the code.",
        ),
    )  # fmt: skip
    _measure(table, "response.wasm", "response", (), None)
    _measure(table, "table.wasm", "whole", (), None)
    for rounds in size.pick((5,), (30, 60), (30, 60)):
        _measure(table, "table.wasm", "sum", (str(rounds),), None)
    for scale in size.pick((1,), (1, 16), (1, 16, 64)):
        _measure(table, "laplace.wasm", "laplace", (str(scale),), 1e-12)
    yield table


def _measure(table: Table, file: str, function: str, more: tuple[str, ...], cut: float | None) -> None:
    module = Module.read(str(FOLDER / file))
    chances = chances_of(module, CHANCES[file])
    index = module.exported(function)
    given = Given(Sampler(module, index, chances), more)
    spent, beside_it = [], []
    for _ in range(TIMES):
        graph = CompiledExploration(Machine(given.sampler))  # type: ignore[arg-type]
        for value in (0, 1):
            graph.start(str(value), given.laid, [value], {})
        begun = time.process_time()
        graph.explore(cut=cut)
        spent.append(time.process_time() - begun)
        begun = time.process_time()
        coins = explored(walk, [0, 1])
        beside_it.append((time.process_time() - begun) / len(coins.nodes))
    best = min(spent)
    begun = time.process_time()
    done = guard(graph.machine, given, literal_inputs(["0", "1"]), runs=RUNS)  # type: ignore[arg-type]
    beside = f"{done / (time.process_time() - begun):,.0f}" if done else NOT_INSTALLED
    name = f"{file}:{function}{' ' * bool(more)}{' '.join(more)}"
    states = len(graph.nodes)
    table.add(
        name, str(states), str(graph.runs), f"{1000 * best:.0f}", f"{states / best:,.0f}",
        f"{graph.runs / best:,.0f}", f"{1 / min(beside_it):,.0f}", beside,
    )  # fmt: skip
