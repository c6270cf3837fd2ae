"""The whole check: what a certificate claims, and whether it proves it."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import BinaryIO

from bisimdist.checker.claims import DISTANCE, KINDS, rules_of
from bisimdist.checker.core.given import check_given
from bisimdist.checker.core.reading import MalformedCertificate, decode, limited, of_model_file, shown
from bisimdist.checker.core.shape import CheckReport, model_kind, read_frame

__all__ = ["CheckReport", "check_certificate"]

MAGIC = b"bisimdist-certificate "  # how a certificate with compact tables begins

BEFORE = ("nature", "rounds", "members")
"""What certificates about intervals and rounds held before they named the steps to a simpler model."""


def check_certificate(text: str | bytes | BinaryIO, model_text: str | bytes | None = None) -> CheckReport:
    """Check a certificate and, if a model is given, that the certificate is about it.

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
            rules = import_module("bisimdist.checker.claims.compact")
            with limited(0):
                report: CheckReport = rules.check_file(text, _model(model_text))
                return report
        document = read_frame(decode(text, numbers=False))
        with limited(len(text)):
            return _check(document, _model(model_text))
    except RecursionError as error:
        raise MalformedCertificate("the document is nested too deeply") from error


def _model(text: str | bytes | None) -> object | None:
    with of_model_file():
        return None if text is None else check_given(decode(text, numbers=True))


def _check(document: dict[str, object], model: object | None) -> CheckReport:
    kind = document.get("kind", DISTANCE)
    if "reduced" not in document and (kind == "program" or any(name in document for name in BEFORE)):
        raise MalformedCertificate(
            "an earlier version wrote this certificate, in a layout that is no longer read; "
            "make it again: run its command with --certificate"
        )
    if not isinstance(kind, str) or ("kind" in document and kind not in KINDS):
        known = ", ".join(sorted(KINDS))
        raise MalformedCertificate(
            f"the kind is {shown(kind)}; this checker knows {known} (and distances, which have none)"
        )
    report: CheckReport = rules_of(document).check_document(document, model)
    program = import_module("bisimdist.checker.core.program") if "program" in document else None
    if report.valid and program is not None and not program.allows_for_cuts(document):
        report = replace(
            report, valid=False, reason="P3: runs of the program are cut off, and no step says so"
        )
    if not report.plain_claims():
        raise MalformedCertificate("the certificate claims nothing")
    about = report.model_kind or model_kind(document)
    said, digest = (
        name if isinstance(name, str) else None for name in (about, report.digest or document.get("digest"))
    )
    told = None if program is None else program.origin_of(document, report.plain_claims())
    return replace(report, kind=kind, model_kind=said, digest=digest, program=told)
