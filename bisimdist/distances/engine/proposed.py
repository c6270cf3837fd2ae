"""Couplings that another solver proposes, as the bases from which the distances are guessed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.lp.backends.base import Backend, get_backend
from bisimdist.lp.batch import BatchBasis, TransportBatch
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.program import Program
from bisimdist.lp.refinement import Proposal
from bisimdist.lp.solve import ask
from bisimdist.lp.transport import TransportBasis, improve
from bisimdist.progress import Deadline

ROOT = -1
NOTHING = 1e-12  # flows of no more are errors of rounding
ALL = 2.0  # flows of more, in units of which all mass is one, are no flows
_ZERO = fmpq(0)
_ONE = fmpq(1)


def usable_backend(name: str) -> Backend:
    """Return a back-end that can be run on this machine."""
    backend = get_backend(name)
    if not backend.available():
        raise UsageError(f"the back-end {name!r} finds no such solver on this machine")
    return backend


@dataclass(slots=True)
class ProposedBasis(BatchBasis):
    """Bases that a back-end is asked for wherever the last one is no longer optimal.

    What it answers says which cells belong to the basis; the kernel repairs that where it is not feasible or
    not optimal. Copies are plain, so that the exact work behind the guess asks nobody.
    """

    backend: Backend = field(kw_only=True)
    deadline: Deadline = field(kw_only=True)

    @classmethod
    def asking(cls, backend: Backend, batch: TransportBatch, deadline: Deadline) -> ProposedBasis:
        """Return the bases in which every source gives up all that it has."""
        plain = BatchBasis.start(batch)
        arrays = plain.parent, plain.flow, plain.potential, plain.value
        return cls(*arrays, backend=backend, deadline=deadline)

    def _run(
        self, batch: TransportBatch, chosen: Int64Array, distance: Int64Array, one: int, tolerance: int
    ) -> int:
        pivots = 0
        for index in chosen.tolist():
            program, nodes = batch.programs[index], batch.nodes_of(index)
            costs = [int(distance[cell]) for cell in program.cells]
            last = improve(program, costs, one, self.parent[nodes].tolist(), stay=True)
            if not _optimal(program, costs, one, last, tolerance):
                found = ask(_problem(program, costs, one), self.backend, deadline=self.deadline)
                self.parent[nodes] = _forest(program, found)
            basis = self.settle(batch, index, costs, one, tolerance=tolerance)
            self.potential[nodes] = basis.potential
            self.value[index] = basis.cost(program, costs, one) / program.whole
            pivots += basis.pivots
        return pivots


def _optimal(program: Program, costs: Sequence[int], one: int, basis: TransportBasis, tolerance: int) -> bool:
    sources = len(program.sources)
    above, below = basis.potential[:sources], basis.potential[sources:]
    reduced = [cost - above[k // len(below)] + below[k % len(below)] for k, cost in enumerate(costs)]
    return min(*reduced, *(one - f for f in above), *below, 0) >= -tolerance


def _problem(program: Program, costs: Sequence[int], one: int) -> SkewedProblem:
    """Return a program as back-ends take it: sources, then sinks, skewed no further."""
    sources, sinks = len(program.sources), len(program.sinks)
    rows = [[_ZERO if i == j else _ONE for j in range(sources + sinks)] for i in range(sources + sinks)]
    for k, cost in enumerate(costs):
        rows[k // sinks][sources + k % sinks] = fmpq(cost, one)
    left = tuple(fmpq(amount, program.whole) for amount in program.supply)
    right = tuple(fmpq(amount, program.whole) for amount in program.capacity)
    distance = tuple(map(tuple, rows))
    return SkewedProblem(_ONE, left + (_ZERO,) * sinks, (_ZERO,) * sources + right, distance)


def _forest(program: Program, found: Proposal | SkewedOptimum) -> list[int]:
    """Return for every node what it hangs from in the forest of the cells that carry the most.

    What no such cell leads from to the root hangs there by a cell that carries nothing: by one of a source
    where there is one, which gives up what the perturbation of the kernel adds.
    """
    from networkx import Graph, bfs_predecessors, maximum_spanning_tree  # noqa: PLC0415 - slow to load

    sources, nodes = len(program.sources), len(program.sources) + len(program.sinks)
    moved = ((i, j, float(w)) for (i, j), w in found.moves.items() if i < sources <= j)
    cells = [(i, j, w) for i, j, w in moved if NOTHING < w <= ALL]
    given_up = ((i, float(w)) for i, w in found.given_up.items() if i < sources)
    hanging = {i: w for i, w in given_up if NOTHING < w <= ALL}
    rest = {sources + j: amount / program.whole for j, amount in enumerate(program.capacity)}
    for _, j, amount in cells:
        rest[j] -= amount
    graph = Graph()
    for node in range(nodes):
        amount = rest[node] if node in rest else hanging.get(node, 0.0)
        graph.add_edge(ROOT, node, weight=max(amount, NOTHING / (1 if node < sources else 2)))
    graph.add_weighted_edges_from(cells)
    above = dict(bfs_predecessors(maximum_spanning_tree(graph), ROOT))
    return [above[node] for node in range(nodes)]
