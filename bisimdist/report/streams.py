"""JSON objects written part by part: what is long is never there as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

__all__ = ["Streamed", "json_parts"]


@runtime_checkable
class Streamed(Protocol):
    """Rows that write themselves."""

    def json(self) -> Iterator[str]:
        """Yield the text of their list, as ``json.dumps`` would write it, part by part."""

    def csv(self) -> Iterator[bytes]:
        """Yield their table, part by part."""


def json_parts(data: Mapping[str, object]) -> Iterator[str]:
    """Yield the text of a JSON object part by part, in ASCII, as ``json.dumps`` writes it.

    Examples
    --------
    >>> "".join(json_parts({"status": "exact", "pairs": [1, 2]}))
    '{"status": "exact", "pairs": [1, 2]}'
    """
    before = "{"
    for name, value in data.items():
        yield f"{before}{json.dumps(name)}: "
        if isinstance(value, Streamed):
            yield from value.json()
        else:
            yield json.dumps(value)
        before = ", "
    yield "}" if data else "{}"
