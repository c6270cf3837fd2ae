"""How the time of each engine grows with the states of a chain.

The exponent is the slope of a straight line through the logarithms of states and CPU seconds, the first
call of each engine left out: it is made on a chain of ten states before the clock starts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations

from benchmarks.tables import Size, Table, fine_seconds
from benchmarks.timing import Clock, run_apart
from bisimdist import LMC, AllPairs, bound, delta
from bisimdist.checker import check_certificate
from bisimdist.models.library.random_chain import random_lmc

__all__ = ["WIDTH", "chain", "growth_tables", "one_pair"]

WIDTH = "1e-9"
LIMIT = 120.0


def chain(states: int, successors: int) -> LMC:
    return random_lmc(states, successors=successors, labels=3, seed=1)


def one_pair(model: LMC) -> list[tuple[str, str]]:
    """Return a pair of states of one label."""
    labels = model.labels
    s, t = next((s, t) for s, t in combinations(range(len(model)), 2) if labels[s] == labels[t])
    return [(model.states[s], model.states[t])]


def bracket(model: LMC, alpha: str) -> Callable[[], object]:
    return lambda: bound(model, alpha, pairs=AllPairs(model.states), precision=WIDTH)


def exact(model: LMC, alpha: str) -> Callable[[], object]:
    return lambda: bound(model, alpha, pairs=AllPairs(model.states))


def check(model: LMC, alpha: str) -> Callable[[], object]:
    answer = bound(model, alpha, pairs=one_pair(model), precision=WIDTH)
    certificate = b"".join(answer.compact_certificate())
    return lambda: check_certificate(certificate)


def true_delta(model: LMC, alpha: str) -> Callable[[], object]:
    pair = one_pair(model)
    return lambda: delta(model, alpha, pairs=pair, gap="1/100")


ENGINES: dict[str, tuple[Callable[[LMC, str], Callable[[], object]], int, str, tuple[int, ...]]] = {
    "brackets of all pairs, 2 successors, alpha 1": (bracket, 2, "1", (300, 600, 1200, 2400)),
    "brackets of all pairs, 5 successors, alpha 1": (bracket, 5, "1", (200, 400, 800, 1600)),
    "brackets of all pairs, 2 successors, alpha 21/20": (bracket, 2, "21/20", (300, 600, 1200, 2400)),
    "exact, all pairs, 2 successors, alpha 1": (exact, 2, "1", (40, 80, 160, 320)),
    "exact, all pairs, 2 successors, alpha 21/20": (exact, 2, "21/20", (20, 40, 80, 160)),
    "the checker, compact tables, 5 successors, alpha 1": (check, 5, "1", (200, 400, 800, 1600)),
    "the checker, compact tables, 2 successors, alpha 21/20": (check, 2, "21/20", (100, 200, 400, 800)),
    "delta of a pair up to 1/100, 2 successors, alpha 1": (true_delta, 2, "1", (20, 40, 80, 160)),
}


def measured(name: str, states: int) -> Iterator[float]:
    make, successors, alpha, _ = ENGINES[name]
    make(chain(10, 2), alpha)()
    if make is bracket:
        make(chain(200, 2), alpha)()  # loads the machine code
    work = make(chain(states, successors), alpha)
    clock = Clock.start()
    work()
    yield clock.spent().cpu


def exponent(points: list[tuple[int, float]]) -> float:
    """Return the slope of the line of least squares in logarithms."""
    xs, ys = ([math.log(value) for value in values] for values in zip(*points, strict=True))
    x, y = sum(xs) / len(xs), sum(ys) / len(ys)
    return sum((a - x) * (b - y) for a, b in zip(xs, ys, strict=True)) / sum((a - x) ** 2 for a in xs)


def growth_tables(size: Size) -> Iterator[Table]:
    """How the time of each engine grows with the states: exponents."""
    table = Table(
        "How the time grows with the states n of random chains: CPU seconds ~ n^exponent",
        ("engine", "states", "CPU s", "exponent"),
        [f"Three labels, seed 1; each size in a process of its own, at most {LIMIT:g} s."],
    )
    for name, (_, _, _, every) in list(ENGINES.items())[:: size.pick(3, 1, 1)]:
        points = []
        for states in size.pick(tuple(n // 4 for n in every[:2]), every[:3], every):
            spent: float | None = run_apart(measured, name, states, limit=LIMIT)
            if spent is None:
                break
            points.append((states, spent))
        slope = f"{exponent(points):.1f}" if len(points) > 1 else "-"
        sizes, seconds = ([str(n) for n, _ in points], [fine_seconds(spent) for _, spent in points])
        table.add(name, ", ".join(sizes), ", ".join(seconds), slope)
    yield table
