"""The sign of a polynomial on a box, by its Bernstein coefficients (rules B1 to B5)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, prod
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.polynomials import (
    Box,
    Polynomial,
    divide,
    multiply,
    primitive,
    read_monomials,
    size_of,
)
from bisimdist.checker.core.reading import (
    ENTRY,
    LOOK,
    MalformedCertificate,
    RuleViolation,
    fraction_work,
    hold_for,
    item,
    rational,
    record,
    shown,
    spend,
)

MAX_COEFFICIENTS = 500_000
AUTOMATIC_BOXES = 256


class Bernstein:
    """Bernstein coefficients over a box, the last index running fastest."""

    def __init__(self, shape: tuple[int, ...], entries: list[Fraction]) -> None:
        self.shape, self.entries = shape, entries
        bits = max((entry.numerator.bit_length() for entry in counted(entries)), default=0)
        hold_for(self, len(entries) * (ENTRY + 2 * bits))

    @classmethod
    def of(cls, polynomial: Polynomial, box: Box, shape: tuple[int, ...] | None = None) -> Bernstein:
        """Return the coefficients of a polynomial, of the least degrees by default."""
        shape = shape or shape_of([polynomial], len(box))
        if prod(shape) > MAX_COEFFICIENTS:
            raise RuleViolation("B1: a polynomial has too many Bernstein coefficients")
        spend(fraction_work(size_of(polynomial), prod(shape) * sum(all_of(shape))))
        result = cls(shape, [Fraction(0)] * prod(shape))
        for exponents, coefficient in counted(polynomial.items()):
            place = 0
            for power, size in counted(zip(exponents, shape, strict=True)):
                place = place * size + power
            result.entries[place] = coefficient
        for axis, (low, high) in counted(enumerate(box)):
            for line in counted(result.lines(axis)):
                powers = _moved([result.entries[place] for place in counted(line)], low, high - low)
                degree = len(powers) - 1
                for i, place in counted(enumerate(line)):
                    result.entries[place] = sum(
                        (Fraction(comb(i, k), comb(degree, k)) * powers[k] for k in counted(range(i + 1))),
                        Fraction(0),
                    )
        return result

    def less(self, others: Sequence[Bernstein]) -> Bernstein:
        """Return the coefficients less the positive ones of others of the same degrees."""
        spend(fraction_work(self.entries[0].denominator.bit_length(), len(self.entries) * len(others)))
        rows = zip(self.entries, *(other.entries for other in counted(others)), strict=True)
        return Bernstein(self.shape, [b - sum(c for c in counted(row) if c > 0) for b, *row in counted(rows)])

    def lines(self, axis: int) -> Iterator[range]:
        """Yield the places of each line along an axis."""
        step = prod(self.shape[axis + 1 :])
        for start in counted(range(0, len(self.entries), step * self.shape[axis])):
            for offset in counted(range(start, start + step)):
                yield range(offset, offset + step * self.shape[axis], step)

    def cut(self, axis: int, weight: Fraction) -> tuple[Bernstein, Bernstein]:
        """Return the coefficients over the two parts of the box."""
        spend(fraction_work(self.entries[0].denominator.bit_length(), len(self.entries) * self.shape[axis]))
        below, above = list(all_of(self.entries)), list(all_of(self.entries))
        for line in counted(self.lines(axis)):
            row = [self.entries[place] for place in counted(line)]
            for step in counted(range(len(row))):
                below[line[step]], above[line[len(line) - 1 - step]] = row[0], row[-1]
                row = [(1 - weight) * row[k] + weight * row[k + 1] for k in counted(range(len(row) - 1))]
        return Bernstein(self.shape, below), Bernstein(self.shape, above)

    def face(self, upper: Sequence[bool]) -> Iterator[Fraction]:
        """Yield the coefficients at the upper end of some axes."""
        ranges = [
            (size - 1,) if end else range(size) for end, size in counted(zip(upper, self.shape, strict=True))
        ]
        for index in counted(product(*ranges)):
            place = 0
            for number, size in counted(zip(index, self.shape, strict=True)):
                place = place * size + number
            yield self.entries[place]


def _moved(powers: list[Fraction], shift: Fraction, scale: Fraction) -> list[Fraction]:
    """Return the coefficients of p(shift + scale t)."""
    result = list(all_of(powers))
    for k in counted(range(len(result))):  # Horner's scheme, repeatedly
        for j in counted(range(len(result) - 2, k - 1, -1)):
            result[j] += shift * result[j + 1]
    return [c * scale**k for k, c in counted(enumerate(result))]


def shape_of(polynomials: Iterable[Polynomial], size: int) -> tuple[int, ...]:
    """Return by variable how many coefficients polynomials need."""
    every = [exponents for polynomial in counted(polynomials) for exponents in counted(polynomial)]
    return tuple(max((e[k] for e in counted(every)), default=0) + 1 for k in counted(range(size)))


def check_sign(  # noqa: PLR0913
    polynomial: Polynomial,
    box: Box,
    names: Sequence[str],
    proof: object,
    where: str,
    *,
    strict: bool,
    minus: Sequence[Polynomial] = (),
) -> None:
    """Check the proof that a polynomial is not negative (strict: positive) inside a box.

    It may be at least the sum of the positive parts of others, instead of zero (rule B6).

    A proof is ``"leaf"``, or an object with ``split`` (a parameter), ``at``, ``below`` and ``above``. At its
    top may stand an object with ``square``, ``rest`` and ``proof``, where zeros are allowed.
    """
    if not (strict or minus) and isinstance(proof, dict) and "square" in proof:
        node = record(proof, f"{where}: a proof", ("square", "rest", "proof"))
        square, rest = (read_monomials(node[key], len(box), where) for key in ("square", "rest"))
        if primitive(multiply(multiply(square, square), rest)) != primitive(polynomial):
            raise RuleViolation(f"{where}: B5: the polynomial is not the square times the rest")
        polynomial, proof = rest, node["proof"]
    # What is inside the box and on a cut is at the upper end of a part.
    whole = [(*ends, False) for ends in counted(box)]
    shape = shape_of([polynomial, *minus], len(box))
    stack: list[tuple[Any, list[tuple[Fraction, Fraction, bool]], list[Bernstein]]] = [
        (proof, whole, [Bernstein.of(part, box, shape) for part in counted((polynomial, *minus))])
    ]
    while stack:
        spend(LOOK)
        tree, part, coefficients = stack.pop()
        if tree == "leaf":
            least = coefficients[0].less(coefficients[1:])
            _check_leaf(least, [cut for _, _, cut in counted(part)], where, strict=strict)
            continue
        node = record(tree, f"{where}: a proof", ("split", "at", "below", "above"))
        name = item(node["split"], where)
        if name not in names:
            raise MalformedCertificate(f"{where}: the proof splits {shown(name)}, which is no parameter")
        axis, at = names.index(name), rational(node["at"], where)
        low, high, cut = part[axis]
        if not low < at < high:
            raise RuleViolation(f"{where}: B2: the box is cut outside of it")
        both = [each.cut(axis, (at - low) / (high - low)) for each in counted(coefficients)]
        for side, (key, ends) in enumerate({"below": (low, at, True), "above": (at, high, cut)}.items()):
            smaller = list(all_of(part))
            smaller[axis] = ends
            stack.append((node[key], smaller, [halves[side] for halves in counted(both)]))


def _check_leaf(coefficients: Bernstein, cuts: Sequence[bool], where: str, *, strict: bool) -> None:
    if any(entry < 0 for entry in counted(coefficients.entries)):
        raise RuleViolation(f"{where}: B3: a Bernstein coefficient is negative")
    if not strict:
        return
    # Whichever cuts a face is on, it holds the face on all of them: what is positive here is positive there.
    if not any(all_of(coefficients.face(cuts))):
        raise RuleViolation(f"{where}: B4: the polynomial may vanish inside the box")


def shown_nonnegative(polynomial: Polynomial, box: Box) -> bool:
    """Tell whether a bounded number of halvings shows that a polynomial is not negative on a box."""
    stack = [(Bernstein.of(polynomial, box), 0)]
    boxes = 0
    while stack:
        spend(LOOK)
        boxes += 1
        if boxes > AUTOMATIC_BOXES:
            return False
        coefficients, axis = stack.pop()
        if all(entry >= 0 for entry in counted(coefficients.entries)):
            continue
        if coefficients.entries[0] < 0 or coefficients.entries[-1] < 0:
            return False  # it is negative at a corner, or everywhere
        axis %= len(box)
        stack += [(half, axis + 1) for half in counted(coefficients.cut(axis, Fraction(1, 2)))]
    return True


def shown_sign(polynomial: Polynomial, box: Box, factors: Sequence[Polynomial]) -> int:
    """Return 1 or -1 where a polynomial is shown never to be negative, or never positive, on a box; else 0.

    Known factors are taken out where it is not shown at once: the sign of each that occurs an odd number of
    times is needed then.
    """
    for sign in (1, -1):
        if shown_nonnegative({e: sign * c for e, c in counted(polynomial.items())}, box):
            return sign
    result, rest = 1, polynomial
    for factor in counted(factors):
        odd = False
        while (quotient := divide(rest, factor)) is not None:
            spend(LOOK)
            rest, odd = quotient, not odd
        if odd:
            result *= shown_sign(factor, box, ())
    return result * shown_sign(rest, box, ()) if rest != polynomial else 0
