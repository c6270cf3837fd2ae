"""Random skewed problems for the table of linear programs: three families, the same for the same seed."""

from __future__ import annotations

import random
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from flint import fmpq

from bisimdist.lp.batch import TransportBatch, pack
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.direct import program_of
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.program import Program

__all__ = ["ALPHAS", "FAMILIES", "Batch", "make_batch"]

ALPHAS = (fmpq(1), fmpq(5001, 5000), fmpq(3, 2))
"""Used in turn."""

FAMILIES = {
    "random": "masses over 100 (1000 for k = 100), costs over 10^6; a round changes each by up to 1 %",
    "tied": "all masses equal, costs 50/100, 75/100 or 1; a round draws every tenth cost anew",
    "close": "masses over 100 (1000 for k = 100), costs 1/2 + r 2^-60 with r < 8, drawn anew each round",
}
_ONE = {"random": 10**6, "tied": 100, "close": 1 << 60}


@dataclass(frozen=True, slots=True)
class Batch:
    """Problems of one size whose costs alone change between rounds.

    Every problem moves mass from `size` states to as many others. All distances are in [1/2, 1], so no
    detour through a third state can pay, and every solver may be given the same transportation program.
    """

    size: int
    one: int
    """What stands for distance 1."""
    alphas: list[fmpq]
    masses: list[tuple[list[fmpq], list[fmpq]]]
    programs: list[Program]
    """The cells of the k-th are numbered from k * size**2."""
    rounds: list[list[int]]
    """By round: the costs of all cells, in units of 1 / one."""

    def __len__(self) -> int:
        return len(self.programs)

    def packed(self) -> TransportBatch:
        return pack(self.programs)

    def costs(self, round_: int, index: int) -> list[int]:
        square = self.size**2
        return self.rounds[round_][index * square : (index + 1) * square]

    def vector(self, round_: int, one: int) -> Int64Array:
        """Return the costs of a round in units of 1 / `one`, rounded down."""
        return np.array([cost * one // self.one for cost in self.rounds[round_]], dtype=np.int64)

    def problem(self, round_: int, index: int) -> SkewedProblem:
        """Return one problem in the form of the common door, on the states of both supports."""
        left, right = self.masses[index]
        size = self.size
        none, far = [fmpq(0)] * size, fmpq(1)
        costs = [fmpq(cost, self.one) for cost in self.costs(round_, index)]
        n = 2 * size
        distance = [[fmpq(0) if i == j else far for j in range(n)] for i in range(n)]
        for i in range(size):
            for j in range(size):
                distance[i][size + j] = distance[size + j][i] = costs[i * size + j]
        return SkewedProblem(self.alphas[index], (*left, *none), (*none, *right), tuple(map(tuple, distance)))


def _masses(generator: random.Random, size: int, family: str) -> list[fmpq]:
    if family == "tied":
        return [fmpq(1, size)] * size
    whole = 100 if size < 100 else 1000
    cuts = [0, *sorted(generator.sample(range(1, whole), size - 1)), whole]
    return [fmpq(high - low, whole) for low, high in pairwise(cuts)]


def _fresh(generator: random.Random, family: str) -> int:
    if family == "random":
        return generator.randrange(500_000, 1_000_001)
    if family == "tied":
        return generator.choice((50, 75, 100))
    return (1 << 59) + generator.randrange(8)


def _next(generator: random.Random, family: str, cost: int) -> int:
    if family == "random":
        return min(10**6, max(500_000, cost + generator.randrange(-10_000, 10_001)))
    if family == "tied" and generator.random() > 0.1:
        return cost
    return _fresh(generator, family)


def make_batch(family: str, size: int, count: int, rounds: int, *, seed: int = 1) -> Batch:
    """Return `count` problems of the family with as many rounds of costs."""
    generator = random.Random(f"{family} {size} {seed}")
    alphas = [ALPHAS[k % len(ALPHAS)] for k in range(count)]
    masses = [(_masses(generator, size, family), _masses(generator, size, family)) for _ in range(count)]
    costs = [[_fresh(generator, family) for _ in range(count * size**2)]]
    for _ in range(rounds - 1):
        costs.append([_next(generator, family, cost) for cost in costs[-1]])
    one = _ONE[family]
    blank = Batch(size, one, alphas, masses, [], costs)
    programs = []
    for k in range(count):
        made, _ = program_of(blank.problem(0, k))
        cells = tuple(range(k * size**2, (k + 1) * size**2))
        programs.append(Program(made.sources, made.sinks, made.supply, made.capacity, cells, made.whole))
    return Batch(size, one, alphas, masses, programs, costs)
