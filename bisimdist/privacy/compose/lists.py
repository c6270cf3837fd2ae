"""Lists of mechanisms in files: JSON or YAML, every number the text that is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bisimdist.errors import ModelError
from bisimdist.models.io.document import ListNode, MapNode, Node, Scalar, ScalarKind
from bisimdist.models.io.expect import check_keys, expect_text
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


def inline(argument: str) -> bool:
    """Tell whether an argument is a list itself, and no name of a file."""
    return argument.lstrip().startswith(("[", "{"))


def read_list(argument: str, content: bytes | None = None) -> MechanismList:
    """Return the list of a file, of a text that is given, or of bytes from elsewhere.

    Raises ModelError if it is none; the error says where.
    """
    given = inline(argument)
    source = "the list" if given else "standard input" if content is not None else argument
    try:
        if given or content is not None:
            root = read_document(content or argument.encode(), None if content else "yaml", expected=EXPECTED)
        else:
            root = load_document(argument, lambda node: node, expected=EXPECTED)
        if isinstance(root, ListNode):
            entries, relation = root, None
        else:
            if not isinstance(root, MapNode):
                raise ModelError(f"it holds {root.describe()}; expected {EXPECTED}", line=root.line)
            check_keys(root, "", required=("mechanisms",), optional=("relation",))
            found = root.entries["mechanisms"]
            if not isinstance(found, ListNode):
                raise ModelError(
                    f"found {found.describe()}; expected a list", place="mechanisms", line=found.line
                )
            entries = found
            named = root.entries.get("relation")
            relation = (
                None
                if named is None
                else expect_text(named, "relation", "add-remove, remove, add or replace")
            )
    except ModelError as error:
        raise error.with_source(source) from None
    folder = Path() if given or content is not None else Path(argument).parent
    files = [] if given or content is not None else [Path(argument)]
    return MechanismList([_plain(entry) for entry in entries.items], relation, source, folder, files)


def _plain(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {key: _plain(value) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [_plain(item) for item in node.items]
    assert isinstance(node, Scalar)
    if node.kind is ScalarKind.NOTHING:
        return ""
    return node.text
