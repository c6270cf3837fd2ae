"""Certificates of distances: bounds on bd and lbd of a model (docs/certificate-spec.md).

The rules are named G, U, L and C as in the specification; why they prove the claims is in
``docs/theory/certificates.md``.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import NATURE, Chain, given_chain, own_chain, read_model, reader
from bisimdist.checker.core.claims import Between
from bisimdist.checker.core.frame import Claim, OtherReport, judged
from bisimdist.checker.core.quantities import Skew
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, item, rational, shown
from bisimdist.checker.core.shape import Shape, key, listed, one_of, raw
from bisimdist.checker.core.tables import DIRECTIONS, Setting, check_upper, read_upper_table
from bisimdist.checker.rules.lower_table import check_lower, read_lower_table

__all__ = ["check_document"]


class _Said(Between):
    """A claim."""

    upper: Fraction = key(rational)
    lower: Fraction | None = key(rational, default=None)


class _Document(Shape):
    """A certificate of a distance."""

    distance: str = key(one_of(*DIRECTIONS))
    alpha: Fraction = key(rational)
    said: list[_Said] = key(listed(_Said.read, "claim"), "claims")
    model: dict[str, object] = key(read_model)
    digest: str = key(item)
    upper: Any = key(raw)
    nature: str | None = key(NATURE, default=None)
    lower: Any = key(raw, default_factory=lambda: {"pairs": []})

    def claims(self) -> list[Claim]:
        """Return the claims, each with the distance that it is about."""
        shared = self.distance, self.alpha
        return [Claim(c.source, c.target, *shared, c.upper, c.lower, self.nature) for c in self.said]


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of a distance."""
    whole = _Document.whole(document)
    if not whole.said:
        raise MalformedCertificate("the list of claims is empty")
    given = given_chain(model, reader(whole.nature))
    return judged((), lambda: _check(whole, given), distances=tuple(whole.claims()))


def _check(whole: _Document, given: Chain | None) -> None:
    asked = whole.nature is not None or whole.model["kind"] == "interactive"
    alpha = Skew.of(whole.alpha, "G4: alpha")
    upper_table = read_upper_table(whole.upper, whole.distance, interactive=asked)
    lower_table = read_lower_table(whole.lower, interactive=asked)
    chain = own_chain(whole.model, whole.digest, given, reader(whole.nature))
    setting = Setting(chain, alpha, ordered=whole.distance == "lbd")
    upper, lower = check_upper(setting, upper_table), check_lower(setting, lower_table)
    for claim in whole.said:
        where = f"{claim.where}, [{shown(claim.source)}, {shown(claim.target)}]: C1"
        chain.known((claim.source, claim.target), where)
        pair = chain.places(claim.source, claim.target)
        if not upper.at(*pair) <= claim.upper * upper.denominator <= upper.denominator:
            raise RuleViolation(f"{where}: the upper bound is less than the table's, or more than 1")
        proved = lower.at(*pair)
        if claim.lower is not None and not 0 <= claim.lower * lower.denominator <= proved:
            raise RuleViolation(f"{where}: the lower bound is more than the table's, or less than 0")
