"""What samples say, as data and as a report."""

from __future__ import annotations

from bisimdist.analysis.audit import Audit, Side
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.rational import format_rational
from bisimdist.report.delta import level_of
from bisimdist.report.numbers import at_most
from bisimdist.report.tables import Report

__all__ = ["audit_data", "audit_report"]

DIGITS = 6


def _verdict(answer: Audit) -> str:
    return "violated" if answer.violated else "not contradicted"


def audit_data(answer: Audit) -> dict[str, object]:
    """Return an audit as plain data."""
    found = answer.distinguisher
    pair = found.pair
    known = {"verdict": _verdict(answer), "lower": format_rational(answer.lower)}
    source, target = (pair.target, pair.source) if found.swapped else (pair.source, pair.target)
    return {
        **known,
        "alpha": format_rational(found.answer.alpha_lower),
        "delta": format_rational(answer.claim),
        "event": None
        if found.event is None
        else {
            "from": source,
            "to": target,
            "probabilities": [format_rational(found.probability(name)) for name in (source, target)],
            "event": found.event.data(),
        },
        "samples": {side.name: _side(side) for side in answer.sides},
        "model_verdict": "contradicted" if answer.model_contradicted else "not contradicted",
        "pairs": [{"from": pair.source, "to": pair.target, **known}],
    }


def _side(side: Side) -> dict[str, object]:
    return {
        "outputs": side.outputs,
        "inside": side.inside,
        "interval": [format_rational(end) for end in side.interval],
        "contradiction": side.contradiction or None,
    }


def audit_report(answer: Audit, *, epsilon: str | None = None) -> Report:
    """Return an audit as a report that says what it means.

    Parameters
    ----------
    answer
        The answer.
    epsilon
        What was asked instead of alpha, where it was.
    """
    found = answer.distinguisher
    rows = [
        (
            side.name,
            str(side.outputs),
            str(side.inside),
            decimal_below(side.interval[0], DIGITS)[0],
            decimal_above(side.interval[1], DIGITS)[0],
            at_most(found.probability(side.name)).removeprefix("<= "),
        )
        for side in answer.sides
    ]
    level, value = level_of(found.answer.alpha_lower, epsilon)
    sure = f"with confidence {format_rational(answer.confidence)}"
    claim = at_most(answer.claim).removeprefix("<= ")
    lower = decimal_below(answer.lower, DIGITS)[0]
    if answer.violated:
        verdict = (
            f"The samples violate ({level}, {claim})-differential privacy {sure}{value}: delta is at least "
            f"{lower}."
        )
    else:
        verdict = (
            f"The samples do not contradict ({level}, {claim})-differential privacy{value}. They show, "
            f"{sure}, no more than delta >= {lower}; that is no proof."
        )
    remarks = [verdict]
    if found.event is None:
        remarks.append("Nothing tells the two states of the model apart, so there is no event to look for.")
    for side in answer.sides:
        if side.contradiction:
            remarks.append(f"They are not those of the model, {sure}: from {side.name} {side.contradiction}.")
    if not answer.model_contradicted:
        remarks.append(f"They do not contradict the model ({sure[5:]}).")
    return Report(
        heading="samples held against the event that tells the states apart best",
        columns=("from", "outputs", "in the event", "at least", "at most", "in the model"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )
