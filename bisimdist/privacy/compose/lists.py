"""Lists of mechanisms in files: JSON or YAML, every number the text that is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.models.io.document import ListNode, MapNode, Node, ScalarKind
from bisimdist.models.io.expect import check_keys, expect_list, expect_text
from bisimdist.models.io.json_or_yaml import load_document, read_document

EXPECTED = "a list of mechanisms (relation and mechanisms)"


@dataclass(frozen=True, slots=True)
class MechanismList:
    """What a file says."""

    mechanisms: list[Any]  # the entries, as plain data in which every scalar is a text
    relation: str | None  # the neighbouring relation, where it says one
    source: str  # what errors call it
    folder: Path  # where files that it names are
    files: list[Path] = field(default_factory=list)  # the files that were read

    def read(self, name: str) -> str:
        """Return where a file is that the list names: beside the list, if it is there."""
        beside = self.folder / name
        found = beside if beside.exists() else Path(name)
        self.files.append(found)
        return str(found)


def read_list(argument: str, content: bytes | None = None) -> MechanismList:
    """Return the list of a file, of a text that is given, or of bytes from elsewhere.

    Raises ModelError if it is none; the error says where.
    """
    given = argument.lstrip().startswith(("[", "{"))
    named = not given and content is None
    source = argument if named else "the list" if given else "standard input"
    try:
        if named:
            root = load_document(argument, lambda node: node, expected=EXPECTED)
        else:
            root = read_document(content or argument.encode(), None if content else "yaml", expected=EXPECTED)
        entries, relation = _parts(root)
    except ModelError as error:
        raise error.with_source(source) from None
    path = Path(argument)
    place, files = (path.parent, [path]) if named else (Path(), [])
    return MechanismList([_plain(entry) for entry in entries.items], relation, source, place, files)


def _parts(root: Node) -> tuple[ListNode, str | None]:
    """Return the list, and the relation that is said."""
    if isinstance(root, ListNode):
        return root, None
    if not isinstance(root, MapNode):
        raise root.error(f"it holds {root.describe()}; expected {EXPECTED}")
    check_keys(root, "", required=("mechanisms",), optional=("relation",))
    said = root.entries.get("relation")
    relation = None if said is None else expect_text(said, "relation", "add-remove, remove, add or replace")
    return expect_list(root.entries["mechanisms"], "mechanisms", "a list"), relation


def _plain(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {
            key: [_literal(item) for item in value.items]
            if key == "inputs" and isinstance(value, ListNode)
            else _plain(value)
            for key, value in node.entries.items()
        }
    if isinstance(node, ListNode):
        return [_plain(item) for item in node.items]
    return "" if node.kind is ScalarKind.NOTHING else node.text


def _literal(node: Node) -> str:
    """Return an input of a program as a Python literal: scalars are literals as they are written."""
    if isinstance(node, MapNode):
        return f"{{{', '.join(f'{key}: {_literal(value)}' for key, value in node.entries.items())}}}"
    if isinstance(node, ListNode):
        return f"[{', '.join(map(_literal, node.items))}]"
    return node.text
