"""Which action to ask at each node of a cycle: choices with their exact values, until none is better."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.linear.components import strongly_connected_components
from bisimdist.privacy.engine.measure import Edge, Measure, Node, NodeT
from bisimdist.progress import NEVER, Deadline

ROUNDS = 200  # more rounds of improvement than were ever seen to be needed


@dataclass(slots=True)
class Policy(Generic[NodeT]):
    """A choice of one option for each node of a cycle, and what it is worth."""

    measure: Measure[NodeT]  # measure and nodes: the graph
    nodes: Sequence[NodeT]
    group: Sequence[NodeT]  # the nodes that choose
    known: Mapping[int, fmpq]  # the values of all others that they lead to
    # solves the equations of nodes for given choices and values of others; infinite ones are left out
    solve: Callable[[Sequence[NodeT], Mapping[int, int], Mapping[int, fmpq]], dict[int, fmpq]]
    up: bool  # in which direction it rounds
    deadline: Deadline = NEVER
    choice: dict[int, int] = field(default_factory=dict)  # by node the number of the option
    values: dict[int, fmpq] = field(default_factory=dict)
    resting: set[int] = field(default_factory=set)
    """Nodes whose choice keeps all mass for ever: it may as well be to stop."""

    def improve(self) -> None:
        """Improve the choice until no option is worth more than the one that is chosen.

        Raises LimitError if it does not settle, or the deadline passes.
        """
        self.choice = {node.index: _guess(node) for node in self.group}
        for _ in range(ROUNDS):
            self._evaluate()
            if not self._switch():
                return
        raise LimitError("the choices of what to ask did not settle")

    def _switch(self) -> bool:
        """Switch where an option is worth more; tell whether one was."""
        everywhere = {**self.known, **self.values}
        changed = False
        for count, node in enumerate(self.group):
            if count % 64 == 0:
                self.deadline.check()
            best = self.values.get(node.index)
            for number, edges in enumerate(node.options):
                if best is None:
                    break  # it is infinite: no more can be had
                worth = self.measure.total(edges, everywhere, up=self.up)
                if worth is None or worth > best:
                    best, self.choice[node.index] = worth, number
                    changed = True
        return changed

    def _chosen(self, node: NodeT) -> tuple[Edge, ...]:
        return node.options[self.choice[node.index]]

    def _evaluate(self) -> None:
        """Work out what the choice is worth, component by component of its own graph."""
        place = {node.index: k for k, node in enumerate(self.group)}
        adjacency = [
            [place[child] for _, _, child in self._chosen(node) if child in place] for node in self.group
        ]
        self.values, self.resting = {}, set()
        for part in strongly_connected_components(adjacency):
            self.deadline.check()
            members = [self.group[k] for k in part]
            inside = {node.index for node in members}
            if all(self.measure.keeps(node, self._chosen(node), inside, self.nodes) for node in members):
                self.resting |= inside
                for node in members:
                    self.values[node.index] = self.measure.own(node, up=True) or fmpq(0)
            else:
                self.values.update(self.solve(members, self.choice, {**self.known, **self.values}))


def _guess(node: Node) -> int:
    """Return the number of the option that doubles say is best."""
    sums = [
        sum((share * below.low for share, below in shares), drift)
        for shares, drift in zip(node.shares, node.drifts, strict=True)
    ]
    return max(range(len(sums)), key=sums.__getitem__)
