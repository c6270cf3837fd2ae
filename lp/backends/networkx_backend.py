"""networkx's minimum-cost flow as a back-end, for alpha = 1, where the coupling program is a plain flow."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import networkx as nx
from flint import fmpq

from bisimdist.errors import LinearProgramError
from bisimdist.lp.backends.base import ExactBackend, remaining_seconds, without_option
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.progress import NEVER, Deadline

_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class NetworkxBackend(ExactBackend):
    """Exact, because masses and distances are scaled to integers; refuses every alpha but one.

    Mass given up flows to one further node, the hub, at cost one; slack flows from it at cost zero. The
    potentials are the shortest distances to the hub in the residual network of the optimal flow. A run
    cannot be interrupted: the deadline is looked at before it and after it.
    """

    name: str = "networkx"
    exact: Literal[True] = True

    def solve(self, problem: SkewedProblem, *, deadline: Deadline = NEVER) -> SkewedOptimum:
        """Return the exact optimum with both witnesses."""
        if problem.alpha != 1:
            raise LinearProgramError(
                f"the back-end 'networkx' solves alpha = 1 only; alpha is {problem.alpha}"
            )
        remaining_seconds(deadline)
        n = len(problem)
        excess = problem.excess()
        mass_unit = math.lcm(*(int(c.q) for c in excess))
        cost_unit = math.lcm(*(int(d.q) for row in problem.distance for d in row))
        supplies = [int((c * mass_unit).p) for c in excess]
        graph = nx.DiGraph()
        graph.add_node(n, demand=sum(supplies))
        for i, supply in enumerate(supplies):
            graph.add_node(i, demand=-supply)
        for i, row in enumerate(problem.distance):
            graph.add_edge(i, n, weight=cost_unit)
            graph.add_edge(n, i, weight=0)
            for j, d in enumerate(row):
                if i != j:
                    graph.add_edge(i, j, weight=int((d * cost_unit).p))
        _, flow = nx.network_simplex(graph)
        remaining_seconds(deadline)
        amounts = {(i, j): fmpq(amount, mass_unit) for i in flow for j, amount in flow[i].items() if amount}
        moves = {(i, j): amount for (i, j), amount in amounts.items() if i < n and j < n}
        given_up = {i: amount for (i, j), amount in amounts.items() if j == n}
        value = sum((amount * problem.distance[i][j] for (i, j), amount in moves.items()), _ZERO)
        value += sum(given_up.values(), _ZERO)
        lengths = self._distances_to_hub(graph, flow, n)
        return SkewedOptimum(value, tuple(fmpq(lengths[i], cost_unit) for i in range(n)), moves, given_up)

    @staticmethod
    def _distances_to_hub(
        graph: nx.DiGraph[int], flow: dict[int, dict[int, int]], hub: int
    ) -> dict[int, int]:
        residual = nx.DiGraph()  # reversed, so that one search from the hub reaches every node
        residual.add_node(hub)
        for i, j, cost in graph.edges(data="weight"):
            candidates = [(j, i, cost)] + ([(i, j, -cost)] if flow[i][j] else [])
            for tail, head, weight in candidates:
                known = residual.get_edge_data(tail, head)
                if known is None or weight < known["weight"]:
                    residual.add_edge(tail, head, weight=weight)
        lengths: dict[int, int] = nx.single_source_bellman_ford_path_length(residual, hub)
        return lengths


make = without_option(NetworkxBackend)
