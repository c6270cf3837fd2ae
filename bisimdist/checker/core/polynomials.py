"""Polynomials over named parameters in plain Python: reading, arithmetic, and their sign on a box."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any, TypeVar

from bisimdist.checker.core.effort import afford, fraction_work, product_work, spend
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    model_number,
    rational,
    record,
    shown,
)

__all__ = [
    "Box",
    "Exponents",
    "Polynomial",
    "Quotient",
    "add",
    "check_sign",
    "divide",
    "multiply",
    "primitive",
    "read_factors",
    "read_monomials",
    "read_quotient",
    "shown_nonnegative",
    "shown_sign",
    "value",
]

Exponents = tuple[int, ...]
Polynomial = dict[Exponents, Fraction]
"""The coefficient, not zero, of each exponent vector."""

Number = TypeVar("Number", int, Fraction)
Coefficients = Mapping[Exponents, Number]

Quotient = tuple[Polynomial, Polynomial]
"""Numerator and denominator; common factors are not taken out."""

Box = Sequence[tuple[Fraction, Fraction]]
"""For each parameter an interval."""

MAX_EXPONENT = 256
MAX_COEFFICIENTS = 500_000
AUTOMATIC_BOXES = 256

TERM = 6
"""In products of short integers, what it takes to look at a term, or at a product of two of them."""

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)|(?P<name>[A-Za-z_][A-Za-z0-9_]*)"
    r"|(?P<mark>\*\*|[-+*/^()])|(?P<end>$))"
)


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
    bits, others = _bits(first), _bits(second)
    if all(type(c) is int for c in (*first.values(), *second.values())):
        return product_work(bits, others, count) + product_work(
            0, 0, TERM * (5 + len(first) + len(second) + count)
        )
    return fraction_work(bits + others, count)


def _bits(polynomial: Coefficients[Number]) -> int:
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


def _power_work(base: Polynomial, exponent: int) -> int:
    """Return what the products of a power cost where as many terms remain, as long as there can be."""
    terms, bits = len(base), _bits(base) + len(base).bit_length()
    degrees = [max(powers) for powers in zip(*base, strict=True)]
    return sum(
        fraction_work(
            (k + 1) * bits, terms * min(comb(k + terms - 1, k), prod(k * degree + 1 for degree in degrees))
        )
        for k in range(exponent)
        if terms
    )


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
            n, d = self.product()
            sign = 1 if mark == "+" else -1
            if d == result[1]:
                result = (add(result[0], n, sign), d)
            else:
                result = (add(multiply(result[0], d), multiply(n, result[1]), sign), multiply(result[1], d))
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
    """Read an expression over parameters, such as ``(1-p)^2`` or ``3/5``.

    Raises
    ------
    MalformedCertificate
        If the text is none.
    """
    reader = _Reader(item(entry, where), names, where)
    n, d = reader.sum()
    if reader.kind != "end":
        raise reader.fail()
    if set(d) == {reader.zero}:
        scale = d[reader.zero]
        return {e: c / scale for e, c in n.items()}, {reader.zero: Fraction(1)}
    return n, d


def read_monomials(entry: object, size: int, where: str) -> Polynomial:
    """Read a polynomial written as an object: exponents joined by commas, and coefficients."""
    if not isinstance(entry, dict):
        raise MalformedCertificate(f"{where} is {shown(entry)}; expected an object")
    result: Polynomial = {}
    for key, number in entry.items():
        parts = key.split(",") if key else []
        if len(parts) != size or not all(re.fullmatch(r"0|[1-9][0-9]{0,3}", part) for part in parts):
            raise MalformedCertificate(f"{where} has the key {shown(key)}; expected {size} exponents")
        coefficient = rational(number, where)
        if coefficient:
            result[tuple(int(part) for part in parts)] = coefficient
    return result


class _Bernstein:
    """Bernstein coefficients over a box, the last index running fastest."""

    def __init__(self, shape: tuple[int, ...], entries: list[Fraction]) -> None:
        self.shape, self.entries = shape, entries

    @classmethod
    def of(cls, polynomial: Polynomial, box: Box) -> _Bernstein:
        shape = tuple(max((e[k] for e in polynomial), default=0) + 1 for k in range(len(box)))
        if prod(shape) > MAX_COEFFICIENTS:
            raise RuleViolation("B1: a polynomial has too many Bernstein coefficients")
        spend(fraction_work(_bits(polynomial), prod(shape) * sum(shape)))
        result = cls(shape, [Fraction(0)] * prod(shape))
        for exponents, coefficient in polynomial.items():
            place = 0
            for power, size in zip(exponents, shape, strict=True):
                place = place * size + power
            result.entries[place] = coefficient
        for axis, (low, high) in enumerate(box):
            for line in result.lines(axis):
                powers = _moved([result.entries[place] for place in line], low, high - low)
                degree = len(powers) - 1
                for i, place in enumerate(line):
                    result.entries[place] = sum(
                        (Fraction(comb(i, k), comb(degree, k)) * powers[k] for k in range(i + 1)), Fraction(0)
                    )
        return result

    def lines(self, axis: int) -> Iterator[range]:
        step = prod(self.shape[axis + 1 :])
        for start in range(0, len(self.entries), step * self.shape[axis]):
            for offset in range(start, start + step):
                yield range(offset, offset + step * self.shape[axis], step)

    def cut(self, axis: int, weight: Fraction) -> tuple[_Bernstein, _Bernstein]:
        spend(fraction_work(self.entries[0].denominator.bit_length(), len(self.entries) * self.shape[axis]))
        below, above = list(self.entries), list(self.entries)
        for line in self.lines(axis):
            row = [self.entries[place] for place in line]
            for step in range(len(row)):
                below[line[step]], above[line[len(line) - 1 - step]] = row[0], row[-1]
                row = [(1 - weight) * row[k] + weight * row[k + 1] for k in range(len(row) - 1)]
        return _Bernstein(self.shape, below), _Bernstein(self.shape, above)

    def face(self, upper: Sequence[bool]) -> Iterator[Fraction]:
        """Yield the coefficients at the upper end of some axes."""
        ranges = [(size - 1,) if end else range(size) for end, size in zip(upper, self.shape, strict=True)]
        for index in product(*ranges):
            place = 0
            for number, size in zip(index, self.shape, strict=True):
                place = place * size + number
            yield self.entries[place]


def _moved(powers: list[Fraction], shift: Fraction, scale: Fraction) -> list[Fraction]:
    """Return the coefficients of p(shift + scale t)."""
    result = list(powers)
    for k in range(len(result)):  # Horner's scheme, repeatedly
        for j in range(len(result) - 2, k - 1, -1):
            result[j] += shift * result[j + 1]
    return [c * scale**k for k, c in enumerate(result)]


def check_sign(  # noqa: PLR0913
    polynomial: Polynomial, box: Box, names: Sequence[str], proof: object, where: str, *, strict: bool
) -> None:
    """Check the proof that a polynomial is not negative (strict: positive) inside a box.

    A proof is ``"leaf"``, or an object with ``split`` (a parameter), ``at``, ``below`` and ``above``. At its
    top may stand an object with ``square``, ``rest`` and ``proof``, where zeros are allowed.

    Raises
    ------
    RuleViolation
        If it does not prove that.
    MalformedCertificate
        If it is no proof.
    """
    if not strict and isinstance(proof, dict) and "square" in proof:
        node = record(proof, f"{where}: a proof", ("square", "rest", "proof"))
        square, rest = (read_monomials(node[key], len(box), where) for key in ("square", "rest"))
        if primitive(multiply(multiply(square, square), rest)) != primitive(polynomial):
            raise RuleViolation(f"{where}: B5: the polynomial is not the square times the rest")
        polynomial, proof = rest, node["proof"]
    # What is inside the box and on a cut is at the upper end of a part.
    whole = [(*ends, False) for ends in box]
    stack: list[tuple[Any, list[tuple[Fraction, Fraction, bool]], _Bernstein]] = [
        (proof, whole, _Bernstein.of(polynomial, box))
    ]
    while stack:
        tree, part, coefficients = stack.pop()
        if tree == "leaf":
            _check_leaf(coefficients, [cut for _, _, cut in part], where, strict=strict)
            continue
        node = record(tree, f"{where}: a proof", ("split", "at", "below", "above"))
        name = item(node["split"], where)
        if name not in names:
            raise MalformedCertificate(f"{where}: the proof splits {shown(name)}, which is no parameter")
        axis, at = names.index(name), rational(node["at"], where)
        low, high, cut = part[axis]
        if not low < at < high:
            raise RuleViolation(f"{where}: B2: the box is cut outside of it")
        halves = coefficients.cut(axis, (at - low) / (high - low))
        for key, ends, half in zip(
            ("below", "above"), ((low, at, True), (at, high, cut)), halves, strict=True
        ):
            smaller = list(part)
            smaller[axis] = ends
            stack.append((node[key], smaller, half))


def _check_leaf(coefficients: _Bernstein, cuts: Sequence[bool], where: str, *, strict: bool) -> None:
    if any(entry < 0 for entry in coefficients.entries):
        raise RuleViolation(f"{where}: B3: a Bernstein coefficient is negative")
    if not strict:
        return
    for upper in product(*({False, cut} for cut in cuts)):
        if not any(coefficients.face(upper)):
            raise RuleViolation(f"{where}: B4: the polynomial may vanish inside the box")


def shown_nonnegative(polynomial: Polynomial, box: Box) -> bool:
    """Tell whether a bounded number of halvings shows that a polynomial is not negative on a box."""
    stack = [(_Bernstein.of(polynomial, box), 0)]
    boxes = 0
    while stack:
        boxes += 1
        if boxes > AUTOMATIC_BOXES:
            return False
        coefficients, axis = stack.pop()
        if all(entry >= 0 for entry in coefficients.entries):
            continue
        if not box:
            return False
        axis %= len(box)
        stack += [(half, axis + 1) for half in coefficients.cut(axis, Fraction(1, 2))]
    return True


def shown_sign(polynomial: Polynomial, box: Box, factors: Sequence[Polynomial]) -> int:
    """Return 1 or -1 where a polynomial is shown never to be negative, or never positive, on a box; else 0.

    Known factors are taken out where it is not shown at once: the sign of each that occurs an odd number of
    times is needed then.
    """
    for sign in (1, -1):
        if shown_nonnegative({e: sign * c for e, c in polynomial.items()}, box):
            return sign
    result, rest = 1, polynomial
    for factor in factors:
        odd = False
        while (quotient := divide(rest, factor)) is not None:
            rest, odd = quotient, not odd
        if odd:
            result *= shown_sign(factor, box, ())
    return result * shown_sign(rest, box, ()) if rest != polynomial else 0


def read_factors(entry: object, size: int) -> list[Polynomial]:
    """Read a list of polynomials, none of them constant."""
    factors = [read_monomials(part, size, "a factor") for part in items(entry, "the factors")]
    if not all(any(any(exponents) for exponents in factor) for factor in factors):
        raise MalformedCertificate("a factor is constant")
    return factors


def names_and_box(parameters: Mapping[str, tuple[Fraction, Fraction]]) -> tuple[list[str], Box]:
    """Return the parameters in the order of their names, with their intervals."""
    names = sorted(parameters)
    return names, [parameters[name] for name in names]
