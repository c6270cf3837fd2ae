"""Diagrams of orders: what is larger stands above, and what follows from other edges is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bisimdist import drawing
from bisimdist.faces.shown.standing import Relation
from bisimdist.models.reach import all_reached

SIGNS = {Relation.EQUAL: "=", Relation.LESS: "<", Relation.AT_MOST: "≤", Relation.VIOLATED: "violated"}
OPEN = {Relation.AT_MOST}  # drawn dashed


@dataclass(frozen=True, slots=True)
class Edge:
    """An order between two nodes, by their names; the gap is what stands beside it."""

    smaller: str
    larger: str
    relation: Relation
    gap: str = ""


def hasse_svg(nodes: Sequence[drawing.Node], edges: Sequence[Edge], *, label: str) -> str:
    """Return the diagram as SVG; edges that only follow from others are left out, violated ones stay."""
    edges = _covers(edges)
    levels = _levels([node.name for node in nodes], edges)
    top = max(levels.values())
    drawn = [
        drawing.Edge(edge.larger, edge.smaller, edge.gap or SIGNS[edge.relation], edge.relation in OPEN)
        for edge in edges
    ]
    layers = {name: top - level for name, level in levels.items()}
    return drawing.drawing(nodes, drawn, label=label, layers=layers)


def _levels(names: Sequence[str], edges: Sequence[Edge]) -> dict[str, int]:
    """Return how high each node stands: above all that is smaller."""
    level = dict.fromkeys(names, 0)
    for _ in names:
        for edge in edges:
            level[edge.larger] = max(level[edge.larger], min(level[edge.smaller] + 1, len(names) - 1))
    for name in names:  # what stands on nothing moves up to what stands on it
        above = [level[edge.larger] for edge in edges if edge.smaller == name]
        if above and all(edge.larger != name for edge in edges):
            level[name] = max(0, min(above) - 1)
    return level


def _covers(edges: Sequence[Edge]) -> tuple[Edge, ...]:
    """Leave out the lines that follow from others, but for violated ones."""
    above: dict[str, set[str]] = {}
    for edge in edges:
        above.setdefault(edge.smaller, set()).add(edge.larger)

    def reaches(start: str, end: str) -> bool:
        others = above.get(start, set()) - {start, end}
        return end in all_reached(others, lambda name: above.get(name, set()) - {start})

    return tuple(e for e in edges if e.relation is Relation.VIOLATED or not reaches(e.smaller, e.larger))
