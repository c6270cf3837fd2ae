"""Exact bounds on the values of a refinement graph, from its leaves to its roots.

From above, y is a bound if at every node y >= |c|+ and y is at least the sum of the factors times y of what
follows; from below, z is one if it is at most that sum, at most |c|+ at leaves, and every node reaches a leaf
or a node where masses cancel. On a cycle without leaf and without cancellation the value is |c|+ itself; on
every other cycle the linear system has one solution. The proofs are in docs/theory/delta.md.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.linear import SparseSystem, solve_exact
from bisimdist.privacy.refinement import Node, Refinement
from bisimdist.progress import NEVER, Deadline

__all__ = ["Closure", "close"]

PLACES = 160
"""Bounds that are not exact are rounded outwards to so many binary places of their mass."""

GRACE = 0.1
"""So many seconds are taken for linear systems even where no time is left."""

STILL = 40
"""An iteration ends where nothing moves by more than so many binary places of its mass."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Exact bounds on the values of nodes.

    Parameters
    ----------
    lower, upper
        By node: z and y.
    lower_leaves, upper_leaves
        The nodes whose bounds do not come from what follows them: below |c|+ counts, above the least of the
        positive mass and the ceiling.
    """

    lower: Mapping[int, fmpq]
    upper: Mapping[int, fmpq]
    lower_leaves: frozenset[int]
    upper_leaves: frozenset[int]


def close(refinement: Refinement, roots: Sequence[int], *, deadline: Deadline = NEVER) -> Closure:
    """Work out exact bounds on what the roots reach.

    Where every leaf is closed the bounds are the values themselves; otherwise they are rounded outwards. A
    linear system that the deadline leaves no time for is iterated instead, which gives bounds too.
    """
    if deadline.moment is not None:
        deadline = Deadline(max(deadline.moment, time.monotonic() + GRACE))
    groups = refinement.reached(roots)
    nodes = refinement.nodes
    rounded = any(refinement.is_open(nodes[number]) for group, _ in groups for number in group)
    try:
        return _closed(refinement, groups, rounded, deadline)
    except LimitError:  # a value that would have to be exact
        return _closed(refinement, groups, True, deadline)


def _closed(
    refinement: Refinement, groups: Sequence[tuple[Sequence[int], bool]], rounded: bool, deadline: Deadline
) -> Closure:
    nodes = refinement.nodes
    lower: dict[int, fmpq] = {}
    upper: dict[int, fmpq] = lower if not rounded else {}
    work = _Work(refinement, lower, upper, rounded, set(), set())
    for group, cyclic in groups:
        if cyclic:
            work.cycle([nodes[number] for number in group], deadline)
        elif nodes[group[0]].edges is None:
            work.leaf(nodes[group[0]])
        else:
            work.inner(nodes[group[0]])
    return Closure(lower, upper, frozenset(work.lower_leaves), frozenset(work.upper_leaves))


@dataclass(slots=True)
class _Work:
    refinement: Refinement
    lower: dict[int, fmpq]
    upper: dict[int, fmpq]
    rounded: bool
    lower_leaves: set[int]
    upper_leaves: set[int]

    def cap(self, node: Node) -> fmpq:
        """Return the bound from above that a node has by itself."""
        if node.ruled:
            return fmpq(max(0, node.total))
        best = fmpq(node.positive)
        if node.cap is not None and self.refinement.ceiling is not None:
            best = min(best, fmpq(node.cap, self.refinement.ceiling.scale))
        return best

    def leaf(self, node: Node) -> None:
        self.lower[node.index] = fmpq(max(0, node.total))
        self.lower_leaves.add(node.index)
        if self.rounded:
            self.upper[node.index] = self.cap(node)
        self.upper_leaves.add(node.index)

    def _sum(self, node: Node, values: Mapping[int, fmpq]) -> fmpq:
        total = fmpq(0)
        for _, factor, child in node.edges or ():
            total += factor * values[child]
        return total / self.refinement.chain.denominator

    def inner(self, node: Node) -> None:
        below = self._sum(node, self.lower)
        if not self.rounded:
            self.lower[node.index] = below
            return
        self.lower[node.index] = _rounded(below, node.mass, up=False)
        above = _rounded(self._sum(node, self.upper), node.mass, up=True)
        own = self.cap(node)
        if own < above:
            above = own
            self.upper_leaves.add(node.index)
        self.upper[node.index] = above

    def cycle(self, group: list[Node], deadline: Deadline) -> None:
        if self._balanced(group):
            for node in group:
                self.lower[node.index] = self.upper[node.index] = fmpq(max(0, node.total))
                self.lower_leaves.add(node.index)
            return
        try:
            self._solve(group, deadline)
        except LimitError:
            if not self.rounded:
                raise
            self._iterate(group, deadline)

    def _solve(self, group: list[Node], deadline: Deadline) -> None:
        self.lower.update(self._solution(group, self.lower, deadline))
        if not self.rounded:
            return
        capped: dict[int, fmpq] = {}
        while True:
            rest = [node for node in group if node.index not in capped]
            found = self._solution(rest, {**self.upper, **capped}, deadline) if rest else {}
            better = {n.index: self.cap(n) for n in rest if self.cap(n) < found[n.index]}
            if not better:
                break
            capped.update(better)
        self.upper.update(found)
        self.upper.update(capped)
        self.upper_leaves.update(capped)

    def _iterate(self, group: list[Node], deadline: Deadline) -> None:
        """Let bounds rise from 0 and fall from what nodes have by themselves; both are bounds at any time."""
        self.lower.update((node.index, fmpq(0)) for node in group)
        self.upper.update((node.index, self.cap(node)) for node in group)
        capped = {node.index for node in group}
        moved = True
        while moved:
            moved = False
            for node in group:
                number, least = node.index, fmpq(node.mass, fmpz(2) ** STILL)
                below = _rounded(self._sum(node, self.lower), node.mass, up=False)
                above = _rounded(self._sum(node, self.upper), node.mass, up=True)
                moved |= below > self.lower[number] + least or above < self.upper[number] - least
                self.lower[number] = max(self.lower[number], below)
                if above < self.upper[number]:
                    self.upper[number] = above
                    capped.discard(number)
            moved = moved and not deadline.passed()
        self.upper_leaves.update(capped)

    def _balanced(self, group: list[Node]) -> bool:
        """Tell whether no mass leaves a cycle or cancels on it."""
        members = {node.index for node in group}
        nodes = self.refinement.nodes
        for node in group:
            carried = 0
            for _, factor, child in node.edges or ():
                if child not in members:
                    return False
                carried += factor * nodes[child].mass
            if carried != self.refinement.chain.denominator * node.mass:
                return False
        return True

    def _solution(self, group: list[Node], known: Mapping[int, fmpq], deadline: Deadline) -> dict[int, fmpq]:
        place = {node.index: k for k, node in enumerate(group)}
        denominator = self.refinement.chain.denominator
        rows = []
        for node in group:
            constant = fmpq(0)
            entries = []
            for _, factor, child in node.edges or ():
                if child in place:
                    entries.append((place[child], factor))
                else:
                    constant += factor * known[child]
            scale = int(constant.q)
            rows.append(
                (
                    denominator * scale,
                    int(constant.p),
                    tuple((column, factor * scale) for column, factor in entries),
                )
            )
        solution = solve_exact(SparseSystem(tuple(rows)), deadline=deadline)
        return {node.index: solution.entry(k) for k, node in enumerate(group)}


def _rounded(value: fmpq, mass: int, *, up: bool) -> fmpq:
    if value.q.bit_length() <= PLACES:
        return value
    part = value / mass * fmpq(fmpz(2) ** PLACES)
    units = part.ceil() if up else part.floor()
    return fmpq(units, fmpz(2) ** PLACES) * mass
