"""The event behind a lower bound as a picture, and an answer about delta as one HTML page."""

from __future__ import annotations

from html import escape

from bisimdist.drawing import Edge, Node, abridged, depths, drawing
from bisimdist.errors import visible
from bisimdist.faces.shown.page import page
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.delta.answer import DeltaAnswer, WitnessEvent
from bisimdist.privacy.engine.event import ACCEPT

CONVINCED = "in the event"
ENDS = 4
"""From so many situations arrows lead into the event; where there are more, boxes say which labels do."""


def event_svg(witness: WitnessEvent, *, limit: int = 30) -> str:
    """Draw an event: situations, what is asked in them, and by which labels they follow each other.

    Labels that are not drawn lead out of the event. In a chain nothing is asked, and situations are numbered.

    >>> from bisimdist.privacy.delta.ask import delta
    >>> from bisimdist.models.library.interactive import coin_and_doors
    >>> picture = event_svg(delta(coin_and_doors(), 1, rounds=2).pairs[0].witness)
    >>> [text in picture for text in ("ask toss", "ask left", "in the event")]
    [True, True, True]
    """
    event = witness.event
    both = (witness.probability_from, witness.source), (witness.probability_to, witness.target)
    chances = " and ".join(f"{chance} from {name}" for chance, name in both)
    asks = event.asks or (None,) * len(event.nodes)
    accepting = [[label for label, t in targets.items() if t == ACCEPT] for targets in event.nodes]
    drawn = sum(map(bool, accepting)) <= ENDS
    inside = ["" if drawn or not labels else f"{CONVINCED}: {', '.join(labels)}" for labels in accepting]
    nodes = [
        Node(f"n{k}", f"({k})" if k else "start", note, marked=k == event.root)
        if action is None
        else Node(f"n{k}", f"ask {action}", f"({k}) {note}".rstrip(), 0)
        for k, (action, note) in enumerate(zip(asks, inside, strict=True))
    ]
    edges = [
        Edge(f"n{k}", "accept" if target == ACCEPT else f"n{target}", label)
        for k, targets in enumerate(event.nodes)
        for label, target in targets.items()
        if target >= 0 or (target == ACCEPT and drawn)
    ]
    if any(edge.target == "accept" for edge in edges) or event.root == ACCEPT:
        nodes.append(Node("accept", CONVINCED, marked=True))
    if not nodes:
        nodes = [Node("empty", "the empty event")]
    roots = [nodes[0].name]
    nodes, edges = abridged(nodes, edges, roots, limit=limit)
    return drawing(nodes, edges, label=f"an event: {chances}", layers=depths(nodes, edges, roots))


def answer_as_html(answer: DeltaAnswer, report: Report) -> str:
    """Return what is said of an answer, and the event of its worst pair as a picture, as parts of a page."""
    body = report.html(most=max(len(report.rows), len(report.remarks)))
    witness = answer.worst.witness_in_time() if answer.worst.lower else None
    if witness is None:
        return body
    what = "the strategy" if answer.worst.interactive else "the event"
    return f"{body}<h2>{what} behind the lower bound</h2>{event_svg(witness)}"


def delta_page(answer: DeltaAnswer, report: Report, name: str) -> str:
    """Return the page of an answer about delta."""
    return page(f"delta of {name}", f"<h1>{escape(visible(name))}</h1>{answer_as_html(answer, report)}")
