"""Certificates of kind ``program``: bounds for a program whose runs are cut off where they become unlikely.

Inside is a certificate of kind ``delta`` about the chain in which every run that is cut off ends in a state
that says so. Whatever those runs would have done, delta differs by no more than their probabilities allow.

References
----------
The rules are in ``docs/certificates/program.md``, their proof in ``docs/theory/programs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.chain import Chain, read_chain
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.quantities import Mass, Share
from bisimdist.checker.core.reading import (
    RuleViolation,
    choice,
    item,
    items,
    mapping,
    rational,
    record,
    shown,
    text_of,
)
from bisimdist.checker.rules.delta import check_document as check_delta

__all__ = ["check_document"]

_FRAME = ("format", "version", "kind", "program", "digest", "cut", "claims", "proof")


@dataclass(frozen=True)
class _Claim:
    """That delta of a pair lies between two bounds."""

    source: str
    target: str
    lower: Fraction
    upper: Fraction


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``program``.

    Parameters
    ----------
    document
        The certificate, decoded.
    model
        The chain that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate.
    """
    whole = record(document, "the certificate", _FRAME, ())
    _check_program(whole["program"])
    claims = [_claim(value, f"claim {k}") for k, value in enumerate(items(whole["claims"], "the claims"), 1)]
    proof = mapping(whole["proof"], "the proof")
    choice(proof.get("kind"), "the kind of the proof", ("delta",))
    alphas = record(proof.get("alpha"), "alpha of the proof", ("lower", "upper"), ())
    skews = [rational(alphas[key], f"alpha of the {key} bounds") for key in ("lower", "upper")]
    plain = tuple(_plain(claim, skews) for claim in claims)
    about = ("lmc", item(whole["digest"], "the digest"))
    try:
        _check(whole, proof, claims, skews[0], model)
    except RuleViolation as violation:
        return OtherReport(False, plain, str(violation), about)
    return OtherReport(True, plain, about=about)


def _check_program(value: object) -> None:
    program = record(value, "the program", ("function", "observe", "sources"), ())
    for key in ("function", "observe"):
        item(program[key], f"the {key} of the program")
    for name, digest in mapping(program["sources"], "the sources of the program").items():
        item(digest, f"the digest of {shown(name)}")


def _claim(value: object, where: str) -> _Claim:
    claim = record(value, where, ("from", "to", "lower", "upper"), ())
    return _Claim(
        item(claim["from"], where),
        item(claim["to"], where),
        rational(claim["lower"], f"the lower bound of {where}"),
        rational(claim["upper"], f"the upper bound of {where}"),
    )


def _plain(claim: _Claim, skews: list[Fraction]) -> dict[str, object]:
    lower, upper = (text_of(skew) for skew in skews)
    return {
        "from": claim.source,
        "to": claim.target,
        "quantity": "delta",
        "alpha": upper if lower == upper else [upper, lower],
        "lower": text_of(claim.lower),
        "upper": text_of(claim.upper),
        "exact": claim.lower == claim.upper,
    }


def _check(
    whole: Mapping[str, object],
    proof: dict[str, object],
    claims: list[_Claim],
    alpha: Fraction,
    model: object | None,
) -> None:
    inner = check_delta(proof, model)
    if not inner.valid:
        raise RuleViolation(f"P2: the proof is not valid: {inner.reason}")
    if whole["digest"] != proof.get("digest"):
        raise RuleViolation("P2: the digest is not that of the proof")
    chain = read_chain(mapping(proof["model"], "the model of the proof"))
    masses = _masses(whole["cut"], chain)
    _check_masses(masses, chain)
    proved = {(found["from"], found["to"]): found for found in inner.claims}
    for number, claim in enumerate(claims, 1):
        _check_claim(claim, f"claim {number}", proved, masses, alpha)


def _masses(value: object, chain: Chain) -> dict[str, Mass]:
    masses = {}
    for name, number in mapping(value, "the masses that are cut off").items():
        if name not in chain.labels:
            raise RuleViolation(f"P3: {shown(name)} is no state of the model")
        masses[name] = Mass.by("P3")(number, f"the mass of {shown(name)}")
    return masses


def _check_masses(masses: Mapping[str, Mass], chain: Chain) -> None:
    """Check that the masses are at least the probabilities of reaching a state labelled ``cut``."""
    for state, row in chain.rows.items():
        mass = masses.get(state, Fraction(0))
        if chain.labels[state] == "cut":
            if mass < 1:
                raise RuleViolation(f"P3: runs end in {shown(state)}, and its mass is less than 1")
        elif mass < sum((p * masses.get(target, Fraction(0)) for target, p in row.items()), Fraction(0)):
            raise RuleViolation(f"P3: the mass of {shown(state)} is less than that of what comes next")


def _check_claim(
    claim: _Claim,
    where: str,
    proved: Mapping[tuple[object, object], Mapping[str, object]],
    masses: Mapping[str, Mass],
    alpha: Fraction,
) -> None:
    found = proved.get((claim.source, claim.target))
    if found is None:
        raise RuleViolation(f"P4: {where} is about a pair that the proof does not claim")
    Share.of(claim.lower, f"P4: the lower bound of {where}")
    Share.of(claim.upper, f"P4: the upper bound of {where}")
    p, q = masses.get(claim.source, Fraction(0)), masses.get(claim.target, Fraction(0))
    lower = rational(found["lower"], "a lower bound of the proof")
    upper = rational(found["upper"], "an upper bound of the proof")
    if claim.lower > max(Fraction(0), lower - max(p + alpha * q, q + alpha * p)):
        raise RuleViolation(f"P4: the lower bound of {where} is more than the proof and the cut allow")
    if claim.upper < min(Fraction(1), upper + max(p, q)):
        raise RuleViolation(f"P4: the upper bound of {where} is less than the proof and the cut allow")
