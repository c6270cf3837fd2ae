"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import BinaryIO

from bisimdist.checker.core.reading import MalformedCertificate, decode, limited, shown
from bisimdist.checker.core.shape import CheckReport, model_kind, read_frame
from bisimdist.checker.rules import KINDS

__all__ = ["CheckReport", "check_certificate"]

DISTANCE = "distance"
"""What certificates without a kind are about."""

MAGIC = b"bisimdist-certificate 2\n"
"""How bytes begin that are a certificate in format 2."""


def check_certificate(text: str | bytes | BinaryIO, model_text: str | bytes | None = None) -> CheckReport:
    """Check a certificate and, where it is given, that it is about this model.

    Parameters
    ----------
    text
        The certificate, a JSON document: of a distance as in ``docs/certificate-spec.md``, or of a kind
        that it names; or bytes as in ``docs/certificates/compact.md``. A file of such bytes, open for
        reading, is read once and a part at a time.
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

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> import json
    >>> check = bisimdist.check_certificate(json.dumps(bisimdist.bound(chain, 1).certificate()))
    >>> check.valid, check.reason
    (True, '')
    """
    try:
        if not isinstance(text, str) and (not isinstance(text, bytes) or text.startswith(MAGIC)):
            rules = import_module("bisimdist.checker.rules.compact")
            with limited(0):
                report: CheckReport = rules.check_file(text, _model(model_text))
                return report
        document = read_frame(decode(text, numbers=False))
        with limited(len(text)):
            return _check(document, _model(model_text))
    except RecursionError as error:
        raise MalformedCertificate("the document is nested too deeply") from error


def _model(text: str | bytes | None) -> object | None:
    try:
        model = None if text is None else decode(text, numbers=True)
    except MalformedCertificate as error:
        raise MalformedCertificate(f"model file: {error}") from error
    if isinstance(model, dict):
        model.pop("$schema", None)  # for editors
    return model


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
