"""What an answer about a program says beside its numbers: the program, and where its runs part."""

from __future__ import annotations

from dataclasses import replace

from bisimdist.analysis.delta import DeltaAnswer, DeltaBound
from bisimdist.analysis.program_budget import ProgramBudget
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.ratios import OutputRatio, output_ratio
from bisimdist.report.delta import delta_data, delta_report
from bisimdist.report.numbers import is_long, short_rational
from bisimdist.report.tables import Report

__all__ = ["budget_data", "budget_report", "program_data", "program_report", "ratio_data"]

MOST_PARTINGS = 5
MOST_ROWS = 20
MOST_DIGITS = 80

SEEN = {
    "output": "what it returns",
    "draws": "what it returns and how many draws it makes",
    "bits": "what it returns and how many random bits it takes",
    "steps": "what it returns and how many steps it takes",
    "trace": "what it announces and returns",
}


def program_data(answer: DeltaAnswer) -> dict[str, object]:
    """Return the program, and where the runs of each pair part, as plain data."""
    model = answer.model
    if not isinstance(model, ProgramChain):
        return {}
    partings = model.origin.partings
    return {
        "program": {**model.origin.data(), "places": model.origin.explored},
        "parting": [
            {
                "from": pair.source,
                "to": pair.target,
                "lines": [
                    {"line": found.line, "what": found.text}
                    for found in partings.get((pair.source, pair.target), ())
                ],
            }
            for pair in answer.pairs
        ],
    }


def ratio_data(answer: DeltaAnswer) -> list[dict[str, object]]:
    """Return by pair the ratio of the outputs, where nothing else is seen."""
    return [_ratio_data(_ratio(answer, pair)) for pair in answer.pairs]


def _ratio_data(found: OutputRatio | None) -> dict[str, object]:
    if found is None:
        return {}
    if found.ratio is None:
        return {"ratio": "inf", "epsilon": ["inf", "inf"], "output": found.output}
    text = format_rational(found.ratio)
    if not found.exact:
        return {"ratio_at_least": text, "output": found.output}
    return {"ratio": text, "epsilon": list(log_enclosure(found.ratio)), "output": found.output}


def _ratio(answer: DeltaAnswer, pair: DeltaBound) -> OutputRatio | None:
    model = answer.model
    if not isinstance(model, ProgramChain):
        return None
    return output_ratio(model, pair.source, pair.target)


def _pure(found: OutputRatio | None) -> list[str]:
    """Say what the largest ratio is."""
    if found is None:
        return []
    if found.ratio is None:
        return [f"No epsilon bounds it without a delta: {found.output} comes from one of the two only."]
    at_least = "" if found.exact else "at least "
    level = log_enclosure(found.ratio)
    size = f"e^{level[0]}..." if is_long(found.ratio) else short_rational(found.ratio)
    where = f", for the output {found.output}" if found.output else ""
    return [f"Without a delta the ratio is {at_least}{size} (epsilon {at_least}{level[0]}){where}."]


def budget_data(answer: ProgramBudget) -> dict[str, object]:
    """Return what all neighbours among the inputs of a program give away, as plain data."""
    model = answer.model
    data: dict[str, object] = {
        "program": {**model.origin.data(), "places": model.origin.explored},
        "inputs": list(answer.pair),
        "neighbours": len(model.pairs),
        "classes": answer.classes,
        "compared": answer.compared,
    }
    if answer.delta is not None:
        shown = delta_data(answer.delta)
        return {**data, **{key: shown[key] for key in ("pairs", "worst", "status")}}
    found = answer.ratio
    return {
        **data,
        **_ratio_data(found),
        "exact": found is not None and (found.exact or found.ratio is None),
        "probabilities": [format_rational(p) for p in answer.probabilities()],
    }


def budget_report(answer: ProgramBudget, *, epsilon: str | None = None) -> Report:
    """Return the budget of a program for a person.

    Parameters
    ----------
    answer
        The budget.
    epsilon
        What was asked instead of alpha, where it was.
    """
    model = answer.model
    remarks = [
        f"{len(model.pairs)} pairs of neighbours; inputs of which the same is seen, as often, are one: "
        f"{answer.classes} of them, {answer.compared} pairs."
    ]
    source, target = answer.pair
    if answer.delta is not None:
        report = delta_report(answer.delta, epsilon=epsilon)
        return replace(
            report,
            rows=report.rows[:MOST_ROWS],
            remarks=(*remarks, *report.remarks, f"The worst pair is {source} and {target}."),
        )
    one, two = (format_rational(p) for p in answer.probabilities())
    attained = (
        f" and {target}: probabilities {one} and {two}" if len(one + two) < MOST_DIGITS else f" and {target}"
    )
    return Report(
        heading=f"{model.origin.function} over all neighbours",
        remarks=(*_pure(answer.ratio), f"The worst pair is {source}{attained}.", *remarks),
    )


def program_report(answer: DeltaAnswer, report: Report) -> Report:
    """Return a report of delta with what is said of the program."""
    model = answer.model
    if not isinstance(model, ProgramChain):
        return report
    seen = " and ".join(SEEN.get(part, part) for part in model.origin.observe.split(","))
    worst = answer.worst
    found = model.origin.partings.get((worst.source, worst.target), ())
    remarks = [f"Of {model.origin.function} an observer sees {seen}."]
    remarks += _pure(_ratio(answer, worst))
    remarks += [f"Where the runs part: {parting.text}." for parting in found[:MOST_PARTINGS]]
    return replace(report, remarks=(*report.remarks, *remarks))
