"""Certificates whose proofs are about simpler models: steps lead there, claims come back (S1 to S3).

A certificate has parts, each with its steps and a proof about the model that the last of them makes. A claim
about the model itself takes each of its bounds from a part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import Any

from bisimdist.checker.claims import rules_of
from bisimdist.checker.core.chain import Chain, ModelReader, given_chain, own_chain, read_asked, read_model
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    item,
    mapping,
    natural,
    rational,
    shown,
    text_of,
)
from bisimdist.checker.core.shape import (
    Bound,
    CheckReport,
    Claim,
    Shape,
    at_most,
    bound,
    judged,
    key,
    listed,
    named,
    row,
)
from bisimdist.checker.steps.step import Proved, StepShape, step_of, walked

KINDS = (None, "delta", "leakage")  # the kinds of certificates that may have parts
SIDES = ("lower", "upper")
BESIDE = {"from", "to", "states", "exact", "lower", "upper"}  # what a claim says beside its terms
SHARES = ("bd", "lbd", "delta", "delta of fixed sequences")  # what is a difference of probabilities


def _alpha(value: object, where: str) -> object:
    """Read a skew, or that of upper and that of lower bounds."""
    if isinstance(value, list):
        return list(all_of(map(text_of, row(rational, rational)(value, where))))
    return text_of(rational(value, where))


def _texts(value: object, where: str) -> list[str]:
    return [text_of(number) for number in counted(listed(rational)(value, where))]


def _gains(value: object, where: str) -> dict[str, dict[str, str]]:
    rows = named(named(rational))(value, where)
    return {
        guess: {state: text_of(x) for state, x in counted(gain.items()) if x}
        for guess, gain in counted(rows.items())
    }


class _Said(Shape):
    """A claim: what it is about, and bounds."""

    source: str | None = key(item, "from", default=None)
    target: str | None = key(item, "to", default=None)
    states: list[str] | None = key(listed(item), default=None)
    distance: str | None = key(item, default=None)
    quantity: str | None = key(item, default=None)
    alpha: object = key(_alpha, default=None)
    nature: str | None = key(item, default=None)
    rounds: int | None = key(natural, default=None)
    prior: list[str] | None = key(_texts, default=None)
    gains: object = key(_gains, default=None)
    upper: Bound = key(bound, default=Fraction(-1))
    lower: Bound = key(bound, default=Fraction(-1))

    def __post_init__(self) -> None:
        """Demand a quantity; a distance is one of a pair, at a skew."""
        if (self.distance is None) == (self.quantity is None):
            raise MalformedCertificate(f"{self.where} names not exactly one of a distance and a quantity")
        if self.distance is not None and (self.states is not None or not isinstance(self.alpha, str)):
            raise MalformedCertificate(f"{self.where} is about a distance without one pair and one alpha")
        if self.distance is not None and None in (self.upper, self.lower):
            raise MalformedCertificate(f"{self.where} is about a distance that is infinite")

    def proved(self, sides: Mapping[str, Bound]) -> Proved:
        """Return the claim."""
        names = ("distance", "quantity", "alpha", "nature", "rounds", "prior", "gains")
        terms = {name: value for name in counted(names) if (value := getattr(self, name)) is not None}
        return Proved(terms, self.about(), sides)

    def about(self) -> tuple[str, ...]:
        """Return the states."""
        pair = self.source, self.target
        if self.states is not None and pair == (None, None):
            return tuple(all_of(self.states))
        if self.states is not None or None in pair:
            raise MalformedCertificate(f"{self.where} names not exactly one of a pair and states")
        return str(self.source), str(self.target)


class _Part(Shape):
    """Steps, and a proof about what they lead to."""

    steps: list[StepShape] = key(listed(step_of, "step"))
    proof: dict[str, object] = key(mapping)


class _Document(Shape):
    """A certificate with parts."""

    model: Any = key(read_model)
    digest: str = key(item)
    claims: list[dict[str, object]] = key(listed(mapping, "claim"))
    parts: list[_Part] = key(listed(_Part.read, "part"), "reduced")

    def reader(self) -> ModelReader:
        """Return what reads the model: all steps that come first begin at one kind of model."""
        rough = {part.steps[0].rough if part.steps else False for part in counted(self.parts)}
        if len(rough) != 1:
            raise MalformedCertificate(
                "there is no part, or their first steps are about different kinds of models"
            )
        if rough == {False}:
            return read_asked
        reads: ModelReader = import_module("bisimdist.checker.core.worlds").read_intervals
        return reads


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate that has parts."""
    kind = document.get("kind")
    if kind not in KINDS:
        raise MalformedCertificate(f"a certificate of kind {shown(kind)} is not reduced")
    whole = _Document.whole(document)
    said = [_read(value, f"claim {n}") for n, value in counted(enumerate(whole.claims, 1))]
    read = whole.reader()
    given = given_chain(model, read)
    plain = [_plain(claim) for claim in counted(said)]
    report = judged(
        plain, lambda: _check(whole, said, own_chain(whole.model, whole.digest, given, read), kind)
    )
    if not all("distance" in claim.terms for claim in counted(said)):
        return report
    return replace(report, claims=tuple(all_of(map(_distance, said))), other_claims=())


def _read(value: dict[str, object], where: str) -> Proved:
    """Read a claim."""
    said = _Said.read(value, where)
    found = said.proved({side: getattr(said, side) for side in SIDES if side in value})
    if not found.sides:
        raise MalformedCertificate(f"{where} has no bound")
    return found


def _plain(claim: Proved) -> dict[str, object]:
    """Return a claim as it is told."""
    states: dict[str, object] = {"states": claim.states}
    if len(claim.states) == 2 and "prior" not in claim.terms:
        states = {"from": claim.states[0], "to": claim.states[1]}
    sides = {side: "inf" if at is None else text_of(at) for side, at in counted(claim.sides.items())}
    exact = len(sides) == 2 and claim.sides["lower"] == claim.sides["upper"]
    return {**states, **claim.terms, **sides, "exact": exact}


def _distance(claim: Proved) -> Claim:
    """Return a claim about a distance, which is at most 1 where nothing is known of it."""
    (source, target), (alpha, _), nature = claim.states, claim.alphas(), claim.terms.get("nature")
    upper: Any = claim.sides.get("upper", Fraction(1))
    name = None if nature is None else str(nature)
    return Claim(source, target, claim.quantity, alpha, upper, claim.sides.get("lower"), name)


def _check(whole: _Document, said: Sequence[Proved], chain: Chain, kind: object) -> None:
    parts = [_Proofs(part, chain, kind) for part in counted(whole.parts)]
    for number, claim in counted(enumerate(said, 1)):
        where = f"claim {number}, [{', '.join(all_of(map(shown, claim.states)))}]: S3"
        chain.known(claim.states, where)
        found = [back for part in counted(parts) for back in counted(part.about(claim.states))]
        found = [back for back in counted(found) if back.terms == claim.terms]
        for side, said_here in counted(claim.sides.items()):
            known = [back.sides[side] for back in counted(found) if side in back.sides]
            if not any(_covers(side, at, said_here) for at in counted(known)):
                raise RuleViolation(f"{where}: no part proves the {side} bound")
            if claim.quantity in SHARES and (said_here is None or not 0 <= said_here <= 1):
                raise RuleViolation(f"{where}: the {side} bound is not in [0, 1]")


def _covers(side: str, proved: Bound, said: Bound) -> bool:
    return at_most(said, proved) if side == "lower" else at_most(proved, said)


class _Proofs:
    """What a part proves about the model that its steps lead to."""

    def __init__(self, part: _Part, chain: Chain, kind: object) -> None:
        if not {"model", "digest", "kind", "format", "version", "reduced"}.isdisjoint(part.proof):
            raise MalformedCertificate(f"the proof of {part.where} has a frame of its own")
        self.ways = list(all_of(walked(part.steps, chain, part.where)))
        last = self.ways[-1].chain if self.ways else chain
        if last.open:
            raise RuleViolation(f"S2: {part.where} ends where nature has not picked yet")
        document = {"kind": kind, "model": last, "digest": "", **part.proof}
        report = rules_of(document).check_document(document)
        if not report.valid:
            raise RuleViolation(f"{part.where}: {report.reason}")
        self.claims: dict[tuple[str, ...], list[Mapping[str, object]]] = {}
        for claim in counted(report.plain_claims()):
            states = (claim["from"], claim["to"]) if "from" in claim else tuple(all_of(claim["states"]))
            self.claims.setdefault(states, []).append(claim)

    def about(self, states: tuple[str, ...]) -> Iterator[Proved]:
        """Yield what is proved of states of the model before all steps."""
        places = [states]
        for way in counted(self.ways):
            places.append(way.place(places[-1]))
        for claim in counted(self.claims.get(places[-1], ())):
            found = _proved(claim, places[-1], states)
            for way, before in counted(zip(reversed(self.ways), reversed(places[:-1]), strict=True)):
                found = way.back(replace(found, states=before))
            yield found


def _proved(claim: Mapping[str, object], places: Sequence[str], states: tuple[str, ...]) -> Proved:
    """Return a claim of a proof, with gains by the names that the states have before all steps."""
    sides = {side: bound(claim[side], "it") for side in counted(SIDES) if side in claim}
    terms = {name: value for name, value in counted(claim.items()) if name not in BESIDE}
    if "gains" in terms:
        terms["gains"] = {
            guess: _renamed(mapping(gain, "gains"), places, states)
            for guess, gain in counted(mapping(terms["gains"], "gains").items())
        }
    return Proved(terms, states, sides)


def _renamed(gain: Mapping[str, object], places: Sequence[str], states: Sequence[str]) -> dict[str, object]:
    """Return what a guess gains by the names of the secrets; one that stands at two places gains the same."""
    found: dict[str, object] = {}
    for place, state in counted(zip(places, states, strict=True)):
        if found.setdefault(state, gain.get(place, "0")) != gain.get(place, "0"):
            raise RuleViolation(f"S2: a guess gains different amounts for {shown(state)}")
    return {state: x for state, x in counted(found.items()) if x != "0"}
