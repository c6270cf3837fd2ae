"""Checks certificates of kind ``generalised-metric``: bounds on additive and multiplicative metrics.

The rules, with names Q1 and so on, are those of ``docs/certificates/generalised.md``; why they prove what is
claimed is in ``docs/theory/generalised.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bisimdist.checker.generalised_arena import Arena, Bound, Metric, Pair, at_most
from bisimdist.checker.generalised_lower import check_blocks
from bisimdist.checker.generalised_upper import check_upper
from bisimdist.checker.metric import given_automaton
from bisimdist.checker.metric_arena import Automaton, read_automaton
from bisimdist.checker.other import OtherReport
from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    rational,
    record,
    shown,
    text_of,
)

__all__ = ["check_document"]

KEYS = ("format", "version", "kind", "model", "digest", "metric", "discount", "claims", "upper", "lower")
METRICS = ("additive", "multiplicative")
MAX_POWER = 10_000
"""Numerators and denominators of a multiplicative discount are exponents; larger ones are refused."""


@dataclass(frozen=True)
class Claim:
    """A claim: two states and bounds on their distance, for ratios on e to it."""

    source: str
    target: str
    upper: Bound
    lower: Bound


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``generalised-metric`` and, where it is given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    record(document, "the certificate", KEYS)
    name = choice(document["metric"], "the metric", METRICS)
    discount = rational(document["discount"], "the discount")
    metric = Metric(name == "additive", discount)
    claims = [_claim(metric, value, n) for n, value in enumerate(items(document["claims"], "the claims"), 1)]
    if not claims:
        raise MalformedCertificate("the certificate claims nothing")
    data = tuple(
        {
            "metric": name,
            "discount": text_of(discount),
            "quantity": "distance" if metric.additive else "e^distance",
            "from": claim.source,
            "to": claim.target,
            "upper": _text(claim.upper),
            "lower": _text(claim.lower),
        }
        for claim in claims
    )
    given = None if model is None else given_automaton(model)
    try:
        _check(document, metric, claims, given)
    except RuleViolation as violation:
        return OtherReport(False, data, str(violation))
    return OtherReport(True, data)


def _text(bound: Bound) -> str:
    return "inf" if bound is None else text_of(bound)


def _claim(metric: Metric, value: object, number: int) -> Claim:
    where = f"claim {number}"
    entry = record(value, where, ("from", "to", "upper", "lower"))
    return Claim(
        item(entry["from"], where),
        item(entry["to"], where),
        metric.bound(entry["upper"], where),
        metric.bound(entry["lower"], where),
    )


def _check(document: Mapping[str, Any], metric: Metric, claims: list[Claim], given: Automaton | None) -> None:
    if not 0 < metric.discount <= 1:
        raise RuleViolation("Q2: the discount is not more than 0 and at most 1")
    if not metric.additive and max(metric.discount.numerator, metric.discount.denominator) > MAX_POWER:
        raise RuleViolation(f"Q2: the discount has a part larger than {MAX_POWER}")
    try:
        automaton = read_automaton(document["model"])
    except RuleViolation as violation:
        raise RuleViolation(str(violation).replace("M1:", "Q1:", 1)) from violation
    if document["digest"] != automaton.digest():
        raise RuleViolation("Q3: the digest is not that of the embedded model")
    if given is not None and given.digest() != automaton.digest():
        raise RuleViolation("Q3: the certificate is about another model than the one that is given")
    arena = Arena(automaton, metric)
    upper = check_upper(arena, document["upper"])
    lower = check_blocks(arena, document["lower"])
    for number, claim in enumerate(claims, 1):
        _check_claim(arena, claim, f"claim {number}", upper, lower)


def _check_claim(
    arena: Arena, claim: Claim, where: str, upper: Mapping[Pair, Bound], lower: Mapping[Pair, Bound]
) -> None:
    for name in (claim.source, claim.target):
        if name not in arena.classes:
            raise RuleViolation(f"Q4: {where} names {shown(name)}, which is no state")
    pair = arena.pair(claim.source, claim.target)
    metric = arena.metric
    if not at_most(metric.zero, claim.lower) or not at_most(claim.upper, metric.top):
        raise RuleViolation(f"Q4: {where}: a bound is outside the range of distances")
    if not at_most(arena.distance(pair, upper, metric.top), claim.upper):
        raise RuleViolation(f"Q5: {where}: the upper bound is less than the table's")
    if not at_most(claim.lower, arena.distance(pair, lower, metric.zero)):
        raise RuleViolation(f"Q6: {where}: the lower bound is more than the blocks'")
