"""Reading JSON into a document.

The standard library's reader gives no lines and recurses, so this one reads the tokens itself: an iterative
loop over one regular expression, which keeps numbers as text and can say where the reading failed.
"""

from __future__ import annotations

import json
import re

from bisimdist.errors import ModelError
from bisimdist.models.io.document import ListNode, MapNode, Node, ScalarKind, TreeBuilder

# Possessive quantifiers: no token is ever read twice, whatever the file holds.
_TOKEN = re.compile(
    r"[ \t\r\n]*+(?:"
    r'(?P<text>"[^"\\\x00-\x1f]*+(?:\\.[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?(?![0-9A-Za-z_.+-]))"
    r"|(?P<mark>[][{},:])"
    r"|(?P<word>-?[A-Za-z_][0-9A-Za-z_]*+)"
    r"|(?P<end>\Z)"
    r"|(?P<junk>[^][{},:\s\"]++|.))",
    re.DOTALL,
)

_VALUE = "a value"
_FIRST_ITEM = "a value or ']'"
_FIRST_KEY = "a key in double quotes or '}'"
_KEY = "a key in double quotes"
_COLON = "':'"
_AFTER_ITEM = "',' or ']'"
_AFTER_ENTRY = "',' or '}'"
_END = "the end of the file"


def read_json(text: str) -> Node:
    """Read one JSON value."""
    tree = TreeBuilder()
    match_token = _TOKEN.match
    line, position, expected = 1, 0, _VALUE
    while True:
        match = match_token(text, position)
        if match is None:  # the last alternative takes any character
            raise tree.fail("the text cannot be read as JSON", line)
        kind = match.lastgroup or ""
        start, end = match.span(kind)
        if start > position:
            line += text.count("\n", position, start)
        position = end
        if kind == "mark":
            expected = _mark(tree, text[start], line, expected)
        elif kind == "text" and expected in {_KEY, _FIRST_KEY}:
            tree.key(_unescape(tree, match[kind], line), line)
            expected = _COLON
        elif kind in {"text", "number", "word"} and expected in {_VALUE, _FIRST_ITEM}:
            _scalar(tree, kind, match[kind], line)
            expected = _after(tree)
        elif kind == "end" and expected is _END and tree.root is not None:
            return tree.root
        else:
            raise _unexpected(tree, match[kind], line, expected)


def _scalar(tree: TreeBuilder, kind: str, token: str, line: int) -> None:
    if kind == "text":
        tree.scalar(_unescape(tree, token, line), ScalarKind.TEXT, line)
    elif kind == "number":
        tree.scalar(token, ScalarKind.NUMBER, line)
    elif token in {"true", "false", "null"}:
        tree.scalar(token, ScalarKind.WORD, line)
    elif token.lstrip("-") in {"NaN", "Infinity"}:
        raise tree.fail(f"{token} is not a number; expected an exact one such as 3/5 in quotes or 0.6", line)
    else:
        raise _unexpected(tree, token, line, "a number, or a text in double quotes")


def _mark(tree: TreeBuilder, mark: str, line: int, expected: str) -> str:
    """Take a punctuation mark, and return what is expected after it."""
    if mark == ":" and expected is _COLON:
        return _VALUE
    if mark == "," and expected is _AFTER_ITEM:
        return _VALUE
    if mark == "," and expected is _AFTER_ENTRY:
        return _KEY
    if mark == "{" and expected in {_VALUE, _FIRST_ITEM}:
        tree.start_map(line)
        return _FIRST_KEY
    if mark == "[" and expected in {_VALUE, _FIRST_ITEM}:
        tree.start_list(line)
        return _FIRST_ITEM
    if (mark == "}" and expected in {_FIRST_KEY, _AFTER_ENTRY}) or (
        mark == "]" and expected in {_FIRST_ITEM, _AFTER_ITEM}
    ):
        tree.end()
        return _after(tree)
    raise _unexpected(tree, mark, line, expected)


def _after(tree: TreeBuilder) -> str:
    inside = tree.inside
    if isinstance(inside, MapNode):
        return _AFTER_ENTRY
    return _AFTER_ITEM if isinstance(inside, ListNode) else _END


def _unescape(tree: TreeBuilder, token: str, line: int) -> str:
    if "\\" not in token:
        return token[1:-1]
    try:
        return str(json.loads(token))
    except ValueError as error:
        raise tree.fail(f"a text is not valid JSON: {error}", line) from None


def _unexpected(tree: TreeBuilder, token: str, line: int, expected: str) -> ModelError:
    if not token:
        return tree.fail(f"not valid JSON: the file ends too early; expected {expected}", line)
    if token == '"':
        return tree.fail("not valid JSON: a text is not closed, or holds a control character", line)
    shown = token if len(token) <= 40 else token[:37] + "..."
    return tree.fail(f"not valid JSON: found {shown!r}; expected {expected}", line)
