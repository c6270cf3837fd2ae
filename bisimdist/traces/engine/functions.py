"""The functions s -> Pr(s, w) of traces w modulo a prime, shortest traces first, as long as they are new.

The function of a trace is the vector of its probabilities from every class. The functions of all traces span
a space of dimension at most the number of classes, so finitely many traces tell apart what any trace does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from flint import fmpq, fmpz, nmod_mat
from numpy.typing import NDArray

from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.partition import canonical_numbering
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.residue_echelon import PRIMES_BELOW, ResidueEchelon, Residues
from bisimdist.traces.engine.system import WordSystem

MAX_ENTRIES = 4_000_000  # how many products are formed at a time

MAX_BATCH = 256

MAX_COMPONENT = 300  # how many classes that lead to one another are solved for at once


def primes(chain: WordSystem) -> Iterator[int]:
    """Yield primes that divide no denominator of a chain, the largest first."""
    denominators = {p.q for step in chain.steps if step is not None for _, p in step[1]}
    candidate = PRIMES_BELOW - 1
    while candidate > 2:
        if fmpz(candidate).is_prime() and all(q % candidate for q in denominators):
            yield candidate
        candidate -= 2


@dataclass(frozen=True, slots=True)
class Level:
    """The traces of one length whose functions depend on none of the traces before, in ascending order."""

    length: int
    values: Residues  # for each trace its function, as residues
    rank: int  # how many traces there are, shorter ones included (the empty one excluded)


@dataclass(slots=True)
class TraceFunctions:
    """Explores the functions of traces modulo one prime.

    Traces come by length and then alphabetically. A trace is kept if its function is no linear combination
    of those of earlier traces. Then the function of *every* trace is a combination of those of kept traces
    that do not come later (docs/theory/trace-logic.md). The empty trace has the constant function, which
    tells nothing apart; it is left out.
    """

    chain: WordSystem
    prime: int
    parents: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    _groups: list[NDArray[np.int64]] = field(init=False, repr=False)
    _symbols: tuple[str, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._symbols = self.chain.symbols
        self._groups = [np.array(group, dtype=np.int64) for group in self.chain.groups()]

    def word(self, place: int) -> tuple[str, ...]:
        result = []
        while place >= 0:
            result.append(self._symbols[self.firsts[place]])
            place = self.parents[place]
        return tuple(result)

    def levels(self, deadline: Deadline = NEVER) -> Iterator[Level]:
        """Yield the levels from length 1 on, until one is empty."""
        matrix = _Matrix(self.chain, self.prime)
        spans = [ResidueEchelon(len(group), self.prime) for group in self._groups]
        values = np.ones((1, len(self.chain)), dtype=np.int64)
        places = [-1]
        length = 0
        while places:
            length += 1
            fresh: list[Residues] = []
            before = len(self.parents)
            # Alphabetically first by the first action, then by the rest: the order of `places`.
            moved = [
                matrix.apply(values[start : start + MAX_BATCH]) for start in range(0, len(values), MAX_BATCH)
            ]
            for action, (group, span) in enumerate(zip(self._groups, spans, strict=True)):
                for number, batch in enumerate(moved):
                    deadline.check()
                    if span.full:
                        break
                    offered = batch[:, group]
                    for row in span.extend(offered):
                        self.parents.append(places[number * MAX_BATCH + row])
                        self.firsts.append(action)
                        function = np.zeros(len(self.chain), dtype=np.int64)
                        function[group] = offered[row]
                        fresh.append(function)
            places = list(range(before, len(self.parents)))
            if fresh:
                values = np.array(fresh)
                yield Level(length, values, len(self.parents))


def fingerprints(chain: WordSystem, deadline: Deadline = NEVER) -> list[int]:
    """Return a partition that is never finer than trace equivalence, and hardly ever coarser.

    Give each action a random matrix, each trace the product of those of its actions, and each class the sum
    of the products of all traces, each times its probability: one linear system. Where that leaves classes
    together, give each action a random weight at each place of a trace, and add up the probabilities of all
    traces of one length, each times the weights of its actions. The sums of two classes differ only if some
    trace has different probabilities (``docs/theory/trace-logic.md``, "One sum for all traces"). If one has,
    sums by length are equal with a probability below length / prime; sums of all lengths may be equal
    because matrices obey laws that words do not.
    """
    prime, random = next(primes(chain)), np.random.default_rng(0)
    labels = list(canonical_numbering(_sums_of_all(chain, prime, random, deadline)))
    matrix, place = _Matrix(chain, prime), dict[str | None, int]()
    numbers = np.array([place.setdefault(action, len(place)) for action in chain.actions], dtype=np.int64)
    known = 0
    while known < max(labels, default=0) + 1 < len(chain):
        known = max(labels) + 1
        sums, total = np.ones((1, len(chain)), dtype=np.int64), np.zeros(len(chain), dtype=np.int64)
        length, before = 0, known
        while True:
            for _ in range(length // 4 or chain.depth + 1):
                deadline.check()
                weights = random.integers(1, prime, len(place) + 1)
                sums = residues(matrix.apply(sums) * weights[numbers], prime)
                total = residues(total * weights[-1] + sums[0], prime)
                length += 1
            found = canonical_numbering(zip(labels, total.tolist(), strict=True))
            count = max(found) + 1
            if count == len(chain) or count == before or length > len(chain):
                break
            before = count
        labels = list(found)
    return labels


def _sums_of_all(
    chain: WordSystem, prime: int, random: np.random.Generator, deadline: Deadline
) -> list[tuple[int, int]]:
    """Return for each class the sum over all traces w of Pr(w) M(w) (1, 1); M(w) is a product of matrices.

    Everything is modulo the prime. Zeros, if the classes that lead to one another are too many to solve.
    """
    known: dict[fmpq, int] = {}
    rows: list[dict[int, int]] = []
    for step in chain.steps:
        rows.append({})
        for target, p in () if step is None else step[1]:
            if p not in known:
                known[p] = int(p.p) * pow(int(p.q), -1, prime) % prime
            rows[-1][target] = known[p]
    drawn = {action: random.integers(1, prime, 4).tolist() for action in chain.symbols}
    matrices = [[0] * 4 if action is None else drawn[action] for action in chain.actions]
    sums = [(1, 1)] * len(chain)
    for component in strongly_connected_components([list(row) for row in rows]):
        deadline.check()
        if len(component) > MAX_COMPONENT:
            return [(0, 0)] * len(chain)
        inside = set(component)
        constants = []
        for s in component:
            a, b, c, d = matrices[s]
            after = [(weight, sums[t]) for t, weight in rows[s].items() if t not in inside]
            x, y = (sum(weight * both[part] for weight, both in after) for part in (0, 1))
            constants.append(((1 + a * x + b * y) % prime, (1 + c * x + d * y) % prime))
        among = [{t: weight for t, weight in rows[s].items() if t in inside} for s in component]
        if any(among):
            try:
                constants = _solved([matrices[s] for s in component], component, among, constants, prime)
            except ZeroDivisionError:
                return [(0, 0)] * len(chain)
        for s, both in zip(component, constants, strict=True):
            sums[s] = both
    return sums


def _solved(
    matrices: Sequence[Sequence[int]],
    component: Sequence[int],
    rows: Sequence[Mapping[int, int]],
    constants: Sequence[tuple[int, int]],
    prime: int,
) -> list[tuple[int, int]]:
    """Return the sums of classes that lead to one another, where `constants` are those that lead out.

    Raises ZeroDivisionError if the matrices do not determine them.
    """
    place = {s: 2 * n for n, s in enumerate(component)}
    size = 2 * len(place)
    system = nmod_mat(size, size, prime)
    for n, (matrix, row) in enumerate(zip(matrices, rows, strict=True)):
        for i in (0, 1):
            system[2 * n + i, 2 * n + i] = 1
            for (t, weight), j in product(row.items(), (0, 1)):
                system[2 * n + i, place[t] + j] -= matrix[2 * i + j] * weight
    solved = system.solve(nmod_mat(size, 1, [value for both in constants for value in both], prime))
    return [(int(solved[n, 0]), int(solved[n + 1, 0])) for n in range(0, size, 2)]


class _Matrix:
    """The transitions of a chain modulo a prime; rows of one entry come first, for they take no sum."""

    def __init__(self, chain: WordSystem, prime: int) -> None:
        self.prime = prime
        self.size = len(chain)
        rows = [(s, step[1]) for s, step in enumerate(chain.steps) if step is not None]
        rows.sort(key=lambda row: len(row[1]) != 1)
        self.alone = sum(len(row) == 1 for _, row in rows)
        self.sources = np.array([s for s, _ in rows], dtype=np.int64)
        entries = [entry for _, row in rows for entry in row]
        self.starts = np.cumsum([0, *(len(row) for _, row in rows[self.alone : -1])])
        self.targets = np.array([target for target, _ in entries], dtype=np.int64)
        self.weights = np.array([int(p.p) * pow(int(p.q), -1, prime) % prime for _, p in entries])

    def apply(self, functions: Residues) -> Residues:
        """Return what each function is expected to be after one step, as rows."""
        result = np.zeros_like(functions)
        if not len(self.sources):
            return result
        alone = self.alone
        chunk = max(1, MAX_ENTRIES // len(self.targets))
        for start in range(0, len(functions), chunk):
            part = functions[start : start + chunk]
            products = residues(part[:, self.targets] * self.weights, self.prime)
            result[start : start + chunk, self.sources[:alone]] = products[:, :alone]
            if alone < len(self.sources):
                sums = np.add.reduceat(products[:, alone:], self.starts, axis=1)
                result[start : start + chunk, self.sources[alone:]] = residues(sums, self.prime)
        return result


def residues(values: NDArray[np.int64], prime: int) -> Residues:
    """Return values modulo a prime: division is faster than the remainder in numpy."""
    return values - values // prime * prime
