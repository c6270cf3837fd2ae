"""The event behind a lower bound: a set of traces as a small automaton, and its probabilities."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from bisimdist.linear import SparseSystem, solve_exact
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.lmc import LMC
from bisimdist.models.reach import all_reached
from bisimdist.privacy.gain import GainNode
from bisimdist.privacy.refinement import Refinement

__all__ = ["ACCEPT", "REJECT", "Event", "event_of_labels", "find_event"]

ACCEPT = -1
REJECT = -2

_WORDS = {ACCEPT: "accept", REJECT: "reject"}


@dataclass(frozen=True)
class Event:
    """A set of traces: those whose labels lead from the first node to `ACCEPT`.

    Parameters
    ----------
    nodes
        For each node where its labels lead: to a node, to `ACCEPT` (whatever follows is in the event) or to
        `REJECT`. A label that is not named leads to `REJECT`.
    root
        Where a trace starts, before its first label.
    """

    nodes: tuple[Mapping[str, int], ...]
    root: int

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """The nodes, each before those that it leads to; None if the automaton has a cycle."""
        adjacency = [[target for target in node.values() if target >= 0] for node in self.nodes]
        groups = strongly_connected_components(adjacency)
        if any(len(group) > 1 or group[0] in adjacency[group[0]] for group in groups):
            return None
        return tuple(group[0] for group in reversed(groups))

    def probability(self, chain: LMC, start: int) -> fmpq:
        """Return the probability that the trace of a run from a state is in the event."""
        first = self._next(self.root, chain.labels[start])
        if first < 0:
            return fmpq(1 if first == ACCEPT else 0)
        order = self.order
        if order is None:
            return self._solved(chain, first, start)
        inside: dict[int, dict[int, fmpq]] = {first: {start: fmpq(1)}}
        accepted = fmpq(0)
        for node in order:
            for state, mass in inside.pop(node, {}).items():
                for target, p in chain.rows[state]:
                    following = self._next(node, chain.labels[target])
                    if following == ACCEPT:
                        accepted += mass * p
                    elif following >= 0:
                        masses = inside.setdefault(following, {})
                        masses[target] = masses.get(target, fmpq(0)) + mass * p
        return accepted

    def _next(self, node: int, label: str) -> int:
        return node if node < 0 else self.nodes[node].get(label, REJECT)

    def _solved(self, chain: LMC, first: int, start: int) -> fmpq:
        """Solve the equations of reaching ACCEPT, for the configurations from which that is possible."""
        found: dict[tuple[int, int], list[tuple[tuple[int, int], fmpq]]] = {}
        gains: dict[tuple[int, int], fmpq] = {}
        stack = [(first, start)]
        while stack:
            here = stack.pop()
            if here in found:
                continue
            edges = []
            gains[here] = fmpq(0)
            for target, p in chain.rows[here[1]]:
                following = self._next(here[0], chain.labels[target])
                if following == ACCEPT:
                    gains[here] += p
                elif following >= 0:
                    edges.append(((following, target), p))
                    stack.append((following, target))
            found[here] = edges
        alive = _leading_to({here: [there for there, _ in edges] for here, edges in found.items()}, gains)
        if (first, start) not in alive:
            return fmpq(0)
        place = {here: k for k, here in enumerate(here for here in found if here in alive)}
        rows = [
            (gains[here], [(place[there], p) for there, p in found[here] if there in place]) for here in place
        ]
        return solve_exact(SparseSystem.from_rationals(rows)).entry(place[first, start])

    def traces(self) -> int | None:
        """Return how many shortest sequences of labels lead to ACCEPT; None if that is no finite number."""
        if self.order is None:
            return None
        count = {ACCEPT: 1, REJECT: 0}
        for node in reversed(self.order):
            count[node] = sum(count[target] for target in self.nodes[node].values())
        return count[self.root]

    def data(self) -> dict[str, object]:
        """Return the automaton as plain data."""
        return {
            "root": _WORDS.get(self.root, self.root),
            "nodes": [
                {label: _WORDS.get(target, target) for label, target in node.items()} for node in self.nodes
            ],
        }


def _leading_to(
    edges: Mapping[tuple[int, int], list[tuple[int, int]]], gains: Mapping[tuple[int, int], fmpq]
) -> set[tuple[int, int]]:
    backward: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for here, targets in edges.items():
        for there in targets:
            backward.setdefault(there, []).append(here)
    winning = (here for here, gain in gains.items() if gain > 0)
    return set(all_reached(winning, lambda here: backward.get(here, ())))


def event_of_labels(label: str) -> Event:
    """Return the event of all traces that begin with a label."""
    return Event(({label: ACCEPT},), 0)


def find_event(refinement: Refinement[GainNode], root: int, first: str, leaves: frozenset[int]) -> Event:
    """Return the event behind the lower bound of a node, made small.

    Parameters
    ----------
    refinement
        The graph.
    root
        The node of the pair, after its first label.
    first
        That label.
    leaves
        The nodes whose lower bound is |c|+: all continuations belong to the event if |c| > 0.
    """
    builder = _Builder(refinement, root, leaves)
    top = builder.build()
    if top == REJECT:
        return Event((), REJECT)
    builder.made.append({first: top})
    return _trimmed(builder.made, len(builder.made) - 1)


class _Builder:
    """Makes nodes of an automaton of nodes of a graph; nodes that lead to the same are one."""

    def __init__(self, refinement: Refinement[GainNode], root: int, leaves: frozenset[int]) -> None:
        self.labels = refinement.measure.labels
        self.nodes = refinement.nodes
        self.leaves = leaves
        self.root = root
        self.made: list[dict[str, int]] = []
        self.known: dict[tuple[tuple[str, int], ...], int] = {}
        self.becomes: dict[int, int] = {}

    def _edges(self, number: int) -> tuple[tuple[int, int, int], ...]:
        return () if number in self.leaves else self.nodes[number].edges or ()

    def build(self) -> int:
        """Return what the root becomes."""
        place: dict[int, int] = {}
        stack = [self.root]
        while stack:
            number = stack.pop()
            if number not in place:
                place[number] = len(place)
                stack.extend(child for _, _, child in self._edges(number))
        found = list(place)
        adjacency = [[place[child] for _, _, child in self._edges(number)] for number in found]
        for group in strongly_connected_components(adjacency):
            if len(group) > 1 or group[0] in adjacency[group[0]]:
                self._cycle([found[member] for member in group])
            else:
                self.becomes[found[group[0]]] = self._single(found[group[0]])
        return self.becomes[self.root]

    def _targets(self, number: int) -> list[tuple[str, int]]:
        return [(self.labels[label], self.becomes[child]) for label, _, child in self._edges(number)]

    def _cycle(self, group: list[int]) -> None:
        for number in group:
            self.becomes[number] = len(self.made)
            self.made.append({})
        for number in group:
            targets = self._targets(number)
            self.made[self.becomes[number]].update(entry for entry in targets if entry[1] != REJECT)

    def _single(self, number: int) -> int:
        targets = self._targets(number)
        if not targets:
            return ACCEPT if self.nodes[number].total > 0 else REJECT
        if all(target == ACCEPT for _, target in targets):
            return ACCEPT  # labels where all cancels gain nothing, on whichever side they are
        kept = tuple(entry for entry in targets if entry[1] != REJECT)
        if not kept:
            return REJECT
        if kept not in self.known:
            self.known[kept] = len(self.made)
            self.made.append(dict(kept))
        return self.known[kept]


def _trimmed(nodes: list[dict[str, int]], root: int) -> Event:
    """Give the nodes that are reached new numbers, the root first."""
    number = {root: 0}
    queue = [root]
    for node in queue:
        for target in nodes[node].values():
            if target >= 0 and target not in number:
                number[target] = len(number)
                queue.append(target)
    return Event(
        tuple({label: number.get(target, target) for label, target in nodes[node].items()} for node in queue),
        0,
    )
