"""Families of chains on which an engine goes wrong or slow: circulating mass, slow mixing, ties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from flint import fmpq

from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.lmc import LMC

__all__ = [
    "birth_death",
    "copies",
    "grid",
    "hypercube",
    "lazy",
    "leaking_cycle",
    "make_chain",
    "swap",
    "uniform",
    "weighted",
]

ONE = fmpq(1)
HALF = fmpq(1, 2)
PERCENT = fmpq(1, 100)


def make_chain(labels: Iterable[str], rows: Iterable[Iterable[tuple[int, ExactNumber]]]) -> LMC:
    """Return the chain s0, s1, …; entries of a row to the same state add up, zeros are dropped."""
    marks = tuple(labels)
    made = []
    for row in rows:
        total: dict[int, fmpq] = {}
        for target, probability in row:
            total[target] = total.get(target, fmpq(0)) + to_fmpq(probability)
        made.append(tuple(sorted((target, p) for target, p in total.items() if p != 0)))
    return LMC(tuple(f"s{index}" for index in range(len(marks))), marks, tuple(made))


def weighted(labels: Mapping[str, str], weights: Mapping[str, Mapping[str, int]]) -> LMC:
    """Return the chain whose probabilities are the given weights, divided by the sum of their row."""
    rows = {
        state: {target: fmpq(weight, sum(row.values())) for target, weight in row.items()}
        for state, row in weights.items()
    }
    return LMC.from_mappings(dict(labels), rows)


def leaking_cycle(size: int, leak: fmpq = PERCENT) -> LMC:
    """A cycle of one label; every state leaks a little, in three different amounts, to a final state."""
    amounts = [leak * (1 + index % 3) / 4 for index in range(size)]
    rows = [[((index + 1) % size, 1 - out), (size, out)] for index, out in enumerate(amounts)]
    return make_chain(["a"] * size + ["b"], [*rows, [(size, ONE)]])


def birth_death(size: int, up: fmpq) -> LMC:
    """A walk on a line that stays where it would leave it; only the last state can be told apart."""
    rows = [[(min(i + 1, size - 1), up), (max(i - 1, 0), 1 - up)] for i in range(size)]
    return make_chain(["a"] * (size - 1) + ["b"], rows)


def lazy(chain: LMC, stay: fmpq) -> LMC:
    """Return the chain that stays where it is with a probability, and else moves as before."""
    rows = [[(i, stay), *((t, (1 - stay) * p) for t, p in row)] for i, row in enumerate(chain.rows)]
    return make_chain(chain.labels, rows)


def grid(side: int) -> LMC:
    """A fair walk on a square; one corner can be told apart, and many states mirror each other."""

    def number(x: int, y: int) -> int:
        return min(max(x, 0), side - 1) * side + min(max(y, 0), side - 1)

    steps = ((1, 0), (-1, 0), (0, 1), (0, -1))
    rows = [[(number(x + a, y + b), fmpq(1, 4)) for a, b in steps] for x in range(side) for y in range(side)]
    return make_chain(["a"] * (side * side - 1) + ["b"], rows)


def hypercube(dimension: int) -> LMC:
    """A fair walk on a hypercube with one corner marked: every coupling ties with many others."""
    corners = range(2**dimension)
    rows = [[(corner ^ (1 << bit), fmpq(1, dimension)) for bit in range(dimension)] for corner in corners]
    return make_chain(["b" if corner == 0 else "a" for corner in corners], rows)


def uniform(size: int, labels: int) -> LMC:
    """From everywhere to everywhere with the same probability: all states of a label are bisimilar."""
    rows = [[(j, fmpq(1, size)) for j in range(size)] for _ in range(size)]
    return make_chain([chr(ord("a") + i % labels) for i in range(size)], rows)


def copies(chain: LMC, count: int) -> LMC:
    """Return a chain of many bisimilar copies of every state: each copy leads to the next one."""
    size = len(chain)
    rows = [
        [((copy + 1) % count * size + t, p) for t, p in row] for copy in range(count) for row in chain.rows
    ]
    return make_chain(chain.labels * count, rows)


def swap(count: int, stay: fmpq = HALF) -> LMC:
    """Pairs of states that change places and go round in a ring of pairs, with a little way out.

    Mass between the two of a pair circulates among pairs that are all undecided, at equal distances.
    """
    out, rest = (1 - stay) / 2, (1 - stay) / 2
    end, other_end = 2 * count, 2 * count + 1
    rows: list[list[tuple[int, fmpq]]] = []
    for k in range(count):
        following = (2 * k + 2) % (2 * count)
        rows.append([(2 * k + 1, stay), (following, rest), (end, out)])
        rows.append([(2 * k, stay), (following + 1, rest), (end, out / 2), (other_end, out / 2)])
    rows += [[(end, ONE)], [(other_end, ONE)]]
    return make_chain(["a"] * (2 * count) + ["b", "c"], rows)
