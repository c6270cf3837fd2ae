"""Certificates of kind ``hmm-parametric``: a budget for all parameter values, or a counterexample.

The rules are named H, P and B as in ``docs/certificates/hmm-proofs.md``; why they prove the claims is in
``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any

from bisimdist.checker.core.effort import fraction_work, spend
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.hidden_markov import HiddenMarkov, QuotientRow, embedded_model, read_length
from bisimdist.checker.core.polynomials import (
    Exponents,
    Polynomial,
    add,
    check_sign,
    divide,
    multiply,
    primitive,
    read_monomials,
)
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    items,
    rational,
    record,
    shown,
    strings,
    text_of,
)

__all__ = ["check_document"]

FRAME = ("format", "version", "kind", "model", "digest", "claims")

Whole = dict[Exponents, int]
"""A polynomial with integers for coefficients."""

Vector = dict[str, Whole]
Key = frozenset[tuple[Exponents, Fraction]]


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``hmm-parametric``.

    Parameters
    ----------
    document
        The certificate, decoded.
    model
        The model that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate.
    """
    data = record(document, "the certificate", FRAME, ("denominators", "factors", "proofs"))
    claims = tuple(_claim(claim) for claim in items(data["claims"], "the claims"))
    try:
        embedded = embedded_model(data, model)
        for claim in claims:
            if claim["verdict"] == "holds":
                _check_holds(embedded, data, claim)
            else:
                _check_violated(embedded, claim)
    except RuleViolation as violation:
        return OtherReport(False, claims, str(violation))
    return OtherReport(True, claims)


def _claim(entry: object) -> dict[str, Any]:
    where = "a claim"
    claim = record(
        entry,
        where,
        ("from", "to", "ratio", "length", "verdict"),
        ("counterexample", "parameters", "probabilities"),
    )
    if claim["verdict"] not in ("holds", "violated"):
        raise MalformedCertificate(f"{where} has the verdict {shown(claim['verdict'])}")
    for key in ("from", "to"):
        item(claim[key], where)
    read_length(claim["length"])
    if rational(claim["ratio"], where) < 1:
        raise MalformedCertificate(f"{where} has a ratio less than 1")
    if claim["verdict"] == "violated":
        for symbol in items(claim.get("counterexample"), where):
            item(symbol, where)
        strings(claim.get("probabilities"), where, 2)
    elif len(claim) != 5:
        raise MalformedCertificate(f"{where} that holds has a counterexample")
    return claim


def _check_violated(model: HiddenMarkov, claim: Mapping[str, Any]) -> None:
    values = record(claim.get("parameters", {}), "the parameters of a claim", model.names)
    fixed = model.at([rational(values[name], "a parameter") for name in model.names])
    word = claim["counterexample"]
    if len(word) != read_length(claim["length"]):
        raise RuleViolation("P1: the counterexample has another length than the claim")
    found = [fixed.along(fixed.distribution(claim[key]), word).total() for key in ("from", "to")]
    if [text_of(p) for p in found] != claim["probabilities"]:
        raise RuleViolation("P1: the probabilities of the counterexample are others")
    ratio = rational(claim["ratio"], "a ratio")
    if not (found[0] > ratio * found[1] or found[1] > ratio * found[0]):
        raise RuleViolation("P1: the counterexample does not exceed the ratio")


def _check_holds(model: HiddenMarkov, data: Mapping[str, Any], claim: Mapping[str, Any]) -> None:
    size = len(model.names)
    clear = []
    for number, entry in enumerate(items(data.get("denominators"), "the denominators")):
        where = f"denominator {number}"
        part = record(entry, where, ("polynomial", "proof"))
        denominator = read_monomials(part["polynomial"], size, where)
        check_sign(denominator, model.box, model.names, part["proof"], where, strict=True)
        clear.append(denominator)
    if len(clear) != 3:
        raise MalformedCertificate("there are not three denominators")
    proofs: dict[Key, object] = {}
    for number, entry in enumerate(items(data.get("proofs", []), "the proofs")):
        where = f"proof {number}"
        part = record(entry, where, ("polynomial", "proof"))
        polynomial = read_monomials(part["polynomial"], size, where)
        proofs[_key(polynomial)] = part["proof"]
    for key in ("from", "to"):
        if claim[key] not in model.distributions:
            raise RuleViolation(f"H3: {shown(claim[key])} is no distribution of the model")
    ratio, length = rational(claim["ratio"], "a ratio"), read_length(claim["length"])
    done: set[Key] = set()
    for number, polynomial in enumerate(_differences(model, clear, claim, ratio, length)):
        primitive_form = _key(polynomial)
        if polynomial and primitive_form not in done:
            done.add(primitive_form)
            where = f"P2: inequality {number}"
            tree = proofs.get(primitive_form, "leaf")
            check_sign(polynomial, model.box, model.names, tree, where, strict=False)


def _key(polynomial: Polynomial) -> Key:
    return frozenset(primitive(polynomial).items())


def _cleared(rows: Mapping[str, QuotientRow], denominator: Polynomial) -> dict[str, Vector]:
    """Return rows times a denominator, and times a number that makes integers of their coefficients."""
    result: dict[str, dict[str, Polynomial]] = {}
    for key, row in rows.items():
        result[key] = {}
        for name, (above, below) in row.items():
            factor = divide(denominator, below)
            if factor is None:
                raise RuleViolation("P3: a denominator is no common denominator")
            result[key][name] = multiply(above, factor)
    common = 1
    for coefficient in (c for row in result.values() for entry in row.values() for c in entry.values()):
        common = lcm(common, coefficient.denominator)
        spend(fraction_work(common.bit_length()))
    return {
        key: {name: {e: int(c * common) for e, c in entry.items()} for name, entry in row.items()}
        for key, row in result.items()
    }


def _differences(
    model: HiddenMarkov, clear: Sequence[Polynomial], claim: Mapping[str, Any], ratio: Fraction, length: int
) -> list[Polynomial]:
    """Return the polynomials of all sequences, prefixes with the same two vectors taken as one."""
    emissions, rows = _cleared(model.emissions, clear[1]), _cleared(model.rows, clear[2])
    starts = _cleared({key: model.distributions[claim[key]] for key in ("from", "to")}, clear[0])
    layer = [tuple(starts.values())]
    for step in range(length):
        following: dict[object, tuple[Vector, ...]] = {}
        for pair in layer:
            moved = tuple(_moved(rows, side) for side in pair) if step else pair
            for symbol in model.observations:
                seen = tuple(_observed(emissions, side, symbol) for side in moved)
                if any(seen):
                    following.setdefault(_vectors(seen), seen)
        layer = list(following.values())
        if not layer:
            raise RuleViolation("P5: no sequence of the length is possible")
    result: list[Polynomial] = []
    for one, two in layer:
        first, second = ({e: Fraction(c) for e, c in _total(side).items()} for side in (one, two))
        for more, less in ((second, first), (first, second)):
            result.append(add({e: ratio * c for e, c in more.items()}, less, -1))
    return result


def _vectors(pair: Sequence[Vector]) -> object:
    return tuple(frozenset((s, frozenset(p.items())) for s, p in side.items()) for side in pair)


def _moved(rows: Mapping[str, Vector], masses: Vector) -> Vector:
    result: Vector = {}
    for state, mass in masses.items():
        for target, weight in rows[state].items():
            result[target] = add(result.get(target, {}), multiply(mass, weight))
    return {state: mass for state, mass in result.items() if mass}


def _observed(emissions: Mapping[str, Vector], masses: Vector, symbol: str) -> Vector:
    return {s: multiply(mass, emissions[s][symbol]) for s, mass in masses.items() if symbol in emissions[s]}


def _total(masses: Vector) -> Whole:
    result: Whole = {}
    for mass in masses.values():
        result = add(result, mass)
    return result
