"""The arena on which both metrics are played: positions, challenges, answers, and the edges of bijections.

States at distance 0 are merged into one class first, and successors of one class and one probability into one
group with a count; so a bijection is a flow between few groups. Only pairs of states of equal shape are
positions: all others are at infinite distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.automata.engine.strong import matching_classes, shape_classes
from bisimdist.lp.flows import Flow, perfect_flow
from bisimdist.models.pa import PA, outgoing
from bisimdist.progress import NEVER, Deadline

ONE = fmpq(1)
SAME = -1  # the position of two states of one class: the challenger has nothing to gain there


@dataclass(frozen=True, slots=True)
class Edge:
    """A successor of one side, answered by a successor of the other side."""

    left: int
    right: int
    ratio: fmpq
    size: fmpq
    position: int  # the position that follows; `SAME` where both successors are of one class


@dataclass(slots=True)
class Duel:
    """A distribution of the left state against one of the right state."""

    left: tuple[int, ...]  # left and right: how many successors each group has
    right: tuple[int, ...]
    edges: tuple[Edge, ...]  # what may be matched: pairs of groups whose states are of equal shape

    def flow(self, edges: Iterable[Edge]) -> Flow | None:
        """Return a bijection along some of the edges, if there is one."""
        return perfect_flow(self.left, self.right, [(edge.left, edge.right) for edge in edges])

    def holds(self, edges: Sequence[Edge]) -> bool:
        """Tell whether there is a bijection along some of the edges."""
        if len(self.left) == len(self.right) == 1:
            return bool(edges) and self.left == self.right
        return self.flow(edges) is not None

    def sizes(self) -> list[fmpq]:
        """Return the sizes of the edges, ascending, each once."""
        return sorted({edge.size for edge in self.edges})


@dataclass(frozen=True, slots=True)
class Challenge:
    """A transition of one side, with the duels against all transitions that can answer it."""

    side: int  # 0 if the left state moves, 1 if the right one does
    transition: int  # the index of the transition in the automaton
    answers: tuple[tuple[int, int], ...]  # duels, by number, with the index of the answering transition


Row = tuple[tuple[fmpq, int, int], ...]
"""Groups of successors: their probability, their class, how many they are."""

Move = tuple[str, int, int]  # the action, the row and the transition of a move of a class


@dataclass(slots=True)
class Arena:
    """All positions that can be reached from the pairs that were asked.

    Positions are ordered pairs of classes of different states but equal shape.
    """

    automaton: PA
    asked: Sequence[tuple[int, int]]
    deadline: Deadline = NEVER
    classes: tuple[int, ...] = field(init=False)
    shapes: tuple[int, ...] = field(init=False)
    representative: list[int] = field(init=False, default_factory=list)
    positions: list[tuple[int, int]] = field(init=False, default_factory=list)
    challenges: list[tuple[Challenge, ...]] = field(init=False, default_factory=list)
    duels: list[Duel] = field(init=False, default_factory=list)
    users: list[list[int]] = field(init=False, default_factory=list)
    """For each duel the positions that it can be an answer in."""
    entries: list[list[int]] = field(init=False, default_factory=list)
    """For each position the duels that have an edge to it."""
    _number: dict[tuple[int, int], int] = field(init=False, default_factory=dict)
    _duel: dict[tuple[int, int], int] = field(init=False, default_factory=dict)
    _rows: list[Row] = field(init=False, default_factory=list)
    _moves: list[tuple[Move, ...]] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        self.classes = matching_classes(self.automaton)
        self.deadline.check()
        shape_of_state = shape_classes(self.automaton)
        self.deadline.check()
        for state, block in enumerate(self.classes):
            if block == len(self.representative):
                self.representative.append(state)
        self.shapes = tuple(shape_of_state[state] for state in self.representative)
        self._collect_moves()
        for s, t in self.asked:
            self.position(s, t)
        done = 0
        while done < len(self.positions):
            if done % 64 == 0:
                self.deadline.check()
            self.challenges.append(self._challenges_at(done))
            done += 1

    def _collect_moves(self) -> None:
        steps = outgoing(self.automaton)
        index = {id(step): number for number, step in enumerate(self.automaton.transitions)}
        rows: dict[Row, int] = {}
        for state in self.representative:
            moves: dict[tuple[str, int], int] = {}
            for step in steps[state]:
                counts: dict[tuple[int, fmpq], int] = {}
                for target, probability in step.row:
                    group = self.classes[target], probability
                    counts[group] = counts.get(group, 0) + 1
                row = tuple((p, block, count) for (block, p), count in sorted(counts.items()))
                number = rows.setdefault(row, len(rows))
                moves.setdefault((step.action, number), index[id(step)])
            self._moves.append(tuple((action, row, at) for (action, row), at in moves.items()))
        self._rows = list(rows)

    def position(self, s: int, t: int) -> int | None:
        """Return the position of two states: `SAME` in one class, None where their shapes differ."""
        return self._position(self.classes[s], self.classes[t])

    def _position(self, left: int, right: int) -> int | None:
        if left == right:
            return SAME
        if self.shapes[left] != self.shapes[right]:
            return None
        known = self._number.get((left, right))
        if known is None:
            known = self._number[left, right] = len(self.positions)
            self.positions.append((left, right))
            self.entries.append([])
        return known

    def states_of(self, position: int) -> tuple[int, int]:
        left, right = self.positions[position]
        return self.representative[left], self.representative[right]

    def _challenges_at(self, position: int) -> tuple[Challenge, ...]:
        left, right = self.positions[position]
        ours, theirs = self._moves[left], self._moves[right]
        result = []
        for action, row, at in ours:
            answers = [(self._duel_of(row, other), to) for name, other, to in theirs if name == action]
            result.append(Challenge(0, at, tuple(answers)))
        for action, row, at in theirs:
            answers = [(self._duel_of(other, row), to) for name, other, to in ours if name == action]
            result.append(Challenge(1, at, tuple(answers)))
        for duel in {duel for challenge in result for duel, _ in challenge.answers}:
            self.users[duel].append(position)
        return tuple(result)

    def _spread(self, row: Row) -> Counter[int]:
        """Count the successors of each shape: a bijection keeps the shape."""
        result: Counter[int] = Counter()
        for _, block, count in row:
            result[self.shapes[block]] += count
        return result

    def _duel_of(self, left: int, right: int) -> int:
        known = self._duel.get((left, right))
        if known is not None:
            return known
        number = self._duel[left, right] = len(self.duels)
        ours, theirs = self._rows[left], self._rows[right]
        counts = tuple(count for _, _, count in ours), tuple(count for _, _, count in theirs)
        edges = []
        if self._spread(ours) == self._spread(theirs):
            by_shape: dict[int, list[int]] = {}
            for j, (_, block, _) in enumerate(theirs):
                by_shape.setdefault(self.shapes[block], []).append(j)
            for i, (p, block, _) in enumerate(ours):
                for j in by_shape.get(self.shapes[block], ()):
                    q, other, _ = theirs[j]
                    position = self._position(block, other)
                    if position is not None:
                        edges.append(Edge(i, j, p / q, max(p / q, q / p), position))
        self.duels.append(Duel(*counts, tuple(edges)))
        self.users.append([])
        for position in {edge.position for edge in edges if edge.position != SAME}:
            self.entries[position].append(number)
        return number
