"""Tables and plain data about proofs for all lengths, and about the budgets of mechanisms."""

from __future__ import annotations

from flint import fmpq

from bisimdist.analysis.hmm_answer import Verdict
from bisimdist.analysis.hmm_proofs import AllLengthsAnswer, LengthVerdict, MechanismBudget
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.report.numbers import at_least, at_most, short_rational
from bisimdist.report.tables import Report

__all__ = ["length_data", "length_report", "mechanism_data", "mechanism_report"]

WORDS = {
    "cone": "a closed polyhedral cone of {0}",
    "factors": "a table of factors of {0}",
    "coupling": "a skewed coupling of cost zero",
}


def _ratio(value: fmpq | None) -> str | None:
    return None if value is None else format_rational(value)


def length_data(pair: LengthVerdict) -> dict[str, object]:
    """Return a verdict for all lengths as plain data."""
    data: dict[str, object] = {
        "from": pair.source,
        "to": pair.target,
        "verdict": pair.verdict.value,
        "method": pair.method or None,
        "ratio": "inf" if pair.no_budget else _ratio(pair.proved),
        "attained": "inf" if pair.no_budget else _ratio(pair.attained),
        "exact": pair.exact or pair.no_budget,
    }
    if pair.proved is not None:
        data["epsilon"] = list(log_enclosure(pair.proved))
    if pair.counterexample is not None and pair.probabilities is not None:
        data["counterexample"] = list(pair.counterexample)
        data["probabilities"] = [format_rational(p) for p in pair.probabilities]
    if pair.pump is not None and pair.growth is not None:
        data["pump"] = dict(zip(("prefix", "cycle", "suffix"), map(list, pair.pump), strict=True))
        data["growth"] = [format_rational(factor) for factor in pair.growth]
    return data


def length_report(answer: AllLengthsAnswer) -> Report:
    """Return the verdicts for all lengths as a table."""
    asked = "some budget" if answer.ratio is None else f"the budget {short_rational(answer.ratio)}"
    if answer.epsilon is not None:
        asked = f"the budget e^({short_rational(answer.epsilon)})"
    rows = []
    for pair in answer.pairs:
        proved = "none" if pair.no_budget else "unknown" if pair.proved is None else at_most(pair.proved)
        attained = (
            "infinite" if pair.no_budget else "unknown" if pair.attained is None else at_least(pair.attained)
        )
        rows.append((pair.source, pair.target, pair.verdict.value, proved, attained, pair.method or "-"))
    return Report(
        heading=f"Sequences of every length: is there {asked}?"
        if asked == "some budget"
        else f"Sequences of every length: does {asked} hold?",
        columns=("from", "to", "verdict", "proved budget", "largest ratio seen", "by"),
        rows=tuple(rows),
        remarks=tuple(_remark(pair) for pair in answer.pairs),
    )


def _remark(pair: LengthVerdict) -> str:
    about = f"({pair.source}, {pair.target}): "
    if pair.pump is not None and pair.growth is not None:
        prefix, cycle, suffix = (" ".join(word) for word in pair.pump)
        fast, slow = (format_rational(factor) for factor in pair.growth)
        tail = f", then '{suffix}'" if suffix else ""
        return (
            f"{about}no budget holds. After '{prefix}', repeat '{cycle}'{tail}: each round multiplies one "
            f"probability by at least {fast} and the other by at most {slow}."
        )
    if pair.counterexample is not None and pair.probabilities is not None:
        one, two = (format_rational(p) for p in pair.probabilities)
        every = "no budget holds: " if pair.no_budget else ""
        return f"{about}{every}'{' '.join(pair.counterexample)}' has the probabilities {one} and {two}."
    if pair.verdict is Verdict.HOLDS and pair.proved is not None:
        low, high = log_enclosure(pair.proved)
        exact = ", and no smaller one does" if pair.exact else ""
        means = WORDS[pair.method].format("functions" if pair.method == "cone" else "pairs of states")
        return (
            f"{about}proved by {means}; the budget {format_rational(pair.proved)} holds{exact} "
            f"(its logarithm is between {low} and {high})."
        )
    return f"{about}not decided; the methods are not complete."


def mechanism_data(budget: MechanismBudget) -> dict[str, object]:
    """Return the budget of a mechanism as plain data."""
    result = budget.result
    return {
        "mechanism": result.family.name,
        "adjacency": result.adjacency.value,
        "ratio": "inf" if result.ratio is None else format_rational(result.ratio),
        "epsilon": "inf" if budget.epsilon is None else list(budget.epsilon),
        "exact": True,
        "inputs": [list(results) for results in result.pair],
        "answer": result.answer,
        "probabilities": [format_rational(p) for p in result.probabilities],
        "neighbours": result.pairs,
    }


def mechanism_report(budget: MechanismBudget) -> Report:
    """Return the budget of a mechanism for a person."""
    result = budget.result
    one, two = (format_rational(p) for p in result.probabilities)
    first, second = (", ".join(map(str, results)) for results in result.pair)
    adjacency = (
        "every query result may differ by at most one"
        if result.adjacency.value == "all"
        else "one query result differs by one"
    )
    value = "infinite" if result.ratio is None else short_rational(result.ratio)
    logarithm = "" if budget.epsilon is None else f"; epsilon is between {' and '.join(budget.epsilon)}"
    return Report(
        heading=f"{result.family.name}: {result.family.count} results from 0 to {result.family.levels - 1}",
        remarks=(
            f"The exact budget is {value}{logarithm}.",
            f"Neighbours: {adjacency}; {result.pairs} ordered pairs.",
            f"Attained by the inputs ({first}) and ({second}) with the answer {result.answer}: "
            f"probabilities {one} and {two}.",
        ),
    )
