"""Chains that are only known roughly, from documents of `kind: lmc` with intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from flint import fmpq

from bisimdist.models.intervals import IntervalChain, IntervalRow, rough_or_exact
from bisimdist.models.io.document import ListNode, MapNode, Node
from bisimdist.models.io.expect import ProbabilityReader, error_at
from bisimdist.models.labelled import sparse_row
from bisimdist.models.lmc import LMC


def holds_intervals(root: MapNode, rows: Sequence[tuple[str, Node]]) -> bool:
    """Tell whether a document says that probabilities are only known to lie in intervals."""
    return "confidence" in root.entries or any_interval(row for _, row in rows)


def any_interval(rows: Iterable[Node]) -> bool:
    """Tell whether an interval stands in some row."""
    return any(
        isinstance(value, ListNode)
        for row in rows
        if isinstance(row, MapNode)
        for value in row.entries.values()
    )


def intervals_from(
    root: MapNode,
    named: tuple[tuple[str, ...], tuple[str, ...]],
    rows: Sequence[tuple[str, MapNode]],
    pairs: tuple[tuple[int, int], ...],
) -> IntervalChain | LMC:
    """Return what a document describes; without any choice it is a chain.

    ``named``: the names and labels of the states.
    ``rows``: what it says of the transitions of each state.
    """
    names, labels = named
    position = {name: index for index, name in enumerate(names)}
    numbers = ProbabilityReader()
    found: list[IntervalRow] = [()] * len(names)
    for name, row in rows:
        found[position[name]] = interval_row(row, position, f"transition {name}", numbers)
    said = root.entries.get("confidence")
    confidence = None if said is None else numbers.from_node(said, "confidence")
    model = IntervalChain(names, labels, tuple(found), pairs, confidence)
    return model if confidence is not None else rough_or_exact(model)


def interval_row(
    row: MapNode,
    position: Mapping[str, int],
    transition: str,
    numbers: ProbabilityReader,
    what: str = "state",
) -> IntervalRow:
    """Return the successors that a mapping lists, with the ends of their intervals."""

    def ends_of(node: Node, place: str) -> tuple[fmpq, fmpq]:
        ends = node.items if isinstance(node, ListNode) else [node, node]
        if len(ends) != 2:
            raise node.unexpected("two ends of an interval, such as [0.59, 0.61]", place)
        low, high = (numbers.from_node(end, place) for end in ends)
        return low, high

    unknown = f"the target {{}} is not a declared {what}"
    found = sparse_row(row.entries, position, transition, ends_of, unknown, error_at)
    return tuple((target, low, high) for target, (low, high) in found)
