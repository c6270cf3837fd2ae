"""Mechanisms as tables from documents (`kind: mechanism`)."""

from __future__ import annotations

from bisimdist.errors import ModelError
from bisimdist.models.entries import EntryText
from bisimdist.models.hmm import HMM
from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar
from bisimdist.models.io.expect import (
    ProbabilityReader,
    check_keys,
    expect_list,
    expect_map,
    expect_name_pairs,
    expect_text,
    with_line,
)
from bisimdist.models.mechanisms.table import mechanism_model

MAX_NEIGHBOURS = 1_000_000  # how many pairs `adjacency: all` may stand for


def mechanism_from_document(root: MapNode) -> HMM:
    """Return the mechanism that a document describes, as a hidden Markov model of one observation."""
    check_keys(root, "", required=("kind", "inputs", "adjacency"), optional=("outputs",))
    listed = root.entries.get("outputs")
    outputs = None
    if listed is not None:
        nodes = expect_list(listed, "outputs", "a list of outputs, such as [yes, no]").items
        outputs = dict.fromkeys(
            expect_text(node, f"output number {number}", "the name of an output")
            for number, node in enumerate(nodes, start=1)
        )
        if len(outputs) != len(nodes):
            raise listed.error("an output is listed twice", "outputs")
    entries = expect_map(
        root.entries["inputs"], "inputs", "a mapping from inputs to rows, such as {x: {yes: 3/4, no: 1/4}}"
    ).entries
    numbers = ProbabilityReader()
    rows = {name: _row(node, f"input {name!r}", outputs, numbers) for name, node in entries.items()}
    pairs = _pairs(root.entries["adjacency"], entries)
    try:
        return mechanism_model(rows, pairs, outputs=outputs)
    except ModelError as error:
        place = error.place.replace("distribution ", "input ", 1)
        named = ModelError(error.message, place=place)
        raise with_line(named, ((f"input {name!r}", node.line) for name, node in entries.items())) from None


def _row(
    node: Node, place: str, outputs: dict[str, None] | None, numbers: ProbabilityReader
) -> dict[str, EntryText]:
    if isinstance(node, ListNode) and outputs is not None:
        if len(node.items) != len(outputs):
            raise node.error(
                f"the row has {len(node.items)} entries; expected one for each of the {len(outputs)} outputs",
                place,
            )
        cells = dict(zip(outputs, node.items, strict=True))
    else:
        hint = "" if outputs is None else ", or a list in the order of the outputs"
        cells = expect_map(
            node, place, f"a mapping from outputs to probabilities, such as {{yes: 3/4, no: 1/4}}{hint}"
        ).entries
    for name, cell in cells.items():
        if outputs is not None and name not in outputs:
            raise cell.error(f"{name!r} is not among the outputs", place)
    return {name: numbers.from_node(cell, f"{place} -> {name}") for name, cell in cells.items()}


def _pairs(node: Node, inputs: dict[str, Node]) -> tuple[tuple[str, str], ...] | None:
    if isinstance(node, Scalar) and node.text == "all":
        if len(inputs) ** 2 > 2 * MAX_NEIGHBOURS:
            raise node.error(
                f"every two of {len(inputs)} inputs are more than the {MAX_NEIGHBOURS} pairs allowed",
                "adjacency",
            )
        return None
    return expect_name_pairs(node, inputs, "input", "[x, y]")
