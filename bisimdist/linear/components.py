"""Strongly connected components of a system, those that others depend on first."""

from __future__ import annotations

from collections.abc import Sequence


def strongly_connected_components(successors: Sequence[Sequence[int]]) -> list[list[int]]:
    """Return the strongly connected components in an order in which successors come first.

    ``successors``: for each node the nodes that it points to.
    returns: the components, each with its nodes ascending. An edge that leaves a component leads to one that
        stands earlier in the list.
    Source: Tarjan, "Depth-first search and linear graph algorithms", SIAM J. Comput. 1(2), 1972.

    >>> strongly_connected_components([[1], [0, 2], []])
    [[2], [0, 1]]
    """
    size = len(successors)
    order = [-1] * size
    low = [0] * size
    closed = [False] * size
    found: list[list[int]] = []
    trail: list[int] = []
    clock = 0
    for root in range(size):
        if order[root] >= 0:
            continue
        order[root] = low[root] = clock
        clock += 1
        trail.append(root)
        stack = [(root, iter(successors[root]))]
        while stack:
            node, pending = stack[-1]
            for successor in pending:
                if order[successor] < 0:
                    order[successor] = low[successor] = clock
                    clock += 1
                    trail.append(successor)
                    stack.append((successor, iter(successors[successor])))
                    break
                if not closed[successor]:
                    low[node] = min(low[node], order[successor])
            else:
                stack.pop()
                if stack:
                    above = stack[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component = []
                    while not closed[node]:
                        member = trail.pop()
                        closed[member] = True
                        component.append(member)
                    found.append(sorted(component))
    return found
