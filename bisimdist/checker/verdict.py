"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module

from bisimdist.checker.core.effort import limited
from bisimdist.checker.core.frame import Claim, OtherReport, model_kind, read_frame
from bisimdist.checker.core.reading import MalformedCertificate, decode, shown
from bisimdist.checker.rules import KINDS

__all__ = ["CheckReport", "check_certificate"]

DISTANCE = "distance"
"""What certificates without a kind are about."""


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
        with limited(len(text)):
            return _check(document, model)
    except RecursionError as error:
        raise MalformedCertificate("the document is nested too deeply") from error


def _check(document: dict[str, object], model: object | None) -> CheckReport:
    kind = document.get("kind", DISTANCE)
    if not isinstance(kind, str) or ("kind" in document and kind not in KINDS):
        known = ", ".join(sorted(KINDS))
        raise MalformedCertificate(
            f"the kind is {shown(kind)}; this checker knows {known} (and distances, which have none)"
        )
    module = KINDS[kind] if "kind" in document else "bisimdist.checker.rules.distance"
    report: OtherReport = import_module(module).check_document(document, model)
    if not (report.claims or report.distances):
        raise MalformedCertificate("the certificate claims nothing")
    names = report.about or (model_kind(document), document.get("digest"))
    said, digest = (name if isinstance(name, str) else None for name in names)
    return CheckReport(report.valid, report.distances, report.reason, kind, report.claims, digest, said)
