"""Traces u v^n z whose quotient grows like a power of n: both sides shrink at one rate, one of them later.

A round of the cycle v is a matrix M, and f the largest rate on both sides. Mass that passes through k + 1
parts of the rate f, one after the other, is left like ``n^k f^n`` after n rounds, with as many vectors that
hand on to each other as the proof; on the other side fewer such parts follow each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb

import networkx as nx
import numpy as np
from flint import fmpq, fmpq_mat

from bisimdist.exact.doubles import simplest_within
from bisimdist.linear.kernel import kernel, positive_eigenvector
from bisimdist.traces.engine.pump import CycleRound, Repeated, Rounds, moved

Word = tuple[str, ...]
Masses = dict[int, fmpq]

TIE = 1e-9
"""Rates that differ by no more, relatively, are looked at as if they were equal; the proof is exact."""
MAX_STATES = 40
MAX_ROUNDS = 64
MAX_SMOOTHING = 2**16
ZERO = fmpq(0)


def find_drift_trace(rounds: Rounds, tries: Iterable[tuple[Word, Word]]) -> Repeated | None:
    """Look for a quotient that grows like a power of the number of rounds; the proof is exact.

    The arguments, and what is raised, are those of `bisimdist.traces.engine.pump.find_pump_trace`.
    """
    tied: dict[Word, bool] = {}

    def wanted(turn: CycleRound) -> bool:
        if turn.cycle not in tied:
            tied[turn.cycle] = _tied(turn)
        return tied[turn.cycle]

    seen: set[tuple[Word, Word, frozenset[int], frozenset[int]]] = set()
    for look in rounds.looks(tries, wanted=wanted):
        cycle = look.turn.cycle
        shape = cycle, look.suffix, frozenset(look.rich), frozenset(look.poor)
        if shape in seen:
            continue
        seen.add(shape)
        found = _Drift(look.turn, look.suffix).found(look.rich, look.poor)
        if found is not None:
            more, factor, below, above = found
            prefix = look.prefix + cycle * more
            return Repeated(prefix, cycle, look.suffix, look.swapped, factor, below, above)
    return None


def _tied(turn: CycleRound) -> bool:
    """Tell whether a part of a cycle leads to another one of the same rate."""
    parts = turn.components
    for number, (one, rate) in enumerate(parts):
        for other, after in parts[number + 1 :]:
            if rate - after > TIE * rate or rate == 0:
                break
            if nx.has_path(turn.drawn, one[0], other[0]) or nx.has_path(turn.drawn, other[0], one[0]):
                return True
    return False


class _Order:
    """The parts of a matrix on some states, in the order in which mass passes through them."""

    def __init__(self, turn: CycleRound, states: set[int], rate: float) -> None:
        drawn = turn.drawn.subgraph(states)
        merged = nx.condensation(drawn)
        self.members: dict[int, list[int]] = {n: sorted(merged.nodes[n]["members"]) for n in merged.nodes}
        self.rates = {n: _rate(turn, part) for n, part in self.members.items()}
        self.critical = {n for n, value in self.rates.items() if abs(value - rate) <= TIE * rate}
        self.level: dict[int, int] = {}
        self.before: dict[int, int | None] = {}
        for n in nx.topological_sort(merged):
            earlier = max(merged.predecessors(n), key=lambda m: self.level[m], default=None)
            self.before[n] = earlier
            self.level[n] = (0 if earlier is None else self.level[earlier]) + (n in self.critical)

    def way(self) -> tuple[int, list[int]]:
        """Return the largest number of critical parts on a way, and the states of the parts on it."""
        last: int | None = min(self.level, key=lambda n: (-self.level[n], n))
        while last is not None and last not in self.critical:
            last = self.before[last]
        count = 0 if last is None else self.level[last]
        parts: list[int] = []
        while last is not None:
            parts.append(last)
            last = self.before[last]
        while parts and parts[-1] not in self.critical:
            parts.pop()
        return count, [state for n in reversed(parts) for state in self.members[n]]

    def blocks(self) -> list[tuple[bool, list[list[int]]]]:
        """Return the parts in blocks, each before those that it leads to: whether critical, and the parts."""
        result = []
        for level in range(max(self.level.values(), default=0) + 1):
            for critical in (True, False):
                parts = [
                    part
                    for n, part in self.members.items()
                    if self.level[n] == level and (n in self.critical) == critical
                ]
                if parts:
                    result.append((critical, parts))
        return result


def _rate(turn: CycleRound, part: Sequence[int]) -> float:
    inner = turn.matrix[np.ix_(part, part)]
    return float(inner[0, 0]) if len(part) == 1 else float(np.max(np.abs(np.linalg.eigvals(inner))))


class _Drift:
    """The search for one cycle and one suffix."""

    def __init__(self, turn: CycleRound, suffix: Word) -> None:
        self.turn = turn
        self.last = turn.makers(suffix)
        self.rows: dict[int, Masses] = {}

    def _row(self, state: int) -> Masses:
        if state not in self.rows:
            self.rows[state] = moved(self.turn.system, {state: fmpq(1)}, self.turn.cycle)
        return self.rows[state]

    def _after(self, masses: Mapping[int, fmpq]) -> Masses:
        result: Masses = {}
        for state, mass in masses.items():
            for target, weight in self._row(state).items():
                result[target] = result.get(target, ZERO) + mass * weight
        return result

    def found(
        self, rich: Masses, poor: Masses
    ) -> tuple[int, fmpq, tuple[Masses, ...], tuple[tuple[fmpq, Masses], ...]] | None:
        """Return how many rounds belong to the prefix, the rate, and the vectors of both sides."""
        turn = self.turn
        counting = turn.closure(self.last, turn.drawn.reverse(copy=False))
        reached = turn.closure(rich, turn.drawn) & counting
        others = turn.closure(poor, turn.drawn) & counting
        rate = max((radius for part, radius in turn.components if reached.issuperset(part)), default=0.0)
        if rate <= 0 or not others:
            return None
        order = _Order(turn, reached, rate)
        count, way = order.way()
        limits = _Order(turn, others, rate)
        if count < 2 or max(limits.rates.values()) > rate * (1 + TIE) or limits.way()[0] >= count:
            return None
        way += self._way_out(way)
        factor = self._exact(order, rate)
        if factor is None or len(way) > MAX_STATES:
            return None
        chain = self._chain(way, factor, count)
        if chain is None:
            return None
        for more in range(MAX_ROUNDS):
            if rich.keys() >= chain[0].keys():
                scale = min(rich[state] / mass for state, mass in chain[0].items())
                below = tuple({state: mass * scale for state, mass in vector.items()} for vector in chain)
                above = self._above(poor, factor, rate)
                return None if above is None else (more, factor, below, above)
            rich, poor = self._after(rich), self._after(poor)
        return None

    def _way_out(self, way: Sequence[int]) -> list[int]:
        """Return states that lead from the end of the way to one that makes the suffix."""
        if not way or self.last.intersection(way):
            return []
        ways = nx.single_source_shortest_path(self.turn.drawn, way[-1])
        best = min((path for state, path in ways.items() if state in self.last), key=len)
        return [state for state in best if state not in set(way)]

    def _exact(self, order: _Order, rate: float) -> fmpq | None:
        """Return the rate of the critical parts, if it is a short rational and exactly the same in all."""
        parts = [order.members[n] for n in order.critical]
        guess = next((self._row(part[0]).get(part[0], ZERO) for part in parts if len(part) == 1), None)
        factor = simplest_within(rate * (1 - TIE), rate * (1 + TIE)) if guess is None else guess
        return factor if all(self._eigenvector(part, factor) is not None for part in parts) else None

    def _matrix(self, states: Sequence[int]) -> fmpq_mat:
        return fmpq_mat([[self._row(s).get(t, ZERO) for t in states] for s in states])

    def _eigenvector(self, part: Sequence[int], factor: fmpq) -> Masses | None:
        """Return a positive vector that a round multiplies by the factor within a part."""
        if len(part) > MAX_STATES:
            return None
        rows = [[self._row(s).get(t, ZERO) for t in part] for s in part]
        vector = positive_eigenvector(rows, factor)
        return None if vector is None else dict(zip(part, vector, strict=True))

    def _chain(self, way: Sequence[int], factor: fmpq, count: int) -> list[Masses] | None:
        """Return vectors of which each one is multiplied by the factor, and handed on to the next one."""
        size = len(way)
        shifted = self._matrix(way) - _scalar(factor, size)
        power = _scalar(fmpq(1), size)
        for _ in range(count):
            power *= shifted
        for start in kernel(power.transpose()):
            vectors = [fmpq_mat([start])]
            for _ in range(count - 1):
                vectors.append(vectors[-1] * shifted)
            lead = next((value for value in vectors[-1].entries() if value != 0), None)
            if lead is None:
                continue
            if lead < 0:
                vectors = [-1 * vector for vector in vectors]
            rounds = 1
            while rounds <= MAX_SMOOTHING:
                smooth = [_smoothed(vectors[n:], factor, rounds) for n in range(count)]
                if all(value >= 0 for vector in smooth for value in vector):
                    return [
                        {s: value for s, value in zip(way, vector, strict=True) if value} for vector in smooth
                    ]
                rounds *= 4
        return None

    def _above(self, poor: Masses, factor: fmpq, rate: float) -> tuple[tuple[fmpq, Masses], ...] | None:
        turn = self.turn
        reached = turn.closure(poor, turn.drawn)
        others = reached & turn.closure(self.last, turn.drawn.reverse(copy=False))
        if not turn.sound(others, self.last, poor, reached):
            return None
        arrived = {state: poor.get(state, ZERO) for state in others}
        result: list[tuple[fmpq, Masses]] = []
        for critical, parts in _Order(turn, others, rate).blocks():
            shapes: list[Masses] = []
            for part in parts if critical else [[state for group in parts for state in group]]:
                shape = self._eigenvector(part, factor) if critical else self._settling(part, rate)
                if shape is None:
                    return None
                shapes.append(shape)
            vector: Masses = {}
            for shape in shapes:
                scale = max(arrived[state] / mass for state, mass in shape.items())
                vector |= {state: mass * scale for state, mass in shape.items()} if scale else shape
            after = self._after(vector)
            slow = max((after.get(state, ZERO) / mass for state, mass in vector.items()), default=ZERO)
            if slow > factor or (slow == factor and not critical):
                return None
            result.append((slow, vector))
            for state, mass in after.items():
                if state in arrived and state not in vector:
                    arrived[state] += mass
        return tuple(result)

    def _settling(self, part: Sequence[int], rate: float) -> Masses | None:
        """Return a vector that a round makes smaller by more than the rate, on states that all do so."""
        inner = self.turn.matrix[np.ix_(part, part)]
        largest = float(np.max(np.abs(np.linalg.eigvals(inner))))
        middle = (largest + rate) / 2
        vector = np.linalg.solve((np.eye(len(part)) - inner / middle).T, np.ones(len(part)))
        if not np.isfinite(vector).all() or vector.min() <= 0:
            return None
        return {
            state: simplest_within(float(value) * (1 - TIE), float(value) * (1 + TIE))
            for state, value in zip(part, vector, strict=True)
        }


def _scalar(value: fmpq, size: int) -> fmpq_mat:
    return fmpq_mat([[value if n == m else ZERO for m in range(size)] for n in range(size)])


def _smoothed(vectors: Sequence[fmpq_mat], factor: fmpq, rounds: int) -> list[fmpq]:
    """Return what so many rounds make of the first vector, divided by as many factors."""
    result = [ZERO] * vectors[0].ncols()
    for number, vector in enumerate(vectors):
        weight = comb(rounds, number) / factor**number
        result = [value + weight * entry for value, entry in zip(result, vector.entries(), strict=True)]
    return result
