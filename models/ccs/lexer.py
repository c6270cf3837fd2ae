"""From a text to tokens, each of which knows where it begins: of `.ccsp` files, and of formulae."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import Enum
from typing import NamedTuple

from bisimdist.errors import ModelError

MAX_TOKENS = 4_000_000  # how many tokens a text may have, so that reading takes bounded memory

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
    """What a token is; STRANGE is a character that begins none."""

    NUMBER = "number"
    MODALITY = "modality"
    NAME = "name"
    ACTION = "action"
    PROCESS = "process"
    SYMBOL = "symbol"
    END = "end"
    STRANGE = "strange"


class Token(NamedTuple):
    """A token: its kind, its text, and the offset of its first character."""

    kind: Kind
    text: str
    offset: int

    def describe(self) -> str:
        """Return how an error speaks of the token."""
        if self.kind is Kind.END:
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


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


def tokenize(
    text: str, positions: Positions, pattern: re.Pattern[str] = _TOKEN, most: int | None = None
) -> list[Token]:
    """Return the tokens of a text, with one that marks the end.

    The first character that begins no token is a token of its own kind, and the last: what is wrong before it
    is to be said first. The groups of the pattern are called as the kinds are, or ``blank``.
    """
    most = MAX_TOKENS if most is None else most
    tokens: list[Token] = []
    offset = 0
    while offset < len(text):
        match = pattern.match(text, offset)
        if match is None:
            tokens.append(Token(Kind.STRANGE, text[offset], offset))
            return tokens
        kind = match.lastgroup or ""
        if kind != "blank":
            if len(tokens) >= most:
                raise positions.error(f"the text has more than the {most} words allowed", offset)
            tokens.append(Token(Kind(kind), match[0], offset))
        offset = match.end()
    tokens.append(Token(Kind.END, "", len(text)))
    return tokens
