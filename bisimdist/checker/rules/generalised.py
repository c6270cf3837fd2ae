"""Checks certificates of kind ``generalised-metric``: bounds on additive and multiplicative metrics.

The rules, with names Q1 and so on, are those of ``docs/certificates/generalised.md``; why they prove what is
claimed is in ``docs/theory/generalised.md``.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.automaton_document import judged, numbered_claims
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import RuleViolation, choice, rational, text_of
from bisimdist.checker.rules.generalised_arena import GeneralisedArena, Metric
from bisimdist.checker.rules.generalised_lower import check_blocks
from bisimdist.checker.rules.generalised_upper import check_upper
from bisimdist.checker.rules.metric_claims import Claim, at_most, read_claim

__all__ = ["check_document"]

KEYS = ("metric", "discount", "upper", "lower")
METRICS = ("additive", "multiplicative")
MAX_POWER = 10_000
"""Numerators and denominators of a multiplicative discount are exponents; larger ones are refused."""


def check_document(document: dict[str, object], model: object | None) -> OtherReport:
    """Check a certificate of kind ``generalised-metric`` and, where it is given, that it is about this model.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    values = numbered_claims(document, required=KEYS)
    name = choice(document["metric"], "the metric", METRICS)
    metric = Metric(name == "additive", rational(document["discount"], "the discount"))
    claims = [read_claim(value, where, metric.bound) for where, value in values]
    said = {
        "metric": name,
        "discount": text_of(metric.discount),
        "quantity": "distance" if metric.additive else "e^distance",
    }
    check = partial(_check, document, metric, claims)
    return judged(document, model, "Q", (said | claim.data() for claim in claims), check)


def _check(document: Mapping[str, Any], metric: Metric, claims: list[Claim], automaton: Automaton) -> None:
    if not 0 < metric.discount <= 1:
        raise RuleViolation("Q1: the discount is not more than 0 and at most 1")
    if not metric.additive and metric.discount.denominator > MAX_POWER:
        raise RuleViolation(f"Q1: the discount has a part larger than {MAX_POWER}")
    arena = GeneralisedArena(automaton, metric)
    upper = check_upper(arena, document["upper"])
    lower = check_blocks(arena, document["lower"])
    for claim in claims:
        pair = arena.class_of(claim.source, claim.where), arena.class_of(claim.target, claim.where)
        if not at_most(metric.zero, claim.lower) or not at_most(claim.upper, metric.top):
            raise RuleViolation(f"Q4: {claim.where}: a bound is outside the range of distances")
        if not at_most(arena.distance(*pair, upper, metric.top), claim.upper):
            raise RuleViolation(f"Q5: {claim.where}: the upper bound is less than the table's")
        if not at_most(claim.lower, arena.distance(*pair, lower, metric.zero)):
            raise RuleViolation(f"Q6: {claim.where}: the lower bound is more than the blocks'")
