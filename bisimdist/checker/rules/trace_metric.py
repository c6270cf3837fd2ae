"""Checks certificates of kind ``trace-metric``: bounds on the multiplicative and the additive trace metric.

The rules, with names T1 and so on, are those of ``docs/certificates/trace-metric.md``; why they prove what is
claimed is in ``docs/theory/trace-metric.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.automaton import Automaton, given_automaton, read_automaton
from bisimdist.checker.core.ends import completed, said_of, with_ends
from bisimdist.checker.core.frame import OtherReport
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    integer,
    item,
    items,
    rational,
    record,
    shown,
    text_of,
)
from bisimdist.checker.core.trace_chain import TraceChain
from bisimdist.checker.rules.trace_difference import check_difference
from bisimdist.checker.rules.trace_infinite import check_infinite
from bisimdist.checker.rules.trace_ratio import check_ratio

__all__ = ["check_document"]

Bound = Fraction | None
"""None is infinity."""

FRAME = ("format", "version", "kind", "model", "digest", "metric", "length", "claims", "lower", "upper")
METRICS = ("multiplicative", "additive")


@dataclass(frozen=True)
class Claim:
    """A claim: two states, and bounds on e to their distance or, where it is additive, on the distance."""

    source: str
    target: str
    lower: Bound
    upper: Bound


def check_document(document: dict[str, object], model: object | None = None) -> OtherReport:
    """Check a certificate of kind ``trace-metric`` and, where it is given, that it is about this model.

    Parameters
    ----------
    document
        The certificate, decoded.
    model
        The model that it has to be about; None for any.

    Raises
    ------
    MalformedCertificate
        If the document does not have the shape of such a certificate, or `model` not that of an automaton.
    """
    data = record(document, "the certificate", FRAME, ("combination", "ends"))
    ends = with_ends(document)
    metric = item(data["metric"], "the metric")
    if metric not in METRICS:
        raise MalformedCertificate(f"the metric is {shown(metric)}; expected multiplicative or additive")
    length = None if data["length"] == "all" else integer(data["length"], "the length")
    if length is not None and length < 0:
        raise MalformedCertificate("the length is negative")
    claims = [_claim(value, n) for n, value in enumerate(items(data["claims"], "the claims"), 1)]
    lower, upper = items(data["lower"], "the lower proofs"), items(data["upper"], "the upper proofs")
    if not len(lower) == len(upper) == len(claims):
        raise MalformedCertificate("expected as many proofs of either side as claims")
    said = tuple(
        said_of(
            {
                "metric": metric,
                "quantity": "distance" if metric == "additive" else "e^distance",
                "from": claim.source,
                "to": claim.target,
                "length": data["length"],
                "lower": _text(claim.lower),
                "upper": _text(claim.upper),
            },
            ends,
        )
        for claim in claims
    )
    given = None if model is None else given_automaton(model)
    try:
        chain = _chain(data, given, claims, ends)
        for number, claim in enumerate(claims):
            proofs = lower[number], upper[number]
            if metric == "multiplicative":
                _multiplicative(chain, claim, proofs, length)
            else:
                _additive(chain, claim, proofs, length)
    except RuleViolation as violation:
        return OtherReport(False, said, str(violation))
    return OtherReport(True, said)


def _chain(
    data: dict[str, Any], given: Automaton | None, claims: Sequence[Claim], ends: str | None
) -> TraceChain:
    automaton = read_automaton(data["model"])
    if data["digest"] != automaton.digest():
        raise RuleViolation("T2: the digest is not that of the embedded model")
    if given is not None and given.digest() != automaton.digest():
        raise RuleViolation("T2: the certificate is about another model than the one that is given")
    states = set(automaton.states)
    for name in (state for claim in claims for state in (claim.source, claim.target)):
        if name not in states:
            raise RuleViolation(f"T2: a claim names {shown(name)}, which is no state")
    chain = TraceChain.of(completed(automaton, ends))
    return chain.combined(data["combination"]) if "combination" in data else chain


def _text(bound: Bound) -> str:
    return "inf" if bound is None else text_of(bound)


def _bound(value: object, where: str) -> Bound:
    return None if value == "inf" else rational(value, where)


def _claim(value: object, number: int) -> Claim:
    where = f"claim {number}"
    entry = record(value, where, ("from", "to", "lower", "upper"))
    return Claim(
        item(entry["from"], where),
        item(entry["to"], where),
        _bound(entry["lower"], where),
        _bound(entry["upper"], where),
    )


def _trace(chain: TraceChain, claim: Claim, data: object, length: int | None) -> tuple[Fraction, Fraction]:
    """Return the probabilities of the trace of a lower proof."""
    word = _word(record(data, "a lower proof", ("type", "word"))["word"])
    if length is not None and len(word) > length:
        raise RuleViolation("T4: the trace is longer than what counts")
    first, second = (
        sum(chain.along({chain.state(name, "a claim"): Fraction(1)}, word).values(), Fraction(0))
        for name in (claim.source, claim.target)
    )
    return first, second


def _word(value: object) -> Sequence[str]:
    return [item(action, "a trace") for action in items(value, "a trace")]


def _multiplicative(
    chain: TraceChain, claim: Claim, proofs: tuple[object, object], length: int | None
) -> None:
    sides = chain.state(claim.source, "a claim"), chain.state(claim.target, "a claim")
    lower, upper = proofs
    kind = lower.get("type") if isinstance(lower, dict) else None
    if kind in ("loop", "pump", "drift"):
        if length is not None:
            raise RuleViolation("T5: a loop says nothing about traces of bounded length")
        check_infinite(chain, sides, kind, lower)
    elif kind == "trace":
        one, other = _trace(chain, claim, lower, length)
        low, high = sorted((one, other))
        if high == 0 or (claim.lower is None and low != 0):
            raise RuleViolation("T4: the trace does not prove an infinite quotient")
        if claim.lower is not None and claim.lower * low > high:
            raise RuleViolation("T4: the quotient of the trace is less than the lower bound")
    else:
        raise MalformedCertificate(
            f"a lower proof is of type {shown(kind)}; expected trace, loop, pump or drift"
        )
    if claim.upper is not None:
        check_ratio(chain, sides, claim.upper, upper, length)


def _additive(chain: TraceChain, claim: Claim, proofs: tuple[object, object], length: int | None) -> None:
    if claim.lower is None or claim.upper is None:
        raise RuleViolation("T4: an additive bound is infinite")
    lower, upper = proofs
    if not isinstance(lower, dict) or lower.get("type") != "trace":
        raise MalformedCertificate("a lower proof of the additive metric is not a trace")
    one, other = _trace(chain, claim, lower, length)
    if claim.lower > abs(one - other):
        raise RuleViolation("T4: the difference of the trace is less than the lower bound")
    sides = chain.state(claim.source, "a claim"), chain.state(claim.target, "a claim")
    check_difference(chain, sides, claim.upper, upper, length)
