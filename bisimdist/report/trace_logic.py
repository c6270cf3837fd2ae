"""Answers in the trace logic, as JSON and for a person."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.trace_logic import (
    TraceEquivalenceAnswer,
    TraceFormulaeAnswer,
    TraceSatisfactionsAnswer,
    TraceVerdict,
)
from bisimdist.exact.rational import format_rational
from bisimdist.logic.linear import LinearFormula, ProbabilisticFormula
from bisimdist.report.ends import ends_data, ends_remarks
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report

__all__ = [
    "equivalence_data",
    "equivalence_report",
    "formulae_data",
    "formulae_report",
    "satisfactions_data",
    "satisfactions_report",
]

ACTIONS_SHOWN = 24


def _word(trace: Sequence[str]) -> str:
    text = str(LinearFormula(tuple(trace[:ACTIONS_SHOWN])))
    left = len(trace) - ACTIONS_SHOWN
    return text if left <= 0 else f"{text[:-1]}... ({left} more actions)"


def _formula_data(formula: ProbabilisticFormula) -> dict[str, object]:
    return {
        "formula": str(formula),
        "trace": list(formula.linear.actions),
        "probability": format_rational(formula.probability),
    }


def formulae_data(answer: TraceFormulaeAnswer) -> dict[str, object]:
    """Return the JSON object of the formulae of a state."""
    return {
        "state": answer.state,
        "depth": answer.depth,
        "formulae": [_formula_data(formula) for formula in answer.formulae],
        "complete": answer.complete,
        "count": answer.count,
        "following": None if answer.following is None else _formula_data(answer.following),
        "longest": answer.longest,
        **ends_data(answer.completed),
        "status": answer.status.value,
    }


def formulae_report(answer: TraceFormulaeAnswer) -> Report:
    """Return the report on the formulae of a state."""
    depth = "" if answer.depth is None else f", formulae of at most {answer.depth} actions"
    remarks = []
    if answer.following is not None:
        many = "" if answer.count is None else f", {answer.count} in all"
        remarks.append(
            f"There are more{many}; the next one is {short_rational(answer.following.probability)} "
            f"{_word(answer.following.linear.actions)}"
        )
    elif answer.complete:
        count = len(answer.formulae)
        remarks.append("This is the only one." if count == 1 else f"These are all {count}.")
    else:
        remarks.append("Time ran out; there may be more.")
    if answer.longest is None:
        remarks.append(f"{answer.state} has traces of every length.")
    elif answer.depth is not None and answer.longest > answer.depth:
        remarks.append(f"The longest formula of {answer.state} has {answer.longest} actions.")
    return Report(
        heading=f"L({answer.state}){depth}",
        columns=("probability", "formula"),
        rows=tuple((short_rational(f.probability), _word(f.linear.actions)) for f in answer.formulae),
        remarks=(*remarks, *ends_remarks(answer.completed)),
    )


def satisfactions_data(answer: TraceSatisfactionsAnswer) -> dict[str, object]:
    """Return the JSON object on formulae that were asked about."""
    return {
        "state": answer.state,
        "verdict": "holds" if answer else "violated",
        **ends_data(answer.completed),
        "formulae": [
            {
                "formula": str(found.formula),
                "satisfied": found.satisfied,
                "probability": format_rational(found.probability),
                "value": format_rational(found.value),
                "lenient_value": format_rational(found.lenient_value),
            }
            for found in answer.formulae
        ],
    }


def satisfactions_report(answer: TraceSatisfactionsAnswer) -> Report:
    """Return the report on formulae that were asked about."""
    rows = []
    for found in answer.formulae:
        formula = found.formula
        text = (
            _word(formula.actions)
            if isinstance(formula, LinearFormula)
            else f"{short_rational(formula.probability)} {_word(formula.linear.actions)}"
        )
        rows.append(
            (
                text,
                "yes" if found.satisfied else "no",
                short_rational(found.probability),
                short_rational(found.value),
            )
        )
    return Report(
        heading=f"Formulae of the trace logic at {answer.state}",
        columns=("formula", "satisfied", "probability of the trace", "value"),
        rows=tuple(rows),
        remarks=ends_remarks(answer.completed),
    )


def equivalence_data(pair: TraceVerdict) -> dict[str, object]:
    """Return the JSON object of one pair."""
    values = pair.probabilities
    return {
        "from": pair.source,
        "to": pair.target,
        "equivalent": pair.equivalent,
        "trace": None if pair.trace is None else list(pair.trace),
        "probabilities": None if values is None else [format_rational(p) for p in values],
        **({} if pair.trace is None else {"least": pair.least}),
    }


def equivalence_report(answer: TraceEquivalenceAnswer) -> Report:
    """Return the report on trace equivalence."""
    words = {True: "yes", False: "no", None: "not decided"}
    rows = []
    for pair in answer.pairs:
        trace, first, second = "", "", ""
        if pair.trace is not None and pair.probabilities is not None:
            trace = _word(pair.trace)
            first, second = (short_rational(p) for p in pair.probabilities)
        rows.append((pair.source, pair.target, words[pair.equivalent], trace, first, second))
    remarks = []
    if any(pair.trace is not None for pair in answer.pairs):
        if all(pair.least for pair in answer.pairs if pair.trace is not None):
            remarks.append("No shorter trace tells the states apart.")
        else:
            remarks.append("Time ran out; shorter traces may tell the states apart as well.")
    return Report(
        heading="Trace equivalence: has every trace the same probability from both states?",
        columns=("from", "to", "equivalent", "trace", "from the first", "from the second"),
        rows=tuple(rows),
        remarks=(*remarks, *ends_remarks(answer.completed)),
    )
