"""Bisimulation metrics as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.analysis.metric import MetricAnswer, MetricBound
from bisimdist.bisimulation.play import Play
from bisimdist.bisimulation.relation import Relation, RelationVerdict
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.pa import PA
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report

__all__ = ["bound_data", "metric_report", "play_text", "relation_data", "relation_report"]

STEPS_SHOWN = 12
VIOLATIONS_SHOWN = 10


def _ratio(value: fmpq | None) -> str:
    return "inf" if value is None else format_rational(value)


def _short(value: fmpq | None) -> str:
    return "inf" if value is None else short_rational(value)


def play_text(model: PA, play: Play) -> str:
    """Return a play in words: the steps, and where it comes back to or why it ends.

    Examples
    --------
    >>> from bisimdist.analysis.metric import metric
    >>> from bisimdist.models.library.pin_checking import pin_checking
    >>> answer = metric(pin_checking(), "amortised")
    >>> play_text(answer.model, answer.pairs[0].play)
    '(s1, t1) --a1 [2/3]--> (s2, t2) --no--> (s3, t3) --a2 [2/3]--> (s5, t5)'
    """
    names = model.states
    parts = []
    for step in play.steps[:STEPS_SHOWN]:
        s, t = step.before
        factor = "" if step.factor == 1 else f" [{short_rational(step.factor)}]"
        parts.append(f"({names[s]}, {names[t]}) --{step.action}{factor}-->")
    text = " ".join(parts)
    if len(play.steps) > STEPS_SHOWN:
        text += f" ... ({len(play.steps) - STEPS_SHOWN} more steps)"
    elif play.steps:
        s, t = play.steps[-1].after
        text += f" ({names[s]}, {names[t]})"
    if play.cycle is not None:
        factor = fmpq(1)
        for step in play.steps[play.cycle :]:
            factor *= step.factor
        s, t = play.steps[play.cycle].before
        text += f", and again from ({names[s]}, {names[t]}) for ever: each turn multiplies by {factor}"
    if play.obstacle:
        text += f"{': ' if play.steps else ''}{play.obstacle}"
    return text


def bound_data(model: PA, bound: MetricBound, names: tuple[str, str]) -> dict[str, object]:
    """Return the JSON object of one pair, under the names that were asked for."""
    data: dict[str, object] = {
        "from": names[0],
        "to": names[1],
        "ratio": _ratio(bound.ratio),
        "epsilon": list(bound.epsilon()),
        "exact": bound.exact,
        "lower": _ratio(bound.lower),
    }
    if bound.play is not None:
        data["reason"] = play_text(model, bound.play)
    if bound.relation:
        data["relation"] = [
            [s, t, format_rational(low)]
            if low == high
            else [s, t, [format_rational(low), format_rational(high)]]
            for s, t, low, high in bound.relation
        ]
    return data


def mass_is_missing(answer: MetricAnswer) -> bool:
    """Tell whether runs of the pairs may end for lack of mass, which these metrics do not look at."""
    starts = {answer.model.index(name) for bound in answer.pairs for name in (bound.source, bound.target)}
    return Completed.of(answer.model, Ends.HIDDEN, starts).missing


def metric_report(answer: MetricAnswer, names: Sequence[tuple[str, str]]) -> Report:
    """Return the report on an answer."""
    rows = []
    remarks = []
    unseen = ", where nobody sees that a run has ended for lack of mass" if mass_is_missing(answer) else ""
    moves = {(step.source, step.action) for step in answer.model.transitions}
    if len(moves) < len(answer.model.transitions):
        unseen = f" that see matched transitions as one{unseen}"
    for bound, (source, target) in zip(answer.pairs, names, strict=True):
        low, high = bound.epsilon()
        shown = _short(bound.upper) if bound.exact else f"from {_short(bound.lower)} to {_short(bound.upper)}"
        epsilon = low if low == high else f"[{low}, {high}]"
        rows.append((source, target, shown, epsilon, "yes" if bound.exact else "no"))
        if bound.play is not None:
            what = "infinite" if bound.lower is None else f"at least ln {_short(bound.lower)}"
            remarks.append(f"({source}, {target}) is {what}: {play_text(answer.model, bound.play)}")
        if bound.upper is not None:
            remarks.append(
                f"The model is ln({_short(bound.upper)})-differentially private for the pair "
                f"({source}, {target}) under admissible schedulers{unseen}."
            )
    return Report(
        heading=f"{answer.kind.value} bisimulation metric (the distance is the logarithm of the ratio)",
        columns=("from", "to", "ratio", "distance", "exact"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )


def relation_data(model: PA, kind: str, relation: Relation, verdict: RelationVerdict) -> dict[str, object]:
    """Return the JSON object of a verdict on a relation."""
    names = model.states
    return {
        "command": "metric",
        "model": {"digest": model.digest(), "states": len(model)},
        "kind": kind,
        "verdict": "holds" if verdict.holds else "violated",
        "ratio": format_rational(verdict.ratio),
        "epsilon": list(log_enclosure(verdict.ratio)),
        "triples": len(relation.triples),
        "violations": [
            {
                "triple": [
                    names[violation.triple[0]],
                    names[violation.triple[1]],
                    format_rational(violation.triple[2]),
                ],
                "clause": violation.clause,
                "text": violation.text,
            }
            for violation in verdict.violations
        ],
        "pairs": [
            {"from": names[s], "to": names[t], "ratio": format_rational(verdict.ratio), "exact": False}
            for s, t in verdict.proved
        ]
        if verdict.holds
        else [],
    }


def relation_report(model: PA, kind: str, relation: Relation, verdict: RelationVerdict) -> Report:
    """Return the report on a relation."""
    names = model.states
    low, high = log_enclosure(verdict.ratio)
    epsilon = f"ln({short_rational(verdict.ratio)})" + (f", in [{low}, {high}]" if low != high else ", 0")
    if verdict.holds:
        remarks = [
            f"The relation ({len(relation.triples)} triples) is an epsilon-{kind} bisimulation, "
            f"epsilon = {epsilon}."
        ]
        remarks += [
            f"The {kind} distance of ({names[s]}, {names[t]}) is at most epsilon." for s, t in verdict.proved
        ]
        return Report(remarks=tuple(remarks))
    remarks = [f"The relation is NOT an epsilon-{kind} bisimulation, epsilon = {epsilon}:"]
    for violation in verdict.violations[:VIOLATIONS_SHOWN]:
        s, t, credit = violation.triple
        remarks.append(f"({names[s]}, {names[t]}, {format_rational(credit)}): {violation.text}")
    if len(verdict.violations) > VIOLATIONS_SHOWN:
        remarks.append(f"and {len(verdict.violations) - VIOLATIONS_SHOWN} more clauses fail")
    return Report(remarks=tuple(remarks))
