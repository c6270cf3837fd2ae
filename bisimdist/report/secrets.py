"""d_X-privacy and weak anonymity of a set of secrets as a person reads it, and as JSON."""

from __future__ import annotations

from flint import fmpq

from bisimdist.analysis.secrets import AdditiveBudget, Budget, SecretPair, SecretPrivacyAnswer
from bisimdist.analysis.trace_metric_answer import TraceKind
from bisimdist.exact.rational import format_rational
from bisimdist.report.ends import ends_data, ends_remarks
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report
from bisimdist.report.trace_metric import repeated_text, verdict_word, word_text

__all__ = ["secrets_data", "secrets_report"]

ROWS_SHOWN = 60
WORST_SHOWN = 5


def _budget(budget: Budget | AdditiveBudget) -> dict[str, object]:
    if isinstance(budget, AdditiveBudget):
        return {
            "difference": format_rational(budget.difference),
            "distance": format_rational(budget.distance),
        }
    return {"ratio": _ratio(budget.ratio), "distance": format_rational(budget.distance)}


def _ratio(value: fmpq | None) -> str:
    return "inf" if value is None else format_rational(value)


def _pair(pair: SecretPair, threshold: fmpq | None) -> dict[str, object]:
    bound = pair.bound
    multiplicative = bound.kind is TraceKind.MULTIPLICATIVE
    data: dict[str, object] = {
        "from": str(pair.first),
        "to": str(pair.second),
        "states": [bound.source, bound.target],
        "distance": format_rational(pair.distance),
        ("ratio" if multiplicative else "upper"): _ratio(bound.upper),
        "lower": _ratio(bound.lower),
        "epsilon": [pair.lower.epsilon()[0], pair.upper.epsilon()[1]],
        "exact": bound.exact,
        "witness": list(bound.witness),
        "probabilities": [format_rational(p) for p in bound.probabilities],
    }
    if threshold is not None:
        data["verdict"] = verdict_word(pair.at_most(threshold))
    return data


def secrets_data(answer: SecretPrivacyAnswer) -> dict[str, object]:
    """Return the JSON object of an answer."""
    data: dict[str, object] = {
        "command": "secrets",
        "model": {"digest": answer.model.digest(), "states": len(answer.model)},
        "kind": answer.kind.value,
        "metric": answer.distances.name,
        **ends_data(answer.completed),
        **_budget(answer.upper),
        "lower": _budget(answer.lower),
        "epsilon": list(answer.epsilon()),
        "exact": answer.exact,
    }
    if answer.threshold is not None:
        data["threshold"] = format_rational(answer.threshold)
        data["verdict"] = answer.verdict
    return {
        **data,
        "worst": [[str(pair.first), str(pair.second)] for pair in answer.worst],
        "saved": answer.saved,
        "unexamined": answer.unexamined,
        "pairs": [_pair(pair, answer.threshold) for pair in answer.pairs],
        "status": answer.status.value,
    }


def _shown(budget: Budget | AdditiveBudget) -> str:
    if isinstance(budget, AdditiveBudget):
        return "inf" if budget.value is None else short_rational(budget.value)
    if budget.infinite or budget.ratio is None:
        return "inf"
    if budget.ratio == 1:
        return "0"
    ratio = f"ln({short_rational(budget.ratio)})"
    return ratio if budget.distance == 1 else f"{ratio} / {short_rational(budget.distance)}"


def secrets_report(answer: SecretPrivacyAnswer) -> Report:
    """Return the report on an answer."""
    rows = []
    threshold = answer.threshold
    for pair in answer.pairs[:ROWS_SHOWN]:
        low, high = pair.lower.epsilon()[0], pair.upper.epsilon()[1]
        cells = [
            str(pair.first),
            str(pair.second),
            short_rational(pair.distance),
            _shown(pair.upper) if pair.bound.exact else f"{_shown(pair.lower)} .. {_shown(pair.upper)}",
            low if low == high else f"[{low}, {high}]",
        ]
        if threshold is not None:
            cells.append(verdict_word(pair.at_most(threshold)))
        rows.append(tuple(cells))
    remarks = []
    if len(answer.pairs) > ROWS_SHOWN:
        remarks.append(f"and {len(answer.pairs) - ROWS_SHOWN} more pairs")
    if answer.saved:
        remarks.append(f"{answer.saved} more pairs follow by the triangle inequality and were not looked at.")
    if answer.unexamined:
        why = "one is enough" if answer.holds is False else "the work was stopped"
        remarks.append(f"{answer.unexamined} more pairs were not looked at: {why}.")
    remarks += _least(answer) if threshold is None else _decided(answer, threshold)
    return Report(
        heading=answer.title,
        columns=(
            "secret",
            "secret",
            "distance",
            "epsilon",
            "decimal",
            *(["verdict"] if threshold is not None else []),
        ),
        rows=tuple(rows),
        remarks=(*remarks, *ends_remarks(answer.completed)),
    )


def _least(answer: SecretPrivacyAnswer) -> list[str]:
    low, high = answer.epsilon()
    if answer.exact:
        tail = "" if low == high else f", in [{low}, {high}]"
        remarks = [f"The least epsilon is {_shown(answer.upper)}{tail}."]
    else:
        remarks = [f"The least epsilon is between {low} and {high}."]
    return remarks + [f"It is needed for {_evidence(pair)}" for pair in answer.worst[:WORST_SHOWN]]


def _decided(answer: SecretPrivacyAnswer, threshold: fmpq) -> list[str]:
    against = [pair for pair in answer.pairs if pair.at_most(threshold) is False]
    remarks = [f"With epsilon = {short_rational(threshold)}: {answer.verdict}."]
    return remarks + [f"It is violated for {_evidence(pair)}" for pair in against[:WORST_SHOWN]]


def _evidence(pair: SecretPair) -> str:
    if pair.bound.repeated is not None:
        return f"({pair.first}, {pair.second}): {repeated_text(pair.bound.repeated)}."
    one, other = (short_rational(p) for p in pair.bound.probabilities)
    trace = f"{word_text(pair.bound.witness)} has the probabilities {one} and {other}"
    return f"({pair.first}, {pair.second}): {trace}."
