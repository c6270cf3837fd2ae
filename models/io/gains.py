"""Reads what guesses gain from a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from flint import fmpq

from bisimdist.models.io.document import Node
from bisimdist.models.io.expect import expect_map, expect_number
from bisimdist.models.io.json_or_yaml import load_document

EXAMPLE = "a mapping from guesses to gains, such as {x: {x: 1}, either: {x: 1/2, y: 1/2}}"


def load_gains(source: str | Path) -> Mapping[str, Mapping[str, fmpq]]:
    """Read by guess and secret what a guess gains, from a JSON or YAML file."""
    return load_document(source, _gains, expected="a table of gains")


def _gains(root: Node) -> Mapping[str, Mapping[str, fmpq]]:
    guesses = expect_map(root, "the gains", EXAMPLE).entries
    if not guesses:
        raise root.error(f"there is no guess; expected {EXAMPLE}", "the gains")
    found = {}
    for guess, node in guesses.items():
        place = f"guess {guess!r}"
        row = expect_map(node, place, "a mapping from secrets to numbers").entries
        found[guess] = {
            secret: expect_number(entry, f"{place}, secret {secret!r}") for secret, entry in row.items()
        }
    return found
