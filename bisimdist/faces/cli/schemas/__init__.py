"""JSON Schemas of what goes in and out: model files, answers and certificates (draft 2020-12).

The schema of certificates is made of the shapes that the checker reads; that of answers is one table of
fields, which mean the same wherever they stand; that of model files is held against the keys that readers
take (``docs/reference/command-line.md``).
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from bisimdist.errors import UsageError

__all__ = ["SCHEMAS", "json_schema"]

SCHEMAS = {
    "model": "model files in JSON or YAML",
    "answer": "answers as --json prints them",
    "certificate": "certificates; the rules that they must obey are in the specification",
}  # by name what the schema is of; each has a module of this package, or several of them


def json_schema(name: str) -> dict[str, Any]:
    """Return a JSON Schema.

    Parameters
    ----------
    name
        ``"model"``, ``"answer"`` or ``"certificate"``.

    Returns
    -------
    dict
        The schema, as plain data that ``json.dumps`` writes.

    Raises
    ------
    UsageError
        If there is none of that name.

    Examples
    --------
    >>> json_schema("model")["title"]
    'bisimdist: model files in JSON or YAML'
    """
    if name not in SCHEMAS:
        raise UsageError(f"{name}: there is no such schema; expected {', '.join(SCHEMAS)}")
    made: dict[str, Any] = import_module(f"bisimdist.faces.cli.schemas.{name}").schema()
    head = {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": f"bisimdist: {SCHEMAS[name]}"}
    return {**head, **made}
