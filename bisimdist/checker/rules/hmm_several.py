"""Certificates of kind ``hmm-several``: certificates about one hidden Markov model, taken together.

The rules are those of the parts, as in ``docs/certificates/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import MalformedCertificate, items, record, shown
from bisimdist.checker.rules import hmm_all_lengths, hmm_budget, hmm_no_budget, hmm_parametric

__all__ = ["check_document"]

SHARED = ("format", "version", "model", "digest")
PARTS = {
    "hmm-all-lengths": hmm_all_lengths.check_document,
    "hmm-budget": hmm_budget.check_document,
    "hmm-no-budget": hmm_no_budget.check_document,
    "hmm-parametric": hmm_parametric.check_document,
}


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``hmm-several``: it is valid if all of its parts are.

    Parameters
    ----------
    document
        The certificate, decoded. Its parts are certificates without what all share: the format, the version,
        the model and the digest.
    model
        The model that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document or one of its parts does not have the shape of such a certificate.
    """
    data = record(document, "the certificate", (*SHARED, "kind", "parts"))
    claims: list[Mapping[str, object]] = []
    reason = ""
    for number, part in enumerate(items(data["parts"], "the parts"), 1):
        kind = part.get("kind") if isinstance(part, dict) else None
        if not isinstance(kind, str) or kind not in PARTS:
            raise MalformedCertificate(
                f"part {number} is of kind {shown(kind)}; expected one of {', '.join(PARTS)}"
            )
        if any(key in part for key in SHARED):
            raise MalformedCertificate(f"part {number} has a format, version, model or digest of its own")
        report = PARTS[kind]({**{key: data[key] for key in SHARED}, **part}, model)
        claims += report.claims
        if not report.valid and not reason:
            reason = f"part {number}: {report.reason}"
    return OtherReport(not reason, tuple(claims), reason)
