"""Certificates of kind ``parametric``: delta, or the distance bd, of chains with parameters.

A claim says what delta is as a function of one parameter, that it is at most a number for all values in a
box, or at some more, or what is the best value of an expression where it is at most a number. The rules are
named R and B as in ``docs/certificates/parametric.md``; why they prove the claims is in
``docs/theory/parameters.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from itertools import pairwise
from typing import Any

from bisimdist.checker.core.bernstein import Bernstein, check_sign, shown_nonnegative, shown_sign
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.parametric_chain import Gains, ParametricChain, embedded
from bisimdist.checker.core.polynomials import (
    Box,
    Polynomial,
    Quotient,
    add,
    divide,
    multiply,
    read_factors,
    read_monomials,
    read_quotient,
    value,
)
from bisimdist.checker.core.reading import (
    LOOK,
    MalformedCertificate,
    RuleViolation,
    Skew,
    item,
    mapping,
    rational,
    record,
    shown,
    spend,
    text_of,
)
from bisimdist.checker.core.shape import (
    Between,
    CheckReport,
    Shape,
    judged,
    key,
    listed,
    named,
    one_of,
    or_null,
    raw,
    row,
)


class _Break(Shape):
    """The one zero of a polynomial in an interval, or a number where this is a point."""

    polynomial: Any = key(raw)
    low: Fraction = key(rational)
    high: Fraction = key(rational)


class _Pieces(Between):
    """What delta is for all values of a parameter in an interval."""

    parameter: str = key(item)
    range: tuple[Fraction, Fraction] = key(row(rational, rational))
    breaks: list[_Break] = key(listed(_Break.read, "break"))
    pieces: list[str] = key(listed(item))


class _ForAll(Between):
    """That it is at most a number for all values in a box, or more for some."""

    box: Mapping[str, tuple[Fraction, Fraction]] = key(named(row(rational, rational)), "for_all")
    upper: Fraction = key(rational)
    verdict: str = key(one_of("holds", "violated"))
    at: Mapping[str, Fraction] | None = key(named(rational), default=None)


class _Best(Between):
    """What is the best value of an expression where delta is at most a number, and where it is nearly so."""

    parameter: str = key(item)
    range: tuple[Fraction, Fraction] = key(row(rational, rational))
    maximise: str = key(item)
    at_most: Fraction = key(rational)
    lower: Fraction | None = key(or_null(rational))
    upper: Fraction | None = key(or_null(rational))
    at: Fraction | None = key(or_null(rational))


def _claim(value: object, where: str) -> _Pieces | _ForAll | _Best:
    kinds: dict[str, Any] = {"pieces": _Pieces, "for_all": _ForAll, "maximise": _Best}
    found = [kind for name, kind in counted(kinds.items()) if name in mapping(value, where)]
    if len(found) != 1:
        raise MalformedCertificate(f"{where} has not exactly one of the keys {', '.join(kinds)}")
    claim: _Pieces | _ForAll | _Best = found[0].read(value, where)
    return claim


class _Denominator(Shape):
    polynomial: Any = key(raw)
    proof: Any = key(raw)


class _Document(Shape):
    """A certificate of a chain with parameters."""

    model: Any = key(raw)
    digest: Any = key(raw)
    distance: str = key(one_of("delta", "bd"))
    alpha: Fraction = key(rational)
    claims: list[Any] = key(listed(raw))
    proofs: list[Any] = key(listed(raw))
    factors: Any = key(raw, default_factory=list)
    denominator: _Denominator | None = key(_Denominator.read, default=None)


@dataclass(frozen=True)
class _Work:
    """What the rules of all claims share."""

    distance: str
    alpha: Fraction
    chain: ParametricChain
    factors: Sequence[Polynomial]
    denominator: Polynomial
    rows: Mapping[str, Mapping[str, Polynomial]]

    def gains(self, claim: Between) -> Gains:
        if self.distance != "delta":
            raise RuleViolation("R4: gains of events say nothing of a distance")
        return self.chain.gains(claim.source, claim.target, self.alpha, self.rows, self.denominator)

    def interval(self, parameter: str, ends: tuple[Fraction, Fraction]) -> Box:
        return self.boxed({parameter: ends})

    def boxed(self, ends: Mapping[str, tuple[Fraction, Fraction]]) -> Box:
        """Return the box of a claim, which lies in that of the model."""
        if sorted(all_of(ends)) != list(all_of(self.chain.names)):
            raise RuleViolation("R2: the box of a claim is one of other parameters")
        box = [ends[name] for name in counted(self.chain.names)]
        for (low, high), (bottom, top) in counted(zip(box, self.chain.box, strict=True)):
            if not bottom <= low < high <= top:
                raise RuleViolation("R2: the box of a claim is not within that of the model")
        return box


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``parametric``."""
    whole = _Document.whole(document)
    claims = [_claim(claim, f"claim {n}") for n, claim in counted(enumerate(whole.claims, 1))]
    if len(whole.proofs) != len(claims):
        raise MalformedCertificate(f"there are {len(whole.proofs)} proofs; expected one for each claim")
    about = {"distance": whole.distance, "alpha": text_of(whole.alpha)}
    said = ({**about, **claim} for claim in counted(whole.claims))
    return judged(said, lambda: _check(whole, claims, model))


def _check(whole: _Document, claims: Sequence[_Pieces | _ForAll | _Best], model: object | None) -> None:
    alpha = Skew.of(whole.alpha, "G4: alpha")
    chain = embedded(whole.model, whole.digest, model, whole.factors)
    size = len(chain.names)
    denominator: Polynomial = {(0,) * size: Fraction(1)}
    if whole.denominator is not None:
        denominator = read_monomials(whole.denominator.polynomial, size, "the denominator")
        check_sign(denominator, chain.box, chain.names, whole.denominator.proof, "R3", strict=True)
    factors = read_factors(whole.factors, size)
    work = _Work(whole.distance, alpha, chain, factors, denominator, chain.over(denominator))
    for claim, proof in counted(zip(claims, whole.proofs, strict=True)):
        chain.known(claim.source)
        chain.known(claim.target)
        if isinstance(claim, _Pieces):
            _check_pieces(work, claim, proof)
        elif isinstance(claim, _Best):
            _check_best(work, claim, proof)
        elif claim.verdict == "holds":
            _check_holds(work, claim, proof)
        else:
            _check_violated(work, claim, proof)


def _check_pieces(work: _Work, claim: _Pieces, proof: object) -> None:
    """Check what delta is on every piece, and on both sides of a break next to it (rule R5)."""
    if proof is not None:
        raise MalformedCertificate("a proof of pieces is null")
    ((low, high),) = work.interval(claim.parameter, claim.range)
    gains = work.gains(claim)
    if len(claim.pieces) != len(claim.breaks) + 1:
        raise MalformedCertificate("there is not one piece more than there are breaks")
    ends = [low, *(end for found in counted(claim.breaks) for end in (found.low, found.high)), high]
    if any(one > two for one, two in counted(pairwise(ends))):
        raise RuleViolation("R5: the breaks are not in order")
    zeros = [_zero(found, claim.parameter) for found in counted(claim.breaks)]
    for number, text in counted(enumerate(claim.pieces)):
        above, below = read_quotient(text, work.chain.names, f"piece {number}")
        cells: list[tuple[Fraction, Fraction, Polynomial | None, int]] = []
        left, right = ends[2 * number], ends[2 * number + 1]
        cells.append((left, right, None, 1))
        if number:
            cells.append((*zeros[number - 1][1:3], zeros[number - 1][0], -zeros[number - 1][3]))
        if number < len(zeros):
            cells.append((*zeros[number][1:3], zeros[number][0], zeros[number][3]))
        wide = [cell for cell in counted(cells) if cell[0] < cell[1]]
        if not wide:
            raise RuleViolation(f"R5: piece {number} is between breaks that are one number")
        for cell in counted(wide):
            best = _best_on(work, gains, cell)
            if multiply(above, gains.below) != multiply(best, below):
                raise RuleViolation(f"R5: piece {number} is not what the best event gains")


def _zero(found: _Break, parameter: str) -> tuple[Polynomial, Fraction, Fraction, int]:
    """Return the polynomial of a break, its interval, and its sign before the zero."""
    above, below = read_quotient(found.polynomial, (parameter,), "the polynomial of a break")
    if set(all_of(below)) != {(0,)}:
        raise MalformedCertificate("the polynomial of a break is a quotient")
    first, last = value(above, [found.low]), value(above, [found.high])
    if found.low == found.high:
        if first:
            raise RuleViolation("R6: a break is no zero of its polynomial")
        return above, found.low, found.high, 1
    slope: Polynomial = {(e - 1,): e * c for (e,), c in counted(above.items()) if e}
    if first * last >= 0 or not shown_sign(slope, [(found.low, found.high)], ()):
        raise RuleViolation("R6: the interval of a break is not shown to have one zero")
    return above, found.low, found.high, 1 if first > 0 else -1


def _best_on(
    work: _Work, gains: Gains, cell: tuple[Fraction, Fraction, Polynomial | None, int]
) -> Polynomial:
    """Return what the best event gains where all signs are shown to stay the same.

    A cell is an interval; or the part of it on one side of the zero of a polynomial, which has a sign there.
    """
    low, high, zero, side = cell

    def sign(polynomial: Polynomial) -> int:
        rest, result = polynomial, 1
        while zero is not None and (quotient := divide(rest, zero)) is not None:
            spend(LOOK)
            rest, result = quotient, result * side
        result *= shown_sign(rest, [(low, high)], work.factors)
        if not result:
            raise RuleViolation("R5: a sign is not shown to stay the same")
        return result

    sums = []
    for terms in counted(gains.both):
        total: Polynomial = {}
        for term in counted(terms):
            if sign(term) > 0:
                total = add(total, term)
        sums.append(total)
    difference = add(sums[0], sums[1], -1)
    return sums[0] if not difference or sign(difference) > 0 else sums[1]


def _check_holds(work: _Work, claim: _ForAll, proof: object) -> None:
    """Check that delta (or bd) is at most the number in the whole box (rules R7 and R8)."""
    if claim.at is not None:
        raise MalformedCertificate("a claim that holds has no point")
    box = work.boxed(claim.box)
    if isinstance(proof, list):
        gains = work.gains(claim)
        level = add({}, gains.below, claim.upper)
        if len(proof) != 2:
            raise MalformedCertificate("a proof by gains has two parts, one for each direction")
        for terms, tree in counted(zip(gains.both, proof, strict=True)):
            check_sign(level, box, work.chain.names, tree, "R7", strict=False, minus=terms)
        return
    stack: list[tuple[Any, Box]] = [(proof, box)]
    while stack:
        spend(LOOK)
        tree, part = stack.pop()
        node = mapping(tree, "a proof")
        if "split" not in node:
            model = work.chain.between(part, work.rows, work.denominator)
            if _inner(work, claim, node, model)[1] > claim.upper:
                raise RuleViolation("R8: a proof of a box claims no such bound")
            continue
        node = record(node, "a proof", ("split", "at", "below", "above"))
        name, at = item(node["split"], "a proof"), rational(node["at"], "a proof")
        if name not in work.chain.names:
            raise MalformedCertificate(f"the proof splits {shown(name)}, which is no parameter")
        axis = work.chain.names.index(name)
        low, high = part[axis]
        for side, ends in (("below", (low, at)), ("above", (at, high))):
            stack.append((node[side], [*part[:axis], ends, *part[axis + 1 :]]))


def _check_violated(work: _Work, claim: _ForAll, proof: object) -> None:
    """Check that delta (or bd) is more than the number at a point of the box (rule R9)."""
    box, values = work.boxed(claim.box), claim.at
    if values is None or sorted(all_of(values)) != list(all_of(work.chain.names)):
        raise MalformedCertificate("a claim that is violated has a value of every parameter")
    point = [values[name] for name in counted(work.chain.names)]
    within = all(low <= x <= high for x, (low, high) in counted(zip(point, box, strict=True)))
    if not within or not work.chain.inside(point):
        raise RuleViolation("R9: the point is not in the box, and inside that of the model")
    if proof is None:
        found = work.gains(claim).at(point)
    else:
        found, _ = _inner(work, claim, mapping(proof, "a proof"), work.chain.at(point))
    if found <= claim.upper:
        raise RuleViolation("R9: at the point it is not more than the number")


def _inner(work: _Work, claim: Between, proof: dict[str, object], model: object) -> tuple[Fraction, Fraction]:
    """Return the bounds of a certificate about the pair of a claim in a model that is known (rule R10)."""
    rules, kind = ("delta", "delta") if work.distance == "delta" else ("distance", None)
    if proof.get("kind") != kind:
        raise MalformedCertificate("an inner proof is of another kind than the claim")
    check: Callable[..., CheckReport] = import_module(f"bisimdist.checker.claims.{rules}").check_document
    inner = check(proof, model)
    if not inner.valid:
        raise RuleViolation(f"R10: an inner proof is not valid: {inner.reason}")
    asked = (claim.source, claim.target, work.distance, text_of(work.alpha))
    for said in counted(inner.plain_claims()):
        name = said.get("quantity", said.get("distance"))
        if (said["from"], said["to"], name, said["alpha"]) == asked:
            return rational(said.get("lower", "0"), "it"), rational(said["upper"], "it")
    raise RuleViolation("R10: an inner proof claims something else")


def _check_best(work: _Work, claim: _Best, proof: object) -> None:
    """Check the best value of an expression where delta is at most a number (rule R11)."""
    node = record(proof, "a proof", ("cuts", "cells"))
    cuts = listed(rational)(node["cuts"], "the cuts")
    cells = listed(one_of("value", "delta"))(node["cells"], "the cells")
    ((low, high),) = work.interval(claim.parameter, claim.range)
    ends = [low, *cuts, high]
    if len(cells) != len(cuts) + 1:
        raise MalformedCertificate("there is not one cell more than there are cuts")
    gains = work.gains(claim)
    above, below = read_quotient(claim.maximise, work.chain.names, "the expression")
    side = shown_sign(below, [(low, high)], work.factors)
    if not side:
        raise RuleViolation("R11: the denominator of the expression is not shown to keep its sign")
    covered = set()
    for kind, ends_of in counted(zip(cells, pairwise(ends), strict=True)):
        if kind == "value":
            if claim.upper is None:
                raise RuleViolation("R11: a value is allowed, and the claim is that none is")
            least = add(add({}, below, side * claim.upper), above, -side)
            if not shown_nonnegative(least, [ends_of]):
                raise RuleViolation("R11: the expression is not shown to be at most the upper bound")
            covered |= set(all_of(ends_of))
        else:
            _check_exceeded(gains, claim.at_most, ends_of)
    for end in counted({end for end in counted(ends) if work.chain.inside([end])} - covered):
        if gains.at([end]) <= claim.at_most:
            raise RuleViolation("R11: an end of cells is in none that says something of it")
    _check_witness(work, claim, gains, (above, below))


def _check_witness(work: _Work, claim: _Best, gains: Gains, expression: Quotient) -> None:
    """Check that the lower bound is a value where delta is at most the number."""
    if claim.at is None:
        if claim.lower is not None:
            raise MalformedCertificate("a lower bound comes with a point")
        return
    point = [claim.at]
    if not (claim.range[0] <= claim.at <= claim.range[1] and work.chain.inside(point)):
        raise RuleViolation("R11: the point is not in the interval")
    above, below = (value(part, point) for part in counted(expression))
    if not below or gains.at(point) > claim.at_most:
        raise RuleViolation("R11: the point is not allowed")
    if claim.lower is None or claim.lower > above / below:
        raise RuleViolation("R11: the expression is less than the lower bound at the point")


def _check_exceeded(gains: Gains, level: Fraction, ends: tuple[Fraction, Fraction]) -> None:
    """Check that delta is more than a number inside of an interval."""
    middle = [(ends[0] + ends[1]) / 2]
    for terms in counted(gains.both):
        least: Polynomial = add({}, gains.below, -level)
        for term in counted(terms):
            if value(term, middle) > 0:
                least = add(least, term)
        if least and all(entry >= 0 for entry in counted(Bernstein.of(least, [ends]).entries)):
            return
    raise RuleViolation("R11: delta is not shown to be more than the number in a cell")
