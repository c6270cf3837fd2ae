"""Detours among pairs that cost nothing: judged where costs are 0 or 1 only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.detours import solve_block
from bisimdist.distances.engine.programs import Functional
from bisimdist.linear.components import strongly_connected_components
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Int64Array

UNNUMBERED = -1  # stands for the number of pairs that have none: they are not free
FEW_EDGES = 2_000  # so many edges are searched here


def spread(functional: Functional, gaining: Iterable[int], free: Callable[[int], bool]) -> dict[int, fmpq]:
    """Return the least potential that is 1 on the given states of a class, where free pairs cost nothing.

    It is a power of 1 / alpha at every state that free pairs join to them; 0 (left out) elsewhere.
    """
    space, alpha = functional.space, functional.alpha
    layer = list(gaining)
    members = space.members[space.classes[layer[0]]]
    potential = {state: fmpq(1) for state in layer}
    height = fmpq(1)
    while layer:
        height = height / alpha
        following = []
        for i in layer:
            for j in members:
                if j not in potential and free(space.numbers.get((i, j), UNNUMBERED)):
                    potential[j] = height
                    following.append(j)
        layer = following
    return potential


def potential_gain(functional: Functional, side: int, potential: Mapping[int, fmpq]) -> fmpq:
    """Return what a potential gains on a side: the sum of f_i (m(i) - alpha m'(i))."""
    left, right = map(dict, functional.rows_of(side))
    zero = fmpq(0)
    return sum(
        (f * (left.get(i, zero) - functional.alpha * right.get(i, zero)) for i, f in potential.items()), zero
    )


def _connected(size: int, first: Int64Array, second: Int64Array) -> Int64Array:
    """Return by node the number of its connected component."""
    if len(first) > FEW_EDGES:
        # scipy takes longer to load than small graphs to search
        from scipy.sparse import coo_matrix  # noqa: PLC0415
        from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

        edges = coo_matrix((np.ones(len(first), dtype=np.int8), (first, second)), shape=(size, size))
        return np.asarray(connected_components(edges, directed=False)[1], dtype=np.int64)
    neighbours: list[list[int]] = [[] for _ in range(size)]
    for i, j in zip(first.tolist(), second.tolist(), strict=True):
        neighbours[i].append(j)
        neighbours[j].append(i)
    component = np.empty(size, dtype=np.int64)
    for number, members in enumerate(strongly_connected_components(neighbours)):
        component[members] = number
    return component


class ZeroDetours:
    """Judges, for costs of 0 and 1 only, whether a free detour makes a paying program free after all."""

    def __init__(self, functional: Functional) -> None:
        self.functional = functional
        self.first = np.empty(0, dtype=np.int64)
        self.second = self.first
        if functional.detours:
            self.first, self.second = functional.space.states()

    def components(self, cost: Int64Array) -> Int64Array | None:
        """Return the connected components of the free pairs, or None where each of them is a clique."""
        if not self.functional.detours:
            return None
        free = cost == 0
        size = len(self.functional.model)
        component = _connected(size, self.first[free], self.second[free])
        sizes = np.bincount(component)
        cliques = int((sizes * (sizes - 1)).sum())
        if cliques == int(free.sum()) * (1 if self.functional.space.ordered else 2):
            return None
        return component

    def active(self, cost: Int64Array) -> bool:
        """Tell whether free detours exist that are not free directly."""
        return self.components(cost) is not None

    def confirmed(self, programs: Int64Array, cost: Int64Array, basis: BatchBasis) -> Int64Array:
        """Return those of the paying programs that pay whatever detour is taken."""
        component = self.components(cost)
        if component is None:
            return programs
        kept = [index for index in programs.tolist() if self._pays(index, component, cost, basis)]
        return np.array(kept, dtype=np.int64)

    def _pays(self, index: int, component: Int64Array, cost: Int64Array, basis: BatchBasis) -> bool:
        functional = self.functional
        program = functional.batch.programs[index]
        start = int(functional.batch.source_start[index] + functional.batch.sink_start[index])
        potential = basis.potential[start:]
        paying = {int(component[i]) for k, i in enumerate(program.sources) if potential[k] > 0}
        offset = len(program.sources)
        cheap = {int(component[j]) for k, j in enumerate(program.sinks) if potential[offset + k] == 0}
        if not paying & cheap:
            return True  # f extends by 0 and by powers of 1 / alpha along the free paths
        side = int(functional.side_of[index])
        gaining = [i for k, i in enumerate(program.sources) if potential[k] > 0]
        space = functional.space
        if (
            potential_gain(functional, side, spread(functional, gaining, lambda number: cost[number] == 0))
            > 0
        ):
            return True
        wanted = {int(component[i]) for i in program.sources + program.sinks}
        members = space.members[space.classes[program.sources[0]]]
        nodes = tuple(i for i in members if int(component[i]) in wanted)
        free, paid = fmpq(0), fmpq(1)

        def distance(i: int, j: int) -> fmpq:
            return paid if cost[space.number(i, j)] else free

        return bool(solve_block(functional, side, nodes, distance).value > 0)
