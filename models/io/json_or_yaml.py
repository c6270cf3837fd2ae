"""Documents in JSON or YAML, and the models that they make."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

from bisimdist.bounded import decoded, read_file
from bisimdist.errors import Located, ModelError
from bisimdist.models.io.document import MapNode, Node
from bisimdist.models.io.expect import expect_text
from bisimdist.models.io.hmm_document import hmm_from_document
from bisimdist.models.io.interactive_document import interactive_from_document
from bisimdist.models.io.json_text import read_json
from bisimdist.models.io.lmc_document import lmc_from_document
from bisimdist.models.io.mechanism_document import mechanism_from_document
from bisimdist.models.io.pa_document import pa_from_document
from bisimdist.models.io.scenario_document import scenario_from_document
from bisimdist.models.kinds import AnyModel

T = TypeVar("T")

# After its opening brackets JSON has a text in quotes, or a bracket that closes; YAML may say `{kind: lmc}`.
_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*+[{\[][\s{\[]*+[\"}\]]")
_KINDS: dict[str, Callable[[MapNode], AnyModel]] = {
    "lmc": lmc_from_document,
    "pa": pa_from_document,
    "hmm": hmm_from_document,
    "mechanism": mechanism_from_document,
    "scenario": scenario_from_document,
    "interactive": interactive_from_document,
}
_LANGUAGES = {".json": "json", ".yaml": "yaml", ".yml": "yaml"}


def begins_json(content: bytes) -> bool:
    r"""Tell whether a content seems to be JSON rather than YAML.

    >>> begins_json(b'{"kind": "lmc"}'), begins_json(b"{kind: lmc}")
    (True, False)
    """
    return _JSON.match(content) is not None


def load_document(source: str | os.PathLike[str], read: Callable[[Node], T], *, expected: str) -> T:
    """Return what the document of a file is read as; errors name the file.

    Where its extension says neither JSON nor YAML, its content does.
    """
    name = os.fspath(source)
    with Located(source=name):
        language = _LANGUAGES.get(PurePath(name).suffix.lower())
        return read(read_document(read_file(name, expected=expected), language, expected=expected))


def read_document(
    content: bytes, language: str | None = None, *, expected: str = "a mapping with the key 'kind'"
) -> Node:
    """Return the document that bytes are in JSON or YAML, by default in which of them they seem to be."""
    text = decoded(content)
    if not text.strip():
        raise ModelError(f"the file is empty; expected {expected}")
    if language == "json" or (language != "yaml" and begins_json(content)):
        return read_json(text)
    # PyYAML takes a while to import, and JSON needs none of it.
    from bisimdist.models.io.yaml_text import read_yaml  # noqa: PLC0415

    return read_yaml(text)


def model_of(root: Node) -> AnyModel:
    """Return the model that a document makes."""
    known = ", ".join(_KINDS)
    if not isinstance(root, MapNode):
        raise root.error(
            f"the file holds {root.describe()}; expected a mapping with the key 'kind' ({known})"
        )
    if "kind" not in root.entries:
        raise root.error(f"the key 'kind' is missing; expected kind: {known}")
    kind = expect_text(root.entries["kind"], "kind", known)
    if kind not in _KINDS:
        raise root.entries["kind"].error(f"models of kind {kind!r} are not read; expected {known}", "kind")
    schema = root.entries.pop("$schema", None)  # for editors
    if schema is not None:
        expect_text(schema, "$schema", "where the schema is")
    return _KINDS[kind](root)
