"""Certificates of kind ``hmm-several``: certificates about one hidden Markov model, taken together.

The rules are those of the parts, as in ``docs/certificates/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import MalformedCertificate, choice, mapping
from bisimdist.checker.core.shape import CheckReport, Shape, key, listed, raw

PARTS = ("hmm-all-lengths", "hmm-budget", "hmm-no-budget", "hmm-parametric")


class _Document(Shape):
    """Certificates without what all share: the format, the version, the model and the digest."""

    model: Any = key(raw)
    digest: Any = key(raw)
    parts: list[dict[str, object]] = key(listed(mapping, "part"))


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``hmm-several``: it is valid if all of its parts are."""
    whole = _Document.whole(document)
    shared = {name: document[name] for name in ("format", "version", "model", "digest")}
    claims: list[Mapping[str, object]] = []
    reason = ""
    for number, part in counted(enumerate(whole.parts, 1)):
        kind = choice(part.get("kind"), f"the kind of part {number}", PARTS)
        if not shared.keys().isdisjoint(part):
            raise MalformedCertificate(f"part {number} has a format, version, model or digest of its own")
        rules = import_module(f"bisimdist.checker.claims.{kind.replace('-', '_')}")
        report: CheckReport = rules.check_document({**shared, **part}, model)
        claims += report.other_claims
        if not report.valid and not reason:
            reason = f"part {number}: {report.reason}"
    return CheckReport(not reason, (), reason, other_claims=tuple(all_of(claims)))
