"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from dataclasses import dataclass

from bisimdist.checker.chain import read_chain, read_model_file
from bisimdist.checker.document import Certificate, Claim, read_certificate
from bisimdist.checker.reading import RuleViolation, shown
from bisimdist.checker.rules import Setting, check_lower, check_upper

__all__ = ["CheckReport", "check_certificate"]


@dataclass(frozen=True)
class CheckReport:
    """The verdict on a certificate.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims, as they stand in the certificate; if it is not valid, nothing is known of them.
    reason
        Which rule of which entry fails; empty if the certificate is valid.
    """

    valid: bool
    claims: tuple[Claim, ...]
    reason: str = ""


def check_certificate(text: str | bytes, model_text: str | bytes | None = None) -> CheckReport:
    """Check a certificate and, where it is given, that it is about this model.

    Parameters
    ----------
    text
        The certificate, a JSON document as in ``docs/certificate-spec.md``.
    model_text
        A model file (JSON, kind ``lmc``); the certificate must then be about the same states, labels and
        transitions. Without it the claims are about the model that the certificate holds.

    Returns
    -------
    CheckReport
        The verdict, with the claims.

    Raises
    ------
    MalformedCertificate
        If the text is not a certificate, or `model_text` not a model.

    References
    ----------
    The proof that a valid certificate's claims are true is in ``docs/theory/certificates.md``.
    """
    certificate = read_certificate(text)
    model = None if model_text is None else read_model_file(model_text)
    try:
        chain = read_chain(certificate.model)
        if model is not None and model != chain:
            raise RuleViolation("G2: the certificate is about another model than the one that is given")
        if certificate.digest != chain.digest():
            raise RuleViolation("G3: the digest is not that of the embedded model")
        if certificate.alpha < 1:
            raise RuleViolation("G4: alpha is less than 1")
        check_claims(certificate, Setting(chain, certificate.alpha))
    except RuleViolation as violation:
        return CheckReport(False, certificate.claims, str(violation))
    return CheckReport(True, certificate.claims)


def check_claims(certificate: Certificate, setting: Setting) -> None:
    """Check the tables, then that the claims say no more than the tables."""
    upper = check_upper(setting, certificate.upper)
    lower = check_lower(setting, certificate.lower)
    for number, claim in enumerate(certificate.claims, 1):
        where = f"claim {number}, [{shown(claim.source)}, {shown(claim.target)}]: C1"
        setting.known((claim.source, claim.target), where)
        if not upper.at(claim.source, claim.target) <= claim.upper * upper.denominator <= upper.denominator:
            raise RuleViolation(f"{where}: the upper bound is less than the table's, or more than 1")
        proved = lower.at(claim.source, claim.target)
        if claim.lower is not None and not 0 <= claim.lower * lower.denominator <= proved:
            raise RuleViolation(f"{where}: the lower bound is more than the table's, or less than 0")
