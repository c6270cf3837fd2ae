"""Longest paths in a graph of beliefs: products of the ratios of its edges, and cycles that pump them up."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import networkx as nx
from flint import fmpq

from bisimdist.traces.engine.graph import BeliefGraph, Edge

Word = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopTrace:
    """A loop after which both beliefs are as before, but the quotient of the probabilities is not."""

    # prefix and cycle: after the traces prefix cycle^n the quotient is ``factor^n`` times that after the
    # prefix
    prefix: Word
    cycle: Word
    factor: fmpq


@dataclass(frozen=True, slots=True)
class Reach:
    """The largest and the least quotient with which each node is reached, in that order."""

    values: tuple[dict[int, fmpq], dict[int, fmpq]]
    entries: tuple[dict[int, tuple[int, str] | None], dict[int, tuple[int, str] | None]]

    def word(self, side: int, node: int) -> Word:
        """Return a trace that reaches a node with its largest (side 0) or least (side 1) quotient."""
        return tuple(action for _, action in self.steps(side, node))

    def steps(self, side: int, node: int) -> list[tuple[int, str]]:
        """Return that trace as the nodes that it passes, each with the action that is taken there."""
        result = []
        entry = self.entries[side][node]
        while entry is not None:
            result.append(entry)
            entry = self.entries[side][entry[0]]
        return result[::-1]


def _components(graph: BeliefGraph) -> list[set[int]]:
    """Return the strongly connected components, those first from which others are reached."""
    drawn: nx.DiGraph[int] = nx.DiGraph()
    drawn.add_nodes_from(range(len(graph.nodes)))
    drawn.add_edges_from((n, edge.target) for n, node in enumerate(graph.nodes) for edge in node.edges)
    merged = nx.condensation(drawn)
    return [set(merged.nodes[number]["members"]) for number in nx.topological_sort(merged)]


def _spread(
    graph: BeliefGraph, start: int, inside: set[int]
) -> tuple[dict[int, fmpq], dict[int, tuple[int, str]]]:
    """Return the quotients, relative to a start, along a shortest path to each node of a component."""
    values = {start: fmpq(1)}
    entries: dict[int, tuple[int, str]] = {}
    waiting = deque([start])
    while waiting:
        number = waiting.popleft()
        for edge in graph.nodes[number].edges:
            if edge.target in inside and edge.target not in values:
                values[edge.target] = values[number] * edge.ratio
                entries[edge.target] = (number, edge.action)
                waiting.append(edge.target)
    return values, entries


def _back(entries: dict[int, tuple[int, str]], node: int) -> Word:
    result = []
    while node in entries:
        node, action = entries[node]
        result.append(action)
    return tuple(reversed(result))


def find_loop(graph: BeliefGraph) -> LoopTrace | None:
    """Return a loop whose ratios do not multiply to one, or None if there is none in what is explored."""
    for component in _components(graph):
        if len(component) == 1 and all(
            edge.target not in component for n in component for edge in graph.nodes[n].edges
        ):
            continue
        start = min(component)
        values, entries = _spread(graph, start, component)
        for number in sorted(component):
            for edge in graph.nodes[number].edges:
                if edge.target in component and values[number] * edge.ratio != values[edge.target]:
                    return _loop(graph, start, component, (number, edge), (values, entries))
    return None


def _loop(
    graph: BeliefGraph,
    start: int,
    inside: set[int],
    step: tuple[int, Edge],
    spread: tuple[dict[int, fmpq], dict[int, tuple[int, str]]],
) -> LoopTrace:
    """Return one of the two loops through the target of an edge by which two ways to it differ."""
    (number, edge), (values, entries) = step, spread
    home, way = _spread(graph, edge.target, inside)
    back, returned = _back(way, start), home[start]
    longer = values[number] * edge.ratio * returned
    if longer != 1:
        return LoopTrace(graph.word(start), (*_back(entries, number), edge.action, *back), longer)
    direct = values[edge.target] * returned
    return LoopTrace(graph.word(start), (*_back(entries, edge.target), *back), direct)


def longest_paths(graph: BeliefGraph) -> Reach:
    """Return the largest and the least quotients with which nodes are reached from the root.

    There must be no loop as `find_loop` finds: then the quotients between two nodes of a component agree
    on all paths, and one pass over the components is enough.
    """
    order = _components(graph)
    largest = _best(graph, order, lambda one, other: one > other)
    least = _best(graph, order, lambda one, other: one < other)
    return Reach((largest[0], least[0]), (largest[1], least[1]))


def _best(
    graph: BeliefGraph, order: Sequence[set[int]], better: Callable[[fmpq, fmpq], bool]
) -> tuple[dict[int, fmpq], dict[int, tuple[int, str] | None]]:
    values: dict[int, fmpq] = {0: fmpq(1)}
    entries: dict[int, tuple[int, str] | None] = {0: None}
    for component in order:
        arrived = [n for n in component if n in values]
        if not arrived:
            continue
        if len(component) > 1:
            inner, _ = _spread(graph, arrived[0], component)
            best = arrived[0]
            for n in arrived[1:]:
                if better(values[n] / inner[n], values[best] / inner[best]):
                    best = n
            inner, ways = _spread(graph, best, component)
            base = values[best]
            for n in component - {best}:
                values[n] = base * inner[n]
                entries[n] = ways[n]
        for n in component:
            for edge in graph.nodes[n].edges:
                if edge.target in component:
                    continue
                value = values[n] * edge.ratio
                if edge.target not in values or better(value, values[edge.target]):
                    values[edge.target] = value
                    entries[edge.target] = (n, edge.action)
    return values, entries
