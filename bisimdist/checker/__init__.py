"""The independent checker of certificates: standard library only, nothing else of the project.

What a certificate is, and which rules it must obey, is written in ``docs/certificate-spec.md``; why the rules
prove what is claimed, in ``docs/theory/certificates.md``. The parts, in the order in which to read them:

``verdict``
    the whole: what is claimed, what is checked, and the answer;
``core``
    what all rules are made of, first ``reading`` (from text to numbers, which cannot hold what their rules
    forbid; what does not fit is *malformed*; the one limit on work) and ``shape`` (documents, claims, what is
    said of them); then models, masses along words, tables, formulae and polynomials;
``rules``
    what each kind of certificate must obey: one file a kind, named in `bisimdist.checker.claims.KINDS`.

What begins with an underscore is for its own file, all else for others as well.
"""

from __future__ import annotations

from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.checker.core.shape import Claim
from bisimdist.checker.verdict import CheckReport, check_certificate

__all__ = ["CheckReport", "Claim", "MalformedCertificate", "check_certificate"]
