"""Refutations of every budget: sequences u v^n w whose ratio grows without bound.

After the prefix u the information state pi has become a vector a, and tau a vector b; one round of the
cycle v is a matrix M. Where ``x <= a`` and ``x M >= fast x``, the probability from pi is at least
``fast^n (x . h_w)``. Where ``b <= y`` on the states that still count and ``y M <= slow y`` there, the one
from tau is at most ``slow^n (y . h_w)``. With ``fast > slow`` no budget is left. A sequence that is possible
from pi and impossible from tau refutes every budget at once. See ``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product

import networkx as nx
import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpq_mat

from bisimdist.exact.doubles import as_double, simplest_within
from bisimdist.linear.kernel import positive_eigenvector
from bisimdist.models.reach import all_reached
from bisimdist.progress import UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.numeric import Function, NumericModel
from bisimdist.traces.engine.pump import growing_parts

Vector = Mapping[int, fmpq]
Word = tuple[int, ...]
Support = frozenset[int]

MAX_CYCLE = 3
MAX_WORDS = 4_000
MAX_SUPPORTS = 400
MAX_SUFFIXES = 30
MARGIN = 1e-6
_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class Impossible:
    """A sequence that one information state makes with positive probability, and the other never."""

    word: Word
    swapped: bool  # whether it is the first information state that never makes it


@dataclass(frozen=True, slots=True)
class Pump:
    """Sequences ``prefix cycle^n suffix`` whose ratio grows at least like ``(fast / slow)^n``."""

    prefix: Word  # prefix and cycle: at least one observation each
    cycle: Word
    suffix: Word
    swapped: bool  # whether it is from the second information state that they are more probable
    fast: fmpq  # what a round multiplies by at least on the probable side
    slow: fmpq  # what it multiplies by at most on the other
    below: Vector  # x, below the vector of the probable side after the prefix
    above: Vector  # y, above the vector of the other side, on the counting states
    # states such that no other state leads into them under the cycle, and outside of which the suffix is
    # impossible: those on which `above` bounds the vector of the other side
    counting: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Search:
    """A model with the matrices of its observations: entry (s, t) moves from s to t and observes there."""

    model: NumericModel
    matrices: tuple[fmpq_mat, ...]
    doubles: tuple[npt.NDArray[np.float64], ...]

    @classmethod
    def of(cls, model: NumericModel) -> _Search:
        size = len(model)
        matrices, doubles = [], []
        for symbol in model.symbols:
            entries = [[_ZERO] * size for _ in range(size)]
            for state, row in enumerate(model.rows):
                for target, probability in row:
                    seen = model.emissions[target].get(symbol)
                    if seen is not None:
                        entries[state][target] = probability * seen
            matrices.append(fmpq_mat(entries))
            doubles.append(np.array([[as_double(v) for v in row] for row in entries]))
        return cls(model, tuple(matrices), tuple(doubles))

    def start(self, function: Function, symbol: int) -> dict[int, fmpq]:
        """Return the vector after one observation, made by an information state."""
        return {
            state: mass * self.model.emissions[state][symbol]
            for state, mass in enumerate(function)
            if mass and symbol in self.model.emissions[state]
        }

    def vector(self, function: Function, word: Word) -> dict[int, fmpq]:
        """Return the vector after a sequence of observations."""
        masses = self.start(function, word[0])
        for symbol in word[1:]:
            moved: dict[int, fmpq] = {}
            for state, mass in masses.items():
                for target, probability in self.model.rows[state]:
                    seen = self.model.emissions[target].get(symbol)
                    if seen is not None:
                        moved[target] = moved.get(target, _ZERO) + mass * probability * seen
            masses = moved
        return masses

    def tail(self, suffix: Word) -> Function:
        """Return how probable the suffix is after a state has been observed."""
        if not suffix:
            return tuple(fmpq(1) for _ in self.model.states)
        function = self.model.of_word(suffix)
        return tuple(sum((p * function[t] for t, p in row), _ZERO) for row in self.model.rows)

    def cycle_matrix(self, word: Word) -> fmpq_mat:
        matrix = self.matrices[word[0]]
        for symbol in word[1:]:
            matrix = matrix * self.matrices[symbol]
        return matrix

    def cycle_doubles(self, word: Word) -> npt.NDArray[np.float64]:
        matrix = self.doubles[word[0]]
        for symbol in word[1:]:
            matrix = matrix @ self.doubles[symbol]
        return matrix


def find_pump(model: NumericModel, *, limits: Limits = UNBOUNDED) -> Pump | Impossible | None:
    """Look for a refutation of every budget.

    First for a sequence that is possible on one side only; then, for the supports that prefixes lead to, the
    cycles up to a length, and the supports of suffixes, for a cycle whose largest growth factor on one side
    exceeds that on the other. Doubles only say where to look.

    returns Pump, Impossible or None: None where nothing was found, which proves nothing.
    """
    search = _Search.of(model)
    prefixes = _prefixes(search, limits.deadline)
    for (one, two), word in prefixes.items():
        if not one or not two:
            return Impossible(word, swapped=not one)
    suffixes = _suffixes(search, limits.deadline)
    candidates: list[_Candidate] = []
    for cycle in _cycles(len(model.symbols), MAX_CYCLE):
        if candidates and len(cycle) > len(candidates[0].cycle):
            found = _first_proved(search, candidates, limits.deadline)
            if found is not None:
                return found
            candidates = []
        limits.deadline.check()
        limits.progress("cycles", 0, None)
        growth = _Growth.of(search.cycle_doubles(cycle))
        if growth.positive:
            candidates += _candidates(growth, cycle, prefixes, suffixes)
    return _first_proved(search, candidates, limits.deadline)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """Where to look for a pump, with what doubles say about the two growth factors."""

    gain: float
    prefix: Word
    cycle: Word
    suffix: Word
    swapped: bool
    ends: Support
    growth: _Growth


def _candidates(
    growth: _Growth,
    cycle: Word,
    prefixes: Mapping[tuple[Support, Support], Word],
    suffixes: Mapping[Support, Word],
) -> list[_Candidate]:
    """Return the candidates of a cycle that gain most: one for either side."""
    best: dict[bool, _Candidate] = {}
    for ends, suffix in suffixes.items():
        for (one, two), prefix in prefixes.items():
            for swapped, fast, slow in ((False, one, two), (True, two, one)):
                high, low = growth.of_supports(fast, ends), growth.of_supports(slow, ends)
                gain = high / low if low else (float("inf") if high else 0.0)
                if gain > 1 + MARGIN and (swapped not in best or gain > best[swapped].gain * (1 + MARGIN)):
                    best[swapped] = _Candidate(gain, prefix, cycle, suffix, swapped, ends, growth)
    return list(best.values())


def _first_proved(search: _Search, candidates: list[_Candidate], deadline: Deadline) -> Pump | None:
    for candidate in sorted(candidates, key=lambda one: -one.gain):
        deadline.check()
        found = _proved(search, candidate)
        if found is not None:
            return found
    return None


def _prefixes(search: _Search, deadline: Deadline) -> dict[tuple[Support, Support], Word]:
    """Return the pairs of supports that prefixes lead to, each with a shortest prefix."""
    model = search.model
    found: dict[tuple[Support, Support], Word] = {}
    queue: deque[tuple[Support, Support]] = deque()
    sides = [frozenset(s for s, mass in enumerate(side) if mass) for side in (model.first, model.second)]

    def add(pair: tuple[Support, Support], word: Word) -> None:
        if (pair[0] or pair[1]) and pair not in found and len(found) < MAX_SUPPORTS:
            found[pair] = word
            if pair[0] and pair[1]:
                queue.append(pair)

    able = [
        frozenset(s for s, emission in enumerate(model.emissions) if symbol in emission)
        for symbol in model.symbols
    ]
    successors = [frozenset(t for t, _ in row) for row in model.rows]
    for symbol in model.symbols:
        add((sides[0] & able[symbol], sides[1] & able[symbol]), (symbol,))
    while queue:
        deadline.check()
        pair = queue.popleft()
        one, two = (frozenset[int]().union(*(successors[s] for s in side)) for side in pair)
        for symbol in model.symbols:
            add((one & able[symbol], two & able[symbol]), (*found[pair], symbol))
    return found


def _suffixes(search: _Search, deadline: Deadline) -> dict[Support, Word]:
    """Return the sets of states after which some suffix is possible, each with a shortest suffix."""
    full = frozenset(range(len(search.model)))
    found: dict[Support, Word] = {full: ()}
    queue = deque([full])
    while queue and len(found) < MAX_SUFFIXES:
        deadline.check()
        word = found[queue.popleft()]
        for symbol in search.model.symbols:
            longer = (symbol, *word)
            support = frozenset(s for s, value in enumerate(search.tail(longer)) if value)
            if support and support not in found:
                found[support] = longer
                queue.append(support)
    return found


def _cycles(symbols: int, longest: int) -> Iterator[Word]:
    """Yield cycles, shortest first, up to a number of them."""
    for length in range(1, longest + 1):
        if symbols**length > MAX_WORDS:
            return
        yield from product(range(symbols), repeat=length)


@dataclass(slots=True)
class _Growth:
    """The growth factors of a cycle: of each strongly connected part of its matrix, in doubles."""

    matrix: npt.NDArray[np.float64]
    parts: list[tuple[frozenset[int], float]]
    reach: npt.NDArray[np.bool_]
    known: dict[tuple[Support, Support], float]

    @classmethod
    def of(cls, matrix: npt.NDArray[np.float64]) -> _Growth:
        closed = (matrix > 0) | np.eye(len(matrix), dtype=bool)
        for _ in range(max(1, len(matrix).bit_length())):
            closed = closed @ closed
        parts = [(frozenset(part), factor) for part, factor in growing_parts(matrix)[1]]
        return cls(matrix, parts, closed, {})

    @property
    def positive(self) -> bool:
        return bool(self.parts)

    def leads(self, sources: Support, targets: Support) -> bool:
        return bool(self.reach[np.ix_(sorted(sources), sorted(targets))].any()) if sources else False

    def of_supports(self, sources: Support, ends: Support) -> float:
        """Return the largest growth factor of a part on the way from some states to others."""
        key = (sources, ends)
        if key not in self.known:
            self.known[key] = next(
                (
                    factor
                    for members, factor in self.parts
                    if self.leads(sources, members) and self.leads(members, ends)
                ),
                0.0,
            )
        return self.known[key]


def _proved(search: _Search, candidate: _Candidate) -> Pump | None:
    """Make the vectors of a pump exactly, or tell (None) that they do not come out."""
    prefix, cycle = candidate.prefix, candidate.cycle
    swapped, ends, growth = candidate.swapped, candidate.ends, candidate.growth
    fast_side, slow_side = (
        (search.model.second, search.model.first) if swapped else (search.model.first, search.model.second)
    )
    matrix = search.cycle_matrix(cycle)
    counting = [s for s in range(len(search.model)) if growth.leads(frozenset([s]), ends)]
    for _ in range(len(search.model) + 1):
        start = search.vector(fast_side, prefix)
        part = next((p for p in growth.parts if p[0] <= start.keys() and growth.leads(p[0], ends)), None)
        other = search.vector(slow_side, prefix)
        limit = growth.of_supports(frozenset(other), ends)
        if part is not None and part[1] > limit * (1 + MARGIN):
            lower = _below(matrix, part, start, limit)
            upper = _above(matrix, counting, other, (limit, part[1]))
            if lower is not None and upper is not None and lower[0] > upper[0]:
                suffix, bounds = _made_from(part[0], candidate), (lower[0], upper[0], lower[1], upper[1])
                return Pump(prefix, cycle, suffix, swapped, *bounds, tuple(counting))
        prefix = (*prefix, *cycle)
    return None


def _made_from(part: frozenset[int], candidate: _Candidate) -> Word:
    """Return the suffix, after so many rounds of the cycle that it is possible from a part itself."""
    suffix, ends = candidate.suffix, candidate.ends
    while part.isdisjoint(ends):
        suffix = (*candidate.cycle, *suffix)
        leading = candidate.growth.matrix[:, sorted(ends)].any(axis=1)
        ends = frozenset(np.flatnonzero(leading).tolist())
    return suffix


def _below(
    matrix: fmpq_mat, part: tuple[frozenset[int], float], start: Vector, limit: float
) -> tuple[fmpq, Vector] | None:
    """Return a growth factor and a vector x <= start on a part with ``x M >= factor x``."""
    states = sorted(part[0])
    exact = _near(part[1], 1e-9 * part[1])
    vector = _eigenvector(matrix, states, exact)
    if vector is None:
        exact = _near((2 * part[1] + limit) / 3, (part[1] - limit) / 6)
        block = np.array([[as_double(matrix[s, t]) for t in states] for s in states])
        values, vectors = np.linalg.eig(block.T)
        found = np.abs(np.real(vectors[:, int(np.argmax(np.real(values)))]))
        vector = [_near(float(v), 1e-6 * float(max(found))) for v in found]
    for column, target in enumerate(states):
        arrived = sum((v * matrix[s, target] for v, s in zip(vector, states, strict=True)), _ZERO)
        if arrived < exact * vector[column]:
            return None
    scale = min((start[s] / v for s, v in zip(states, vector, strict=True) if v), default=_ZERO)
    return (exact, {s: scale * v for s, v in zip(states, vector, strict=True) if v}) if scale else None


def _above(
    matrix: fmpq_mat, counting: list[int], start: Vector, between: tuple[float, float]
) -> tuple[fmpq, Vector] | None:
    """Return a growth factor and a vector y >= start on the counting states with ``y M <= factor y``."""
    entered = all_reached(
        (s for s in counting if start.get(s)), lambda s: (t for t in counting if matrix[s, t])
    )
    states = sorted(entered)
    slow, fast = between
    shares = [_near(slow + share * (fast - slow), 0.05 * (fast - slow)) for share in (0.5, 0.1, 0.9)]
    for factor in ([_near(slow, 1e-9 * slow)] if slow > 0 else []) + shares:
        vector: dict[int, fmpq] = {}
        for component in _components(matrix, states):
            part = _above_on(matrix, component, start, factor)
            if part is None:
                break
            vector |= part
        else:
            return factor, vector
    return None


def _above_on(matrix: fmpq_mat, states: list[int], start: Vector, factor: fmpq) -> dict[int, fmpq] | None:
    """Return y >= start with ``y M <= factor y`` on states that no others lead to.

    An eigenvector, or else the sum of ``start (M / factor)^n`` over all n, which exists where the factor is
    larger than the growth.
    """
    first = [start.get(s, _ZERO) for s in states]
    vector = _eigenvector(matrix, states, factor)
    if vector is not None:
        scale = max(a / v for a, v in zip(first, vector, strict=True))
        return {s: scale * v for s, v in zip(states, vector, strict=True)}
    system = fmpq_mat(
        [[(fmpq(1) if s == t else _ZERO) - matrix[s, t] / factor for s in states] for t in states]
    )
    try:
        solved = system.solve(fmpq_mat([[value] for value in first]))
    except ZeroDivisionError:
        return None
    found = {s: solved[place, 0] for place, s in enumerate(states)}
    return found if all(found[s] >= a for s, a in zip(states, first, strict=True)) else None


def _components(matrix: fmpq_mat, states: list[int]) -> list[list[int]]:
    """Split states into parts between which the cycle does not move at all."""
    graph = nx.Graph()
    graph.add_nodes_from(states)
    graph.add_edges_from((s, t) for s in states for t in states if matrix[s, t])
    return [sorted(part) for part in nx.connected_components(graph)]


def _near(value: float, width: float) -> fmpq:
    return simplest_within(value - width, value + width)


def _eigenvector(matrix: fmpq_mat, states: list[int], factor: fmpq) -> list[fmpq] | None:
    return positive_eigenvector([[matrix[s, t] for t in states] for s in states], factor)
