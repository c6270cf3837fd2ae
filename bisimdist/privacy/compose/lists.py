"""Lists of mechanisms in files: JSON or YAML, every number the text that is written."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bisimdist.bounded import MAX_BYTES
from bisimdist.errors import ModelError
from bisimdist.faces.asked.source import STANDARD_INPUT, source_name, standard_input
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
    files: list[Path]  # the files that were read

    def read(self, name: str) -> str:
        """Return where a file is that the list names: beside the list, if it is there."""
        beside = Path(self.source).parent / name
        self.files.append(beside if beside.exists() else Path(name))
        return str(self.files[-1])


def read_list(argument: str) -> MechanismList:
    """Return the list of a file, of standard input, or of a text that is given.

    Raises ModelError if it is none; the error says where.
    """
    given = argument.lstrip().startswith(("[", "{"))
    source, files = "the list" if given else source_name(argument), list[Path]()
    try:
        if given:
            root = read_document(argument.encode(), "yaml", expected=EXPECTED)
        elif argument == STANDARD_INPUT:
            root = read_document(standard_input(MAX_BYTES), None, expected=EXPECTED)
        else:
            root = load_document(argument, lambda node: node, expected=EXPECTED)
            files = [Path(argument)]
        relation = None
        if isinstance(root, MapNode):
            check_keys(root, "", required=("mechanisms",), optional=("relation",))
            said = root.entries.get("relation")
            relation = None if said is None else expect_text(said, "relation", "such as add-remove")
            root = root.entries["mechanisms"]
        entries = expect_list(root, "mechanisms", EXPECTED)
    except ModelError as error:
        raise error.with_source(source) from None
    return MechanismList(_plain(entries), relation, source, files)


def _plain(node: Node) -> Any:
    if isinstance(node, MapNode):
        return {_Written(key): _plain(value) for key, value in node.entries.items()}
    if isinstance(node, ListNode):
        return [_plain(item) for item in node.items]
    return _Written("" if node.kind is ScalarKind.NOTHING else node.text)


class _Written(str):
    """A scalar of a file; also inside of an input of a program it is the literal that is written."""

    __slots__ = ()
    __repr__ = str.__str__
