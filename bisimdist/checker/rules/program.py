"""Certificates of kind ``program``: bounds for a program whose runs are cut off where they become unlikely.

Inside is a certificate of kind ``delta``, or of the distance bd, about the chain in which every run that is
cut off ends in a state that says so. Whatever those runs would have done, delta differs by no more than their
probabilities allow.

References
----------
The rules are in ``docs/certificates/program.md``, their proof in ``docs/theory/programs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from importlib import import_module
from typing import Any

from bisimdist.checker.core.chain import Chain, read_chain
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    Mass,
    RuleViolation,
    Share,
    choice,
    item,
    mapping,
    rational,
    shown,
)
from bisimdist.checker.core.shape import CheckReport, Shape, Source, judged, key, listed, model_kind, raw
from bisimdist.checker.rules.delta_document import Alphas, Delta


class _Document(Shape):
    """A certificate of a program."""

    program: Source = key(Source.read)
    digest: str = key(item)
    cut: Any = key(raw)
    claims: list[Delta] = key(listed(Delta.read, "claim"))
    proof: dict[str, object] = key(mapping)

    def alphas(self) -> Alphas:
        """Return alpha of the lower bounds and of the upper ones."""
        if "rounds" in self.proof:
            raise MalformedCertificate("the proof is about so many rounds, and not about a program")
        if model_kind(self.proof) == "interactive" and self.cut != {}:
            raise MalformedCertificate("the program asks somebody, and runs of it are cut off")
        said, where = self.proof.get("alpha"), "alpha of the proof"
        if self.proof.get("kind") is None:
            choice(self.proof.get("distance"), "the distance of the proof", ("bd",))
            alpha = rational(said, where)
            return Alphas(where=where, lower=alpha, upper=alpha)
        choice(self.proof.get("kind"), "the kind of the proof", ("delta",))
        return Alphas.read(said, where)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``program``."""
    whole = _Document.whole(document)
    alphas = whole.alphas()
    said = (claim.said(alphas) for claim in whole.claims)
    about = str(model_kind(whole.proof)), whole.digest
    return judged(said, lambda: _check(whole, alphas.lower, model), about)


def _check(whole: _Document, alpha: Fraction, model: object | None) -> None:
    proof = whole.proof
    rules = import_module(f"bisimdist.checker.rules.{proof.get('kind') or 'distance'}")
    inner: CheckReport = rules.check_document(proof, model)
    if not inner.valid:
        raise RuleViolation(f"P2: the proof is not valid: {inner.reason}")
    if whole.digest != proof.get("digest"):
        raise RuleViolation("P2: the digest is not that of the proof")
    chain = read_chain(mapping(proof["model"], "the model of the proof"), interactive=True)
    masses = _masses(whole.cut, chain)
    if not chain.interactive:
        _check_masses(masses, chain)
    proved: dict[tuple[object, object], tuple[Fraction, Fraction]] = {
        (found["from"], found["to"]): (rational(found["lower"], "it"), rational(found["upper"], "it"))
        for found in inner.other_claims
    }
    for found in inner.claims:  # from below a distance says nothing of delta
        proved[found.source, found.target] = Fraction(), found.upper
    for claim in whole.claims:
        _check_claim(claim, proved, masses, alpha)


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
    claim: Delta,
    proved: Mapping[tuple[object, object], tuple[Fraction, Fraction]],
    masses: Mapping[str, Mass],
    alpha: Fraction,
) -> None:
    where = claim.where
    if (claim.source, claim.target) not in proved:
        raise RuleViolation(f"P4: {where} is about a pair that the proof does not claim")
    Share.of(claim.lower, f"P4: the lower bound of {where}")
    Share.of(claim.upper, f"P4: the upper bound of {where}")
    p, q = masses.get(claim.source, Fraction(0)), masses.get(claim.target, Fraction(0))
    lower, upper = proved[claim.source, claim.target]
    if claim.lower > max(Fraction(0), lower - max(p + alpha * q, q + alpha * p)):
        raise RuleViolation(f"P4: the lower bound of {where} is more than the proof and the cut allow")
    if claim.upper < min(Fraction(1), upper + max(p, q)):
        raise RuleViolation(f"P4: the upper bound of {where} is less than the proof and the cut allow")
