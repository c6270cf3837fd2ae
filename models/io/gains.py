"""Reads what guesses gain from a file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.models.io.document import Node, Scalar, ScalarKind
from bisimdist.models.io.expect import expect_map
from bisimdist.models.io.json_or_yaml import load_document

__all__ = ["load_gains"]

EXAMPLE = "a mapping from guesses to gains, such as {x: {x: 1}, either: {x: 1/2, y: 1/2}}"


def load_gains(source: str | Path) -> Mapping[str, Mapping[str, fmpq]]:
    """Read by guess and secret what a guess gains, from a JSON or YAML file.

    Raises
    ------
    ModelError
        With file, place and line, where the file holds no such table.
    """
    name = os.fspath(source)
    try:
        return _gains(load_document(name, expected="a table of gains"))
    except ModelError as error:
        raise error.with_source(name) from None


def _gains(root: Node) -> Mapping[str, Mapping[str, fmpq]]:
    guesses = expect_map(root, "the gains", EXAMPLE).entries
    if not guesses:
        raise ModelError(f"there is no guess; expected {EXAMPLE}", place="the gains", line=root.line)
    found = {}
    for guess, node in guesses.items():
        place = f"guess {guess!r}"
        row = expect_map(node, place, "a mapping from secrets to numbers").entries
        found[guess] = {
            secret: _number(entry, f"{place}, secret {secret!r}") for secret, entry in row.items()
        }
    return found


def _number(node: Node, place: str) -> fmpq:
    if not isinstance(node, Scalar) or node.kind in {ScalarKind.WORD, ScalarKind.NOTHING}:
        raise ModelError(f"found {node.describe()}; expected an exact number", place=place, line=node.line)
    try:
        return parse_rational(node.text)
    except NumberError as error:
        raise ModelError(str(error), place=place, line=node.line) from None
