"""Checks certificates of kind ``generalised-metric``: bounds on additive and multiplicative metrics.

The rules, with names Q1 and so on, are those of ``docs/certificates/generalised.md``; why they prove what is
claimed is in ``docs/theory/generalised.md``.
"""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import Any

from bisimdist.checker.claims.generalised_lower import check_blocks
from bisimdist.checker.claims.generalised_upper import GeneralisedArena, Metric, check_upper
from bisimdist.checker.core.automaton import About, Automaton, about_automaton
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import RuleViolation, rational, text_of
from bisimdist.checker.core.shape import BetweenBounds, CheckReport, at_most, key, listed, one_of, raw

MAX_POWER = 10_000
"""Numerators and denominators of a multiplicative discount are exponents; larger ones are refused."""


class _Document(About):
    """A certificate of kind ``generalised-metric``; claims are read when the metric is known."""

    metric: str = key(one_of("additive", "multiplicative"))
    discount: Fraction = key(rational)
    claims: Any = key(raw)
    upper: Any = key(raw)
    lower: Any = key(raw)


def check_document(document: dict[str, object], model: object | None) -> CheckReport:
    """Check a certificate of kind ``generalised-metric``."""
    whole = _Document.whole(document)
    metric = Metric(whole.metric == "additive", whole.discount)
    claims = listed(metric.claim.read, "claim")(whole.claims, "the claims")
    said = {
        "metric": whole.metric,
        "discount": text_of(metric.discount),
        "quantity": "distance" if metric.additive else "e^distance",
    }
    check = partial(_check, whole, metric, claims)
    return about_automaton(
        whole, model, ("Q2", "Q3"), (said | claim.data() for claim in counted(claims)), check
    )


def _check(whole: _Document, metric: Metric, claims: list[BetweenBounds], automaton: Automaton) -> None:
    if not 0 < metric.discount <= 1:
        raise RuleViolation("Q1: the discount is not more than 0 and at most 1")
    if not metric.additive and metric.discount.denominator > MAX_POWER:
        raise RuleViolation(f"Q1: the discount has a part larger than {MAX_POWER}")
    arena = GeneralisedArena(automaton, metric)
    upper = check_upper(arena, whole.upper)
    lower = check_blocks(arena, whole.lower)
    for claim in counted(claims):
        pair = arena.class_of(claim.source, claim.where), arena.class_of(claim.target, claim.where)
        if not at_most(metric.zero, claim.lower) or not at_most(claim.upper, metric.top):
            raise RuleViolation(f"Q4: {claim.where}: a bound is outside the range of distances")
        if not at_most(arena.distance(*pair, upper, metric.top), claim.upper):
            raise RuleViolation(f"Q5: {claim.where}: the upper bound is less than the table's")
        if not at_most(claim.lower, arena.distance(*pair, lower, metric.zero)):
            raise RuleViolation(f"Q6: {claim.where}: the lower bound is more than the blocks'")
