"""Polynomials over named parameters in plain Python: arithmetic, and the form that proofs write them in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import comb, prod
from typing import TypeVar

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    LONG,
    LOOK,
    Counted,
    MalformedCertificate,
    afford,
    demand_room,
    fraction_work,
    hold_for,
    items,
    mapping,
    model_number,
    number_text,
    product_work,
    rational,
    shown,
    spend,
)

Exponents = tuple[int, ...]
Polynomial = dict[Exponents, Fraction]  # the coefficient, not zero, of each exponent vector

Number = TypeVar("Number", int, Fraction)
Coefficients = Mapping[Exponents, Number]

Quotient = tuple[Polynomial, Polynomial]  # numerator and denominator; common factors are not taken out

Box = Sequence[tuple[Fraction, Fraction]]  # for each parameter an interval

ONE: Fraction = Counted(1)

EXPONENT, COEFFICIENT = 64, 2_500
"""How many bits it takes to hold an exponent, and a coefficient with what keeps it in its place."""

TERM = 6  # in products of short integers, what it takes to look at a term, or at a product of two of them


class Held(dict[Exponents, Number]):
    """A polynomial that has been worked out, which holds memory for as long as it lives."""


def held(terms: dict[Exponents, Number]) -> dict[Exponents, Number]:
    """Return a polynomial that holds memory if it is long."""
    bits = len(terms) * _term_bits(terms, size_of(terms))
    if bits <= LONG:
        return terms
    result = Held(all_of(terms))
    hold_for(result, bits)
    return result


def _term_bits(terms: Coefficients[Number], size: int) -> int:
    """Return how many bits it takes to hold a term like those, with a coefficient of this size."""
    return COEFFICIENT + EXPONENT * len(next(iter(terms), ())) + 2 * size


def add(
    first: Mapping[tuple[int, ...], Number],
    second: Mapping[tuple[int, ...], Number],
    factor: int | Number = 1,
) -> dict[tuple[int, ...], Number]:
    """Return ``first + factor * second``."""
    spend(_work({}, second, len(second)))
    result = dict(all_of(first))
    for exponents, coefficient in counted(second.items()):
        part = factor * coefficient
        total = result[exponents] + part if exponents in result else part
        if total:
            result[exponents] = total
        else:
            result.pop(exponents, None)
    return held(result)


def _work(first: Coefficients[Number], second: Coefficients[Number], count: int) -> int:
    """Return what so many operations on coefficients of two polynomials cost: integers are cheap."""
    terms = product_work(0, 0, TERM * (5 + len(first) + len(second) + count))
    if all(type(c) is int for c in counted((*first.values(), *second.values()))):
        return terms + product_work(size_of(first), size_of(second), count)
    return terms  # beside the arithmetic of fractions, which counts itself


def size_of(polynomial: Coefficients[Number]) -> int:
    """Return how long coefficients are."""
    return max(
        (max(c.numerator.bit_length(), c.denominator.bit_length()) for c in counted(polynomial.values())),
        default=0,
    )


def multiply(first: Coefficients[Number], second: Coefficients[Number]) -> dict[Exponents, Number]:
    """Return the product of two polynomials."""
    spend(_work(first, second, len(first) * len(second)))
    bits = _term_bits(first, size_of(first) + size_of(second))
    result: dict[Exponents, Number] = {}
    for e, a in counted(first.items()):
        demand_room(bits * len(result))
        for f, b in counted(second.items()):
            exponents = tuple(x + y for x, y in counted(zip(e, f, strict=True)))
            result[exponents] = result[exponents] + a * b if exponents in result else a * b
    return held({exponents: c for exponents, c in counted(result.items()) if c})


def plus(first: Quotient, second: Quotient, sign: int = 1) -> Quotient:
    """Return the sum of two quotients, the second one times a sign."""
    (a, b), (c, d) = first, second
    if b == d:
        return add(a, c, sign), b
    return add(multiply(a, d), multiply(c, b), sign), multiply(b, d)


def divide(first: Polynomial, second: Polynomial) -> Polynomial | None:
    """Return the quotient of two polynomials, or None where the division leaves a remainder."""
    lead = max(all_of(second))
    rest, result = dict(all_of(first)), {}
    while rest:
        spend(LOOK)
        top = max(all_of(rest))
        exponents = tuple(x - y for x, y in counted(zip(top, lead, strict=True)))
        if any(power < 0 for power in counted(exponents)):
            return None
        coefficient = rest[top] / second[lead]
        result[exponents] = coefficient
        rest = add(rest, multiply({exponents: coefficient}, second), -1)
    return result


def primitive(polynomial: Polynomial) -> Polynomial:
    """Return the polynomial divided by the positive number that makes its first coefficient 1 or -1."""
    if not polynomial:
        return polynomial
    scale = abs(polynomial[max(all_of(polynomial))])
    return held({exponents: c / scale for exponents, c in counted(polynomial.items())})


def value(polynomial: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the value of a polynomial at a point."""
    return sum(
        (
            c * prod(x**k for x, k in counted(zip(point, e, strict=True)))
            for e, c in counted(polynomial.items())
        ),
        Fraction(0),
    )


def read_monomials(entry: object, size: int, where: str) -> Polynomial:
    """Read a polynomial written as an object: exponents joined by commas, and coefficients."""
    result: Polynomial = {}
    for key, number in counted(mapping(entry, where).items()):
        parts = key.split(",") if key else []
        if len(parts) != size or not all(re.fullmatch(r"0|[1-9][0-9]{0,3}", part) for part in counted(parts)):
            raise MalformedCertificate(f"{where} has the key {shown(key)}; expected {size} exponents")
        coefficient = rational(number, where)
        if coefficient:
            result[tuple(int(part) for part in counted(parts))] = coefficient
    return result


def read_factors(entry: object, size: int) -> list[Polynomial]:
    """Read a list of polynomials, none of them constant."""
    factors = [read_monomials(part, size, "a factor") for part in counted(items(entry, "the factors"))]
    if not all(any(any(all_of(exponents)) for exponents in counted(factor)) for factor in counted(factors)):
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
    degrees = [max(all_of(powers)) for powers in counted(zip(*base, strict=True))]
    return sum(
        fraction_work(
            (k + 1) * bits,
            terms * min(comb(k + terms - 1, k), prod(k * degree + 1 for degree in counted(degrees))),
        )
        for k in counted(range(exponent if terms else 0))
    )


class _Reader:
    """A recursive descent over one expression; see the main formats for the grammar."""

    def __init__(self, text: str, names: Sequence[str], where: str) -> None:
        self.text, self.where, self.place = text, where, 0
        self.zero = (0,) * len(names)
        self.names = {
            name: tuple(int(k == place) for k in counted(range(len(names))))
            for place, name in counted(enumerate(names))
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
            spend(LOOK)
            result = plus(result, self.product(), 1 if mark == "+" else -1)
        return result

    def product(self) -> Quotient:
        result = self.signed()
        while mark := self.take("*", "/"):
            spend(LOOK)
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
            return (n if mark == "+" else {e: -c for e, c in counted(n.items())}, d)
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
            return {tuple(power * exponent for power in counted(powers)): coefficient**exponent}
        result: Polynomial = {self.zero: ONE}
        for _ in counted(range(exponent)):
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
    reader = _Reader(number_text(entry, where), names, where)
    n, d = reader.sum()
    if reader.kind != "end":
        raise reader.fail()
    if set(all_of(d)) == {reader.zero}:
        scale = d[reader.zero]
        return held({e: c / scale for e, c in counted(n.items())}), {reader.zero: Fraction(1)}
    return n, d
