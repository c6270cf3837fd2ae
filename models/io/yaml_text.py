"""Reading YAML into a document.

Only PyYAML's events are used, so no object is ever constructed and no scalar is interpreted: `1`, `true` and
`0.1` are the texts that are written. What could make a small file large (aliases) or a value more than a text
(tags) is refused.
"""

from __future__ import annotations

import re

import yaml
from yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from bisimdist.errors import ModelError
from bisimdist.models.io.document import TOO_DEEP, Node, ScalarKind, TreeBuilder

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_FORBIDDEN = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_yaml(text: str) -> Node:
    """Read one YAML document."""
    # Both readers of PyYAML refuse these, but neither says in which line.
    forbidden = _FORBIDDEN.search(text)
    if forbidden:
        raise ModelError(
            f"the file holds the character U+{ord(forbidden[0]):04X}, which YAML does not allow",
            line=text.count("\n", 0, forbidden.start()) + 1,
        )
    tree = TreeBuilder()
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise ModelError("a second YAML document begins; expected one", line=_line(event))
            elif isinstance(event, NodeEvent):
                _take(tree, event)
            elif isinstance(event, MappingEndEvent | SequenceEndEvent):
                tree.end()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = str(error.problem or error.context)
        # libyaml has a limit of its own, which it may meet first: it reads ahead of the events.
        said = TOO_DEEP if "nesting depth" in problem else f"not valid YAML: {problem}"
        if "cannot start any token" in problem and mark and text[mark.index : mark.index + 1] == "\t":
            said = "not valid YAML: a tab stands where only spaces may; expected spaces as indentation"
        raise ModelError(said, line=mark.line + 1 if mark else None) from None
    except yaml.YAMLError as error:
        raise ModelError(f"not valid YAML: {error}") from None
    if tree.root is None:
        raise ModelError("the file is empty; expected a mapping with the key 'kind'")
    return tree.root


def _take(tree: TreeBuilder, event: NodeEvent) -> None:
    line = _line(event)
    if isinstance(event, AliasEvent):
        raise tree.fail(
            f"the alias *{event.anchor} is used; expected a file without aliases and anchors", line
        )
    if event.anchor is not None:
        raise tree.fail(
            f"the anchor &{event.anchor} is set; expected a file without aliases and anchors", line
        )
    tag = getattr(event, "tag", None)
    if tag is not None:
        raise tree.fail(f"the tag {tag!r} is set; expected a file without tags", line)
    if isinstance(event, MappingStartEvent):
        tree.start_map(line)
    elif isinstance(event, SequenceStartEvent):
        tree.start_list(line)
    elif isinstance(event, ScalarEvent):
        plain_and_empty = not event.value and event.implicit[0]
        if not tree.expects_key:
            tree.scalar(event.value, ScalarKind.NOTHING if plain_and_empty else ScalarKind.TEXT, line)
        elif plain_and_empty:
            raise tree.fail("a key is missing; expected a text", line)
        else:
            tree.key(event.value, line)


def _line(event: yaml.Event) -> int:
    mark = event.start_mark
    return int(mark.line) + 1 if mark else 1
