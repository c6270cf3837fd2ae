"""Polynomials over named parameters in plain Python: arithmetic, and the form that proofs write them in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, prod
from typing import TypeVar

from bisimdist.checker.core.reading import (
    Counted,
    MalformedCertificate,
    afford,
    fraction_work,
    item,
    items,
    mapping,
    model_number,
    product_work,
    rational,
    shown,
    spend,
)

Exponents = tuple[int, ...]
Polynomial = dict[Exponents, Fraction]
"""The coefficient, not zero, of each exponent vector."""

Number = TypeVar("Number", int, Fraction)
Coefficients = Mapping[Exponents, Number]

Quotient = tuple[Polynomial, Polynomial]
"""Numerator and denominator; common factors are not taken out."""

Box = Sequence[tuple[Fraction, Fraction]]
"""For each parameter an interval."""

ONE: Fraction = Counted(1)

TERM = 6
"""In products of short integers, what it takes to look at a term, or at a product of two of them."""


def add(
    first: Mapping[tuple[int, ...], Number],
    second: Mapping[tuple[int, ...], Number],
    factor: int | Number = 1,
) -> dict[tuple[int, ...], Number]:
    """Return ``first + factor * second``."""
    spend(_work({}, second, len(second)))
    result = dict(first)
    for exponents, coefficient in second.items():
        part = factor * coefficient
        total = result[exponents] + part if exponents in result else part
        if total:
            result[exponents] = total
        else:
            result.pop(exponents, None)
    return result


def _work(first: Coefficients[Number], second: Coefficients[Number], count: int) -> int:
    """Return what so many operations on coefficients of two polynomials cost: integers are cheap."""
    terms = product_work(0, 0, TERM * (5 + len(first) + len(second) + count))
    if all(type(c) is int for c in (*first.values(), *second.values())):
        return terms + product_work(size_of(first), size_of(second), count)
    return terms  # beside the arithmetic of fractions, which counts itself


def size_of(polynomial: Coefficients[Number]) -> int:
    """Return how long coefficients are."""
    return max(
        (max(c.numerator.bit_length(), c.denominator.bit_length()) for c in polynomial.values()), default=0
    )


def multiply(first: Coefficients[Number], second: Coefficients[Number]) -> dict[Exponents, Number]:
    """Return the product of two polynomials."""
    spend(_work(first, second, len(first) * len(second)))
    result: dict[Exponents, Number] = {}
    for e, a in first.items():
        for f, b in second.items():
            exponents = tuple(x + y for x, y in zip(e, f, strict=True))
            result[exponents] = result[exponents] + a * b if exponents in result else a * b
    return {exponents: c for exponents, c in result.items() if c}


def plus(first: Quotient, second: Quotient, sign: int = 1) -> Quotient:
    """Return the sum of two quotients, the second one times a sign."""
    (a, b), (c, d) = first, second
    if b == d:
        return add(a, c, sign), b
    return add(multiply(a, d), multiply(c, b), sign), multiply(b, d)


def divide(first: Polynomial, second: Polynomial) -> Polynomial | None:
    """Return the quotient of two polynomials, or None where the division leaves a remainder."""
    lead = max(second)
    rest, result = dict(first), {}
    while rest:
        top = max(rest)
        exponents = tuple(x - y for x, y in zip(top, lead, strict=True))
        if any(power < 0 for power in exponents):
            return None
        coefficient = rest[top] / second[lead]
        result[exponents] = coefficient
        rest = add(rest, multiply({exponents: coefficient}, second), -1)
    return result


def primitive(polynomial: Polynomial) -> Polynomial:
    """Return the polynomial divided by the positive number that makes its first coefficient 1 or -1."""
    if not polynomial:
        return polynomial
    scale = abs(polynomial[max(polynomial)])
    return {exponents: c / scale for exponents, c in polynomial.items()}


def value(polynomial: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a polynomial at a point."""
    return sum(
        (c * prod(x**k for x, k in zip(point, e, strict=True)) for e, c in polynomial.items()), Fraction(0)
    )


def read_monomials(entry: object, size: int, where: str) -> Polynomial:
    """Read a polynomial written as an object: exponents joined by commas, and coefficients."""
    result: Polynomial = {}
    for key, number in mapping(entry, where).items():
        parts = key.split(",") if key else []
        if len(parts) != size or not all(re.fullmatch(r"0|[1-9][0-9]{0,3}", part) for part in parts):
            raise MalformedCertificate(f"{where} has the key {shown(key)}; expected {size} exponents")
        coefficient = rational(number, where)
        if coefficient:
            result[tuple(int(part) for part in parts)] = coefficient
    return result


def read_factors(entry: object, size: int) -> list[Polynomial]:
    """Read a list of polynomials, none of them constant."""
    factors = [read_monomials(part, size, "a factor") for part in items(entry, "the factors")]
    if not all(any(any(exponents) for exponents in factor) for factor in factors):
        raise MalformedCertificate("a factor is constant")
    return factors


MAX_EXPONENT = 256

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/^()])|(?P<end>$))"
)


def _power_work(base: Polynomial, exponent: int) -> int:
    """Return what the products of a power cost where as many terms remain, as long as there can be."""
    terms, bits = len(base), size_of(base) + len(base).bit_length()
    if terms == 1:
        return product_work(exponent * bits, exponent * bits, 4)
    degrees = [max(powers) for powers in zip(*base, strict=True)]
    return sum(
        fraction_work(
            (k + 1) * bits, terms * min(comb(k + terms - 1, k), prod(k * degree + 1 for degree in degrees))
        )
        for k in range(exponent if terms else 0)
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
        return self.raised(n, exponent), self.raised(d, exponent)

    def raised(self, base: Polynomial, exponent: int) -> Polynomial:
        if len(base) == 1:
            ((powers, coefficient),) = base.items()
            return {tuple(power * exponent for power in powers): coefficient**exponent}
        result: Polynomial = {self.zero: ONE}
        for _ in range(exponent):
            result = multiply(result, base)
        return result

    def atom(self) -> Quotient:
        one = {self.zero: ONE}
        if self.kind == "number":
            number = model_number(self.token, self.where)
            self.advance()
            return ({self.zero: number} if number else {}), one
        if self.kind == "name" and self.token in self.names:
            exponents = self.names[self.token]
            self.advance()
            return {exponents: ONE}, one
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
