"""The event behind a lower bound, and what is asked on the way: a small automaton and its probabilities.

Source: CMP18 Definition 2.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from flint import fmpq

from bisimdist.linear import SparseSystem, solve_exact
from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.interactive import Interactive, System
from bisimdist.models.lmc import Row
from bisimdist.models.reach import all_reached
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.gain import Gain, GainNode
from bisimdist.progress import NEVER, Deadline

ACCEPT = -1
REJECT = -2

MAX_STEPS = 8  # how many labels of an event a person is shown
_WORDS = {ACCEPT: "accept", REJECT: "reject"}


@dataclass(frozen=True)
class Event:
    """A set of traces: those whose labels lead from the first node to `ACCEPT`."""

    # for each node where its labels lead: to a node, to `ACCEPT` (whatever follows is in the event) or to
    # `REJECT`. A label that is not named leads to `REJECT`.
    nodes: tuple[Mapping[str, int], ...]
    root: int  # where a trace starts, before its first label
    # in an interactive model for each node the action that is asked before its labels are read; None where
    # nothing is, as at the root. With these the event is a *strategy* too.
    asks: tuple[str | None, ...] = ()

    @cached_property
    def order(self) -> tuple[int, ...] | None:
        """The nodes, each before those that it leads to; None if the automaton has a cycle."""
        adjacency = [[target for target in node.values() if target >= 0] for node in self.nodes]
        groups = strongly_connected_components(adjacency)
        if any(len(group) > 1 or group[0] in adjacency[group[0]] for group in groups):
            return None
        return tuple(group[0] for group in reversed(groups))

    def _rows(self, model: System, node: int) -> Sequence[Row] | Mapping[int, Row]:
        """Return the rows by which a run goes on from a node."""
        return model.rows_by(self.asks[node] if self.asks else None)

    def probability(self, chain: System, start: int) -> fmpq:
        """Return the probability that the trace of a run from a state is in the event.

        In an interactive model it is that of the traces which the strategy sees.
        """
        return self.probabilities(chain, (start,))[0]

    def probabilities(
        self, chain: System, starts: Sequence[int], *, deadline: Deadline = NEVER
    ) -> list[fmpq]:
        """Return the same for several states, by one system of equations where there are any."""
        firsts = [self._next(self.root, chain.labels[start]) for start in starts]
        if self.order is None:
            return self._solved(chain, list(zip(firsts, starts, strict=True)), deadline)
        return [self._followed(chain, *place, deadline) for place in zip(firsts, starts, strict=True)]

    def _followed(self, chain: System, first: int, start: int, deadline: Deadline) -> fmpq:
        """Follow the masses from a state through the nodes, in their order."""
        if first < 0:
            return fmpq(1 if first == ACCEPT else 0)
        order = self.order or ()
        inside: dict[int, dict[int, fmpq]] = {first: {start: fmpq(1)}}
        accepted = fmpq(0)
        for node in order:
            deadline.check()
            masses_here = inside.pop(node, {})
            rows = self._rows(chain, node)
            for state, mass in masses_here.items():
                for target, p in rows[state]:
                    following = self._next(node, chain.labels[target])
                    if following == ACCEPT:
                        accepted += mass * p
                    elif following >= 0:
                        masses = inside.setdefault(following, {})
                        masses[target] = masses.get(target, fmpq(0)) + mass * p
        return accepted

    def _next(self, node: int, label: str) -> int:
        return node if node < 0 else self.nodes[node].get(label, REJECT)

    def _solved(self, chain: System, starts: Sequence[tuple[int, int]], deadline: Deadline) -> list[fmpq]:
        """Solve the equations of reaching ACCEPT, for the configurations from which that is possible."""
        found: dict[tuple[int, int], list[tuple[tuple[int, int], fmpq]]] = {}
        gains: dict[tuple[int, int], fmpq] = {}
        stack = [(first, start) for first, start in starts if first >= 0]
        while stack:
            here = stack.pop()
            if here in found:
                continue
            deadline.check()
            edges = []
            gains[here] = fmpq(0)
            for target, p in self._rows(chain, here[0])[here[1]]:
                following = self._next(here[0], chain.labels[target])
                if following == ACCEPT:
                    gains[here] += p
                elif following >= 0:
                    edges.append(((following, target), p))
                    stack.append((following, target))
            found[here] = edges
        alive = _leading_to({here: [there for there, _ in edges] for here, edges in found.items()}, gains)
        place = {here: k for k, here in enumerate(here for here in found if here in alive)}
        rows = [
            (gains[here], [(place[there], p) for there, p in found[here] if there in place]) for here in place
        ]
        solution = solve_exact(SparseSystem.from_rationals(rows), deadline=deadline)
        return [
            solution.entry(place[here]) if here in place else fmpq(1 if here[0] == ACCEPT else 0)
            for here in starts
        ]

    def traces(self) -> int | None:
        """Return how many shortest sequences of labels lead to ACCEPT; None if that is no finite number."""
        if self.order is None:
            return None
        count = {ACCEPT: 1, REJECT: 0}
        for node in reversed(self.order):
            count[node] = sum(count[target] for target in self.nodes[node].values())
        return count[self.root]

    def only_trace(self) -> list[str]:
        """Return the labels of an event that has one short sequence of them; nothing of others."""
        trace: list[str] = []
        node = self.root
        while node >= 0:
            ways = [(label, target) for label, target in self.nodes[node].items() if target != REJECT]
            if self.asks or len(ways) != 1 or len(trace) == MAX_STEPS:
                return []
            ((label, node),) = ways
            trace.append(label)
        return trace

    def data(self) -> dict[str, object]:
        nodes: list[dict[str, object]] = [
            {label: _WORDS.get(target, target) for label, target in node.items()} for node in self.nodes
        ]
        if self.asks:
            nodes = [
                {"then": node} if action is None else {"ask": action, "then": node}
                for action, node in zip(self.asks, nodes, strict=True)
            ]
        return {"root": _WORDS.get(self.root, self.root), "nodes": nodes}

    def renamed(self, labels: Mapping[str, str]) -> Event:
        nodes = tuple({labels[label]: target for label, target in node.items()} for node in self.nodes)
        return Event(nodes, self.root, self.asks)


def _leading_to(
    edges: Mapping[tuple[int, int], list[tuple[int, int]]], gains: Mapping[tuple[int, int], fmpq]
) -> set[tuple[int, int]]:
    backward: dict[tuple[int, int], list[tuple[int, int]]] = {}
    for here, targets in edges.items():
        for there in targets:
            backward.setdefault(there, []).append(here)
    winning = (here for here, gain in gains.items() if gain > 0)
    return set(all_reached(winning, lambda here: backward.get(here, ())))


def event_of_labels(label: str, *, asked: bool = False) -> Event:
    """Return the event of all traces that begin with a label, in which nothing is asked."""
    return Event(({label: ACCEPT},), 0, (None,) if asked else ())


def find_event(measure: Gain, nodes: Sequence[GainNode], root: int, first: str, closure: Closure) -> Event:
    """Return the event behind the lower bound of a node, made small, with what is asked.

    measure, nodes: the graph.
    root: the node of the pair, after its first label.
    closure: the bounds: where the lower one is |c|+ all continuations belong to the event if |c| > 0.
    """
    builder = _Builder(measure, nodes, root, closure)
    top = builder.build()
    if top == REJECT:
        return Event((), REJECT)
    builder.add(None, {first: top})
    return builder.event()


Kept = tuple[tuple[str, int], ...]


class _Builder:
    """Makes nodes of an automaton of nodes of a graph; nodes that lead to the same are one."""

    def __init__(self, measure: Gain, nodes: Sequence[GainNode], root: int, closure: Closure) -> None:
        self.measure = measure
        self.nodes = nodes
        self.closure = closure
        self.root = root
        self.made: list[dict[str, int]] = []
        self.asks: list[str | None] = []
        self.known: dict[tuple[str | None, Kept], int] = {}
        self.becomes: dict[int, int] = {}

    def add(self, action: str | None, targets: dict[str, int]) -> int:
        """Make a node, and return its number."""
        self.made.append(targets)
        self.asks.append(action)
        return len(self.made) - 1

    def _edges(self, number: int) -> tuple[tuple[int, int, int], ...]:
        """Return what follows a node by the option that is taken."""
        options = () if number in self.closure.lower_leaves else self.nodes[number].options
        return options[self.closure.choice.get(number, 0)] if options else ()

    def _action(self, number: int) -> str:
        return self.measure.chain.named(self.nodes[number].vector, self.closure.choice.get(number, 0))

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
        labels = self.measure.labels
        return [(labels[label], self.becomes[child]) for label, _, child in self._edges(number)]

    def _cycle(self, group: list[int]) -> None:
        for number in group:
            self.becomes[number] = self.add(self._action(number), {})
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
        key = self._action(number), kept
        if key not in self.known:
            self.known[key] = self.add(key[0], dict(kept))
        return self.known[key]

    def event(self) -> Event:
        """Return the automaton from the last node on: give the nodes that are reached new numbers."""
        queue = [len(self.made) - 1]
        number = {queue[0]: 0}
        for node in queue:
            for target in self.made[node].values():
                if target >= 0 and target not in number:
                    number[target] = len(number)
                    queue.append(target)
        nodes = tuple(
            {label: number.get(target, target) for label, target in self.made[node].items()} for node in queue
        )
        asked = isinstance(self.measure.chain.model, Interactive)
        return Event(nodes, 0, tuple(self.asks[node] for node in queue) if asked else ())
