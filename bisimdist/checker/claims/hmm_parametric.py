"""Certificates of kind ``hmm-parametric``: a budget for all parameter values, or a counterexample.

The rules are named H, P and B as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeVar

from bisimdist.checker.core.bernstein import check_sign
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.hidden_markov import AboutMarkov, HiddenMarkov, QuotientRow, read_length
from bisimdist.checker.core.polynomials import (
    Exponents,
    Polynomial,
    add,
    divide,
    multiply,
    primitive,
    read_monomials,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    common,
    item,
    mapping,
    rational,
    record,
    shown,
    text_of,
)
from bisimdist.checker.core.shape import Between, CheckReport, Shape, judged, key, listed, one_of, raw, row

Whole = dict[Exponents, int]  # a polynomial with integers for coefficients

Vector = dict[str, Whole]
Key = frozenset[tuple[Exponents, Fraction]]
Name = TypeVar("Name", str, int)


def _ratio(value: object, where: str) -> Fraction:
    ratio = rational(value, where)
    if ratio < 1:
        raise MalformedCertificate(f"{where} is less than 1")
    return ratio


class _Claim(Between):
    """That a ratio holds for all values of the parameters, or a sequence that exceeds it at some."""

    ratio: Fraction = key(_ratio)
    length: int = key(read_length)
    verdict: str = key(one_of("holds", "violated"))
    counterexample: list[str] | None = key(listed(item), default=None)
    parameters: Any = key(mapping, default=None)
    probabilities: tuple[str, str] | None = key(row(item, item), default=None)

    def __post_init__(self) -> None:
        """Demand a counterexample where one is claimed, and nothing of it elsewhere."""
        found = self.counterexample, self.probabilities
        if None in found if self.verdict == "violated" else (*found, self.parameters) != (None, None, None):
            raise MalformedCertificate(f"{self.where}: a claim has a counterexample, or holds")


class _Signed(Shape):
    """A polynomial with a proof of its sign."""

    polynomial: Any = key(raw)
    proof: Any = key(raw)


class _Document(AboutMarkov):
    denominators: Any = key(raw, default=None)
    factors: Any = key(listed(raw), default_factory=list)
    proofs: Any = key(raw, default_factory=list)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``hmm-parametric``."""
    whole = _Document.whole(document)
    claims = [_Claim.read(claim, "a claim") for claim in counted(whole.claims)]

    def check() -> None:
        embedded = whole.embedded(model, whole.factors)
        for claim in counted(claims):
            (_check_holds if claim.verdict == "holds" else _check_violated)(embedded, whole, claim)

    return judged(whole.claims, check)


def _check_violated(model: HiddenMarkov, _: _Document, claim: _Claim) -> None:
    values = record(claim.parameters or {}, "the parameters of a claim", model.names)
    fixed = model.at([rational(values[name], "a parameter") for name in counted(model.names)])
    word = claim.counterexample or []
    if len(word) != claim.length:
        raise RuleViolation("P1: the counterexample has another length than the claim")
    sides = (fixed.distribution(name) for name in (claim.source, claim.target))
    one, two = (fixed.along(side, word).total() for side in counted(sides))
    if (text_of(one), text_of(two)) != claim.probabilities:
        raise RuleViolation("P1: the probabilities of the counterexample are others")
    if not (one > claim.ratio * two or two > claim.ratio * one):
        raise RuleViolation("P1: the counterexample does not exceed the ratio")


def _check_holds(model: HiddenMarkov, whole: _Document, claim: _Claim) -> None:
    size = len(model.names)
    clear = []
    for part in counted(listed(_Signed.read, "denominator", 0)(whole.denominators, "the denominators")):
        denominator = read_monomials(part.polynomial, size, part.where)
        check_sign(denominator, model.box, model.names, part.proof, part.where, strict=True)
        clear.append(denominator)
    if len(clear) != 3:
        raise MalformedCertificate("there are not three denominators")
    proofs: dict[Key, object] = {}
    for part in counted(listed(_Signed.read, "proof", 0)(whole.proofs, "the proofs")):
        proofs[_key(read_monomials(part.polynomial, size, part.where))] = part.proof
    for name in (claim.source, claim.target):
        if name not in model.distributions:
            raise RuleViolation(f"H3: {shown(name)} is no distribution of the model")
    done: set[Key] = set()
    for number, polynomial in counted(enumerate(_differences(model, clear, claim))):
        primitive_form = _key(polynomial)
        if polynomial and primitive_form not in done:
            done.add(primitive_form)
            where = f"P2: inequality {number}"
            tree = proofs.get(primitive_form, "leaf")
            check_sign(polynomial, model.box, model.names, tree, where, strict=False)


def _key(polynomial: Polynomial) -> Key:
    return frozenset(all_of(primitive(polynomial).items()))


def _cleared(rows: Mapping[Name, QuotientRow], denominator: Polynomial) -> dict[Name, Vector]:
    """Return rows times a denominator, and times a number that makes integers of their coefficients."""
    result: dict[Name, dict[str, Polynomial]] = {}
    for at, entries in counted(rows.items()):
        result[at] = {}
        for name, (above, below) in counted(entries.items()):
            factor = divide(denominator, below)
            if factor is None:
                raise RuleViolation("P3: a denominator is no common denominator")
            result[at][name] = multiply(above, factor)
    whole = common(
        c.denominator
        for part in counted(result.values())
        for entry in counted(part.values())
        for c in counted(entry.values())
    )
    return {
        at: {
            name: {e: int(c * whole) for e, c in counted(entry.items())}
            for name, entry in counted(part.items())
        }
        for at, part in counted(result.items())
    }


def _differences(model: HiddenMarkov, clear: Sequence[Polynomial], claim: _Claim) -> list[Polynomial]:
    """Return the polynomials of all sequences, prefixes with the same two vectors taken as one."""
    emissions, rows = _cleared(model.emissions, clear[1]), _cleared(model.rows, clear[2])
    sides = enumerate((claim.source, claim.target))
    starts = _cleared({side: model.distributions[name] for side, name in counted(sides)}, clear[0])
    layer = [tuple(all_of(starts.values()))]
    for step in counted(range(claim.length)):
        following: dict[object, tuple[Vector, ...]] = {}
        for pair in counted(layer):
            moved = tuple(_moved(rows, side) for side in counted(pair)) if step else pair
            states = (state for side in counted(moved) for state in counted(side))
            for symbol in counted(dict.fromkeys(o for s in counted(states) for o in counted(emissions[s]))):
                seen = tuple(_observed(emissions, side, symbol) for side in counted(moved))
                if any(all_of(seen)):
                    following.setdefault(_vectors(seen), seen)
        layer = list(all_of(following.values()))
        if not layer:
            raise RuleViolation("P5: no sequence of the length is possible")
    result: list[Polynomial] = []
    for one, two in counted(layer):
        first, second = ({e: Fraction(c) for e, c in counted(_total(side).items())} for side in (one, two))
        for more, less in ((second, first), (first, second)):
            result.append(add({e: claim.ratio * c for e, c in counted(more.items())}, less, -1))
    return result


def _vectors(pair: Sequence[Vector]) -> object:
    return tuple(
        frozenset((s, frozenset(all_of(p.items()))) for s, p in counted(side.items()))
        for side in counted(pair)
    )


def _moved(rows: Mapping[str, Vector], masses: Vector) -> Vector:
    result: Vector = {}
    for state, mass in counted(masses.items()):
        for target, weight in counted(rows[state].items()):
            result[target] = add(result.get(target, {}), multiply(mass, weight))
    return {state: mass for state, mass in counted(result.items()) if mass}


def _observed(emissions: Mapping[str, Vector], masses: Vector, symbol: str) -> Vector:
    return {
        s: multiply(mass, emissions[s][symbol])
        for s, mass in counted(masses.items())
        if symbol in emissions[s]
    }


def _total(masses: Vector) -> Whole:
    result: Whole = {}
    for mass in counted(masses.values()):
        result = add(result, mass)
    return result
