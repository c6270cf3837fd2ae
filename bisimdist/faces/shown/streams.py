"""JSON objects written part by part: what is long is never there as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from itertools import islice
from typing import Protocol, runtime_checkable

PART = 1 << 10  # elements of long lists are written so many at a time
DEPTH = 3  # what is long stands in an answer, or in a table of a certificate


@runtime_checkable
class Streamed(Protocol):
    """Rows that write themselves."""

    def json(self) -> Iterator[str]:
        """Yield the text of their list, as ``json.dumps`` would write it, part by part."""


def json_parts(
    value: object, separators: tuple[str, str] = (", ", ": "), *, depth: int = DEPTH
) -> Iterator[str]:
    """Yield the text of plain data part by part, in ASCII, as ``json.dumps`` writes it.

    ``value``: the data, in which there may be something that writes itself.
    ``depth``: in how many levels of objects and lists something long is looked for.

    >>> "".join(json_parts({"status": "exact", "pairs": [1, 2]}))
    '{"status": "exact", "pairs": [1, 2]}'
    """
    comma, colon = separators
    written = _encoder(separators).encode
    if isinstance(value, Streamed):
        yield from value.json()
    elif not depth or not isinstance(value, dict | list):
        yield written(value)
    elif isinstance(value, list) or len(value) > PART:
        yield "[" if isinstance(value, list) else "{"
        items = iter(value if isinstance(value, list) else value.items())
        before = ""
        while part := list(islice(items, PART)):
            yield before + written(part if isinstance(value, list) else dict(part))[1:-1]
            before = comma
        yield "]" if isinstance(value, list) else "}"
    else:
        before = "{"
        for name, part in value.items():
            yield f"{before}{written(name)}{colon}"
            yield from json_parts(part, separators, depth=depth - 1)
            before = comma
        yield "}" if value else "{}"


@cache
def _encoder(separators: tuple[str, str]) -> json.JSONEncoder:
    return json.JSONEncoder(ensure_ascii=True, separators=separators)
