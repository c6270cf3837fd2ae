"""The diagram of an order as inline SVG: what must be smaller stands below, gaps are marked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from bisimdist.drawing import fitted
from bisimdist.faces.shown.standing import Relation

WIDTH, HEIGHT = 264, 46
SPACE, RISE = 26, 62
MARGIN = 12
FITS = 36  # so many characters fit into a box


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the diagram: measures that must be equal, and their value."""

    name: str
    title: str
    value: str
    wrong: bool = False


@dataclass(frozen=True, slots=True)
class Edge:
    """A line from a smaller to a larger node, with what is known and a text where there is a gap."""

    smaller: str
    larger: str
    relation: Relation
    gap: str = ""


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
        seen, waiting = {start}, list(above.get(start, set()) - {end})
        while waiting:
            name = waiting.pop()
            if name == end:
                return True
            if name not in seen:
                seen.add(name)
                waiting.extend(above.get(name, ()))
        return False

    return tuple(e for e in edges if e.relation is Relation.VIOLATED or not reaches(e.smaller, e.larger))


def _columns(levels: Mapping[str, int], edges: Sequence[Edge]) -> dict[str, float]:
    """Return where each node stands in its level: in the order of what it is connected with below."""
    rows: dict[int, list[str]] = {}
    for name, level in levels.items():
        rows.setdefault(level, []).append(name)
    widest = max(len(row) for row in rows.values())
    place: dict[str, float] = {}

    def wanted(name: str) -> float:
        below = [place[edge.smaller] for edge in edges if edge.larger == name and edge.smaller in place]
        return sum(below) / len(below) if below else 0.0

    for level in sorted(rows):
        row = sorted(rows[level], key=wanted)
        start = (widest - len(row)) / 2
        place |= {name: start + number for number, name in enumerate(row)}
    return place


def hasse_svg(nodes: Sequence[Node], edges: Sequence[Edge], *, label: str) -> str:
    """Return the diagram as SVG, to be styled by the classes of the page around it.

    nodes: the boxes; at least one.
    edges: what must be at most what, between nodes.
    label: what the diagram shows, for those who do not see it.

    >>> hasse_svg([Node("a", "a", "1")], [], label="one").startswith("<svg")
    True
    """
    edges = _covers(edges)
    levels = _levels([node.name for node in nodes], edges)
    columns = _columns(levels, edges)
    top = max(levels.values())
    width = int((max(columns.values()) + 1) * (WIDTH + SPACE) - SPACE + 2 * MARGIN)
    height = (top + 1) * HEIGHT + top * RISE + 2 * MARGIN

    def corner(name: str) -> tuple[float, float]:
        x = MARGIN + columns[name] * (WIDTH + SPACE)
        return x, MARGIN + (top - levels[name]) * (HEIGHT + RISE)

    parts = [
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        f'aria-label="{escape(label, quote=True)}">'
    ]
    parts += [_line(edge, corner(edge.smaller), corner(edge.larger)) for edge in edges]
    for node in nodes:
        x, y = corner(node.name)
        kind = "box wrong" if node.wrong else "box"
        middle = x + WIDTH / 2
        parts.append(
            f"<g><title>{escape(node.title)}: {escape(node.value)}</title>"
            f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="6"/>'
            f'<text class="name" x="{middle:g}" y="{y + 18:g}">{escape(fitted(node.title, FITS))}</text>'
            f'<text class="value" x="{middle:g}" y="{y + 36:g}">{escape(fitted(node.value, FITS))}</text></g>'
        )
    return "".join(parts) + "</svg>"


STYLES = {
    Relation.EQUAL: "equal",
    Relation.LESS: "less",
    Relation.AT_MOST: "open",
    Relation.VIOLATED: "violated",
}


def _line(edge: Edge, low: tuple[float, float], high: tuple[float, float]) -> str:
    x1, y1 = low[0] + WIDTH / 2, low[1]
    x2, y2 = high[0] + WIDTH / 2, high[1] + HEIGHT
    style = STYLES[edge.relation]
    drawn = f'<line class="{style}" x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}"/>'
    text = edge.gap or {"equal": "=", "open": "≤", "violated": "violated"}.get(style, "<")
    x, y = (x1 + x2) / 2 + 7, (y1 + y2) / 2 + 4
    return f'{drawn}<text class="gap {style}" x="{x:g}" y="{y:g}">{escape(fitted(text, FITS))}</text>'
