"""From text to formulae, with errors at line and column.

::

    text        = [let] [rec] formula
    let         = "let" name "=" (formula | mixture) {";" ...} "in"         each may use those before it
    rec         = "rec" name "=" formula {";" ...} "in"                     each may use all of them
    formula     = literal {"&" literal}
    literal     = "!" literal | "<" action ">" target | "T" | name | "(" formula ")"
    target      = "T" | mixture | name | literal                            <a>phi stands for <a>(1 phi)
    mixture     = "(" [weight literal {"+" weight literal}] ")"
    about distributions = [let] ("T" | mixture | name)

Recursive descent would end at the limit of the interpreter: the parser keeps a stack of what is open.

Source: CCP18 Definition 17.
"""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field
from enum import Enum

from flint import fmpq

from bisimdist.errors import ModelError, NumberError, UsageError
from bisimdist.exact.rational import parse_rational
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    ANYTHING,
    TOP,
    DistributionFormula,
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
from bisimdist.logic.engine.formula_tokens import action_of, tokens_of, unexpected
from bisimdist.models.ccs.lexer import Kind, Positions, Token

LITERAL = "a formula, such as T, <a>T, !<a>T or <a>(1/2 <b>T + 1/2 T)"
DISTRIBUTION = "a formula about distributions, such as (1/2 <a>T + 1/2 T) or T"


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
    token: Token
    formulae: list[StateFormula] = field(default_factory=list)
    parts: list[tuple[fmpq, StateFormula]] = field(default_factory=list)
    action: str = ""
    weight: fmpq | None = None


class _Parser:
    def __init__(self, text: str) -> None:
        self.positions = Positions(text)
        self.tokens = tokens_of(text, self.positions)
        self.position = 0
        self.defined: dict[str, Node] = {}
        self.used: dict[str, int] = {}

    def error(self, message: str, token: Token) -> ModelError:
        return self.positions.error(message, token.offset)

    def unexpected(self, expected: str) -> ModelError:
        return unexpected(self.tokens[self.position], self.positions, expected)

    def at(self, *symbols: str, ahead: int = 0) -> bool:
        position = min(self.position + ahead, len(self.tokens) - 1)
        token = self.tokens[position]
        return token.kind is Kind.SYMBOL and token.text in symbols

    def take(self) -> Token:
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
        return self.equations()

    def equations(self) -> EquationSystem:
        """Read what follows the definitions of a formula about states."""
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
        self.check_names(equations)
        try:
            return EquationSystem(root, tuple(equations.items()))
        except UsageError as error:
            raise ModelError(str(error)) from None

    def check_names(self, equations: Container[str] = ()) -> None:
        """Refuse names that nothing defines."""
        for name, offset in self.used.items():
            if name not in equations:
                place = Token(Kind.NAME, name, offset)
                raise self.error(f"the name {name} has no definition; expected {LITERAL}", place)

    def distribution(self, *, anything: bool) -> DistributionFormula | None:
        """Read the rest of the text if it is about distributions; ``T`` is so only if `anything` says it."""
        token = self.tokens[self.position]
        named = self.defined.get(token.text) if token.kind is Kind.NAME else None
        result: Node | None = None
        if isinstance(named, Mixture):
            self.take()
            result = named
        elif self.at("(") and self._weighted(1):
            result = self.parse(mixture_allowed=True)
        elif anything and self.at("T"):
            self.take()
            result = ANYTHING
        if result is None:
            return None
        assert isinstance(result, DistributionFormula)
        if self.tokens[self.position].kind is not Kind.END:
            raise self.unexpected("the end of the text after a formula about distributions")
        self.check_names()
        return result

    def either(self) -> EquationSystem | DistributionFormula:
        """Read a text about states or about distributions."""
        self.lets()
        return self.distribution(anything=False) or self.equations()

    def about_distributions(self) -> DistributionFormula:
        """Read a text about distributions."""
        self.lets()
        result = self.distribution(anything=True)
        if result is None:
            raise self.unexpected(DISTRIBUTION)
        return result

    def node(self) -> Node:
        """Read a formula of either sort; names without definition are variables."""
        self.lets()
        result = self.parse(mixture_allowed=True)
        self.end()
        return result

    def end(self) -> None:
        if self.tokens[self.position].kind is not Kind.END:
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

    def new_name(self, known: dict[str, Node] | dict[str, StateFormula]) -> Token:
        token = self.tokens[self.position]
        if token.kind is not Kind.NAME:
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
        return token.kind is Kind.NUMBER or self.at(")", ahead=ahead)

    def _literal(self, stack: list[_Frame]) -> StateFormula | None:
        """Take the first token of a literal; return the literal if that is all of it."""
        token = self.tokens[self.position]
        if token.kind is Kind.MODALITY:
            return self._modality(stack)
        if token.kind is Kind.NAME:
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

    def _named(self, token: Token) -> StateFormula:
        found = self.defined.get(token.text)
        if found is None:
            self.used.setdefault(token.text, token.offset)
            return variable(token.text)
        if not isinstance(found, StateFormula):
            raise self.error(
                f"{token.text} is a formula about distributions; expected '<a>' before it", token
            )
        return found

    def _modality(self, stack: list[_Frame]) -> StateFormula | None:
        token = self.take()
        action = action_of(token, self.positions)
        after = self.tokens[self.position]
        if self.at("T"):
            self.take()
            return enabled(action)
        if after.kind is Kind.NAME and isinstance(target := self.defined.get(after.text), Mixture):
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
        if token.kind is not Kind.NUMBER:
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
    """Read a state formula, with ``let`` definitions if it has some.

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

    >>> print(parse_system("rec X = <a>(1/2 Y + 1/2 X); Y = <b>X in X & Y"))
    rec
      X = <a>(1/2 X + 1/2 Y);
      Y = <b>X
    in X & Y
    """
    return _Parser(text).system()


def parse_distribution_formula(text: str) -> DistributionFormula:
    """Read a formula about distributions, with ``let`` definitions if it has some.

    Parameters
    ----------
    text
        Such as ``(1/2 <b>T + 1/2 !<c>T)``; ``T`` is what every distribution satisfies.

    Returns
    -------
    DistributionFormula
        The formula.

    Raises
    ------
    ModelError
        With line and column, where the text is no such formula.

    Examples
    --------
    >>> parse_distribution_formula("let x = <b>T in (1/2 x + 1/4 !x)")
    <Mixture (1/2 <b>T + 1/4 !<b>T)>
    >>> parse_distribution_formula("<a>T")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bisimdist.errors.ModelError: line 1: column 1: found 'a'; expected a formula about distributions, ...
    """
    return _Parser(text).about_distributions()


def parse_any_formula(text: str) -> EquationSystem | DistributionFormula:
    """Read a formula about states, recursive or not, or one about distributions; ``T`` is about states.

    >>> print(parse_any_formula("(1 <a>T)"), parse_any_formula("<a>(1 T)"))
    (1 <a>T) <a>(1 T)
    """
    return _Parser(text).either()


def parse_node(text: str) -> Node:
    """Read a formula about states or distributions; names without a definition are variables."""
    return _Parser(text).node()
