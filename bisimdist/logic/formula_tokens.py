"""The tokens of a formula."""

from __future__ import annotations

import re
from enum import Enum
from typing import NamedTuple

from bisimdist.errors import ModelError
from bisimdist.logic.formula_printer import KEYWORDS, NAME, PLAIN_ACTION

__all__ = ["MAX_TOKENS", "Kind", "Token", "tokens_of"]

MAX_TOKENS = 20_000_000
"""How many tokens a text may have."""

_TOKEN = re.compile(
    rf"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
    |(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?:[ \t]*/[ \t]*[0-9]+)?)
    |(?P<modality>[<⟨][ \t]*(?:(?P<quoted>"(?:[^"\\\n]|\\.)*")|(?P<plain>{PLAIN_ACTION}))[ \t]*[>⟩])
    |(?P<name>{NAME})
    |(?P<symbol>\(\+\)|[()!&+;=¬∧⊕\u22a4])
    """,
    re.VERBOSE,
)
_SAME = {"¬": "!", "∧": "&", "⊕": "+", "(+)": "+", "\u22a4": "T"}


class Kind(Enum):
    """What a token is; STRANGE is a character that begins none."""

    NUMBER = "number"
    MODALITY = "modality"
    NAME = "name"
    SYMBOL = "symbol"
    END = "end"
    STRANGE = "strange"


class Token(NamedTuple):
    """A token and where it begins."""

    kind: Kind
    text: str
    offset: int

    def describe(self) -> str:
        """Return how an error speaks of it."""
        if self.kind is Kind.END:
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of a text; the first character that begins none is a token too, and the last one."""
    result: list[Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            result.append(Token(Kind.STRANGE, text[offset], offset))
            break
        group = match.lastgroup
        if match["number"] is not None:
            result.append(Token(Kind.NUMBER, match["number"], offset))
        elif match["modality"] is not None:
            result.append(Token(Kind.MODALITY, match["quoted"] or match["plain"], offset))
        elif match["name"] is not None:
            kind = Kind.SYMBOL if match["name"] in KEYWORDS else Kind.NAME
            result.append(Token(kind, match["name"], offset))
        elif match["symbol"] is not None:
            symbol = _SAME.get(match["symbol"], match["symbol"])
            result.append(Token(Kind.SYMBOL, symbol, offset))
        else:
            assert group == "blank"
        offset = match.end()
        if len(result) > MAX_TOKENS:
            raise ModelError(f"the text has more than the {MAX_TOKENS} tokens allowed")
    result.append(Token(Kind.END, "", len(text)))
    return result
