"""Trace metrics as a person reads them, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.analysis.trace_metric_answer import RepeatedTrace, TraceBound, TraceKind, TraceMetricAnswer
from bisimdist.exact.rational import format_rational
from bisimdist.report.ends import ends_remarks
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report

__all__ = ["repeated_text", "trace_bound_data", "trace_report", "verdict_word", "word_text"]

ACTIONS_SHOWN = 16


def _ratio(value: fmpq | None) -> str:
    return "inf" if value is None else format_rational(value)


def _short(value: fmpq | None) -> str:
    return "inf" if value is None else short_rational(value)


def word_text(word: Sequence[str]) -> str:
    """Return a trace in words; a long one is shortened, and says so.

    Examples
    --------
    >>> word_text(["a", "b"]), word_text([])
    ('a b', 'the empty trace')
    """
    if not word:
        return "the empty trace"
    shown = " ".join(word[:ACTIONS_SHOWN])
    more = len(word) - ACTIONS_SHOWN
    return shown if more <= 0 else f"{shown} ... ({more} more actions)"


def verdict_word(verdict: bool | None) -> str:
    """Return a decision as a word."""
    return "unknown" if verdict is None else "holds" if verdict else "violated"


def repeated_text(repeated: RepeatedTrace) -> str:
    """Return traces that are pumped up, in words."""
    parts = [word_text(repeated.prefix), f"({word_text(repeated.cycle)})^n"]
    if repeated.suffix:
        parts.append(word_text(repeated.suffix))
    if repeated.degree:
        power = "n" if repeated.degree == 1 else f"n^{repeated.degree}"
        return f"{' '.join(parts)}: n rounds multiply by a multiple of {power} at least"
    return f"{' '.join(parts)}: each round multiplies by {short_rational(repeated.factor)} at least"


def trace_bound_data(bound: TraceBound, threshold: fmpq | None = None) -> dict[str, object]:
    """Return the JSON object of one pair."""
    data: dict[str, object] = {"from": bound.source, "to": bound.target}
    if bound.kind is TraceKind.MULTIPLICATIVE:
        data["ratio"] = _ratio(bound.upper)
        data["epsilon"] = list(bound.epsilon())
    data["exact"] = bound.exact
    data["lower"] = _ratio(bound.lower)
    data["upper"] = _ratio(bound.upper)
    data["witness"] = list(bound.witness)
    data["probabilities"] = [format_rational(p) for p in bound.probabilities]
    if bound.repeated is not None:
        data["repeated"] = {
            "prefix": list(bound.repeated.prefix),
            "cycle": list(bound.repeated.cycle),
            "suffix": list(bound.repeated.suffix),
            "factor": format_rational(bound.repeated.factor),
            "degree": bound.repeated.degree,
        }
    if threshold is not None:
        data["verdict"] = verdict_word(bound.at_most(threshold))
    return data


def trace_report(answer: TraceMetricAnswer, threshold: fmpq | None = None) -> Report:
    """Return the report on an answer."""
    multiplicative = answer.kind is TraceKind.MULTIPLICATIVE
    rows, remarks = [], []
    for bound in answer.pairs:
        low, high = bound.epsilon()
        shown = _short(bound.upper) if bound.exact else f"from {_short(bound.lower)} to {_short(bound.upper)}"
        cells = [bound.source, bound.target, shown]
        if multiplicative:
            cells.append(low if low == high else f"[{low}, {high}]")
        rows.append((*cells, "yes" if bound.exact else "no"))
        remarks.append(_remark(bound))
        if threshold is not None:
            what = "trace metric" if multiplicative else "weak anonymity"
            verdict = verdict_word(bound.at_most(threshold))
            remarks.append(
                f"({bound.source}, {bound.target}): {what} at most {short_rational(threshold)}: {verdict}"
            )
    length = "" if answer.length is None else f", traces of at most {answer.length} actions"
    columns = ("ratio", "distance") if multiplicative else ("distance",)
    note = " (the distance is the logarithm of the ratio)" if multiplicative else ""
    return Report(
        heading=f"{answer.kind.value} trace metric{note}{length}",
        columns=("from", "to", *columns, "exact"),
        rows=tuple(rows),
        remarks=(*remarks, *ends_remarks(answer.completed)),
    )


def _remark(bound: TraceBound) -> str:
    pair = f"({bound.source}, {bound.target})"
    if not bound.examined:
        return f"{pair} was not looked at: the work was stopped"
    one, other = (short_rational(p) for p in bound.probabilities)
    trace = f"{word_text(bound.witness)} has the probabilities {one} and {other}"
    if bound.repeated is not None:
        return f"{pair} is infinite: {repeated_text(bound.repeated)}"
    if bound.lower is None:
        return f"{pair} is infinite: {trace}"
    at_least = f"ln {_short(bound.lower)}" if bound.kind is TraceKind.MULTIPLICATIVE else _short(bound.lower)
    return f"{pair} is {'' if bound.exact else 'at least '}{at_least}: {trace}"
