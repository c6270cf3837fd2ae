"""Programs as chains: states a second, memory, elimination of draws, growth with the noise."""

from __future__ import annotations

import gc
import time
import tracemalloc
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks.tables import Size, Table, fine_seconds
from bisimdist.models.library.programs import noise, noisy_max, responses, sparse_vector
from bisimdist.programs import laws
from bisimdist.programs.chain import Origin
from bisimdist.programs.exploration import Exploration
from bisimdist.programs.machine import Machine
from bisimdist.programs.machine_source import SOURCE
from bisimdist.programs.observed import chain_of
from bisimdist.programs.source import ExactRandom
from bisimdist.programs.sources import Sources

__all__ = ["program_tables"]

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
    plain: Any = function.func if isinstance(function, partial) else function
    machine = Machine(Sources(plain))
    machine.prepare(plain)
    return machine


def explored(
    function: Callable[..., Any], inputs: list[Any], cut: float | None = None, machine: Machine | None = None
) -> Exploration:
    """Explore a function from all of its inputs."""
    plain = function.func if isinstance(function, partial) else function
    exploration = Exploration(machine or _compiled(function))
    more = function.keywords if isinstance(function, partial) else {}
    for value in inputs:
        exploration.start(repr(value), plain, [value], {**more, "rng": SOURCE})
    exploration.explore(cut=cut)
    return exploration


def _measure(
    table: Table, name: str, function: Callable[..., Any], inputs: list[Any], cut: float | None = None
) -> None:
    """Add a row: the best of several runs, in CPU seconds."""
    best = compiling = float("inf")
    for _ in range(TIMES):
        gc.collect()
        for known in (laws.order, laws.same):
            known.cache_clear()
        begun = time.process_time()
        machine = _compiled(function)
        compiled = time.process_time()
        exploration = explored(function, inputs, cut, machine)
        best = min(best, time.process_time() - compiled)
        compiling = min(compiling, compiled - begun)
    states = len(exploration.nodes)
    runs = sum(len(edges or ()) for edges in exploration.edges)
    begun = time.process_time()
    chain_of(
        exploration, frozenset({"output"}), [(repr(inputs[0]), repr(inputs[1]))], Origin(name, "output", {})
    )
    eliminating = time.process_time() - begun
    tracemalloc.start()
    kept = explored(function, inputs, cut)
    memory = tracemalloc.get_traced_memory()[0] / len(kept.nodes)
    tracemalloc.stop()
    table.add(
        *(name, str(states), str(runs), f"{compiling * 1000:.0f}", f"{best * 1000:.0f}"),
        *(f"{states / best:,.0f}", f"{runs / best:,.0f}", f"{memory:,.0f}", fine_seconds(eliminating)),
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


def _against_all_runs(table: Table, name: str, function: Callable[..., Any], value: Any) -> None:
    """Add a row: what running every path costs."""
    begun = time.process_time()
    runs = all_runs(function, value)
    naive = time.process_time() - begun
    begun = time.process_time()
    exploration = explored(function, [value], None)
    spent = time.process_time() - begun
    table.add(name, str(runs), fine_seconds(naive), str(len(exploration.nodes)), fine_seconds(spent))


def program_tables(size: Size) -> Iterator[Table]:
    """Python functions as chains: states a second, memory, growth with the noise."""
    table = Table(
        "Programs as chains: CPU time",
        (
            *("program", "states", "edges", "compiling, ms", "exploring, ms", "states/s", "edges/s"),
            *("bytes a state", "elimination s"),
        ),
        ("Edges are runs of straight code from one draw to the next that lead to different places.",),
    )
    counts = [(0,) * 10, (1,) * 10]
    coins = size.pick(50, 300, 300)
    _measure(table, f"{coins} coins", partial(walk, n=coins), [0, 1])
    _measure(table, "list of 10 coins", listed, [0, 1])
    if size is not Size.QUICK:
        _measure(table, "noisy max of 10 counts, clipped at 6", noisy_max.noisy_max_clipped, counts)
        _measure(table, "clipped at 12", partial(noisy_max.noisy_max_clipped, most=12), counts)
        _measure(table, "one-sided, not clipped", noisy_max.noisy_max_one_sided, counts)
        _measure(table, "two-sided, not clipped", noisy_max.noisy_max, counts)
    _measure(table, "RAPPOR, 6 bits", responses.rappor, [(0,) * 6, (1,) * 6])
    queries = [(0,) * 30, (1,) * 30]
    _measure(table, "sparse vector, 30 queries", sparse_vector.svt_stops_clipped, queries)
    for scale in size.pick((1,), (1, 2, 4, 8), (1, 2, 4, 8)):
        function = partial(noise.discrete_laplace, scale=scale)
        _measure(table, f"discrete Laplace, scale {scale}", function, [0, 1], 1e-14)
    for variance in size.pick((), (1, 4), (1, 4)):
        function = partial(noise.discrete_gaussian, variance=variance)
        _measure(table, f"discrete Gaussian, variance {variance}", function, [0, 1], 1e-9)
    yield table
    table = Table(
        "Exploration beside running every path: CPU seconds",
        ("program", "runs (at most 200000)", "s", "states", "exploration s"),
    )
    for n in size.pick((8,), (8, 12, 16), (8, 12, 16)):
        _against_all_runs(table, f"{n} coins", partial(walk, n=n), 0)
    for n in size.pick((1,), (1, 2), (1, 2)):
        _against_all_runs(table, f"sparse vector, {n} queries", sparse_vector.svt_stops_clipped, (0,) * n)
    yield table
