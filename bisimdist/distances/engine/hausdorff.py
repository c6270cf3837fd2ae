"""The functional behind every generalised bisimilarity metric, on the pairs of states that matter.

For a lifting K with discount c it maps a distance d to ``B(d)(s, t) = max over actions of the Hausdorff
distance, for c K(d), of the sub-distributions that s and t reach by the action``: the diameter where only one
of them has the action. Metrics are its least fixed points.

Source: CCP18 Definition 15.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.engine.lifting_values import Lifted, Masses
from bisimdist.distances.engine.liftings import Lifting
from bisimdist.errors import LimitError
from bisimdist.exact.scale import Value, larger, smaller
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline, Progress, silent

SAME = -1  # the duel of a sub-distribution with itself, whose value is zero
MAX_POSITIONS = 300_000  # more pairs of states than this are not taken on

Pair = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Challenge:
    """A transition of one side of a pair and its answers."""

    side: int  # 0 where the first state of the pair moves, 1 where the second does
    transition: int
    # (duel, transition) for every transition of the other state with the same action
    answers: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class Arena:
    """The pairs that the distances of some pairs depend on, for one lifting."""

    automaton: PA  # the automaton; states that are known to be at distance zero have been merged before
    lifting: Lifting
    positions: list[Pair] = field(default_factory=list)  # pairs (s, t) with s < t that have the same actions
    challenges: list[tuple[Challenge, ...]] = field(default_factory=list)
    # pairs of numbers of sub-distributions, the smaller first
    duels: list[Pair] = field(default_factory=list)
    # by duel: the positions whose distances its value depends on
    needed: list[tuple[int, ...]] = field(default_factory=list)
    rows: list[Masses] = field(default_factory=list)  # the sub-distributions, without probabilities of zero
    _numbers: dict[Pair, int] = field(default_factory=dict)
    _duel_numbers: dict[Pair, int] = field(default_factory=dict)
    _row_of: list[int] = field(default_factory=list)
    _steps: list[dict[str, list[int]]] = field(default_factory=list)

    @classmethod
    def of(  # noqa: PLR0913
        cls,
        automaton: PA,
        lifting: Lifting,
        asked: Iterable[Pair],
        *,
        limit: int = MAX_POSITIONS,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> Arena:
        """Find the pairs that matter."""
        arena = cls(automaton, lifting)
        arena._read_rows()
        for s, t in asked:
            arena._enter(s, t)
        for number, pair in enumerate(arena.positions):  # grows
            if number % 64 == 0:
                deadline.check()
                progress("pairs of states", number, None)
            arena.challenges.append(tuple(arena._challenges(*pair)))
            if len(arena.positions) > limit:
                raise LimitError(f"the question depends on more than {limit} pairs of states")
        return arena

    def _read_rows(self) -> None:
        numbers: dict[tuple[tuple[int, fmpq], ...], int] = {}
        self._steps = [{} for _ in self.automaton.states]
        for number, step in enumerate(self.automaton.transitions):
            row = tuple(sorted((t, p) for t, p in step.row if p))
            self._row_of.append(numbers.setdefault(row, len(numbers)))
            self._steps[step.source].setdefault(step.action, []).append(number)
        self.rows = [dict(row) for row in numbers]

    def apart(self, s: int, t: int) -> bool:
        """Tell whether two states differ in their actions, so that their distance is the diameter."""
        return self._steps[s].keys() != self._steps[t].keys()

    def position(self, s: int, t: int) -> int | None:
        """Return the number of a pair, in either order; None where it has none."""
        return self._numbers.get((s, t) if s < t else (t, s))

    def row(self, transition: int) -> Masses:
        return self.rows[self._row_of[transition]]

    def _enter(self, s: int, t: int) -> int | None:
        if s == t or self.apart(s, t):
            return None
        pair = (s, t) if s < t else (t, s)
        found = self._numbers.get(pair)
        if found is None:
            found = self._numbers[pair] = len(self.positions)
            self.positions.append(pair)
        return found

    def _challenges(self, s: int, t: int) -> Iterable[Challenge]:
        for side, (mine, other) in enumerate(((s, t), (t, s))):
            for action, moves in self._steps[mine].items():
                for n in moves:
                    yield Challenge(side, n, tuple((self._duel(n, m), m) for m in self._steps[other][action]))

    def _duel(self, n: int, m: int) -> int:
        a, b = self._row_of[n], self._row_of[m]
        if a == b:
            return SAME
        pair = (a, b) if a < b else (b, a)
        found = self._duel_numbers.get(pair)
        if found is None:
            found = self._duel_numbers[pair] = len(self.duels)
            self.duels.append(pair)
            pairs = self.lifting.needed(self.rows[pair[0]], self.rows[pair[1]])
            entered = {self._enter(i, j) for i, j in pairs}
            self.needed.append(tuple(sorted(p for p in entered if p is not None)))
        return found

    def components(self) -> list[tuple[list[int], bool]]:
        """Return the strongly connected components, successors first, and whether each is cyclic."""
        graph = [
            sorted({p for duel in self.duels_of(position) for p in self.needed[duel]})
            for position in range(len(self.positions))
        ]
        return [
            (members, len(members) > 1 or members[0] in graph[members[0]])
            for members in strongly_connected_components(graph)
        ]

    def distance(self, values: Sequence[Value], *, start: bool = False) -> Callable[[int, int], Value]:
        """Return the distance of states that belongs to values of the positions.

        States with different actions are at the diameter, except at the `start` of an iteration from zero.
        """
        numbers, zero = self._numbers, self.lifting.zero
        top = zero if start else self.lifting.top

        def distance(s: int, t: int) -> Value:
            number = numbers.get((s, t) if s < t else (t, s))
            if number is not None:
                return values[number]
            return zero if s == t else top

        return distance

    def lifted(self, duel: int, values: Sequence[Value], *, deadline: Deadline = NEVER) -> Lifted:
        """Return the lifting of a duel, its first sub-distribution first."""
        a, b = self.duels[duel]
        return self.lifting.lifted(self.rows[a], self.rows[b], self.distance(values), deadline=deadline)

    def duels_of(self, position: int) -> set[int]:
        return {duel for c in self.challenges[position] for duel, _ in c.answers if duel != SAME}

    def hausdorff(self, position: int, worth: Callable[[int], Value]) -> Value:
        """Return the value of a position for given values of duels (already discounted)."""
        zero = self.lifting.zero
        value: Value = zero
        for challenge in self.challenges[position]:
            value = larger(value, self.answered(challenge, worth))
        return value

    def answered(self, challenge: Challenge, worth: Callable[[int], Value]) -> Value:
        zero = self.lifting.zero
        found = [zero if duel == SAME else worth(duel) for duel, _ in challenge.answers]
        best = found[0]
        for value in found[1:]:
            best = smaller(best, value)
        return best
