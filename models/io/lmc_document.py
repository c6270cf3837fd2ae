"""Labelled Markov chains from documents (`kind: lmc`)."""

from __future__ import annotations

from dataclasses import replace

from bisimdist.errors import ModelError
from bisimdist.models.io.document import MapNode
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    expect_map,
    expect_pairs,
    expect_text,
    with_line,
)
from bisimdist.models.lmc import LMC, Row

__all__ = ["lmc_from_document", "row_from_map"]


def lmc_from_document(root: MapNode) -> LMC:
    """Return the chain that a document describes.

    Raises
    ------
    ModelError
        With place and line, where the document describes none.
    """
    # what says where the chain comes from is for people
    known = {key: node for key, node in root.entries.items() if key != "program"}
    check_keys(
        replace(root, entries=known), "", required=("kind", "states", "transitions"), optional=("pairs",)
    )
    states = expect_map(
        root.entries["states"], "states", "a mapping from states to labels, such as {s: a, t: b}"
    )
    transitions = expect_map(
        root.entries["transitions"],
        "transitions",
        "a mapping from states to rows, such as {s: {t: 1/2, u: 1/2}}",
    )
    names = tuple(states.entries)
    position = {name: index for index, name in enumerate(names)}
    labels = tuple(
        expect_text(label, f"state {name!r}", "the label of the state")
        for name, label in states.entries.items()
    )
    numbers = ProbabilityReader()
    rows: list[Row] = [()] * len(names)
    for name, node in transitions.entries.items():
        place = f"state {name!r}"
        if name not in position:
            raise ModelError(
                "transitions are given for a state that is not declared", place=place, line=node.line
            )
        row = expect_map(node, place, "a mapping from states to probabilities, such as {t: 1/2, u: 1/2}")
        rows[position[name]] = row_from_map(row, position, f"transition {name}", numbers)
    pairs = expect_pairs(root.entries.get("pairs"), position)
    try:
        return LMC(names, labels, tuple(rows), pairs)
    except ModelError as error:
        entries = (*transitions.entries.items(), *states.entries.items())
        raise with_line(error, ((f"state {name!r}", node.line) for name, node in entries)) from None


def row_from_map(row: MapNode, position: dict[str, int], transition: str, numbers: ProbabilityReader) -> Row:
    """Return the successors that a mapping from states to probabilities lists; zero entries are dropped.

    Parameters
    ----------
    row
        The mapping.
    position
        The index of each state.
    transition
        What an error names, before the target.
    numbers
        The reader of the file's probabilities.

    Raises
    ------
    ModelError
        If a target is not declared, or a probability is none.
    """
    entries = []
    for target, node in row.entries.items():
        place = f"{transition} -> {target}"
        index = position.get(target)
        if index is None:
            raise ModelError(f"the target {target!r} is not a declared state", place=place, line=node.line)
        probability = numbers.from_node(node, place)
        if probability:
            entries.append((index, probability))
    entries.sort(key=lambda entry: entry[0])
    return tuple(entries)
