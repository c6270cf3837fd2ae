"""From text to formulae, with errors at line and column.

::

    text        = [let] [rec] formula
    let         = "let" name "=" (formula | mixture) {";" ...} "in"         each may use those before it
    rec         = "rec" name "=" formula {";" ...} "in"                     each may use all of them
    formula     = literal {"&" literal}
    literal     = "!" literal | "<" action ">" target | "T" | name | "(" formula ")"
    target      = "T" | mixture | name | literal                            <a>phi stands for <a>(1 phi)
    mixture     = "(" [weight literal {"+" weight literal}] ")"

Recursive descent would end at the limit of the interpreter: the parser keeps a stack of what is open.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from flint import fmpq

from bisimdist.errors import ModelError, NumberError, UsageError
from bisimdist.exact.rational import parse_rational
from bisimdist.logic.equations import EquationSystem
from bisimdist.logic.formula import (
    TOP,
    Mixture,
    Node,
    StateFormula,
    conjunction,
    diamond,
    enabled,
    mixture,
    negation,
    variable,
)
from bisimdist.logic.formula_printer import KEYWORDS, NAME, PLAIN_ACTION
from bisimdist.models.ccs.lexer import Positions

__all__ = ["parse_formula", "parse_node", "parse_system"]

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

LITERAL = "a formula, such as T, <a>T, !<a>T or <a>(1/2 <b>T + 1/2 T)"
ACTION = 'an action in angle brackets, such as <a> or <"an action">'


class _Kind(Enum):
    NUMBER = "number"
    MODALITY = "modality"
    NAME = "name"
    SYMBOL = "symbol"
    END = "end"
    STRANGE = "strange"


class _Token(NamedTuple):
    kind: _Kind
    text: str
    offset: int

    def describe(self) -> str:
        if self.kind is _Kind.END:
            return "the end of the text"
        return repr(self.text if len(self.text) <= 40 else self.text[:37] + "...")


def _tokens(text: str) -> list[_Token]:
    """Return the tokens of a text; the first character that begins none is a token too, and the last one."""
    result: list[_Token] = []
    offset = 0
    while offset < len(text):
        match = _TOKEN.match(text, offset)
        if match is None:
            result.append(_Token(_Kind.STRANGE, text[offset], offset))
            break
        group = match.lastgroup
        if match["number"] is not None:
            result.append(_Token(_Kind.NUMBER, match["number"], offset))
        elif match["modality"] is not None:
            result.append(_Token(_Kind.MODALITY, match["quoted"] or match["plain"], offset))
        elif match["name"] is not None:
            kind = _Kind.SYMBOL if match["name"] in KEYWORDS else _Kind.NAME
            result.append(_Token(kind, match["name"], offset))
        elif match["symbol"] is not None:
            symbol = _SAME.get(match["symbol"], match["symbol"])
            result.append(_Token(_Kind.SYMBOL, symbol, offset))
        else:
            assert group == "blank"
        offset = match.end()
        if len(result) > MAX_TOKENS:
            raise ModelError(f"the text has more than the {MAX_TOKENS} tokens allowed")
    result.append(_Token(_Kind.END, "", len(text)))
    return result


class _Open(Enum):
    """What is open: each entry of the stack is one of these with what it holds so far."""

    ALL = "the whole formula"
    GROUP = "("
    NEGATION = "!"
    MODALITY = "<a>"
    WEIGHT = "1/2"
    PARTS = "(1/2"


@dataclass(slots=True)
class _Frame:
    kind: _Open
    token: _Token
    formulae: list[StateFormula] = field(default_factory=list)
    parts: list[tuple[fmpq, StateFormula]] = field(default_factory=list)
    action: str = ""
    weight: fmpq | None = None


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.position = 0
        self.defined: dict[str, Node] = {}
        self.used: dict[str, int] = {}

    def error(self, message: str, token: _Token) -> ModelError:
        return Positions(self.text).error(message, token.offset)

    def unexpected(self, expected: str) -> ModelError:
        token = self.tokens[self.position]
        if token.kind is _Kind.STRANGE and token.text in "<⟨":
            return self.error(f"no action follows {token.text!r}; expected {ACTION}", token)
        return self.error(f"found {token.describe()}; expected {expected}", token)

    def at(self, *symbols: str, ahead: int = 0) -> bool:
        position = min(self.position + ahead, len(self.tokens) - 1)
        token = self.tokens[position]
        return token.kind is _Kind.SYMBOL and token.text in symbols

    def take(self) -> _Token:
        token = self.tokens[self.position]
        self.position += 1
        return token

    def expect(self, symbol: str, expected: str) -> None:
        if not self.at(symbol):
            raise self.unexpected(expected)
        self.position += 1

    # -- the whole text

    def system(self) -> EquationSystem:
        """Read a text with its definitions and equations."""
        self.lets()
        equations: dict[str, StateFormula] = {}
        if self.at("rec"):
            self.take()
            while True:
                name = self.new_name(equations)
                equations[name.text] = self.state_formula()
                if not self.next_one():
                    break
        root = self.state_formula()
        self.end()
        for name_used, offset in self.used.items():
            if name_used not in equations:
                place = _Token(_Kind.NAME, name_used, offset)
                raise self.error(f"the name {name_used} has no definition; expected {LITERAL}", place)
        try:
            return EquationSystem(root, tuple(equations.items()))
        except UsageError as error:
            raise ModelError(str(error)) from None

    def node(self) -> Node:
        """Read a formula of either sort; names without definition are variables."""
        self.lets()
        result = self.parse(mixture_allowed=True)
        self.end()
        return result

    def end(self) -> None:
        if self.tokens[self.position].kind is not _Kind.END:
            raise self.unexpected("'&' or the end of the text")

    def lets(self) -> None:
        if not self.at("let"):
            return
        self.take()
        while True:
            name = self.new_name(self.defined)
            if name.text in self.used:
                raise self.error(f"the name {name.text} is used before its definition", name)
            self.defined[name.text] = self.parse(mixture_allowed=True)
            if not self.next_one():
                return

    def next_one(self) -> bool:
        """Tell whether another definition follows; else step over ``in``."""
        if self.at(";"):
            self.take()
            if not self.at("in"):
                return True
        self.expect("in", "'&', ';' and another definition, or 'in'")
        return False

    def new_name(self, known: dict[str, Node] | dict[str, StateFormula]) -> _Token:
        token = self.tokens[self.position]
        if token.kind is not _Kind.NAME:
            raise self.unexpected("the name of a definition, such as x1")
        if token.text in known or token.text in self.defined:
            raise self.error(f"the name {token.text} is defined twice", token)
        self.take()
        self.expect("=", "'='")
        return token

    def state_formula(self) -> StateFormula:
        result = self.parse(mixture_allowed=False)
        assert isinstance(result, StateFormula)
        return result

    # -- one formula

    def parse(self, *, mixture_allowed: bool) -> Node:
        """Read a formula up to what cannot go on with it."""
        stack = [_Frame(_Open.ALL, self.tokens[self.position])]
        if mixture_allowed and self.at("(") and self._weighted(1):
            stack = [_Frame(_Open.PARTS, self.take())]
            found = self._weights(stack)
            if found is not None:
                return found
        while True:
            value = self._literal(stack)
            while value is not None:
                done = self._reduce(stack, value)
                if isinstance(done, _Done):
                    return done.node
                value = done

    def _weighted(self, ahead: int) -> bool:
        token = self.tokens[min(self.position + ahead, len(self.tokens) - 1)]
        return token.kind is _Kind.NUMBER or self.at(")", ahead=ahead)

    def _literal(self, stack: list[_Frame]) -> StateFormula | None:
        """Take the first token of a literal; return the literal if that is all of it."""
        token = self.tokens[self.position]
        if token.kind is _Kind.MODALITY:
            return self._modality(stack)
        if token.kind is _Kind.NAME:
            self.take()
            return self._named(token)
        if self.at("T"):
            self.take()
            return TOP
        if self.at("!"):
            stack.append(_Frame(_Open.NEGATION, self.take()))
            return None
        if self.at("("):
            if self._weighted(1):
                raise self.error(
                    f"a formula about distributions stands here; expected {LITERAL} (or '<a>' before it)",
                    token,
                )
            stack.append(_Frame(_Open.GROUP, self.take()))
            return None
        raise self.unexpected(LITERAL)

    def _named(self, token: _Token) -> StateFormula:
        found = self.defined.get(token.text)
        if found is None:
            self.used.setdefault(token.text, token.offset)
            return variable(token.text)
        if not isinstance(found, StateFormula):
            raise self.error(
                f"{token.text} is a formula about distributions; expected '<a>' before it",
                token,
            )
        return found

    def _modality(self, stack: list[_Frame]) -> StateFormula | None:
        token = self.take()
        action = token.text
        if action.startswith('"'):
            try:
                action = json.loads(action, strict=False)
                action.encode("utf-8")
            except (json.JSONDecodeError, UnicodeEncodeError):
                raise self.error(f"{token.describe()} is no quoted text; expected {ACTION}", token) from None
        after = self.tokens[self.position]
        if self.at("T"):
            self.take()
            return enabled(action)
        if after.kind is _Kind.NAME and isinstance(target := self.defined.get(after.text), Mixture):
            self.take()
            return diamond(action, target)
        stack.append(_Frame(_Open.MODALITY, token, action=action))
        if self.at("(") and self._weighted(1):
            stack.append(_Frame(_Open.PARTS, self.take()))
            found = self._weights(stack)
            if found is not None:
                stack.pop()
                return diamond(action, found)
        return None

    def _weights(self, stack: list[_Frame]) -> Mixture | None:
        """Take the weight of a part, or the end of the parts, which are then returned."""
        token = self.tokens[self.position]
        frame = stack[-1]
        if self.at(")") and not frame.parts:
            self.take()
            stack.pop()
            return mixture(())
        if token.kind is not _Kind.NUMBER:
            raise self.unexpected("a weight, such as 1/2")
        self.take()
        try:
            weight = parse_rational(token.text)
        except NumberError as error:
            raise self.error(str(error), token) from None
        if not 0 < weight <= 1:
            raise self.error(f"the weight {token.text[:40]} is not above 0 and at most 1", token)
        stack.append(_Frame(_Open.WEIGHT, token, weight=weight))
        return None

    def _reduce(self, stack: list[_Frame], value: StateFormula) -> StateFormula | _Done | None:
        """Give a formula to what is open; return what that completes, or None where another must follow."""
        frame = stack[-1]
        match frame.kind:
            case _Open.NEGATION:
                stack.pop()
                return negation(value)
            case _Open.MODALITY:
                stack.pop()
                return diamond(frame.action, mixture([(fmpq(1), value)]))
            case _Open.WEIGHT:
                return self._part(stack, value)
            case _:
                return self._operand(stack, value)

    def _operand(self, stack: list[_Frame], value: StateFormula) -> StateFormula | _Done | None:
        frame = stack[-1]
        frame.formulae.append(value)
        if self.at("&"):
            self.take()
            return None
        if frame.kind is _Open.GROUP:
            self.expect(")", "'&' or ')'")
        stack.pop()
        result = conjunction(frame.formulae)
        return _Done(result) if frame.kind is _Open.ALL else result

    def _part(self, stack: list[_Frame], value: StateFormula) -> StateFormula | _Done | None:
        weight = stack.pop().weight
        assert weight is not None
        frame = stack[-1]
        frame.parts.append((weight, value))
        if self.at("+"):
            self.take()
            self._weights(stack)
            return None
        self.expect(")", "'+' or ')'")
        stack.pop()
        try:
            found = mixture(frame.parts)
        except NumberError as error:
            raise self.error(str(error), frame.token) from None
        if not stack:
            return _Done(found)
        return diamond(stack.pop().action, found)


@dataclass(frozen=True, slots=True)
class _Done:
    node: Node


def parse_formula(text: str) -> StateFormula:
    """Read a state formula, with ``let`` definitions where it has some.

    Parameters
    ----------
    text
        Such as ``<a>(1/2 <b>T + 1/2 !<c>T) & !<d>T``; the signs of the papers are read as well.

    Returns
    -------
    StateFormula
        The formula.

    Raises
    ------
    ModelError
        With line and column, where the text is no formula; also where it is a recursive one.

    Examples
    --------
    >>> parse_formula("let x = <b>T in <a>(1/2 x + 1/3 !x) & T & !!x")
    <Conjunction <a>(1/2 <b>T + 1/3 !<b>T) & <b>T>
    >>> parse_formula("⟨a⟩(1/2 ¬⟨b⟩T ⊕ 1/2 T)") is parse_formula("<a>(1/2 !<b>T + 1/2 T)")
    True
    """
    system = parse_system(text)
    if system.equations:
        raise ModelError("the formula is recursive ('rec'); expected one without equations")
    return system.root


def parse_system(text: str) -> EquationSystem:
    """Read a formula that may be recursive.

    Raises
    ------
    ModelError
        With line and column, where the text is no formula.

    Examples
    --------
    >>> print(parse_system("rec X = <a>(1/2 Y + 1/2 X); Y = <b>X in X & Y"))
    rec
      X = <a>(1/2 X + 1/2 Y);
      Y = <b>X
    in X & Y
    """
    return _Parser(text).system()


def parse_node(text: str) -> Node:
    """Read a formula about states or distributions; names without a definition are variables."""
    return _Parser(text).node()
