"""Programs as chains: states a second, memory a state, elimination of draws, and how it grows with the noise.

python -m benchmarks.programs
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.machine import described_machine
from bisimdist.models.library.programs import noise, noisy_max, responses, sparse_vector
from bisimdist.programs import laws
from bisimdist.programs.chain import Origin
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Machine
from bisimdist.programs.machine_source import SOURCE
from bisimdist.programs.observed import chain_of
from bisimdist.programs.source import ExactRandom
from bisimdist.programs.sources import Sources

TIMES = 3


def walk(x: int, rng: Any, n: int = 300) -> int:
    """Add up coins: straight runs of a few statements."""
    for _ in range(n):
        x += rng.randrange(2)
    return x % 7


def listed(x: int, rng: Any, n: int = 10) -> int:
    """Keep a list from draw to draw."""
    seen = [x]
    for _ in range(n):
        seen.append(rng.randrange(2))
    return sum(seen)


def _compiled(function: Callable[..., Any]) -> Machine:
    plain = function.func if isinstance(function, partial) else function
    machine = Machine(Sources(plain))
    machine.prepare(plain)
    return machine


def _explore(
    function: Callable[..., Any], inputs: list[Any], cut: float | None, machine: Machine | None = None
) -> Exploration:
    plain = function.func if isinstance(function, partial) else function
    exploration = Exploration(machine or _compiled(function))
    more = function.keywords if isinstance(function, partial) else {}
    for value in inputs:
        exploration.start(repr(value), plain, [value], {**more, "rng": SOURCE})
    exploration.explore(cut=cut)
    return exploration


def measure(name: str, function: Callable[..., Any], inputs: list[Any], cut: float | None = None) -> None:
    """Print a line of the table: the best of several runs, in CPU seconds."""
    best = compiling = float("inf")
    for _ in range(TIMES):
        gc.collect()
        for known in (laws.order, laws.same):
            known.cache_clear()
        begun = time.process_time()
        machine = _compiled(function)
        compiled = time.process_time()
        exploration = _explore(function, inputs, cut, machine)
        best = min(best, time.process_time() - compiled)
        compiling = min(compiling, compiled - begun)
    states = len(exploration.nodes)
    runs = sum(len(edges or ()) for edges in exploration.edges)
    begun = time.process_time()
    chain_of(exploration, "output", [(repr(inputs[0]), repr(inputs[1]))], Origin(name, "output", {}))
    eliminating = time.process_time() - begun
    tracemalloc.start()
    kept = _explore(function, inputs, cut)
    memory = tracemalloc.get_traced_memory()[0] / len(kept.nodes)
    tracemalloc.stop()
    print(
        f"| {name} | {states} | {runs} | {compiling * 1000:.0f} | {best * 1000:.0f} "
        f"| {states / best:,.0f} | {runs / best:,.0f} "
        f"| {memory:,.0f} | {eliminating:.2f} |"
    )


class _Replayed(ExactRandom):
    """A source that answers from a script, and with 0 beyond it."""

    def __init__(self, script: list[int]) -> None:
        self.script = script
        self.sizes: list[int] = []

    def _randbelow(self, n: int) -> int:
        self.sizes.append(n)
        place = len(self.sizes) - 1
        return self.script[place] if place < len(self.script) else 0


def all_runs(function: Callable[..., Any], value: Any, most: int = 200_000) -> int:
    """Run a program along all of its paths, one after another, and return how many there are, or `most`."""
    script: list[int] = []
    for runs in range(1, most):
        source = _Replayed(script)
        function(value, source)
        script = [*script, *[0] * (len(source.sizes) - len(script))]
        while script and script[-1] + 1 == source.sizes[len(script) - 1]:
            script.pop()
        if not script:
            return runs
        script[-1] += 1
    return most


def against_all_runs(name: str, function: Callable[..., Any], value: Any) -> None:
    """Print a line of the second table: what running every path costs."""
    begun = time.process_time()
    runs = all_runs(function, value)
    naive = time.process_time() - begun
    begun = time.process_time()
    exploration = _explore(function, [value], None)
    print(f"| {name} | {runs} | {naive:.2f} | {len(exploration.nodes)} | {time.process_time() - begun:.3f} |")


def main() -> None:
    """Print the table."""
    print(described_machine())
    print(
        "| program | states | edges | compiling, ms | exploring, ms | states/s | edges/s | bytes a state "
        "| elimination, CPU s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    measure("300 coins", walk, [0, 1])
    measure("list of 10 coins", listed, [0, 1])
    counts = [(0,) * 10, (1,) * 10]
    measure("noisy max of 10 counts, clipped at 6", noisy_max.noisy_max_clipped, counts)
    measure("clipped at 12", partial(noisy_max.noisy_max_clipped, most=12), counts)
    measure("one-sided, not clipped", noisy_max.noisy_max_one_sided, counts)
    measure("two-sided, not clipped", noisy_max.noisy_max, counts)
    measure("RAPPOR, 6 bits", responses.rappor, [(0,) * 6, (1,) * 6])
    measure("sparse vector, 30 queries", sparse_vector.svt_stops_clipped, [(0,) * 30, (1,) * 30])
    for scale in (1, 2, 4, 8):
        measure(
            f"discrete Laplace, scale {scale}", partial(noise.discrete_laplace, scale=scale), [0, 1], 1e-14
        )
    for variance in (1, 4):
        measure(
            f"discrete Gaussian, variance {variance}",
            partial(noise.discrete_gaussian, variance=variance),
            [0, 1],
            1e-9,
        )
    print()
    print("| program | runs (at most 200000) | CPU s | states | exploration, CPU s |")
    print("| --- | --- | --- | --- | --- |")
    for n in (8, 12, 16):
        against_all_runs(f"{n} coins", partial(walk, n=n), 0)
    for queries in (1, 2):
        against_all_runs(f"sparse vector, {queries} queries", sparse_vector.svt_stops_clipped, (0,) * queries)


if __name__ == "__main__":
    main()
