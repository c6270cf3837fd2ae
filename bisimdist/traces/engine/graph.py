"""The graph of pairs of beliefs: what is known about the state on both sides after a trace, up to factors.

From two states, a trace w leads to two vectors of masses. Each one divided by its sum is a belief; an edge
carries how much the quotient of the two sums changes with one more action. If the graph is finite, the
largest quotient of two probabilities of one trace is a longest path, with products for sums.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.system import Vector, WordSystem, mass_of, point

REPORT_EVERY = 256


@dataclass(frozen=True, slots=True)
class Effort:
    """How far to look."""

    nodes: int = 20_000  # how many pairs of beliefs there may be
    work: int = 10_000_000  # how many products of a number (by 64 bits) and a probability may be formed


@dataclass(slots=True)
class Edge:
    """One more action: where it leads, and by how much it multiplies the quotient first / second.

    `share` is the probability of the action from the first belief.
    """

    action: str
    target: int
    ratio: fmpq
    share: fmpq


@dataclass(slots=True)
class Node:
    """A pair of beliefs."""

    first: Vector  # first and second: the beliefs, up to factors
    second: Vector
    parent: int  # parent and action: the node that it was found from, and the action; -1 at the root
    action: str
    depth: int  # the length of the trace by which it was found
    equal: bool  # whether the futures on both sides are proportional, so that no trace changes the quotient
    expanded: bool = False  # whether its edges are known
    edges: list[Edge] = field(default_factory=list)


@dataclass(slots=True)
class _OneSided:
    node: int
    action: str


class BeliefGraph:
    """Pairs of beliefs from a pair of classes, explored breadth first and within limits.

    ``length``: the longest trace that counts; None for all. With a length, beliefs of different depths are
        not merged.
    """

    def __init__(self, system: WordSystem, first: int, second: int, *, length: int | None = None) -> None:
        self.system = system
        self.length = length
        self.nodes: list[Node] = []
        self._numbers: dict[tuple[int, Vector, Vector], int] = {}
        self._waiting: deque[int] = deque()
        self._one_sided: _OneSided | None = None
        self.spent = 0
        self._number(point(first), point(second), -1, "", 0)

    @property
    def one_sided(self) -> tuple[str, ...] | None:
        """A trace that is possible from one side only, where one was found."""
        if self._one_sided is None:
            return None
        return (*self.word(self._one_sided.node), self._one_sided.action)

    @property
    def closed(self) -> bool:
        """Whether nothing is left to explore."""
        return self._one_sided is None and not self.frontier

    @property
    def frontier(self) -> list[int]:
        """The nodes whose edges are not known but matter."""
        return [number for number in self._waiting if not self.nodes[number].expanded]

    def word(self, number: int) -> tuple[str, ...]:
        """Return the trace by which a node was found."""
        result = []
        while self.nodes[number].parent >= 0:
            result.append(self.nodes[number].action)
            number = self.nodes[number].parent
        return tuple(reversed(result))

    def _number(self, first: Vector, second: Vector, parent: int, action: str, depth: int) -> int:
        keys = self.system.key(first), self.system.key(second)
        layer = 0 if self.length is None else depth
        number = self._numbers.setdefault((layer, *keys), len(self.nodes))
        if number == len(self.nodes):
            node = Node(first, second, parent, action, depth, keys[0] == keys[1])
            self.nodes.append(node)
            rows = self.system.rows
            self.spent += sum(
                (1 + value.bit_length() // 64) * (1 + len(rows[state])) for state, value in (*first, *second)
            )
            if not node.equal and (self.length is None or depth < self.length):
                self._waiting.append(number)
        return number

    def steps(self, number: int) -> Iterator[tuple[str, Vector, Vector, tuple[fmpq, fmpq] | None]]:
        """Yield the actions from a node with what they lead to and their probabilities on both sides.

        None stands in place of the probabilities where one side cannot perform the action.
        """
        node = self.nodes[number]
        ones, others = self.system.after(node.first), self.system.after(node.second)
        masses = mass_of(node.first), mass_of(node.second)
        for action in dict.fromkeys((*ones, *others)):
            if action not in ones or action not in others:
                yield action, (), (), None
                continue
            (first, scale), (second, other) = ones[action], others[action]
            shares = scale * fmpq(mass_of(first), masses[0]), other * fmpq(mass_of(second), masses[1])
            yield action, first, second, shares

    def expand(self, number: int) -> None:
        """Find the edges of a node; stop where an action is possible on one side only."""
        node = self.nodes[number]
        for action, first, second, shares in self.steps(number):
            if shares is None:
                self._one_sided = _OneSided(number, action)
                return
            target = self._number(first, second, number, action, node.depth + 1)
            node.edges.append(Edge(action, target, shares[0] / shares[1], shares[0]))
        node.expanded = True

    def explore(self, effort: Effort, *, limits: Limits = UNBOUNDED) -> None:
        """Explore breadth first until nothing is left, a limit is met, or one side falls out.

        A passing deadline is a limit like the others.
        """
        while self._waiting and len(self.nodes) < effort.nodes and self.spent < effort.work:
            if limits.deadline.passed():
                return
            number = self._waiting[0]
            if not self.nodes[number].expanded:
                self.expand(number)
            if self._one_sided is not None:
                return
            self._waiting.popleft()
            if number % REPORT_EVERY == 0:
                limits.progress("pairs of beliefs", len(self.nodes), None)


def one_sided_trace(  # noqa: PLR0913
    system: WordSystem,
    first: int,
    second: int,
    *,
    length: int | None = None,
    limit: int = 20_000,
    deadline: Deadline = NEVER,
) -> tuple[bool, tuple[str, ...] | None]:
    """Look for a shortest trace that is possible from one class only: sets of states are followed.

    ``decided``: whether all sets were looked at, so that None means that there is no such trace.
    """
    moves = _SetMoves(system)
    start = 1 << first, 1 << second
    found: dict[tuple[int, int], tuple[str, ...]] = {start: ()}
    waiting = deque([start])
    while waiting:
        if len(found) > limit or deadline.passed():
            return False, None
        sides = waiting.popleft()
        word = found[sides]
        if length is not None and len(word) == length:
            continue
        ones, others = (moves.after(side) for side in sides)
        for action in dict.fromkeys((*ones, *others)):
            if action not in ones or action not in others:
                return True, (*word, action)
            after = ones[action], others[action]
            if after[0] != after[1] and after not in found:
                found[after] = (*word, action)
                waiting.append(after)
    return True, None


class _SetMoves:
    """What each action makes of a set of classes; sets are written as integers, a bit for each class."""

    def __init__(self, system: WordSystem) -> None:
        self.successors = [sum(1 << target for target, _ in row) for row in system.rows]
        self.actors: dict[str, int] = {}
        for state, action in enumerate(system.actions):
            if action is not None:
                self.actors[action] = self.actors.get(action, 0) | 1 << state
        self._known: dict[int, dict[str, int]] = {}

    def after(self, side: int) -> dict[str, int]:
        """Return the set after each action that a set can perform."""
        if side not in self._known:
            result: dict[str, int] = {}
            for action, actors in self.actors.items():
                acting, reached = side & actors, 0
                while acting:
                    lowest = acting & -acting
                    reached |= self.successors[lowest.bit_length() - 1]
                    acting ^= lowest
                if reached:
                    result[action] = reached
            self._known[side] = result
        return self._known[side]
