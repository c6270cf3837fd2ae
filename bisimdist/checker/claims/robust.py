"""Certificates of kind ``robust-bisimilarity``: couplings of runs that meet (docs/certificates/robust.md).

The rules are named B1 to B3 and C1 as in the specification; why they prove the claims is in
``docs/theory/robust.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import Chain, given_chain, own_chain, read_model
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    LOOK,
    Mass,
    RuleViolation,
    item,
    items,
    rational,
    shown,
    spend,
    text_of,
)
from bisimdist.checker.core.shape import Between, CheckReport, Shape, judged, key, listed, row

Steps = Mapping[tuple[str, str], Fraction]


class Claim(Between):
    """That coupled runs of two states meet, in the mean after at most so many steps."""

    steps: Fraction = key(rational)

    def data(self) -> dict[str, object]:
        return {"from": self.source, "to": self.target, "robust": True, "steps": text_of(self.steps)}


class Coupled(Shape):
    """Two states with a coupling of their rows, and a bound on how many steps it takes."""

    pair: tuple[str, str] = key(row(item, item))
    steps: Fraction = key(rational)
    coupling: list[tuple[str, str, Mass]] = key(listed(row(item, item, Mass.by("B2"))))


class Document(Shape):
    """A certificate of kind ``robust-bisimilarity``."""

    claims: list[Claim] = key(listed(Claim.read, "claim"))
    model: dict[str, object] = key(read_model)
    digest: str = key(item)
    pairs: list[Any] = key(items)


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of kind ``robust-bisimilarity``."""
    whole = Document.whole(document)
    given = given_chain(model)
    return judged((claim.data() for claim in counted(whole.claims)), lambda: _check(whole, given))


def _check(whole: Document, given: Chain | None) -> None:
    pairs = listed(Coupled.read, "pair")(whole.pairs, "the pairs")
    chain = own_chain(whole.model, whole.digest, given)
    steps = {coupled.pair: coupled.steps for coupled in counted(pairs)}
    for coupled in counted(pairs):
        _check_pair(chain, coupled, steps)
    for claim in counted(whole.claims):
        chain.known((claim.source, claim.target), f"{claim.where}: C1")
        if claim.steps < _most(steps, claim.source, claim.target, f"{claim.where}: C1"):
            raise RuleViolation(f"{claim.where}: C1: it takes more steps by what is listed")


def _most(steps: Steps, s: str, t: str, where: str) -> Fraction:
    """Return a bound on the steps until runs meet that are in two states."""
    if s == t:
        return Fraction(0)
    if (s, t) not in steps:
        raise RuleViolation(f"{where}: [{shown(s)}, {shown(t)}] is not listed")
    return steps[s, t]


def _check_pair(chain: Chain, coupled: Coupled, steps: Steps) -> None:
    where, (s, t) = coupled.where, coupled.pair
    chain.known((s, t), f"{where}: B1")
    if chain.labels[s] != chain.labels[t]:
        raise RuleViolation(f"{where}: B1: the labels differ")
    left, right = dict(all_of(chain.rows[s])), dict(all_of(chain.rows[t]))
    spend(LOOK * (len(left) + len(right)))
    total = Fraction(1)
    for u, v, mass in counted(coupled.coupling):
        left[u] = left.get(u, Fraction(0)) - mass
        right[v] = right.get(v, Fraction(0)) - mass
        total += mass * _most(steps, u, v, f"{where}: B2")
    if any(all_of(left.values())) or any(all_of(right.values())):
        raise RuleViolation(f"{where}: B2: the coupling is not one of the two rows")
    if coupled.steps < total:
        raise RuleViolation(f"{where}: B3: it takes more steps by the coupling")
