"""Certificates as plain data, and numbers as the checker has them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import fmpq

Document = dict[str, Any]
Bound = Fraction | None
"""A number, or None for infinity."""


def fraction(value: fmpq | None) -> Bound:
    """Return a number of the engine as one of the checker."""
    return None if value is None else Fraction(int(value.p), int(value.q))


def plain(document: Mapping[str, object]) -> Document:
    """Return a copy of a certificate whose tables of distances hold rationals instead of numerators."""
    copied: Document = json.loads(json.dumps(document))
    for name in ("upper", "lower"):
        table = copied.get(name)
        if isinstance(table, dict) and "denominator" in table and "pairs" in table:
            whole = int(table.pop("denominator"), 0)
            for entry in table["pairs"]:
                entry["value"] = str(Fraction(int(entry["value"], 0), whole))
    return copied


def read_bound(text: str) -> Bound:
    """Read a bound of a claim, ``inf`` as None."""
    if text == "inf":
        return None
    above, _, below = text.partition("/")
    return Fraction(int(above, 0), int(below or "1", 0))
