"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from bisimdist.checker.core.reading import MalformedCertificate, decode, limited, shown
from bisimdist.checker.core.shape import CheckReport, model_kind, read_frame
from bisimdist.checker.rules import KINDS

__all__ = ["CheckReport", "check_certificate"]

DISTANCE = "distance"
"""What certificates without a kind are about."""


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
        if isinstance(model, dict):
            model.pop("$schema", None)  # for editors
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
    report: CheckReport = import_module(module).check_document(document, model)
    if not report.plain_claims():
        raise MalformedCertificate("the certificate claims nothing")
    names = report.model_kind or model_kind(document), report.digest or document.get("digest")
    said, digest = (name if isinstance(name, str) else None for name in names)
    return replace(report, kind=kind, model_kind=said, digest=digest)
