"""The independent checker of certificates: standard library only, nothing else of the project.

What a certificate is, and which rules it must obey, is written in ``docs/certificate-spec.md``; why the rules
prove what is claimed, in ``docs/theory/certificates.md``. The parts, in the order in which to read them:

``reading``
    from text to numbers and shapes (what does not fit is *malformed*);
``quantities``
    numbers that cannot hold what their rules forbid;
``effort``, ``words``
    the one limit on work, and masses along words, which are followed in one place;
``chain``
    the labelled Markov chain, its digest, and the classes of states that are at distance 1;
``document``
    the shape of a certificate, version 1;
``rules``
    the two tables of a certificate and the rules that each of their entries must obey;
``verdict``
    the whole: what is claimed, what is checked, and the answer;
``other``
    which module judges certificates of other kinds than distances.
"""

from __future__ import annotations

from bisimdist.checker.document import Claim
from bisimdist.checker.reading import MalformedCertificate
from bisimdist.checker.verdict import CheckReport, check_certificate

__all__ = ["CheckReport", "Claim", "MalformedCertificate", "check_certificate"]
