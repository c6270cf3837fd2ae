"""One transportation program in integers of any size: the kernel, interpreted.

Source: CMP18 Remark 8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bisimdist.errors import LinearProgramError
from bisimdist.lp import kernel
from bisimdist.lp.program import Program
from bisimdist.lp.residual import approach, worth_approaching


@dataclass(frozen=True, slots=True)
class TransportBasis:
    """A basis of a program with its exact flows and potentials."""

    parent: tuple[int, ...]  # for every node (sources, then sinks) the node that it hangs from, or -1
    # what the edge to the parent carries, in the unit of the program's amounts; where the parent of a source
    # is -1 it is given up, where that of a sink is -1 it is capacity left over
    flow: tuple[int, ...]
    potential: tuple[int, ...]  # f_i of a source, alpha f_j of a sink, in the unit of the distances
    pivots: int

    def cost(self, program: Program, costs: Sequence[int], one: int) -> int:
        """Return the cost of the flows, in (unit of amounts) x (unit of distances)."""
        sources, sinks = len(program.sources), len(program.sinks)
        total = 0
        for v, (above, carried) in enumerate(zip(self.parent, self.flow, strict=True)):
            if v < sources:
                total += carried * (one if above < 0 else costs[v * sinks + above - sources])
            elif above >= 0:
                total += carried * costs[above * sinks + v - sources]
        return total

    @property
    def feasible(self) -> bool:
        """Whether no flow is negative."""
        return min(self.flow, default=0) >= 0


def improve(  # noqa: PLR0913
    program: Program,
    costs: Sequence[int],
    one: int,
    parent: Sequence[int] | None = None,
    *,
    tolerance: int = 0,
    stay: bool = False,
) -> TransportBasis:
    """Return an optimal basis, starting from the given one where that is feasible.

    ``costs``: its costs by row, in units of which giving up costs `one`; integers of any size.
    ``one``: the cost of giving up one unit.
    ``tolerance``: reduced costs that are negative by no more than this are left.
    ``stay``: only work out the flows and potentials of the basis that is given, without any pivot.
    Raises LinearProgramError if it is to stay at a basis that is not feasible.
    """
    sources, sinks = len(program.sources), len(program.sinks)
    nodes = sources + sinks
    scale_up = sources + 2
    supply = [amount * scale_up + 1 for amount in program.supply]
    capacity = [amount * scale_up for amount in program.capacity]
    order, depth = [0] * nodes, [0] * nodes
    flow, potential = [0] * nodes, [0] * nodes
    up = [-1] * nodes if parent is None else [int(v) for v in parent]
    kernel.sort_tree(nodes, up, depth, order)
    kernel.basis_flows(sources, sinks, supply, capacity, up, order, flow)
    if min(flow, default=0) < 0:
        if stay:
            raise LinearProgramError("the basis is not feasible")
        up = [-1] * nodes
    pivots, optimal = 0, stay
    give, spare = [one] * sources, [0] * sinks
    if not optimal and worth_approaching(len(costs), sum(supply) + sum(capacity)):
        pivots, optimal = approach(sources, sinks, supply, capacity, costs, one, up, tolerance)
    if optimal:
        kernel.sort_tree(nodes, up, depth, order)
        kernel.basis_potentials(sources, sinks, costs, give, spare, up, order, potential)
    else:
        pivots += kernel.simplex(
            sources, sinks, supply, capacity, costs, give, spare, up, order, depth, flow, potential, tolerance
        )
    kernel.basis_flows(sources, sinks, program.supply, program.capacity, up, order, flow)
    return TransportBasis(tuple(up), tuple(flow), tuple(potential), pivots)


def solve_program(program: Program, costs: Sequence[int], one: int) -> TransportBasis:
    """Return an optimal basis of one program, from scratch.

    >>> program = Program((0,), (1,), (3,), (2,), (0,), 4)
    >>> basis = solve_program(program, [5], 10)
    >>> basis.cost(program, [5], 10)  # two units move at cost 5, one is given up at cost 10
    20
    """
    return improve(program, costs, one)
