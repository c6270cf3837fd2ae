"""The tokens of a formula."""

from __future__ import annotations

import re

from bisimdist.logic.engine.formula_printer import KEYWORDS, NAME, PLAIN_ACTION
from bisimdist.models.ccs.lexer import Kind, Positions, Token, tokenize

MAX_TOKENS = 20_000_000  # how many tokens a text may have

_TOKEN = re.compile(
    rf"""
    (?P<blank>[ \t\r\n]+|\#[^\n]*)
    |(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?:[ \t]*/[ \t]*[0-9]+)?)
    |(?P<modality>[<⟨][ \t]*(?:"(?:[^"\\\n]|\\.)*"|{PLAIN_ACTION})[ \t]*[>⟩])
    |(?P<name>{NAME})
    |(?P<symbol>\(\+\)|[()!&+;=¬∧⊕\u22a4])
    """,
    re.VERBOSE,
)
_SAME = {"¬": "!", "∧": "&", "⊕": "+", "(+)": "+", "\u22a4": "T"}


def tokens_of(text: str, positions: Positions) -> list[Token]:
    """Return the tokens of a text; the first character that begins none is a token too, and the last one."""
    return list(map(_meant, tokenize(text, positions, _TOKEN, MAX_TOKENS)))


def _meant(token: Token) -> Token:
    """Return a token with one text for each meaning: of a modality its action."""
    kind, text, offset = token
    if kind is Kind.MODALITY:
        return Token(kind, text[1:-1].strip(" \t"), offset)
    if kind is Kind.NAME and text in KEYWORDS:
        return Token(Kind.SYMBOL, text, offset)
    if kind is Kind.SYMBOL and text in _SAME:
        return Token(kind, _SAME[text], offset)
    return token
