"""Reads what an analyst asks from a file, as the answers of `delta` about interactive models show it."""

from __future__ import annotations

from pathlib import Path

from bisimdist.models.analyst import Step, Strategy
from bisimdist.models.io.document import Node, Scalar
from bisimdist.models.io.expect import check_keys, expect_list, expect_map, expect_text
from bisimdist.models.io.json_or_yaml import load_document

EXAMPLE = "a strategy, such as {root: 0, nodes: [{then: {start: 1}}, {ask: X, then: {yes: 1}}]}"
STOPS = ("accept", "reject")


def load_strategy(source: str | Path) -> Strategy:
    """Read a strategy from a JSON or YAML file: the `event` of a witness of `delta`."""
    return load_document(source, _strategy, expected="a strategy")


def _strategy(root: Node) -> Strategy:
    document = expect_map(root, "the strategy", EXAMPLE)
    check_keys(document, "the strategy", required=("nodes",), optional=("root",))
    nodes = expect_list(
        document.entries["nodes"], "nodes", "a list of what is asked, one node after another"
    ).items
    count = len(nodes)
    steps = tuple(_step(node, f"node {number}", count) for number, node in enumerate(nodes))
    first = document.entries.get("root")
    start = 0 if first is None else _target(first, "root", count)
    if start is None:
        return Strategy((Step(None),))
    if start >= count or steps[start].ask is not None:
        raise root.error("the root asks nothing: it reads the first label", "root")
    return Strategy(steps, start)


def _step(node: Node, place: str, count: int) -> Step:
    document = expect_map(node, place, "a mapping, such as {ask: X, then: {yes: 1}}")
    check_keys(document, place, required=("then",), optional=("ask",))
    then = {}
    for label, entry in expect_map(
        document.entries["then"], f"{place} -> then", "a mapping by label"
    ).entries.items():
        target = _target(entry, f"{place}, label {label!r}", count)
        if target is not None:
            then[label] = target
    ask = document.entries.get("ask")
    return Step(None if ask is None else expect_text(ask, f"{place} -> ask", "an action"), then)


def _target(node: Node, place: str, count: int) -> int | None:
    text = node.text if isinstance(node, Scalar) else ""
    if text in STOPS:
        return None
    if not text.isdecimal() or not text.isascii() or int(text[:9]) >= count:
        raise node.unexpected(f"the number of a node below {count}, accept or reject", place)
    return int(text)
