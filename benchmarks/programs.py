"""Programs as chains: states a second, memory a state, elimination of draws, and how it grows with the noise.

python benchmarks/programs.py
"""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

from bisimdist.models.library.programs import noise, noisy_max, sparse_vector
from bisimdist.programs.chain import Origin, chain_of
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Machine
from bisimdist.programs.machine_source import SOURCE
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


def _explore(function: Callable[..., Any], inputs: list[Any], cut: float | None) -> Exploration:
    plain = function.func if isinstance(function, partial) else function
    exploration = Exploration(Machine(Sources(plain)))
    more = function.keywords if isinstance(function, partial) else {}
    for value in inputs:
        exploration.start(repr(value), plain, (value,), {**more, "rng": SOURCE})
    exploration.explore(cut=cut)
    return exploration


def measure(name: str, function: Callable[..., Any], inputs: list[Any], cut: float | None = None) -> None:
    """Print a line of the table: the best of several runs, in CPU seconds."""
    best = float("inf")
    for _ in range(TIMES):
        gc.collect()
        begun = time.process_time()
        exploration = _explore(function, inputs, cut)
        best = min(best, time.process_time() - begun)
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
        f"| {name} | {states} | {runs} | {best:.2f} | {states / best:,.0f} | {runs / best:,.0f} "
        f"| {memory:,.0f} | {eliminating:.2f} |"
    )


def main() -> None:
    """Print the table."""
    print("| program | states | edges | CPU s | states/s | edges/s | bytes a state | elimination, CPU s |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    measure("300 coins", walk, [0, 1])
    measure("list of 10 coins", listed, [0, 1])
    counts = [(0,) * 10, (1,) * 10]
    measure("noisy max of 10 counts", noisy_max.noisy_max_clipped, counts)
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


if __name__ == "__main__":
    main()
