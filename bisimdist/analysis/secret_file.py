"""Reads a table of distances between secrets from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from flint import fmpq

from bisimdist.analysis.secret_distances import Secret
from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar, ScalarKind
from bisimdist.models.io.expect import check_keys, expect_list, expect_map, expect_text
from bisimdist.models.io.json_or_yaml import load_document

__all__ = ["SecretTable", "load_secret_table"]

EXAMPLE = "a list of distances, such as [[x, y, 1]]"


@dataclass(frozen=True, slots=True)
class SecretTable:
    """What a file says about secrets.

    Parameters
    ----------
    distances
        The distances of pairs of secrets.
    states
        For each secret its state; None where the file does not say.
    """

    distances: Mapping[tuple[Secret, Secret], fmpq]
    states: Mapping[Secret, str] | None


def load_secret_table(source: str | Path) -> SecretTable:
    """Read a table of distances from a JSON or YAML file.

    The file holds a list of ``[x, y, distance]``, or a mapping with such a list under ``distances`` and
    optionally the state of each secret under ``secrets``.

    Raises
    ------
    ModelError
        With file, place and line, where the file holds no such table.
    """
    name = os.fspath(source)
    try:
        return _table(load_document(name, expected="a table of distances"))
    except ModelError as error:
        raise error.with_source(name) from None


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
            raise ModelError(
                f"it has {len(entries)} entries; expected two secrets and a number",
                place=place,
                line=node.line,
            )
        pair = _secret(entries[0], place), _secret(entries[1], place)
        if pair in distances:
            raise ModelError("the pair was there before", place=place, line=node.line)
        distances[pair] = _distance(entries[2], place)
    return SecretTable(distances, states)


def _secret(node: Node, place: str) -> str:
    if not isinstance(node, Scalar) or node.kind is ScalarKind.NOTHING:
        raise ModelError(
            f"found {node.describe()}; expected the name of a secret", place=place, line=node.line
        )
    return node.text


def _distance(node: Node, place: str) -> fmpq:
    if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
        raise ModelError(
            f"found {node.describe()}; expected an exact number such as 1 or 3/2", place=place, line=node.line
        )
    try:
        return parse_rational(node.text)
    except NumberError as error:
        raise ModelError(str(error), place=place, line=node.line) from None
