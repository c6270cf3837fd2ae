"""Reading expressions over parameters: ``(1-p)^2``, ``p*q/(1-p)``; a recursive descent of bounded depth."""

from __future__ import annotations

import re
from collections.abc import Sequence

from flint import fmpq

from bisimdist.errors import NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.models.polynomial import Entry, RationalFunction, check_size, parameter_ring, simplified

PARAMETER_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")  # what a parameter may be called

MAX_CHARACTERS = 20_000
MAX_DEPTH = 50
MAX_EXPONENT = 256

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<mark>\*\*|[-+*/^()])|(?P<other>\S)|(?P<end>$))"
)


class _Parser:
    """One pass over the tokens of one text; sums, products, signs, powers, in rising precedence."""

    def __init__(self, text: str, names: Sequence[str]) -> None:
        ring = parameter_ring(names)
        self.known: dict[str, Entry] = {
            name: RationalFunction.of(generator) for name, generator in zip(names, ring.gens(), strict=True)
        }
        self.text = text
        self.position = 0
        self.depth = 0
        self.kind, self.token, self.column = "", "", 1
        self.advance()

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.position)
        if match is None:  # pragma: no cover  (the token "other" takes any character)
            raise self.error("the expression cannot be read")
        self.kind = match.lastgroup or "end"
        self.token = match[self.kind]
        self.column = match.start(self.kind) + 1
        self.position = match.end()

    def error(self, message: str) -> NumberError:
        return NumberError(f"column {self.column}: {message}")

    def found(self) -> str:
        return "the end" if self.kind == "end" else repr(self.token[:40])

    def take(self, *marks: str) -> str | None:
        if self.kind == "mark" and self.token in marks:
            mark = self.token
            self.advance()
            return mark
        return None

    def descend(self) -> None:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error(f"the expression is nested deeper than the {MAX_DEPTH} allowed")

    def computed(self, column: int, operation: str, left: Entry, right: Entry) -> Entry:
        try:
            if operation == "+":
                value = left + right
            elif operation == "-":
                value = left - right
            elif operation == "*":
                value = left * right
            elif not right:
                raise NumberError("the divisor is zero")
            else:
                value = left / right
            return check_size(simplified(value))
        except NumberError as error:
            raise NumberError(f"column {column}: {error}") from None

    def sum(self) -> Entry:
        value = self.product()
        while True:
            column = self.column
            operation = self.take("+", "-")
            if operation is None:
                return value
            value = self.computed(column, operation, value, self.product())

    def product(self) -> Entry:
        value = self.signed()
        while True:
            column = self.column
            operation = self.take("*", "/")
            if operation is None:
                return value
            value = self.computed(column, operation, value, self.signed())

    def signed(self) -> Entry:
        sign = self.take("+", "-")
        if sign is None:
            return self.power()
        self.descend()
        value = self.signed()
        self.depth -= 1
        return -value if sign == "-" else value

    def power(self) -> Entry:
        base = self.atom()
        column = self.column
        if self.take("^", "**") is None:
            return base
        if self.kind != "number" or not self.token.isdigit():
            raise self.error(f"found {self.found()}; expected a whole number as the exponent")
        digits = self.token.lstrip("0") or "0"
        if len(digits) > 4 or int(digits) > MAX_EXPONENT:
            raise self.error(f"the exponent is beyond the {MAX_EXPONENT} allowed")
        exponent = int(digits)
        self.advance()
        if self.kind == "mark" and self.token in {"^", "**"}:
            raise self.error("a power of a power is ambiguous; expected parentheses")
        try:
            if isinstance(base, RationalFunction):
                return simplified(base**exponent)
            # the same bound on the size as for a function
            constant = RationalFunction.of(parameter_ring(()).constant(base)) ** exponent
            return fmpq(0) if constant.constant is None else constant.constant
        except NumberError as error:
            raise NumberError(f"column {column}: {error}") from None

    def atom(self) -> Entry:
        if self.kind == "number":
            column = self.column
            try:
                value = parse_rational(self.token)
            except NumberError as error:
                raise NumberError(f"column {column}: {error}") from None
            self.advance()
            return value
        if self.kind == "name":
            known = self.known.get(self.token)
            if known is None:
                declared = ", ".join(self.known) if self.known else "none"
                raise self.error(f"the parameter {self.token[:40]!r} is not declared (declared: {declared})")
            self.advance()
            return known
        if self.take("("):
            self.descend()
            value = self.sum()
            self.depth -= 1
            if self.take(")") is None:
                raise self.error(f"found {self.found()}; expected ')'")
            return value
        raise self.error(f"found {self.found()}; expected a number, a parameter or '('")


def parse_expression(text: str, names: Sequence[str]) -> Entry:
    """Read an expression over parameters, exactly.

    ``text``: numbers (``3``, ``0.6``, ``6e-1``), parameters, ``+ - * /``, powers with a whole exponent (``^``
        or ``**``) and parentheses. A product needs its ``*``.
    returns: a rational where the expression is constant.

    >>> parse_expression("1-(1-p)^2", ["p"])
    RationalFunction('-p^2 + 2*p')
    >>> parse_expression("p/p - 1/2", ["p"])
    1/2
    """
    if len(text) > MAX_CHARACTERS:
        raise NumberError(
            f"an expression of {len(text)} characters is longer than the {MAX_CHARACTERS} allowed"
        )
    parser = _Parser(text, names)
    value = parser.sum()
    if parser.kind != "end":
        raise parser.error(f"found {parser.found()}; expected an operator or the end of the expression")
    return value
