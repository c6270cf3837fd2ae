"""Generalised bisimilarity metrics as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.generalised import GeneralisedAnswer, GeneralisedBound, GeneralisedKind
from bisimdist.exact.rational import format_rational
from bisimdist.fixpoint.liftings import Value
from bisimdist.report.numbers import interval, short_rational
from bisimdist.report.tables import Report

__all__ = ["generalised_data", "generalised_report"]

REMARKS = {
    Status.BRACKET: "The bounds are certified and as close to the distances as was asked.",
    Status.LIMIT: "The bounds are certified; the distance itself was not found, or is irrational.",
}


def _number(value: Value) -> str:
    return "inf" if value is None else format_rational(value)


def _short(value: Value) -> str:
    return "inf" if value is None else short_rational(value)


def generalised_data(bound: GeneralisedBound, names: tuple[str, str]) -> dict[str, object]:
    """Return the JSON object of one pair, under the names that were asked for."""
    data: dict[str, object] = {"from": names[0], "to": names[1]}
    if bound.kind is GeneralisedKind.ADDITIVE:
        data["distance"] = _number(bound.upper)
    else:
        data["ratio"] = _number(bound.upper)
        data["epsilon"] = list(bound.epsilon())
    data["exact"] = bound.exact
    data["lower"] = _number(bound.lower)
    data["upper"] = _number(bound.upper)
    return data


def generalised_report(answer: GeneralisedAnswer, names: Sequence[tuple[str, str]]) -> Report:
    """Return the report on an answer."""
    ratios = answer.kind is GeneralisedKind.MULTIPLICATIVE
    rows = []
    for bound, (source, target) in zip(answer.pairs, names, strict=True):
        shown = _short(bound.upper) if bound.exact else f"from {interval(bound.lower, bound.upper)}"
        row = [source, target, shown]
        if ratios:
            low, high = bound.epsilon()
            row.append(low if low == high else f"[{low}, {high}]")
        rows.append((*row, "yes" if bound.exact else "no"))
    heading = f"{answer.kind.value} bisimilarity metric"
    if answer.discount != 1:
        heading += f", discount {format_rational(answer.discount)}"
    if ratios:
        heading += " (the distance is the logarithm of the ratio)"
    remark = REMARKS.get(answer.status)
    return Report(
        heading=heading,
        columns=("from", "to", "ratio", "distance", "exact")
        if ratios
        else ("from", "to", "distance", "exact"),
        rows=tuple(rows),
        remarks=() if remark is None else (remark,),
    )
