"""Traces u v^n z whose quotient grows without bound, although no belief ever comes back.

After the prefix u the two vectors of masses are a and b; one round of the cycle v is a matrix M. Where
``x <= a`` and ``x M >= fast x``, the probability on the one side is at least ``fast^n (x . h)``, for the
probabilities h of the suffix z. Where ``b <= y`` and ``y M <= slow y`` on the states that still count, the
one on the other side is at most ``slow^n (y . h)``. With ``fast > slow`` the quotient has no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np
import numpy.typing as npt
from flint import fmpq

from bisimdist.exact.doubles import simplest_within
from bisimdist.models.reach import all_reached
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.system import WordSystem

Word = tuple[str, ...]
Masses = dict[int, fmpq]
Doubles = npt.NDArray[np.float64]

MARGIN = 1e-7
MAX_STATES = 400
ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class Repeated:
    """Traces ``prefix cycle^n suffix`` whose quotient grows without bound."""

    prefix: Word
    cycle: Word
    suffix: Word
    swapped: bool  # whether it is from the second side that they are more probable
    factor: fmpq  # f, at least the rate of the probable side by rounds of the cycle
    # vectors x_0, x_1, ...: the first one is below the vector of the probable side after the prefix, and
    # ``x_i M >= f x_i + x_(i+1)``
    below: tuple[Mapping[int, fmpq], ...]
    # rates r_i <= f with vectors y_i, which together are above the vector of the other side on the states
    # that still count, and ``y_i M <= r_i y_i + y_(i+1) + y_(i+2) + ...`` there. No other state leads into
    # these states under the cycle, and none makes the suffix.
    above: tuple[tuple[fmpq, Mapping[int, fmpq]], ...]

    @property
    def degree(self) -> int:
        """The power of n that the quotient grows like, at least, where both sides have the same rate."""
        return len(self.below) - len([rate for rate, _ in self.above if rate == self.factor])


def moved(system: WordSystem, masses: Masses, word: Word) -> Masses:
    """Return the masses after a trace."""
    for action in word:
        after: Masses = {}
        for state, mass in masses.items():
            if system.actions[state] == action:
                for target, weight in system.rows[state]:
                    after[target] = after.get(target, ZERO) + mass * fmpq(weight, system.denominators[state])
        masses = after
    return masses


def find_pump_trace(rounds: Rounds, tries: Iterable[tuple[Word, Word]]) -> Repeated | None:
    """Look for a pump among some prefixes and cycles; doubles say where to look, the proof is exact."""
    for look in rounds.looks(tries):
        found = look.turn.pump(look.rich, look.poor, look.suffix)
        if found is not None:
            fast, slow, below, above = found
            side = (fast, (below,), ((slow, above),))
            return Repeated(look.prefix, look.turn.cycle, look.suffix, look.swapped, *side)
    return None


@dataclass(frozen=True, slots=True)
class Look:
    """A cycle after a prefix and before a suffix, and which side may be the probable one."""

    prefix: Word
    turn: CycleRound
    suffix: Word
    swapped: bool
    rich: Masses
    poor: Masses


class Rounds:
    """The cycles that were looked at for two classes, and the suffixes that are tried after them."""

    def __init__(self, system: WordSystem, first: int, second: int, *, deadline: Deadline = NEVER) -> None:
        self.system = system
        self.pair = first, second
        self.deadline = deadline
        self.suffixes: list[Word] = [(), *((action,) for action in system.symbols)]
        self._known: dict[Word, CycleRound] = {}

    def of(self, cycle: Word) -> CycleRound:
        if cycle not in self._known:
            self._known[cycle] = CycleRound(self.system, cycle)
        return self._known[cycle]

    def looks(
        self, tries: Iterable[tuple[Word, Word]], *, wanted: Callable[[CycleRound], bool] | None = None
    ) -> Iterator[Look]:
        """Yield what there is to look at, of those cycles that are wanted; nothing in large systems."""
        if len(self.system.rows) > MAX_STATES:
            return
        for prefix, cycle in tries:
            self.deadline.check()
            turn = self.of(cycle)
            if wanted is not None and not wanted(turn):
                continue
            one, other = (moved(self.system, {start: fmpq(1)}, prefix) for start in self.pair)
            for suffix in self.suffixes:
                yield Look(prefix, turn, suffix, False, one, other)
                yield Look(prefix, turn, suffix, True, other, one)


class CycleRound:
    """One round of a cycle as a matrix, in doubles, with the growth of its components."""

    def __init__(self, system: WordSystem, cycle: Word) -> None:
        self.system = system
        self.cycle = cycle
        size = len(system.rows)
        matrix = np.eye(size)
        for action in cycle:
            step = np.zeros((size, size))
            for state, row in enumerate(system.rows):
                if system.actions[state] == action:
                    for target, weight in row:
                        step[state, target] = weight / system.denominators[state]
            matrix = matrix @ step
        self.matrix: Doubles = matrix
        self.drawn, self.components = growing_parts(matrix)

    def pump(
        self, fast_side: Masses, slow_side: Masses, suffix: Word
    ) -> tuple[fmpq, fmpq, Masses, Masses] | None:
        """Return the two factors and the two vectors for one order of the sides, if doubles suggest one."""
        last = self.makers(suffix)
        component = next(
            (
                (part, radius)
                for part, radius in self.components
                if all(state in fast_side for state in part) and any(state in last for state in part)
            ),
            None,
        )
        if component is None or not slow_side:
            return None
        part, radius = component
        reached = self.closure(slow_side, self.drawn)
        counting = sorted(reached & self.closure(last, self.drawn.reverse(copy=False)))
        if not counting:
            return None
        limit = max((r for p, r in self.components if set(p) <= set(counting)), default=0.0)
        if limit * (1 + 4 * MARGIN) >= radius:
            return None
        middle = (limit + radius) / 2
        below = self._eigenvector(part, fast_side)
        above = self._resolvent(counting, slow_side, middle)
        if below is None or above is None:
            return None
        after = moved(self.system, below, self.cycle)
        fast = min(after.get(s, ZERO) / mass for s, mass in below.items())
        kept = set(above)
        after = moved(self.system, above, self.cycle)
        slow = max((mass / above[s] for s, mass in after.items() if s in kept), default=ZERO)
        if fast <= slow or not self.sound(kept, last, slow_side, reached):
            return None
        return fast, slow, below, above

    def makers(self, suffix: Word) -> set[int]:
        """Return the states from which the suffix is possible."""
        size = len(self.system.rows)
        return {s for s in range(size) if moved(self.system, {s: fmpq(1)}, suffix)}

    @staticmethod
    def closure(states: Iterable[int], drawn: nx.DiGraph[int]) -> set[int]:
        """Return the states that others lead to, and these."""
        return set(all_reached(states, drawn.successors))

    def sound(self, kept: set[int], last: set[int], slow_side: Masses, reached: set[int]) -> bool:
        """Tell whether what is outside of the counting states never comes back and never makes the suffix."""
        outside = reached - kept
        leaks = any(target in kept for state in outside for target in self.drawn.successors(state))
        return not leaks and not outside & last and all(s in kept or s in outside for s in slow_side)

    def _eigenvector(self, part: Sequence[int], side: Masses) -> Masses | None:
        values, vectors = np.linalg.eig(self.matrix[np.ix_(part, part)].T)
        vector = np.abs(np.real(vectors[:, int(np.argmax(np.real(values)))]))
        if vector.min() <= 0:
            return None
        rounded = {s: _short(float(v)) for s, v in zip(part, vector, strict=True)}
        scale = min(side[s] / value for s, value in rounded.items())
        return {s: value * scale for s, value in rounded.items()}

    def _resolvent(self, counting: Sequence[int], side: Masses, slow: float) -> Masses | None:
        size = len(counting)
        inner = self.matrix[np.ix_(counting, counting)]
        vector = np.linalg.solve((np.eye(size) - inner / slow).T, np.ones(size))
        if vector.min() <= 0 or not np.isfinite(vector).all():
            return None
        rounded = {s: _short(float(v)) for s, v in zip(counting, vector, strict=True)}
        scale = max((side[s] / value for s, value in rounded.items() if s in side), default=fmpq(1))
        return {s: value * scale for s, value in rounded.items()}


def growing_parts(matrix: Doubles) -> tuple[nx.DiGraph[int], list[tuple[list[int], float]]]:
    """Return where a matrix moves mass, and its strongly connected parts by growth, the largest first."""
    drawn: nx.DiGraph[int] = nx.DiGraph()
    drawn.add_nodes_from(range(len(matrix)))
    drawn.add_edges_from((int(s), int(t)) for s, t in np.argwhere(matrix > 0))
    parts = []
    for members in nx.strongly_connected_components(drawn):
        part = sorted(members)
        block = matrix[np.ix_(part, part)]
        if block.any():
            parts.append((part, float(np.max(np.abs(np.linalg.eigvals(block))))))
    return drawn, sorted(parts, key=lambda part: -part[1])


def _short(value: float) -> fmpq:
    """Return a short rational near a positive double."""
    return simplest_within(value * (1 - 1e-9), value * (1 + 1e-9))


def candidate_loops(word: Word, actions: Sequence[str], *, longest: int = 3) -> Iterator[tuple[Word, Word]]:
    """Yield prefixes and cycles to try: what a promising trace ends with, and short cycles after it.

    >>> list(candidate_loops(("a", "b"), ["a"], longest=1))[:3]
    [(('a', 'b'), ('b',)), (('a', 'b'), ('a', 'b')), (('a', 'b'), ('a',))]
    """
    seen: set[Word] = set()
    for length in range(1, min(len(word), 8) + 1):
        cycle = word[-length:]
        seen.add(cycle)
        yield word, cycle
    fresh: list[Word] = [()]
    for _ in range(longest):
        fresh = [(*before, action) for before in fresh for action in actions]
        if len(fresh) > 64:
            break
        for cycle in fresh:
            if cycle not in seen:
                yield word, cycle
