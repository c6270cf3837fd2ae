"""Labelled Markov chains from documents (`kind: lmc`)."""

from __future__ import annotations

from dataclasses import replace

from bisimdist.errors import ModelError
from bisimdist.models.entries import Parameter, SparseRow
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    error_at,
    expect_map,
    expect_pairs,
    expect_text,
    with_line,
)
from bisimdist.models.io.hmm_document import EntryReader, read_parameters
from bisimdist.models.io.interval_document import holds_intervals, intervals_from
from bisimdist.models.kinds import LMC, IntervalChain, ParametricChain
from bisimdist.models.labelled import sparse_row
from bisimdist.models.lmc import Row


def lmc_from_document(root: MapNode) -> LMC | IntervalChain | ParametricChain:
    """Return the chain that a document describes, or the chains: with intervals, or with parameters."""
    # what says where the chain comes from is for people
    known = {key: node for key, node in root.entries.items() if key not in {"program", "confidence"}}
    check_keys(
        replace(root, entries=known),
        "",
        required=("kind", "states", "transitions"),
        optional=("pairs", "parameters"),
    )
    names, labels = labelled_states(root)
    position = {name: index for index, name in enumerate(names)}
    numbers = ProbabilityReader()
    rows: list[Row] = [()] * len(names)
    found = rows_by_state(root, position, "{s: {t: 1/2, u: 1/2}}")
    maps = [
        (
            name,
            expect_map(
                node, f"state {name!r}", "a mapping from states to probabilities, such as {t: 1/2, u: 1/2}"
            ),
        )
        for name, node in found
    ]
    pairs = expect_pairs(root.entries.get("pairs"), position)
    try:
        if parameters := read_parameters(root.entries.get("parameters")):
            return _parametric(root, (names, labels), maps, parameters, pairs)
        if holds_intervals(root, found):
            return intervals_from(root, (names, labels), maps, pairs)
        for name, row in maps:
            rows[position[name]] = row_from_map(row, position, f"transition {name}", numbers)
        return LMC(names, labels, tuple(rows), pairs)
    except ModelError as error:
        raise with_line(error, places_of_states(root, found)) from None


def _parametric(
    root: MapNode,
    named: tuple[tuple[str, ...], tuple[str, ...]],
    rows: list[tuple[str, MapNode]],
    parameters: tuple[Parameter, ...],
    pairs: tuple[tuple[int, int], ...],
) -> ParametricChain:
    """Return what a document with parameters describes."""
    if "confidence" in root.entries:
        raise ModelError("it says how sure intervals are, and here are parameters", place="confidence")
    reader = EntryReader([parameter.name for parameter in parameters])
    position = {name: index for index, name in enumerate(named[0])}
    found: list[SparseRow] = [()] * len(position)
    for name, row in rows:
        found[position[name]] = reader.row(row, position, f"state {name!r}", "state")
    try:
        return ParametricChain(*named, tuple(found), parameters, pairs)
    except ModelError as error:
        entries = [
            (f"state {name!r} -> {t}", node.line) for name, row in rows for t, node in row.entries.items()
        ]
        raise with_line(error, entries) from None


def labelled_states(root: MapNode) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names and the labels of the states that a document declares."""
    states = expect_map(
        root.entries["states"], "states", "a mapping from states to labels, such as {s: a, t: b}"
    )
    labels = (
        expect_text(label, f"state {name!r}", "the label of the state")
        for name, label in states.entries.items()
    )
    return tuple(states.entries), tuple(labels)


def rows_by_state(root: MapNode, position: dict[str, int], example: str) -> list[tuple[str, Node]]:
    """Return what a document says of the transitions of each state."""
    transitions = expect_map(
        root.entries["transitions"], "transitions", f"a mapping from states to rows, such as {example}"
    )
    for name, node in transitions.entries.items():
        if name not in position:
            raise node.error("transitions are given for a state that is not declared", f"state {name!r}")
    return list(transitions.entries.items())


def places_of_states(root: MapNode, rows: list[tuple[str, Node]]) -> list[tuple[str, int]]:
    """Return the lines of the states: those of their transitions, then of their declarations."""
    states = root.entries["states"]
    declared = states.entries.items() if isinstance(states, MapNode) else ()
    return [(f"state {name!r}", node.line) for name, node in (*rows, *declared)]


def row_from_map(row: MapNode, position: dict[str, int], transition: str, numbers: ProbabilityReader) -> Row:
    """Return the successors that a mapping from states to probabilities lists; zero entries are dropped.

    ``transition``: what an error names, before the target.
    ``numbers``: the reader of the file's probabilities.
    Raises ModelError if a target is not declared, or a probability is none.
    """
    return sparse_row(row.entries, position, transition, numbers.from_node, fail=error_at)
