"""Which pairs of states a question depends on, and their numbering."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations

import networkx as nx
from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.models.lmc import LMC

__all__ = ["PairSpace", "components_bottom_up", "reached_by_classes", "reached_by_pairs"]


@dataclass(frozen=True, slots=True)
class PairSpace:
    """A numbering of unordered pairs of different states of one distinguishable class.

    States of different classes are at distance 1 and equal states at distance 0: neither is numbered.

    Parameters
    ----------
    classes
        The class of every state, numbered from 0.
    members
        The states of every class, ascending.
    pairs
        The numbered pairs, smaller state first, by number.
    whole
        Whether with one pair of a class all of them are numbered.
    numbers
        The number of every numbered pair.
    """

    classes: tuple[int, ...]
    members: tuple[tuple[int, ...], ...]
    pairs: tuple[tuple[int, int], ...]
    whole: bool
    numbers: Mapping[tuple[int, int], int]

    @classmethod
    def of_classes(cls, classes: Sequence[int], wanted: Iterable[int] | None = None) -> PairSpace:
        """Return the numbering of all pairs within the `wanted` classes (by default all)."""
        members = _members(classes)
        keep = range(len(members)) if wanted is None else sorted(set(wanted))
        pairs = tuple(pair for kind in keep for pair in combinations(members[kind], 2))
        return cls._numbered(classes, members, pairs, whole=True)

    @classmethod
    def of_pairs(cls, classes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> PairSpace:
        """Return the numbering of the given pairs only."""
        ordered = tuple(sorted({(min(pair), max(pair)) for pair in pairs}))
        return cls._numbered(classes, _members(classes), ordered, whole=False)

    @classmethod
    def _numbered(
        cls,
        classes: Sequence[int],
        members: tuple[tuple[int, ...], ...],
        pairs: tuple[tuple[int, int], ...],
        *,
        whole: bool,
    ) -> PairSpace:
        return cls(tuple(classes), members, pairs, whole, {pair: k for k, pair in enumerate(pairs)})

    def __len__(self) -> int:
        return len(self.pairs)

    def number(self, first: int, second: int) -> int:
        """Return the number of a numbered pair, given in either order."""
        return self.numbers[(first, second) if first < second else (second, first)]

    def of_class(self, kind: int) -> list[int]:
        """Return the numbers of the pairs of a class whose pairs are all numbered."""
        return [self.numbers[pair] for pair in combinations(self.members[kind], 2)]

    def whole_classes(self) -> list[int]:
        """Return the classes all of whose pairs are numbered (with at least one pair)."""
        return sorted({self.classes[first] for first, _ in self.pairs}) if self.whole else []


def _members(classes: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    members: list[list[int]] = [[] for _ in range(max(classes) + 1)]
    for state, kind in enumerate(classes):
        members[kind].append(state)
    return tuple(map(tuple, members))


def _class_graph(lmc: LMC, classes: Sequence[int]) -> nx.DiGraph:
    graph = nx.DiGraph()
    graph.add_nodes_from(range(max(classes) + 1))
    graph.add_edges_from(
        (classes[state], classes[target]) for state, row in enumerate(lmc.rows) for target, _ in row
    )
    return graph


def reached_by_classes(lmc: LMC, classes: Sequence[int], pairs: Iterable[tuple[int, int]]) -> set[int]:
    """Return the classes whose pairs the distances of the given pairs can depend on.

    The supremum is over functions on all states of a class (also those outside the supports), so a
    class is needed as a whole: those of the pairs, and every class that one of its states can enter.
    """
    graph = _class_graph(lmc, classes)
    starts = {classes[s] for s, t in pairs if s != t and classes[s] == classes[t]}
    return starts.union(*(nx.descendants(graph, start) for start in starts))


def reached_by_pairs(
    lmc: LMC,
    classes: Sequence[int],
    pairs: Iterable[tuple[int, int]],
    alpha: fmpq,
    *,
    limit: int,
) -> set[tuple[int, int]]:
    """Return the pairs (first < second) that direct couplings reach from the given ones.

    Enough for exactness at alpha = 1, where no detour through a third state ever helps, and for upper
    bounds always.

    Raises
    ------
    LimitError
        If there are more than `limit`.
    """
    found = {(min(p), max(p)) for p in pairs if p[0] != p[1] and classes[p[0]] == classes[p[1]]}
    stack = list(found)
    while stack:
        s, t = stack.pop()
        left, right = dict(lmc.rows[s]), dict(lmc.rows[t])
        for pair in chain(_cells(left, right, classes, alpha), _cells(right, left, classes, alpha)):
            if pair not in found:
                found.add(pair)
                stack.append(pair)
        if len(found) > limit:
            raise LimitError(f"the question depends on more than {limit} pairs of states")
    return found


def _cells(
    left: Mapping[int, fmpq], right: Mapping[int, fmpq], classes: Sequence[int], alpha: fmpq
) -> Iterator[tuple[int, int]]:
    """Yield the pairs between which a direct coupling of one direction may move mass."""
    sinks: dict[int, list[int]] = {}
    for j, p in right.items():
        if left.get(j, 0) < alpha * p:
            sinks.setdefault(classes[j], []).append(j)
    for i, p in left.items():
        if p > alpha * right.get(i, fmpq(0)):
            for j in sinks.get(classes[i], ()):
                yield (i, j) if i < j else (j, i)


def components_bottom_up(lmc: LMC, classes: Sequence[int]) -> list[tuple[tuple[int, ...], bool]]:
    """Return the strongly connected components of classes, successors first, and whether each is cyclic."""
    graph = _class_graph(lmc, classes)
    condensed = nx.condensation(graph)
    result = []
    for node in reversed(list(nx.topological_sort(condensed))):
        group = tuple(sorted(condensed.nodes[node]["members"]))
        cyclic = len(group) > 1 or graph.has_edge(group[0], group[0])
        result.append((group, cyclic))
    return result
