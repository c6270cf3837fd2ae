"""Probabilistic automata from documents (`kind: pa`)."""

from __future__ import annotations

from bisimdist.errors import ModelError
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    expect_list,
    expect_map,
    expect_pairs,
    expect_text,
    with_line,
)
from bisimdist.models.io.lmc_document import row_from_map
from bisimdist.models.pa import PA, Transition, transition_place


def pa_from_document(root: MapNode) -> PA:
    """Return the automaton that a document describes."""
    check_keys(root, "", required=("kind", "states", "transitions"), optional=("pairs",))
    position: dict[str, int] = {}
    for node in expect_list(root.entries["states"], "states", "a list of states, such as [s, t]").items:
        name = expect_text(node, "states", "the name of a state")
        if name in position:
            raise node.error("the state is declared twice", f"state {name!r}")
        position[name] = len(position)
    names = tuple(position)
    listed = expect_list(
        root.entries["transitions"],
        "transitions",
        "a list of transitions, such as [{from: s, action: a, to: {t: 1/2}}]",
    ).items
    numbers = ProbabilityReader()
    transitions = tuple(
        _transition(node, number, position, numbers) for number, node in enumerate(listed, start=1)
    )
    pairs = expect_pairs(root.entries.get("pairs"), position)
    try:
        return PA(names, transitions, pairs)
    except ModelError as error:
        numbered = enumerate(zip(listed, transitions, strict=True), start=1)
        raise with_line(
            error,
            ((transition_place(number, names[step.source]), node.line) for number, (node, step) in numbered),
        ) from None


def _transition(node: Node, number: int, position: dict[str, int], numbers: ProbabilityReader) -> Transition:
    place = f"transition number {number}"
    entry = expect_map(node, place, "a mapping such as {from: s, action: a, to: {t: 1/2}}")
    check_keys(entry, place, required=("from", "action", "to"), optional=("tag",))
    source = expect_text(entry.entries["from"], place, "the name of a state as 'from'")
    if source not in position:
        raise entry.entries["from"].error(f"the source {source!r} is not a declared state", place)
    place = transition_place(number, source)
    action = expect_text(entry.entries["action"], place, "the name of an action as 'action'")
    row = expect_map(entry.entries["to"], place, "a mapping from states to probabilities as 'to'")
    tag = entry.entries.get("tag")
    seen = None if tag is None else expect_text(tag, place, "what a scheduler sees as 'tag'")
    return Transition(position[source], action, row_from_map(row, position, place, numbers), seen)
