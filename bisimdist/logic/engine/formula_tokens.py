"""The tokens of a formula."""

from __future__ import annotations

import json
import re

from bisimdist.errors import ModelError
from bisimdist.logic.engine.formula_printer import KEYWORDS, NAME, PLAIN_ACTION
from bisimdist.models.ccs.lexer import Kind, Positions, Token, tokenize

MAX_TOKENS = 20_000_000  # how many tokens a text may have

ACTION = 'an action in angle brackets, such as <a> or <"an action">'

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


def unexpected(token: Token, positions: Positions, expected: str) -> ModelError:
    """Return the error about a token in place of what was expected."""
    if token.kind is Kind.STRANGE and token.text in "<⟨":
        return positions.error(f"no action follows {token.text!r}; expected {ACTION}", token.offset)
    return positions.error(f"found {token.describe()}; expected {expected}", token.offset)


def action_of(token: Token, positions: Positions) -> str:
    """Return the action of a modality, which may be in quotes."""
    action = token.text
    if action.startswith('"'):
        try:
            action = json.loads(action, strict=False)
            action.encode("utf-8")
        except (json.JSONDecodeError, UnicodeEncodeError):
            wrong = f"{token.describe()} is no quoted text; expected {ACTION}"
            raise positions.error(wrong, token.offset) from None
    return action
