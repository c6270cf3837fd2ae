"""Formulae, who satisfies them, and why states differ: for a person, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence

from bisimdist.analysis.distinctions import Distinction, DistinctionAnswer
from bisimdist.analysis.formulae import (
    MimickingAnswer,
    SatisfactionAnswer,
    SatisfyingTransition,
    TransitionsAnswer,
)
from bisimdist.exact.rational import format_rational
from bisimdist.logic.formula_printer import formula_text
from bisimdist.report.ends import ends_remarks
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report

__all__ = [
    "distinction_data",
    "distinction_report",
    "mimicking_data",
    "satisfaction_data",
    "satisfaction_report",
    "transitions_data",
    "transitions_report",
]

SHOWN = 12
"""How many actions of a trace, or successors of a transition, a person is shown."""

LONGEST = 2000
"""How many characters of a formula a person is shown."""


def mimicking_data(answer: MimickingAnswer) -> dict[str, object]:
    """Return the JSON object of a mimicking formula."""
    return {
        "state": answer.state,
        "depth": answer.depth,
        "recursive": answer.recursive,
        "size": answer.size,
        "formula": answer.text(),
    }


def satisfaction_data(answer: SatisfactionAnswer, asked: Sequence[str]) -> dict[str, object]:
    """Return the JSON object on the states that satisfy a formula."""
    data: dict[str, object] = {"formula": str(answer.formula), "satisfying": list(answer.states)}
    if asked:
        data["states"] = [{"state": state, "holds": answer.holds(state)} for state in asked]
        data["verdict"] = "holds" if all(map(answer.holds, asked)) else "violated"
    return data


def satisfaction_report(answer: SatisfactionAnswer, asked: Sequence[str]) -> Report:
    """Return the report on the states that satisfy a formula."""
    if asked:
        return Report(
            columns=("state", "satisfies the formula"),
            rows=tuple((state, "yes" if answer.holds(state) else "no") for state in asked),
        )
    count = len(answer.states)
    remark = f"{count} of {len(answer.model)} states satisfy the formula"
    return Report(remarks=(f"{remark}: {', '.join(answer.states)}" if count else f"{remark}.",))


def _among(answer: TransitionsAnswer, asked: Sequence[str]) -> list[SatisfyingTransition]:
    """Return the transitions of the states that were asked about, of all states if none was."""
    return [step for step in answer.transitions if not asked or step.source in asked]


def transitions_data(answer: TransitionsAnswer, asked: Sequence[str]) -> dict[str, object]:
    """Return the JSON object on the transitions that satisfy a formula about distributions."""
    data: dict[str, object] = {
        "formula": str(answer.formula),
        "transitions": [
            {
                "from": step.source,
                "action": step.action,
                "to": {state: format_rational(p) for state, p in step.targets.items()},
                "splitting": [
                    {state: format_rational(p) for state, p in share.masses.items()}
                    for share in step.splitting
                ],
            }
            for step in _among(answer, asked)
        ],
    }
    if asked:
        data["states"] = [{"state": state, "holds": answer.holds(state)} for state in asked]
        data["verdict"] = "holds" if all(map(answer.holds, asked)) else "violated"
    return data


def transitions_report(answer: TransitionsAnswer, asked: Sequence[str]) -> Report:
    """Return the report on the transitions that satisfy a formula about distributions."""
    listed = _among(answer, asked)
    count = len(answer.transitions)
    remarks = [
        f"No transition of {state} satisfies the formula." for state in asked if not answer.holds(state)
    ]
    if not asked:
        remarks = [f"{count} of {len(answer.model.transitions)} transitions satisfy the formula."]
    return Report(
        columns=("from", "action", "to") if listed else (),
        rows=tuple((step.source, step.action, _row(step)) for step in listed),
        remarks=tuple(remarks),
    )


def _row(step: SatisfyingTransition) -> str:
    shown = [f"{state} {short_rational(p)}" for state, p in list(step.targets.items())[:SHOWN]]
    left = len(step.targets) - SHOWN
    return ", ".join(shown) + (f", ... ({left} more)" if left > 0 else "")


def distinction_data(pair: Distinction) -> dict[str, object]:
    """Return the JSON object of one pair."""
    return {
        "from": pair.source,
        "to": pair.target,
        "bisimilar": pair.bisimilar,
        "formula": None if pair.formula is None else formula_text(pair.formula),
        "depth": pair.depth,
        "irreducible": pair.irreducible if pair.formula is not None else None,
        "explanation": pair.explanation,
        "trace": None if pair.trace is None else list(pair.trace),
        "trace_decided": pair.trace_decided,
    }


def distinction_report(answer: DistinctionAnswer) -> Report:
    """Return the report on why states differ."""
    remarks: list[str] = []
    rows = []
    for pair in answer.pairs:
        decided = "not decided" if pair.bisimilar is None else "yes" if pair.bisimilar else "no"
        rows.append((pair.source, pair.target, decided, "" if pair.depth is None else str(pair.depth)))
        if pair.formula is None:
            continue
        text = formula_text(pair.formula)
        if len(text) > LONGEST:
            text = f"a formula of {len(text)} characters (all of it with --json)"
        remarks += [pair.explanation, *(f"  {line}" for line in text.split("\n"))]
        if pair.trace is not None:
            shown = " ".join(pair.trace[:SHOWN])
            more = f" ... ({len(pair.trace) - SHOWN} more)" if len(pair.trace) > SHOWN else ""
            remarks.append(f"  They give different probabilities to the trace {shown}{more}.")
    if any(pair.trace is not None for pair in answer.pairs):
        remarks += ends_remarks(answer.completed)
    return Report(
        heading="bisimilarity, and a formula that the first state satisfies and the second does not",
        columns=("from", "to", "bisimilar", "depth"),
        rows=tuple(rows),
        remarks=tuple(remarks),
    )
