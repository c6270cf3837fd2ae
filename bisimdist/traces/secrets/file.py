"""Reads a table of distances between secrets from a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flint import fmpq

from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar, ScalarKind
from bisimdist.models.io.expect import check_keys, expect_list, expect_map, expect_number, expect_text
from bisimdist.models.io.json_or_yaml import load_document
from bisimdist.traces.secrets.distances import Secret

EXAMPLE = "a list of distances, such as [[x, y, 1]]"


@dataclass(frozen=True, slots=True)
class SecretTable:
    """What a file says about secrets."""

    distances: Mapping[tuple[Secret, Secret], fmpq]
    states: Mapping[Secret, str] | None  # for each secret its state; None where the file does not say


def load_secret_table(source: str | Path) -> SecretTable:
    """Read a table of distances from a JSON or YAML file.

    The file holds a list of ``[x, y, distance]``, or a mapping with such a list under ``distances`` and
    optionally the state of each secret under ``secrets``.
    """
    return load_document(source, _table, expected="a table of distances")


def _table(root: Node) -> SecretTable:
    states: dict[Secret, str] | None = None
    listed: Node = root
    if not isinstance(root, ListNode):
        document: MapNode = expect_map(root, "the table", f"{EXAMPLE}, or a mapping with the key 'distances'")
        check_keys(document, "", required=("distances",), optional=("secrets",))
        listed = document.entries["distances"]
        if "secrets" in document.entries:
            named = expect_map(document.entries["secrets"], "secrets", "a mapping from secrets to states")
            states = {
                secret: expect_text(node, f"secret {secret!r}", "the name of a state")
                for secret, node in named.entries.items()
            }
    distances: dict[tuple[Secret, Secret], fmpq] = {}
    for number, node in enumerate(expect_list(listed, "distances", EXAMPLE).items, 1):
        place = f"distance number {number}"
        entries = expect_list(node, place, "two secrets and a number, such as [x, y, 1]").items
        if len(entries) != 3:
            raise node.error(f"it has {len(entries)} entries; expected two secrets and a number", place)
        pair = _secret(entries[0], place), _secret(entries[1], place)
        if pair in distances:
            raise node.error("the pair was there before", place)
        distances[pair] = expect_number(entries[2], place, "an exact number such as 1 or 3/2")
    return SecretTable(distances, states)


def _secret(node: Node, place: str) -> str:
    if not isinstance(node, Scalar) or node.kind is ScalarKind.NOTHING:
        raise node.unexpected("the name of a secret", place)
    return node.text
