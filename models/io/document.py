"""Documents: what a JSON or YAML file says, before anybody asks which model it makes.

A document is a tree of mappings, lists and scalars. Every scalar is kept as the text that is written, so no
number ever passes through a binary float, and every node knows the line where it begins.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from bisimdist.errors import ModelError

MAX_DEPTH = 100  # how deep lists and mappings may be nested; a model needs four levels

TOO_DEEP = f"lists and mappings are nested deeper than the {MAX_DEPTH} allowed"

MAX_NODES = 8_000_000
"""How many keys, values, lists and mappings a document may hold, so that reading takes bounded memory."""


class ScalarKind(Enum):
    """How a scalar was written, as far as it decides what the scalar may stand for."""

    TEXT = "the text"
    NUMBER = "the number"
    WORD = "the word"
    NOTHING = "nothing"


class _Placed:
    """What stands in a line of a document."""

    __slots__ = ()
    line: int

    def describe(self) -> str:
        """Return how an error speaks of the node."""
        raise NotImplementedError

    def error(self, message: str, place: str = "") -> ModelError:
        """Return an error about the node."""
        return ModelError(message, place=place, line=self.line)

    def unexpected(self, expected: str, place: str = "") -> ModelError:
        """Return the error where something else was expected."""
        return self.error(f"found {self.describe()}; expected {expected}", place)


@dataclass(frozen=True, slots=True)
class Scalar(_Placed):
    """A scalar, as the text that is written."""

    text: str  # the text, without quotes and escapes
    # TEXT for a JSON string and for every YAML scalar that is not empty, NUMBER and WORD (true, false, null)
    # for what JSON writes without quotes, NOTHING for an empty YAML scalar
    kind: ScalarKind
    line: int  # the line of the value or, in a mapping, of its key; counted from one

    def describe(self) -> str:
        """Return how an error speaks of the node."""
        if self.kind is ScalarKind.NOTHING:
            return "nothing"
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return (
            f"{self.kind.value} {shown!r}" if self.kind is ScalarKind.TEXT else f"{self.kind.value} {shown}"
        )


@dataclass(frozen=True, slots=True)
class ListNode(_Placed):
    """A list of nodes, beginning at `line`."""

    items: list[Node]
    line: int

    def describe(self) -> str:
        """Return how an error speaks of the node."""
        return f"a list of {len(self.items)}"


@dataclass(frozen=True, slots=True)
class MapNode(_Placed):
    """A mapping from different keys to nodes, beginning at `line`."""

    entries: dict[str, Node]
    line: int

    def describe(self) -> str:
        """Return how an error speaks of the node."""
        return f"a mapping with {len(self.entries)} keys"


Node = Scalar | ListNode | MapNode  # a part of a document


class TreeBuilder:
    """Builds a document from the events of a reader, and refuses what no reader may let through.

    Nothing here is recursive: a file of a hundred thousand opening brackets meets `MAX_DEPTH`, not the
    limit of the interpreter.
    """

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[ListNode | MapNode] = []
        self._key: list[tuple[str, int] | None] = []
        self._texts: dict[str, str] = {}
        self._count = 0

    @property
    def inside(self) -> ListNode | MapNode | None:
        """The innermost list or mapping that is still open."""
        return self._open[-1] if self._open else None

    @property
    def expects_key(self) -> bool:
        """Whether a key must come next."""
        return bool(self._open) and isinstance(self._open[-1], MapNode) and self._key[-1] is None

    def fail(self, message: str, line: int) -> ModelError:
        """Return an error about what comes next, with its place in the tree."""
        return ModelError(message, place=self._path(), line=line)

    def key(self, text: str, line: int) -> None:
        """Take the key of the entry that follows."""
        inside = self._open[-1]
        if not isinstance(inside, MapNode):
            raise TypeError("a key was given outside a mapping")
        if text in inside.entries:
            raise self.fail(f"the key {text[:200]!r} is written twice; expected each key once", line)
        self._tick(line)
        self._key[-1] = (self._texts.setdefault(text, text), line)

    def scalar(self, text: str, kind: ScalarKind, line: int) -> None:
        """Take a scalar."""
        self._add(Scalar(self._texts.setdefault(text, text), kind, self._line(line)), line)

    def start_list(self, line: int) -> None:
        """Open a list."""
        self._start(ListNode([], self._line(line)), line)

    def start_map(self, line: int) -> None:
        """Open a mapping."""
        self._start(MapNode({}, self._line(line)), line)

    def end(self) -> None:
        """Close the innermost list or mapping."""
        self._open.pop()
        self._key.pop()
        if self._key:
            self._key[-1] = None

    def _start(self, node: ListNode | MapNode, line: int) -> None:
        if len(self._open) >= MAX_DEPTH:
            raise ModelError(TOO_DEEP, line=line)
        self._add(node, line)
        self._open.append(node)
        self._key.append(None)

    def _add(self, node: Node, line: int) -> None:
        self._tick(line)
        if not self._open:
            self.root = node
            return
        inside = self._open[-1]
        if isinstance(inside, ListNode):
            inside.items.append(node)
            return
        key = self._key[-1]
        if key is None:
            raise self.fail("a list or a mapping stands for a key; expected a text", line)
        inside.entries[key[0]] = node
        if isinstance(node, Scalar):
            self._key[-1] = None

    def _line(self, line: int) -> int:
        key = self._key[-1] if self._key else None
        return line if key is None else key[1]

    def _tick(self, line: int) -> None:
        self._count += 1
        if self._count > MAX_NODES:
            raise ModelError(f"the file holds more than the {MAX_NODES} keys and values allowed", line=line)

    def _path(self) -> str:
        """Return the place of what comes next, from the top of the tree."""
        steps = []
        for inside, key in zip(self._open, self._key, strict=True):
            if isinstance(inside, ListNode):
                coming = inside is self._open[-1]
                steps.append(f"item {len(inside.items) + coming}")
            elif key is not None:
                steps.append(key[0] if len(key[0]) <= 40 else key[0][:37] + "...")
        return " > ".join(steps)
