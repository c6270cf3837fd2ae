"""Directed graphs as pictures: layers, boxes and curves, as SVG that needs no other program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import nlargest
from html import escape
from math import atan2, ceil, degrees

from bisimdist.errors import visible

HEIGHT, POINT = 40, 8
ROOM = 26  # what a point is wide where it stands among others
SPACE, RISE, MARGIN = 24, 56, 14
LETTER = 7.4
FITS = 34  # so many characters fit into a box or beside a curve
PASSES = 12
WIDEST = 1400  # layers that are wider are folded to several rows
LEAST = 0.75  # how far a picture shrinks with its surroundings: what is larger is scrolled, and can be read
DASHED = ' class="dashed"'
AWAY = 30  # how far curves at the side of a box go
TEXT_AT: tuple[float, ...] = (0.6, 0.42, 0.51, 0.69, 0.33, 0.78, 0.24, 0.86, 0.16)
"""Where on a curve its text may stand: at the first place that is free, or else at the freest."""

LIGHT = ("#e4edf9", "#fdebd3", "#e3f3e4", "#f6e3ef", "#fbf5cf", "#e0f2f3")
DARK = ("#1f3350", "#4a3415", "#1d3d22", "#46253b", "#403a12", "#143c3e")


def _style() -> str:
    """Return what the picture looks like; a rule a line, for the scheme of whoever looks at it."""

    def fills(colours: Sequence[str]) -> str:
        return "".join(f".bd .c{number}{{fill:{colour}}}" for number, colour in enumerate(colours))

    return (
        ".bd{font:12px system-ui,sans-serif;--ink:#1c2330;--soft:#5b6575;--paper:#fff;--mark:#b4410e}"
        ".bd rect{stroke:var(--soft);fill:var(--paper)}"
        ".bd rect.marked{stroke:var(--mark);stroke-width:2.5}"
        ".bd circle{fill:var(--ink)}"
        ".bd path{fill:none;stroke:var(--soft);stroke-width:1.2}"
        ".bd path.dashed{stroke-dasharray:5 4;stroke:var(--mark)}"
        ".bd path.tip{fill:var(--soft);stroke:none}"
        ".bd text{fill:var(--ink);text-anchor:middle}"
        ".bd text.note{fill:var(--soft);font-size:11px}"
        ".bd text.edge{font-size:11px;paint-order:stroke;stroke:var(--paper);stroke-width:4px}"
        f"{fills(LIGHT)}@media (prefers-color-scheme:dark){{"
        f".bd{{--ink:#e4e8ef;--soft:#9aa5b5;--paper:#14181f;--mark:#ffa657}}{fills(DARK)}}}"
    )


@dataclass(frozen=True, slots=True)
class Node:
    """A box, or a point."""

    name: str  # what edges call it; all different
    # title and note: what stands in the box, in two lines; a title of None makes it a point
    title: str | None = None
    note: str = ""
    colour: int | None = None
    marked: bool = False  # whether it is one of those that the picture is about

    @property
    def width(self) -> float:
        """The width of the box."""
        if self.title is None:
            return ROOM
        return max(46.0, LETTER * max(len(fitted(text)) for text in (self.title, self.note)) + 18)

    @property
    def drawn(self) -> float:
        """What of the width is drawn."""
        return POINT if self.title is None else self.width

    @property
    def height(self) -> float:
        """The height of the box."""
        return POINT if self.title is None else HEIGHT


@dataclass(frozen=True, slots=True)
class Edge:
    """An arrow from one node to another, with a text; a dashed one has no direction and moves nothing."""

    source: str
    target: str
    text: str = ""
    dashed: bool = False


def depths(nodes: Sequence[Node], edges: Iterable[Edge], roots: Iterable[str] = ()) -> dict[str, int]:
    """Return the layer of each node: how many steps it is away from the nearest root.

    What no root reaches starts at the top as a root of its own, in the order of `nodes`.
    """
    following: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if not edge.dashed:
            following[edge.source].append(edge.target)
    depth: dict[str, int] = {}
    entered = {target for targets in following.values() for target in targets}
    alone = ([node.name] for node in sorted(nodes, key=lambda node: node.name in entered))
    for start in (roots, *alone):
        layer = [name for name in start if name not in depth]
        level = 0
        while layer:
            depth |= dict.fromkeys(layer, level)
            layer = list(dict.fromkeys(n for name in layer for n in following[name] if n not in depth))
            level += 1
    return depth


def abridged(
    nodes: Sequence[Node], edges: Sequence[Edge], roots: Iterable[str] = (), *, limit: int = 60
) -> tuple[list[Node], list[Edge]]:
    """Leave out what is farthest from the roots where there are more than `limit` nodes, and say how many."""
    if len(nodes) <= limit:
        return list(nodes), list(edges)
    depth = depths(nodes, edges, roots)
    kept = sorted(nodes, key=lambda node: depth[node.name])[:limit]
    names = {node.name for node in kept}
    rest = Node("…", "…", f"{len(nodes) - limit} more")
    cut = {edge.source for edge in edges if edge.source in names and edge.target not in names}
    inside = [edge for edge in edges if edge.source in names and edge.target in names]
    return [*kept, rest], inside + [Edge(source, rest.name) for source in sorted(cut)]


def _folded(nodes: Iterable[Node], layers: Mapping[str, int]) -> dict[str, int]:
    """Return the row of each node: its layer, or one of several that a wide layer becomes."""
    members: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        members[layers[node.name]].append(node)
    rows: dict[str, int] = {}
    first = 0
    for level in sorted(members):
        row = members[level]
        parts = ceil(sum(node.width + SPACE for node in row) / WIDEST)
        size = ceil(len(row) / parts)
        rows |= {node.name: first + place // size for place, node in enumerate(row)}
        first += ceil(len(row) / size)
    return rows


def _columns(
    widths: Mapping[str, float], edges: Iterable[Edge], layers: Mapping[str, int], beside: Mapping[str, float]
) -> dict[str, float]:
    """Return the middle of each node: near what it is connected with, in rows without overlap."""
    near: dict[str, list[str]] = defaultdict(list)
    for edge in edges:
        if edge.source != edge.target:
            near[edge.source].append(edge.target)
            near[edge.target].append(edge.source)
    rows: dict[int, list[str]] = defaultdict(list)
    for name in widths:
        rows[layers[name]].append(name)
    place: dict[str, float] = {}
    for row in rows.values():
        _set(row, dict.fromkeys(row, 0.0), widths, beside, place)
    for number in range(PASSES):
        for level in sorted(rows, reverse=bool(number % 2)):
            side = [1, -1][number % 2]  # downwards a row follows the one above it, upwards the one below
            wanted = {}
            for name in rows[level]:
                others = [n for n in near[name] if (layers[name] - layers[n]) * side > 0] or near[name]
                wanted[name] = sum(place[n] for n in others) / len(others) if others else place[name]
            rows[level].sort(key=lambda name: (wanted[name], place[name]))
            _set(rows[level], wanted, widths, beside, place)
    return place


def _set(
    row: Sequence[str],
    wanted: Mapping[str, float],
    widths: Mapping[str, float],
    beside: Mapping[str, float],
    place: dict[str, float],
) -> None:
    """Place a row from left to right as near to what is wanted as the widths allow, on average."""
    at = 0.0
    for number, name in enumerate(row):
        half = widths[name] / 2
        at = wanted[name] if number == 0 else max(wanted[name], at + SPACE + half)
        place[name] = at
        at += half + beside.get(name, 0)
    off = sum(wanted[name] - place[name] for name in row) / len(row)
    for name in row:
        place[name] += off


def fitted(text: str, most: int = FITS) -> str:
    """Return a text of at most so many characters: of a longer one how it begins.

    >>> fitted("corridor", 8), fitted("corridors", 8)
    ('corridor', 'corrido…')
    """
    return text if len(text) <= most else text[: most - 1] + "…"


def _shown(text: str) -> str:
    return escape(visible(text))


def drawing(
    nodes: Sequence[Node], edges: Sequence[Edge], *, label: str, layers: Mapping[str, int] | None = None
) -> str:
    """Return a picture of a graph as SVG, self-contained, light and dark; whole texts are titles.

    ``layers``: how far down each node stands; by default its steps from what nothing leads to.

    >>> drawing([Node("s", "s"), Node("t", "t")], [Edge("s", "t", "1")], label="one step").count("<rect")
    2
    """
    layers = _folded(nodes, layers or depths(nodes, edges))
    by_name = {node.name: node for node in nodes}
    texts: dict[tuple[str, str, bool], list[str]] = defaultdict(list)
    for edge in edges:
        texts[edge.source, edge.target, edge.dashed].append(edge.text)
    whole = {
        key: ", ".join(dict.fromkeys(text for text in several if text)) for key, several in texts.items()
    }
    beside: dict[str, float] = {}
    arriving: dict[str, list[float]] = defaultdict(list)
    for (source, target, dashed), text in whole.items():
        if not dashed:  # two texts have room side by side
            arriving[target].append(LETTER * len(fitted(text)))
        if source == target or layers[source] > layers[target]:
            room = AWAY + LETTER * len(fitted(text))
            beside |= {name: max(room, beside.get(name, 0)) for name in (source, target)}
    widths = {node.name: max(node.width, sum(nlargest(2, arriving[node.name]))) for node in nodes}
    middle = _columns(widths, edges, layers, beside)
    rows = {node.name: layers[node.name] * (HEIGHT + RISE) for node in nodes}
    parts, boxes = [], [_box(node, middle[node.name], rows[node.name]) for node in nodes]
    taken = [extent for _, extent in boxes]
    for (source, target, dashed), text in whole.items():
        start, end = ((middle[name], rows[name], by_name[name]) for name in (source, target))
        parts.append(_curve(start, end, text, dashed, taken))
    extents = [extent for _, extent in (*parts, *boxes)]
    left, top = (min(extent[side] for extent in extents) - MARGIN for side in (0, 1))
    width, height = (
        max(extent[side] for extent in extents) + MARGIN - least for side, least in ((2, left), (3, top))
    )
    inside = "".join(drawn for drawn, _ in (*parts, *boxes))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="bd" role="img" aria-label="{_shown(label)}" '
        f'viewBox="{left:.0f} {top:.0f} {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" '
        f'style="max-width:100%;height:auto;min-width:{LEAST * width:.0f}px"><style>{_style()}</style>'
        f"{inside}</svg>"
    )


Extent = tuple[float, float, float, float]  # what something takes up: left, top, right, bottom


def _box(node: Node, x: float, y: float) -> tuple[str, Extent]:
    wide, high = node.drawn / 2, node.height / 2
    extent = x - wide, y - high, x + wide, y + high
    if node.title is None:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{POINT / 2:g}"/>', extent
    whole = _shown(" ".join(text for text in (node.title, node.note) if text))
    colour = "" if node.colour is None else f" c{node.colour % len(LIGHT)}"
    kind = f'class="{"marked" if node.marked else "box"}{colour}"'
    lines = [(-3, "", node.title), (13, ' class="note"', node.note)] if node.note else [(4, "", node.title)]
    texts = "".join(
        f'<text{style} x="{x:.1f}" y="{y + down:.1f}">{_shown(fitted(text))}</text>'
        for down, style, text in lines
    )
    return (
        f'<g><title>{whole}</title><rect {kind} x="{extent[0]:.1f}" y="{extent[1]:.1f}" '
        f'width="{node.width:.1f}" height="{HEIGHT}" rx="9"/>{texts}</g>'
    ), extent


Place = tuple[float, float, Node]


def _curve(source: Place, target: Place, text: str, dashed: bool, taken: list[Extent]) -> tuple[str, Extent]:
    """Draw an edge: downwards from box to box; level, upwards and round loops at the side.

    Its text goes where least of it lies on what is taken, and is taken itself from then on.
    """
    (x1, y1, first), (x2, y2, second) = source, target
    anchor, places = "", TEXT_AT
    if y2 > y1:
        y1, y2 = y1 + first.height / 2, y2 - second.height / 2
        bend = (y2 - y1) / 2
        points = (x1, y1), (x1, y1 + bend), (x2, y2 - bend), (x2, y2)
        if y2 - y1 > RISE + HEIGHT:  # boxes may stand in the way further down
            places = tuple(at * 0.75 * RISE / (y2 - y1) for at in TEXT_AT)
    elif y1 == y2 and x1 != x2:
        side = -1 if dashed else 1
        y1, y2, bend = y1 + side * first.height / 2, y2 + side * second.height / 2, side * RISE / 2
        points = (x1, y1), (x1, y1 + bend), (x2, y2 + bend), (x2, y2)
    else:
        loop = x1 == x2 and y1 == y2
        high = 12 if loop else 0
        x1, x2 = x1 + first.drawn / 2, x2 + second.drawn / 2
        far = max(x1, x2) + AWAY + (y1 - y2) / 12
        points = (x1, y1 + high), (far, y1 + 1.4 * high), (far, y2 - 1.4 * high), (x2, y2 - high)
        places, anchor = ((0.5,), ' style="text-anchor:start" dx="5"') if loop else (TEXT_AT, "")
    path = "M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}".format(
        *(c for point in points for c in point)
    )
    corners = [points[0], _on_curve(points, 0.5), points[-1]]
    drawn = f'<path d="{path}"{DASHED * dashed}/>'
    if not dashed and second.title is not None:
        drawn += _tip(points[2], points[3])
    if text:
        room = LETTER * len(fitted(text)) / 2
        before, after = (0, 2 * room + 5) if anchor else (room, room)
        spots = [_on_curve(points, at) for at in places]
        extents = [(x - before, y - 8, x + after, y + 8) for x, y in spots]
        (x, y), extent = min(zip(spots, extents, strict=True), key=lambda spot: _covered(spot[1], taken))
        taken.append(extent)
        corners += [extent[:2], extent[2:]]
        shown = f"<title>{_shown(text)}</title>{_shown(fitted(text))}"
        drawn += f'<text class="edge"{anchor} x="{x:.1f}" y="{y + 4:.1f}">{shown}</text>'
    (left, right), (top, bottom) = ((min(axis), max(axis)) for axis in zip(*corners, strict=True))
    return drawn, (left, top, right, bottom)


def _covered(extent: Extent, taken: Iterable[Extent]) -> float:
    """Return how much of an extent lies on others."""
    left, top, right, bottom = extent
    return sum(
        max(0.0, min(right, others[2]) - max(left, others[0]))
        * max(0.0, min(bottom, others[3]) - max(top, others[1]))
        for others in taken
    )


def _tip(before: tuple[float, float], end: tuple[float, float]) -> str:
    """Draw the tip of an arrow that comes from somewhere."""
    turn = degrees(atan2(end[1] - before[1], end[0] - before[0]))
    place = f"translate({end[0]:.1f} {end[1]:.1f}) rotate({turn:.0f})"
    return f'<path class="tip" d="M1 0L-6 3.5V-3.5z" transform="{place}"/>'


def _on_curve(points: Sequence[tuple[float, float]], at: float) -> tuple[float, float]:
    weights = ((1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3)
    x, y = (sum(w * p[axis] for w, p in zip(weights, points, strict=True)) for axis in (0, 1))
    return x, y
