"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module

from bisimdist.checker.core.chain import given_chain, read_chain
from bisimdist.checker.core.document import Certificate, Claim, read_certificate, read_claims, read_frame
from bisimdist.checker.core.effort import limited
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, decode, item, shown
from bisimdist.checker.core.tables import Setting, check_lower, check_upper
from bisimdist.checker.rules import KINDS

__all__ = ["CheckReport", "check_certificate"]


@dataclass(frozen=True)
class CheckReport:
    """The verdict on a certificate.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims about distances, as they stand in the certificate; if it is not valid, nothing is known
        of them. Empty for certificates of other kinds.
    reason
        Which rule of which entry fails; empty if the certificate is valid.
    kind
        The kind of the certificate: ``"distance"``, or one of `bisimdist.checker.rules.KINDS`.
    other_claims
        The claims of a certificate of another kind, as plain data. Empty for distances.
    digest
        The digest of the model, as it stands in the certificate, or of what the claims are about instead.
    model_kind
        The kind of the model, as it stands in the certificate, or what the claims are about instead.
    """

    valid: bool
    claims: tuple[Claim, ...]
    reason: str = ""
    kind: str = "distance"
    other_claims: tuple[Mapping[str, object], ...] = ()
    digest: str | None = None
    model_kind: str | None = None

    def plain_claims(self) -> tuple[Mapping[str, object], ...]:
        """Return the claims as plain data, whatever they are about."""
        return (*(claim.as_dict() for claim in self.claims), *self.other_claims)


def check_certificate(text: str | bytes, model_text: str | bytes | None = None) -> CheckReport:
    """Check a certificate and, where it is given, that it is about this model.

    Parameters
    ----------
    text
        The certificate, a JSON document: of a distance as in ``docs/certificate-spec.md``, or of a kind
        that it names.
    model_text
        A model file (JSON; for distances of kind ``lmc``); the certificate must then be about the same
        model. Without it the claims are about the model that the certificate holds.

    Returns
    -------
    CheckReport
        The verdict, with the claims.

    Raises
    ------
    MalformedCertificate
        If the text is not a certificate of a kind that is known, or `model_text` not a model.

    References
    ----------
    The proof that the claims of a valid certificate of a distance are true is in
    ``docs/theory/certificates.md``.
    """
    document = read_frame(decode(text, numbers=False))
    try:
        model = None if model_text is None else decode(model_text, numbers=True)
    except MalformedCertificate as error:
        raise MalformedCertificate(f"model file: {error}") from error
    try:
        with limited():
            return _check_other(document, model) if "kind" in document else _check(document, model)
    except RecursionError as error:
        raise MalformedCertificate("the document is nested too deeply") from error


def _check(document: Mapping[str, object], model: object | None) -> CheckReport:
    claims = read_claims(document)
    given = None if model is None else given_chain(model, interactive=True)
    digest = item(document["digest"], "the digest")
    embedded = document["model"]
    kind = embedded.get("kind") if isinstance(embedded, dict) else None
    try:
        certificate = read_certificate(document)
        chain = read_chain(certificate.model, interactive=True)
        if given is not None and given != chain:
            raise RuleViolation("G2: the certificate is about another model than the one that is given")
        if certificate.digest != chain.digest():
            raise RuleViolation("G3: the digest is not that of the embedded model")
        setting = Setting(chain, certificate.alpha, ordered=certificate.distance == "lbd")
        check_claims(claims, certificate, setting)
    except RuleViolation as violation:
        return CheckReport(False, claims, str(violation), digest=digest, model_kind=str(kind))
    return CheckReport(True, claims, digest=digest, model_kind=str(kind))


def _check_other(document: dict[str, object], model: object | None) -> CheckReport:
    kind, embedded = document["kind"], document.get("model")
    if not isinstance(kind, str) or kind not in KINDS:
        known = ", ".join(sorted(KINDS))
        raise MalformedCertificate(
            f"the kind is {shown(kind)}; this checker knows {known} (and distances, which have none)"
        )
    report: OtherReport = import_module(KINDS[kind]).check_document(document, model)
    if not report.claims:
        raise MalformedCertificate("the certificate claims nothing")
    model_kind = embedded.get("kind") if isinstance(embedded, dict) else None
    names = report.about or (model_kind, document.get("digest"))
    said, digest = (name if isinstance(name, str) else None for name in names)
    return CheckReport(report.valid, (), report.reason, kind, report.claims, digest, said)


def check_claims(claims: Iterable[Claim], certificate: Certificate, setting: Setting) -> None:
    """Check the tables, then that the claims say no more than the tables."""
    upper = check_upper(setting, certificate.upper)
    lower = check_lower(setting, certificate.lower)
    for number, claim in enumerate(claims, 1):
        where = f"claim {number}, [{shown(claim.source)}, {shown(claim.target)}]: C1"
        setting.known((claim.source, claim.target), where)
        if not upper.at(claim.source, claim.target) <= claim.upper * upper.denominator <= upper.denominator:
            raise RuleViolation(f"{where}: the upper bound is less than the table's, or more than 1")
        proved = lower.at(claim.source, claim.target)
        if claim.lower is not None and not 0 <= claim.lower * lower.denominator <= proved:
            raise RuleViolation(f"{where}: the lower bound is more than the table's, or less than 0")
