"""d_X-privacy of a set of secrets as a person reads it, and as JSON."""

from __future__ import annotations

from bisimdist.analysis.secrets import Budget, SecretPair, SecretPrivacyAnswer
from bisimdist.exact.rational import format_rational
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report
from bisimdist.report.trace_metric import word_text

__all__ = ["secrets_data", "secrets_report"]

ROWS_SHOWN = 60
WORST_SHOWN = 5


def _budget(budget: Budget) -> dict[str, object]:
    return {
        "ratio": "inf" if budget.ratio is None else format_rational(budget.ratio),
        "distance": format_rational(budget.distance),
    }


def _pair(pair: SecretPair) -> dict[str, object]:
    bound = pair.bound
    return {
        "from": str(pair.first),
        "to": str(pair.second),
        "states": [bound.source, bound.target],
        "distance": format_rational(pair.distance),
        "ratio": _budget(pair.upper)["ratio"],
        "lower": _budget(pair.lower)["ratio"],
        "epsilon": [pair.lower.epsilon()[0], pair.upper.epsilon()[1]],
        "exact": bound.exact,
        "witness": list(bound.witness),
        "probabilities": [format_rational(p) for p in bound.probabilities],
    }


def secrets_data(answer: SecretPrivacyAnswer) -> dict[str, object]:
    """Return the JSON object of an answer."""
    return {
        "command": "secrets",
        "model": {"digest": answer.model.digest(), "states": len(answer.model)},
        "metric": answer.distances.name,
        **_budget(answer.upper),
        "lower": _budget(answer.lower),
        "epsilon": list(answer.epsilon()),
        "exact": answer.exact,
        "worst": [[str(pair.first), str(pair.second)] for pair in answer.worst],
        "saved": answer.saved,
        "pairs": [_pair(pair) for pair in answer.pairs],
        "status": answer.status.value,
    }


def _shown(budget: Budget) -> str:
    if budget.infinite or budget.ratio is None:
        return "inf"
    if budget.ratio == 1:
        return "0"
    ratio = f"ln({short_rational(budget.ratio)})"
    return ratio if budget.distance == 1 else f"{ratio} / {short_rational(budget.distance)}"


def secrets_report(answer: SecretPrivacyAnswer) -> Report:
    """Return the report on an answer."""
    rows = []
    for pair in answer.pairs[:ROWS_SHOWN]:
        low, high = pair.lower.epsilon()[0], pair.upper.epsilon()[1]
        rows.append(
            (
                str(pair.first),
                str(pair.second),
                short_rational(pair.distance),
                _shown(pair.upper) if pair.bound.exact else f"{_shown(pair.lower)} .. {_shown(pair.upper)}",
                low if low == high else f"[{low}, {high}]",
            )
        )
    remarks = []
    if len(answer.pairs) > ROWS_SHOWN:
        remarks.append(f"and {len(answer.pairs) - ROWS_SHOWN} more pairs")
    if answer.saved:
        remarks.append(f"{answer.saved} more pairs follow by the triangle inequality and were not looked at.")
    low, high = answer.epsilon()
    if answer.exact:
        value = _shown(answer.upper)
        tail = "" if low == high else f", in [{low}, {high}]"
        remarks.append(f"The least epsilon is {value}{tail}.")
    else:
        remarks.append(f"The least epsilon is between {low} and {high}.")
    for pair in answer.worst[:WORST_SHOWN]:
        one, other = (short_rational(p) for p in pair.bound.probabilities)
        remarks.append(
            f"It is needed for ({pair.first}, {pair.second}): {word_text(pair.bound.witness)} "
            f"has the probabilities {one} and {other}."
        )
    return Report(
        heading=f"d_X-privacy with the {answer.distances.name} distance of secrets",
        columns=("secret", "secret", "distance", "epsilon", "decimal"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )
