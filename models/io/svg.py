"""Drawing models as SVG, without another program."""

from __future__ import annotations

from typing import Any

from bisimdist.drawing import Edge, Node, abridged, depths, drawing
from bisimdist.exact.rational import shorten_rational
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.intervals import IntervalChain, shorten_interval
from bisimdist.models.kinds import AnyModel
from bisimdist.models.labelled import Row
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.models.parametric import ParametricChain
from bisimdist.models.polynomial import format_entry


def write_svg(model: AnyModel, *, limit: int = 60) -> str:
    """Draw a model: states in layers below those of its pairs, colours for labels, points for steps.

    ``limit``: at most so many states and steps are drawn, those nearest to the pairs; the rest is counted.
    returns: a picture that needs nothing else, as SVG; where many have the same pair it is drawn once,
        dashed.

    >>> from bisimdist.models.lmc import LMC
    >>> write_svg(LMC.from_mappings({"s": "a"}, {"s": {"s": 1}})).count("<rect")
    1
    """
    nodes, edges = _graph(model)
    roots = [] if isinstance(model, HMM) else [f"s{state}" for pair in model.pairs for state in pair]
    nodes, edges = abridged(nodes, edges, roots, limit=limit)
    kind = type(model).__name__
    return drawing(nodes, edges, label=f"{kind} of {len(model)} states", layers=depths(nodes, edges, roots))


def arrows(
    model: LMC | PA | Interactive | IntervalChain | ParametricChain,
) -> tuple[list[tuple[int, int, str]], list[tuple[int, str, Row]]]:
    """Return what leads from state to state, with what is written there, and the steps by action."""
    if isinstance(model, PA):
        return [], [(step.source, step.action, step.row) for step in model.transitions]
    if isinstance(model, Interactive):
        return [], [(state, *move) for state, moves in enumerate(model.moves) for move in moves]
    if isinstance(model, IntervalChain):
        return [(s, t, shorten_interval(*ends)) for s, row in enumerate(model.rows) for t, *ends in row], []
    written: Any = format_entry if isinstance(model, ParametricChain) else shorten_rational
    return [(s, t, written(entry)) for s, row in enumerate(model.rows) for t, entry in row], []


def _graph(model: AnyModel) -> tuple[list[Node], list[Edge]]:
    if isinstance(model, HMM):
        shown = ["; ".join(f"{model.observations[o]} {p}" for o, p in row) for row in model.emissions]
        nodes = [
            Node(f"s{i}", name, note) for i, (name, note) in enumerate(zip(model.states, shown, strict=True))
        ]
        edges = [Edge(f"s{i}", f"s{j}", str(p)) for i, row in enumerate(model.rows) for j, p in row]
        return nodes, edges
    pairs = [Edge(f"s{first}", f"s{second}", dashed=True) for first, second in dict.fromkeys(model.pairs)]
    marked = {state for pair in model.pairs for state in pair}
    labels = ("",) * len(model) if isinstance(model, PA) else model.labels
    colours = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    nodes = [
        Node(f"s{state}", name, label, colours[label] if label else None, state in marked)
        for state, (name, label) in enumerate(zip(model.states, labels, strict=True))
    ]
    direct, steps = arrows(model)
    pairs += [Edge(f"s{state}", f"s{target}", text) for state, target, text in direct]
    for number, (source, action, row) in enumerate(steps):
        if len(row) == 1 and row[0][1] == 1:  # a certain step needs no point
            pairs.append(Edge(f"s{source}", f"s{row[0][0]}", action))
            continue
        nodes.append(Node(f"t{number}"))
        pairs.append(Edge(f"s{source}", f"t{number}", action))
        pairs += [Edge(f"t{number}", f"s{target}", shorten_rational(p)) for target, p in row]
    return nodes, pairs
