"""Reads expressions over named parameters, such as the entries of models, as quotients of polynomials."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from math import comb, prod

from bisimdist.checker.core.effort import afford, fraction_work
from bisimdist.checker.core.polynomials import Polynomial, Quotient, multiply, plus, size_of
from bisimdist.checker.core.reading import MalformedCertificate, item, model_number, shown

__all__ = ["read_quotient"]

MAX_EXPONENT = 256

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/^()])|(?P<end>$))"
)


def _power_work(base: Polynomial, exponent: int) -> int:
    """Return what the products of a power cost where as many terms remain, as long as there can be."""
    terms, bits = len(base), size_of(base) + len(base).bit_length()
    degrees = [max(powers) for powers in zip(*base, strict=True)]
    return sum(
        fraction_work(
            (k + 1) * bits, terms * min(comb(k + terms - 1, k), prod(k * degree + 1 for degree in degrees))
        )
        for k in range(exponent)
        if terms
    )


class _Reader:
    """A recursive descent over one expression; see the main formats for the grammar."""

    def __init__(self, text: str, names: Sequence[str], where: str) -> None:
        self.text, self.where, self.place = text, where, 0
        self.zero = (0,) * len(names)
        self.names = {
            name: tuple(int(k == place) for k in range(len(names))) for place, name in enumerate(names)
        }
        self.kind, self.token = "", ""
        self.advance()

    def fail(self) -> MalformedCertificate:
        return MalformedCertificate(f"{self.where} is {shown(self.text)}; expected an expression")

    def advance(self) -> None:
        match = _TOKEN.match(self.text, self.place)
        if match is None:
            raise self.fail()
        self.kind = str(match.lastgroup)
        self.token, self.place = match[self.kind], match.end()

    def take(self, *marks: str) -> str:
        if self.kind == "mark" and self.token in marks:
            mark = self.token
            self.advance()
            return mark
        return ""

    def sum(self) -> Quotient:
        result = self.product()
        while mark := self.take("+", "-"):
            result = plus(result, self.product(), 1 if mark == "+" else -1)
        return result

    def product(self) -> Quotient:
        result = self.signed()
        while mark := self.take("*", "/"):
            n, d = self.signed()
            if mark == "/":
                n, d = d, n
            if not d:
                raise MalformedCertificate(f"{self.where} is {shown(self.text)}; it divides by zero")
            result = (multiply(result[0], n), multiply(result[1], d))
        return result

    def signed(self) -> Quotient:
        if mark := self.take("+", "-"):
            n, d = self.signed()
            return (n if mark == "+" else {e: -c for e, c in n.items()}, d)
        return self.power()

    def power(self) -> Quotient:
        n, d = self.atom()
        if not self.take("^", "**"):
            return n, d
        if not self.token.isdigit() or len(self.token) > 3:
            raise self.fail()
        exponent = int(self.token)
        if exponent > MAX_EXPONENT:
            raise self.fail()
        self.advance()
        afford(_power_work(n, exponent) + _power_work(d, exponent))
        above: Polynomial = {self.zero: Fraction(1)}
        below = above
        for _ in range(exponent):
            above, below = multiply(above, n), multiply(below, d)
        return above, below

    def atom(self) -> Quotient:
        one = {self.zero: Fraction(1)}
        if self.kind == "number":
            number = model_number(self.token, self.where)
            self.advance()
            return ({self.zero: number} if number else {}), one
        if self.kind == "name" and self.token in self.names:
            exponents = self.names[self.token]
            self.advance()
            return {exponents: Fraction(1)}, one
        if self.take("("):
            result = self.sum()
            if not self.take(")"):
                raise self.fail()
            return result
        raise self.fail()


def read_quotient(entry: object, names: Sequence[str], where: str) -> Quotient:
    """Read an expression over parameters, such as ``(1-p)^2`` or ``3/5``."""
    reader = _Reader(item(entry, where), names, where)
    n, d = reader.sum()
    if reader.kind != "end":
        raise reader.fail()
    if set(d) == {reader.zero}:
        scale = d[reader.zero]
        return {e: c / scale for e, c in n.items()}, {reader.zero: Fraction(1)}
    return n, d
