"""Answers about hidden Markov models, as JSON and for a person."""

from __future__ import annotations

from flint import fmpq

from bisimdist.analysis.hmm_answer import BudgetAnswer, PairBudget, PairVerdict, Verdict, VerifyAnswer
from bisimdist.exact.rational import format_rational
from bisimdist.report.numbers import short_rational
from bisimdist.report.tables import Report

__all__ = ["budget_data", "budget_report", "verdict_data", "verdict_report"]


def verdict_data(pair: PairVerdict) -> dict[str, object]:
    """Return one verdict as plain data."""
    data: dict[str, object] = {"from": pair.source, "to": pair.target, "verdict": pair.verdict.value}
    data["counterexample"] = None if pair.counterexample is None else list(pair.counterexample)
    data["probabilities"] = (
        None if pair.probabilities is None else [format_rational(p) for p in pair.probabilities]
    )
    data["parameters"] = {name: format_rational(value) for name, value in pair.parameters.items()}
    data["ways"] = list(pair.ways)
    if pair.note:
        data["note"] = pair.note
    return data


def _word(word: tuple[str, ...]) -> str:
    return " ".join(word)


def _lengths(length: int, up_to: bool) -> str:
    return f"{'up to ' if up_to else ''}{length} observation{'s' if length > 1 or up_to else ''}"


def verdict_report(answer: VerifyAnswer) -> Report:
    """Return verdicts for a person."""
    asked = (
        f"e^({short_rational(answer.epsilon)})"
        if answer.epsilon is not None
        else short_rational(answer.ratio if answer.ratio is not None else fmpq(1))
    )
    remarks = []
    for pair in answer.pairs:
        who = f"({pair.source}, {pair.target})"
        if pair.counterexample is not None and pair.probabilities is not None:
            chances = " and ".join(short_rational(p) for p in pair.probabilities)
            where = ", ".join(f"{name} = {short_rational(value)}" for name, value in pair.parameters.items())
            remarks.append(
                f"{who}: the sequence [{_word(pair.counterexample)}] has the probabilities {chances}"
                + (f" where {where}" if where else "")
                + "."
            )
        elif pair.note:
            remarks.append(f"{who}: {pair.note}.")
    values = " for all values of the parameters" if answer.model.parametric else ""
    return Report(
        heading=f"Budget {asked}, sequences of {_lengths(answer.length, answer.up_to)}{values}",
        columns=("from", "to", "verdict", "by"),
        rows=tuple((p.source, p.target, p.verdict.value, ", ".join(p.ways)) for p in answer.pairs),
        remarks=(*remarks, _conclusion(answer, asked)),
    )


def _conclusion(answer: VerifyAnswer, asked: str) -> str:
    if answer.verdict is Verdict.HOLDS:
        return f"The budget {asked} holds for every pair."
    if answer.verdict is Verdict.VIOLATED:
        return f"The budget {asked} is violated."
    return "Not everything is decided."


def budget_data(pair: PairBudget) -> dict[str, object]:
    """Return one least budget as plain data."""
    data: dict[str, object] = {"from": pair.source, "to": pair.target}
    if pair.infinite:
        data["ratio"] = data["epsilon"] = "inf"
    else:
        data["ratio"] = None if pair.ratio is None else format_rational(pair.ratio)
        data["epsilon"] = None if pair.epsilon is None else list(pair.epsilon)
    data["exact"] = pair.exact
    if not pair.exact and pair.at_least is not None:
        data["at_least"] = format_rational(pair.at_least)
    data["witness"] = list(pair.witness)
    data["probabilities"] = (
        None if pair.probabilities is None else [format_rational(p) for p in pair.probabilities]
    )
    return data


def budget_report(answer: BudgetAnswer) -> Report:
    """Return least budgets for a person."""
    rows = []
    for pair in answer.pairs:
        if pair.ratio is not None:
            low, high = pair.epsilon or ("", "")
            shown = short_rational(pair.ratio)
            decimals = low if low == high else f"[{low}, {high}]"
        elif pair.exact:
            shown = decimals = "inf"
        else:
            least = pair.at_least if pair.at_least is not None else fmpq(1)
            shown, decimals = f"at least {short_rational(least)}", ""
        rows.append((pair.source, pair.target, shown, decimals, _word(pair.witness)))
    remark = (
        "Every ratio is exact: attained by its witness, and exceeded by no sequence."
        if answer.exact
        else "Not every ratio is known; the lower bounds are proved by their witnesses."
    )
    return Report(
        heading=f"Least budgets, sequences of {_lengths(answer.length, answer.up_to)}",
        columns=("from", "to", "ratio", "epsilon", "witness"),
        rows=tuple(rows),
        remarks=(remark,),
    )
