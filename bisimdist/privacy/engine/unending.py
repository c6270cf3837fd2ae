"""Why a value of the graph is infinite: a trace that only one world shows, or a cycle on which sums grow."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bisimdist.linear.components import strongly_connected_components
from bisimdist.models.reach import all_reached
from bisimdist.privacy.engine.closure import Closure
from bisimdist.privacy.engine.measure import NodeT
from bisimdist.privacy.engine.refinement import Refinement

Path = tuple[str, ...]


def growing_groups(refinement: Refinement[NodeT], roots: Iterable[int], closure: Closure) -> list[list[int]]:
    """Return the components of infinite nodes that no other infinite node makes so, last ones first."""

    def after(number: int) -> list[int]:
        chosen = closure.chosen(refinement.nodes[number])
        return [child for _, _, child in chosen if child not in closure.lower]

    found = all_reached((root for root in roots if root not in closure.lower), after)
    place = {number: k for k, number in enumerate(found)}
    adjacency = [
        [place[child] for _, _, child in closure.chosen(refinement.nodes[number]) if child in place]
        for number in found
    ]
    return [
        [found[k] for k in group]
        for group in strongly_connected_components(adjacency)
        if all(child in set(group) for k in group for child in adjacency[k])
    ]


def find_unending(
    refinement: Refinement[NodeT], roots: Sequence[int], closure: Closure
) -> tuple[Path, Path] | None:
    """Return the labels that lead from a root to where it shows, and those of a cycle there; None if finite.

    The cycle is empty where one world alone may show the trace.
    """
    bases = {number for group in growing_groups(refinement, roots, closure) for number in group}
    infinite = [root for root in roots if root not in closure.lower]
    if not infinite:
        return None
    trace, way = _path(refinement, infinite, bases, closure)
    end = way[-1]
    edges = closure.chosen(refinement.nodes[end])
    if not edges:
        return trace, ()
    steps = [
        (refinement.measure.labels[label], child) for label, _, child in edges if child not in closure.lower
    ]
    cycles: list[Path] = []
    for label, child in steps:
        if child == end:
            cycles.append((label,))
        elif child in bases:
            rest, _ = _path(refinement, [child], {end}, closure)
            cycles.append((label, *rest))
    return trace, min(cycles, key=len)


def _path(
    refinement: Refinement[NodeT], starts: Sequence[int], goals: set[int], closure: Closure
) -> tuple[Path, list[int]]:
    """Return the labels of a shortest path through infinite nodes to one of some nodes, and its nodes."""
    labels = refinement.measure.labels
    came: dict[int, tuple[int, str] | None] = dict.fromkeys(starts)
    queue = list(starts)
    for number in queue:
        if number in goals:
            break
        for label, _, child in closure.chosen(refinement.nodes[number]):
            if child not in closure.lower and child not in came:
                came[child] = number, labels[label]
                queue.append(child)
    path: list[str] = []
    way, step = [number], came[number]
    while step is not None:
        path.append(step[1])
        way.append(step[0])
        step = came[step[0]]
    return tuple(reversed(path)), way[::-1]


def way_out(refinement: Refinement[NodeT], roots: Sequence[int], closure: Closure) -> list[int]:
    """Return the nodes from an infinite root to where it shows why."""
    bases = {number for group in growing_groups(refinement, roots, closure) for number in group}
    return _path(refinement, [root for root in roots if root not in closure.lower], bases, closure)[1]
