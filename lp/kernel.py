"""The transportation kernel: one network simplex in integers, plain Python that numba can compile.

A one-directional skewed Kantorovich program whose flows go straight from the states with
``c_i > 0`` (sources) to those with ``c_j < 0`` (sinks) is a transportation problem: source ``i``
ships ``supply[i]`` units to sinks at cost ``cost[i, j]`` or gives them up at cost ``give[i]``; sink
``j`` takes at most ``capacity[j]`` units (and leaves the rest at cost ``spare[j]``).

A basis is a forest that hangs from a root (which is both "given up" and "capacity left over"):
the parent of a source is a sink or the root (-1), the parent of a sink is a source or the root.
Its flows depend on supplies and capacities alone and its potentials on the costs alone, so a basis
stays feasible when only the costs change: that is the warm start.

Everything here is integer arithmetic: with Python integers (any size) when it runs interpreted, with
64-bit integers when it is compiled; the caller sees to it that nothing overflows, and brings all arrays.
Supplies are perturbed by one part in ``scale_up`` so that no basis is degenerate and the simplex cannot
cycle.

Source: CMP18 Remark 8.
"""

from __future__ import annotations

from typing import Any

Array = Any  # list of Python integers when interpreted, numpy array of int64 when compiled


def basis_flows(
    sources: int, sinks: int, supply: Array, capacity: Array, parent: Array, order: Array, flow: Array
) -> None:
    """Write into `flow` what the basis ships on the edge from every node to its parent.

    Nodes are numbered sources first, then sinks; `order` lists them with parents before children.
    """
    nodes = sources + sinks
    for v in range(nodes):
        flow[v] = supply[v] if v < sources else capacity[v - sources]
    for k in range(nodes - 1, -1, -1):
        v = order[k]
        above = parent[v]
        if above >= 0:
            # a source sends what it has left up to a sink; a sink draws what it lacks from a source
            flow[above] -= flow[v]


def basis_potentials(
    sources: int,
    sinks: int,
    cost: Array,
    give: Array,
    spare: Array,
    parent: Array,
    order: Array,
    potential: Array,
) -> None:
    """Write into `potential` the dual value of every node: f_i of a source, alpha f_j of a sink."""
    for k in range(sources + sinks):
        v = order[k]
        above = parent[v]
        if v < sources:
            potential[v] = give[v] if above < 0 else potential[above] + cost[v * sinks + above - sources]
        else:
            j = v - sources
            potential[v] = -spare[j] if above < 0 else potential[above] - cost[above * sinks + j]


def sort_tree(nodes: int, parent: Array, depth: Array, order: Array) -> None:
    """Write into `order` the nodes with parents before children, into `depth` their depths (roots 0)."""
    for v in range(nodes):
        depth[v] = -1
    filled = 0
    for v in range(nodes):
        # climb to the first node whose depth is known, then settle the path downwards
        steps = 0
        u = v
        while u >= 0 and depth[u] < 0:
            steps += 1
            u = parent[u]
        base = -1 if u < 0 else depth[u]
        u = v
        for k in range(steps):
            depth[u] = base + steps - k
            order[filled + steps - 1 - k] = u
            u = parent[u]
        filled += steps


def _enter(
    sources: int, sinks: int, cost: Array, give: Array, spare: Array, potential: Array
) -> tuple[int, int, int]:
    """Return (tail, head, reduced cost) of the most negative cell; -1 stands for the root."""
    best = 0
    tail = -1
    head = -1
    for i in range(sources):
        u = potential[i]
        if give[i] - u < best:
            best = give[i] - u
            tail = i
            head = -1
        row = i * sinks
        for j in range(sinks):
            reduced = cost[row + j] - u + potential[sources + j]
            if reduced < best:
                best = reduced
                tail = i
                head = sources + j
    for j in range(sinks):
        if spare[j] + potential[sources + j] < best:
            best = spare[j] + potential[sources + j]
            tail = -1
            head = sources + j
    return tail, head, best


def _pivot(sources: int, tail: int, head: int, parent: Array, depth: Array, flow: Array) -> None:
    """Bring the cell (tail, head) into the basis and throw out the edge that it empties."""
    a = tail
    b = head
    leaving = -1
    least = -1
    on_tail = False
    while a != b:
        deep_a = -1 if a < 0 else depth[a]
        deep_b = -1 if b < 0 else depth[b]
        if deep_a >= deep_b:
            if a < sources and (least < 0 or flow[a] < least):
                least = flow[a]
                leaving = a
                on_tail = True
            a = parent[a]
        else:
            if b >= sources and (least < 0 or flow[b] < least):
                least = flow[b]
                leaving = b
                on_tail = False
            b = parent[b]
    meet = a
    a = tail
    while a != meet:
        if a < sources:
            flow[a] -= least
        else:
            flow[a] += least
        a = parent[a]
    b = head
    while b != meet:
        if b >= sources:
            flow[b] -= least
        else:
            flow[b] += least
        b = parent[b]
    # hang the part below the leaving edge on the entering cell: turn the edges on the way round
    node = tail if on_tail else head
    above = head if on_tail else tail
    moved = least
    while True:
        following = parent[node]
        kept = flow[node]
        parent[node] = above
        flow[node] = moved
        if node == leaving:
            break
        above = node
        moved = kept
        node = following


def simplex(
    sources: int,
    sinks: int,
    supply: Array,
    capacity: Array,
    cost: Array,
    give: Array,
    spare: Array,
    parent: Array,
    order: Array,
    depth: Array,
    flow: Array,
    potential: Array,
    tolerance: int,
) -> int:
    """Improve the basis `parent` until it is optimal; return the number of pivots.

    ``supply``, ``capacity``: positive amounts, perturbed so that no basis is degenerate.
    ``cost``: the costs by row, ``sources * sinks`` of them.
    ``give``, ``spare``: what it costs every source to give up a unit, and every sink to leave a unit of
        capacity unused: in a program as it is posed the cost that stands for distance one, and nothing.
    ``parent``: the basis to start from, feasible; overwritten by the optimal one. All -1 is always feasible.
    ``order``, ``depth``, ``flow``, ``potential``: work space for ``sources + sinks`` numbers each; ends as
        the order, (perturbed) flows and potentials.
    ``tolerance``: a cell enters only if its reduced cost is below minus this.
    """
    nodes = sources + sinks
    pivots = 0
    sort_tree(nodes, parent, depth, order)
    basis_flows(sources, sinks, supply, capacity, parent, order, flow)
    while True:
        basis_potentials(sources, sinks, cost, give, spare, parent, order, potential)
        tail, head, reduced = _enter(sources, sinks, cost, give, spare, potential)
        if reduced >= -tolerance:
            return pivots
        _pivot(sources, tail, head, parent, depth, flow)
        sort_tree(nodes, parent, depth, order)
        pivots += 1
