"""Exact bounds on the values of a refinement graph, from its leaves to its roots.

From above, y is a bound if at every node y >= |c|+ and y is at least the sum of the factors times y of what
follows; from below, z is one if it is at most that sum, at most |c|+ at leaves, and every node reaches a leaf
or a node where masses cancel. On a cycle without leaf and without cancellation the value is |c|+ itself; on
every other cycle the linear system has one solution. The proofs are in docs/theory/delta.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Generic

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.exact.doubles import from_double
from bisimdist.linear import SingularSystemError, SparseSystem, solve_exact
from bisimdist.linear.components import strongly_connected_components
from bisimdist.privacy.engine.measure import Edge, Node, NodeT, double
from bisimdist.privacy.engine.policy import Policy
from bisimdist.privacy.engine.refinement import Refinement
from bisimdist.progress import NEVER, Deadline

GRACE = 0.1  # so many seconds are taken for linear systems even where no time is left

LOOSE = 1e-11
MENDING = 8
"""Estimates become bounds when they are loosened by such a part of the mass, and mended at most so often."""

DENSE = 1000
"""Estimates of no more nodes on a cycle are solutions in doubles; otherwise those of the refinement count."""

ROUNDS = 5000
STILL = 40
"""An iteration ends after so many rounds, or where nothing moves by more than such a part of its mass."""


@dataclass(frozen=True, slots=True)
class Closure:
    """Exact bounds on the values of nodes."""

    # lower and upper: by node: z and y; a node without has an infinite value, or no bound from above
    lower: Mapping[int, fmpq]
    upper: Mapping[int, fmpq]
    # lower_leaves and upper_leaves: the nodes whose bounds do not come from what follows them: below |c|+
    # counts, above the least of the positive mass and the ceiling
    lower_leaves: frozenset[int]
    upper_leaves: frozenset[int]
    # by node the number of the option that its bound from below rests on; 0 for those that are not named
    choice: Mapping[int, int] = field(default_factory=dict)
    rests: frozenset[int] = frozenset()  # the nodes of cycles whose value is what is seen by then

    def chosen(self, node: Node) -> tuple[Edge, ...]:
        """Return the edges that the bound of a node from below rests on."""
        return node.options[self.choice.get(node.index, 0)] if node.options else ()


def close(refinement: Refinement[NodeT], roots: Sequence[int], *, deadline: Deadline = NEVER) -> Closure:
    """Work out exact bounds on what the roots reach.

    Where every leaf is closed the bounds are the values themselves, if these are rational; otherwise they are
    rounded outwards. A linear system that the deadline leaves no time for is iterated instead, which gives
    bounds too.
    """
    if deadline.moment is not None:
        deadline = Deadline(max(deadline.moment, time.monotonic() + GRACE))
    groups = refinement.reached(roots)
    nodes = refinement.nodes
    rounded = not refinement.measure.exact or any(
        refinement.is_open(nodes[number]) for group, _ in groups for number in group
    )
    try:
        return _closed(refinement, roots, groups, rounded, deadline)
    except LimitError:  # a value that would have to be exact
        return _closed(refinement, roots, groups, True, deadline)


def _closed(
    refinement: Refinement[NodeT],
    roots: Sequence[int],
    groups: Sequence[tuple[Sequence[int], bool]],
    rounded: bool,
    deadline: Deadline,
) -> Closure:
    nodes = refinement.nodes
    lower: dict[int, fmpq] = {}
    upper: dict[int, fmpq] = lower if not rounded else {}
    work = _Work(refinement, frozenset(roots), lower, upper, rounded, set(), set(), set())
    for group, cyclic in groups:
        if cyclic:
            work.cycle([nodes[number] for number in group], deadline)
        elif nodes[group[0]].edges is None:
            work.leaf(nodes[group[0]])
        else:
            work.inner(nodes[group[0]])
    return Closure(
        lower,
        upper,
        frozenset(work.lower_leaves),
        frozenset(work.upper_leaves),
        work.choice,
        frozenset(work.rests),
    )


def _put(values: dict[int, fmpq], node: Node, value: fmpq | None) -> None:
    """Note a value; infinity is noted by leaving it out."""
    if value is None:
        values.pop(node.index, None)
    else:
        values[node.index] = value


def _less(first: fmpq | None, second: fmpq | None) -> bool:
    return first is not None and (second is None or first < second)


def inner_shares(group: Sequence[Node], choice: Mapping[int, int] | None = None) -> npt.NDArray[np.float64]:
    """Return the factors between the nodes of a cycle, in parts of their masses: never large numbers."""
    chosen = choice or {}
    place = {node.index: k for k, node in enumerate(group)}
    matrix = np.zeros((len(group), len(group)))
    for k, node in enumerate(group):
        for share, child in node.shares[chosen.get(node.index, 0)]:
            if child.index in place:
                matrix[k, place[child.index]] += share
    return matrix


def _solved(group: Sequence[Node], known: Mapping[int, fmpq], room: float) -> list[float] | None:
    """Solve the equations of a cycle in doubles, with some room added to each; None where that fails."""
    inside = {node.index for node in group}
    right = np.ones((len(group), 2))
    for k, node in enumerate(group):
        outer = [(share, child) for share, child in node.shares[0] if child.index not in inside]
        if any(child.index not in known for _, child in outer):
            return None
        values = [share * double(known[child.index] / child.mass) for share, child in outer]
        right[k, 0] = node.drifts[0] + room + sum(values)
    try:
        found, weights = np.linalg.solve(np.eye(len(group)) - inner_shares(group), right).T
    except np.linalg.LinAlgError:
        return None
    return [float(x) for x in found] if weights.min() > 0 and np.isfinite(found).all() else None


@dataclass(slots=True)
class _Work(Generic[NodeT]):
    refinement: Refinement[NodeT]
    roots: frozenset[int]
    lower: dict[int, fmpq]
    upper: dict[int, fmpq]
    rounded: bool
    lower_leaves: set[int]
    upper_leaves: set[int]
    rests: set[int]
    choice: dict[int, int] = field(default_factory=dict)

    def cap(self, node: NodeT) -> fmpq | None:
        """Return the bound from above that a node has by itself."""
        most = self.refinement.measure.most(node)
        return node.cap if node.cap is not None and _less(node.cap, most) else most

    def leaf(self, node: NodeT) -> None:
        _put(self.lower, node, self.refinement.measure.own(node, up=False))
        self.lower_leaves.add(node.index)
        if self.rounded:
            _put(self.upper, node, self.cap(node))
        self.upper_leaves.add(node.index)

    def _sum(self, node: NodeT, values: Mapping[int, fmpq], *, up: bool) -> fmpq | None:
        """Return the most that what follows adds up to, over all options."""
        return self._best(node, values, up=up)[0]

    def _best(self, node: NodeT, values: Mapping[int, fmpq], *, up: bool) -> tuple[fmpq | None, int]:
        """Return the most that what follows adds up to, and the option."""
        best: fmpq | None = None
        chosen = 0
        for number, edges in enumerate(node.options):
            total = self.refinement.measure.total(edges, values, up=up)
            if total is None:
                return None, number
            if best is None or total > best:
                best, chosen = total, number
        if best is not None and self.rounded:
            best = self.refinement.measure.rounded(node, best, up=up)
        return best, chosen

    def _chosen(self, node: NodeT, option: int) -> None:
        if len(node.options) > 1:
            self.choice[node.index] = option

    def inner(self, node: NodeT) -> None:
        below, option = self._best(node, self.lower, up=False)
        _put(self.lower, node, below)
        self._chosen(node, option)
        if not self.rounded:
            return
        above = self._sum(node, self.upper, up=True)
        if above is not None and node.high - node.low < LOOSE and node.index not in self.roots:
            self.upper[node.index] = above  # as narrow as it gets
            return
        own = self.cap(node)
        if _less(own, above):
            above = own
            self.upper_leaves.add(node.index)
        _put(self.upper, node, above)

    def cycle(self, group: list[NodeT], deadline: Deadline) -> None:
        measure = self.refinement.measure
        if measure.rests(group, self.refinement.nodes):
            for node in group:
                _put(self.lower, node, measure.own(node, up=False))
                _put(self.upper, node, measure.own(node, up=True))
                self.lower_leaves.add(node.index)
                self.rests.add(node.index)
            return
        try:
            self._solve(group, deadline)
        except LimitError:
            if not self.rounded:
                raise
            self._iterate(group, deadline)

    def _solve(self, group: list[NodeT], deadline: Deadline) -> None:
        self.lower.update(self._solution(group, self.lower, deadline, up=False))
        if not self.rounded:
            return
        capped: dict[int, fmpq] = {}
        while True:
            rest = [node for node in group if node.index not in capped]
            found = self._solution(rest, {**self.upper, **capped}, deadline, up=True) if rest else {}
            better = {
                node.index: own
                for node in rest
                if (own := self.cap(node)) is not None and _less(own, found.get(node.index))
            }
            if not better:
                break
            capped.update(better)
        self.upper.update(found)
        self.upper.update(capped)
        self.upper_leaves.update(capped)

    def _iterate(self, group: list[NodeT], deadline: Deadline) -> None:
        """Let bounds rise and fall from what nodes have by themselves; both are bounds at any time."""
        measure = self.refinement.measure
        plain = all(len(node.options) == 1 for node in group)
        risen = {node.index for node in group} if plain and self._guess(group, up=False) else set()
        capped = {node.index for node in group}
        if plain and self._guess(group, up=True):
            capped = {node.index for node in group if self.upper[node.index] == self.cap(node)}
        for node in group:
            if not risen:
                _put(self.lower, node, measure.floor(node))
            if len(capped) == len(group):
                _put(self.upper, node, self.cap(node))
        moved, left = True, ROUNDS
        while moved and left:
            moved, left = False, left - 1
            for node in group:
                number, least = node.index, fmpq(node.mass) / fmpq(fmpz(2) ** STILL)
                below, option = self._best(node, self.lower, up=False)
                above = self._sum(node, self.upper, up=True)
                before = self.lower.get(number)
                if before is not None and (below is None or below >= before):
                    moved |= below is None or below > before + least
                    if below is None or below > before or len(node.options) == 1:
                        self._chosen(node, option)
                        risen.add(number)
                    _put(self.lower, node, below)
                after = self.upper.get(number)
                if above is not None and (after is None or above < after):
                    moved |= after is None or above < after - least
                    self.upper[number] = above
                    capped.discard(number)
            moved = moved and not deadline.passed()
        self.upper_leaves.update(capped)
        self.lower_leaves.update(node.index for node in group if node.index not in risen)

    def _guess(self, group: Sequence[NodeT], *, up: bool) -> bool:
        """Begin with estimates, loosened and mended until they are bounds; tell whether that succeeds."""
        values = self.upper if up else self.lower
        for node, estimate in zip(group, self._estimates(group, up=up), strict=True):
            known = self.cap(node) if up else self.refinement.measure.floor(node)
            if not math.isfinite(estimate):
                return False
            value = from_double(estimate) * node.mass
            values[node.index] = value if known is None else (min if up else max)(value, known)
        for _ in range(MENDING):
            mended = False
            for node in group:
                before, total = values[node.index], self._sum(node, values, up=up)
                if total is None:
                    return False
                if up and total > before and before != self.cap(node):
                    cap = self.cap(node)
                    values[node.index] = total if cap is None else min(total, cap)
                    mended = True
                elif not up and total < before:
                    values[node.index] = total
                    mended = True
            if not mended:
                return True
        return False

    def _estimates(self, group: Sequence[NodeT], *, up: bool) -> list[float]:
        """Return values in parts of the masses with some room: what is added shrinks with every round."""
        room = LOOSE if up else -LOOSE
        if len(group) <= DENSE:
            found = _solved(group, self.upper if up else self.lower, room)
            if found is not None:
                return found
        loosened = self.refinement.measure.loosened
        return [loosened(node.high if up else node.low, room) for node in group]

    def _solution(
        self, group: Sequence[NodeT], known: Mapping[int, fmpq], deadline: Deadline, *, up: bool
    ) -> dict[int, fmpq]:
        """Return the least solution of the equations of nodes; those of infinite value are left out."""
        measure = self.refinement.measure
        if any(len(node.options) > 1 for node in group):
            solve = partial(self._equations, deadline=deadline, up=up)
            policy = Policy(measure, self.refinement.nodes, group, known, solve, up, deadline)
            policy.improve()
            if not up:
                self.choice.update(policy.choice)
                self.lower_leaves |= policy.resting
            return policy.values
        return self._equations(group, {}, known, deadline=deadline, up=up)

    def _equations(
        self,
        group: Sequence[NodeT],
        choice: Mapping[int, int],
        known: Mapping[int, fmpq],
        *,
        deadline: Deadline,
        up: bool,
    ) -> dict[int, fmpq]:
        """Return the least solution of the equations of nodes by the options that are chosen."""
        measure = self.refinement.measure
        place = {node.index: k for k, node in enumerate(group)}
        rows = []
        for node in group:
            edges = node.options[choice.get(node.index, 0)]
            row = measure.equation(edges, place, known, up=up)
            if row is None:
                return self._component_wise(group, known, deadline, up=up)
            rows.append(row)
        try:
            solution = solve_exact(SparseSystem.from_rationals(rows), deadline=deadline)
        except SingularSystemError:
            return self._component_wise(group, known, deadline, up=up)
        values = [solution.entry(k) for k in range(len(group))]
        if not measure.sound(group, values):
            return self._component_wise(group, known, deadline, up=up)
        return {node.index: value for node, value in zip(group, values, strict=True)}

    def _component_wise(
        self, group: Sequence[NodeT], known: Mapping[int, fmpq], deadline: Deadline, *, up: bool
    ) -> dict[int, fmpq]:
        """Solve what can be solved where something is infinite: a component is finite as a whole or not."""
        place = {node.index: k for k, node in enumerate(group)}
        adjacency = [[place[child] for _, _, child in node.edges or () if child in place] for node in group]
        found: dict[int, fmpq] = {}
        parts = strongly_connected_components(adjacency)
        if len(parts) == 1:
            return found
        for part in parts:
            found.update(self._solution([group[k] for k in part], {**known, **found}, deadline, up=up))
        return found
