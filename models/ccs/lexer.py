"""From the text of a `.ccsp` file to tokens, each of which knows where it begins."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import Enum

from bisimdist.errors import ModelError

__all__ = ["Kind", "Positions", "Token", "tokenize"]

MAX_TOKENS = 4_000_000
"""How many tokens a text may have, so that reading takes bounded memory."""

_TOKEN = re.compile(
    r"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
    |(?P<number>-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?:[ \t]*/[ \t]*[0-9]+)?)
    |(?P<action>[a-z_][A-Za-z0-9_]*)
    |(?P<process>[A-Z][A-Za-z0-9_]*)
    |(?P<symbol>\(\+\)|[()=;,.:~+|])
    """,
    re.VERBOSE,
)


class Kind(Enum):
    """What a token is."""

    NUMBER = "number"
    ACTION = "action"
    PROCESS = "process"
    SYMBOL = "symbol"
    END = "end"
    STRANGE = "strange"


@dataclass(frozen=True, slots=True)
class Token:
    """A token: its kind, its text, and the offset of its first character."""

    kind: Kind
    text: str
    offset: int

    def describe(self) -> str:
        """Return how an error speaks of the token."""
        if self.kind is Kind.END:
            return "the end of the text"
        shown = self.text if len(self.text) <= 40 else self.text[:37] + "..."
        return repr(shown)


class Positions:
    """Knows the line and the column of every offset of a text."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def of(self, offset: int) -> tuple[int, int]:
        """Return the line and the column, both counted from one."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def error(self, message: str, offset: int) -> ModelError:
        """Return an error at an offset."""
        line, column = self.of(offset)
        return ModelError(message, place=f"column {column}", line=line)


def tokenize(text: str, positions: Positions) -> list[Token]:
    """Return the tokens of a text, with one that marks the end.

    The first character that begins no token is a token of its own kind, and the last: what is wrong before it
    is to be said first.

    Raises
    ------
    ModelError
        With line and column, where there are too many.
    """
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            tokens.append(Token(Kind.STRANGE, text[offset], offset))
            return tokens
        kind = match.lastgroup or ""
        if kind != "blank":
            if len(tokens) >= MAX_TOKENS:
                raise positions.error(f"the text has more than the {MAX_TOKENS} words allowed", offset)
            tokens.append(Token(Kind(kind), match[0], offset))
        offset = match.end()
    tokens.append(Token(Kind.END, "", len(text)))
    return tokens
