"""Answers as plain data: fields by their names, exact numbers and formulae as texts."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from flint import fmpq

from bisimdist.exact.rational import format_rational

RENAMED = {"source": "from", "target": "to"}


def plain(value: Any) -> Any:
    """Return a value as JSON has it; what has ``data()`` says itself how that is."""
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, fmpq):
        return format_rational(value)
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    return value.data() if hasattr(value, "data") else str(value)


def said(thing: object, names: str) -> dict[str, Any]:
    """Return some fields as plain data; the names of two states are ``from`` and ``to``.

    A field whose name ends with a question mark is left out where nothing is in it.

    >>> from bisimdist.automata.robust.ask import Robustness
    >>> said(Robustness(source="s", target="t", robust=True), "source target robust steps")
    {'from': 's', 'to': 't', 'robust': True, 'steps': None}
    """
    known = ((name.rstrip("?"), getattr(thing, name.rstrip("?")), name[-1] != "?") for name in names.split())
    return {RENAMED.get(name, name): plain(value) for name, value, always in known if always or value}
