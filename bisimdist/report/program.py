"""What an answer about a program says beside its numbers: the program, and where its runs part."""

from __future__ import annotations

from dataclasses import replace

from bisimdist.analysis.delta import DeltaAnswer, DeltaBound
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.programs.chain import ProgramChain
from bisimdist.programs.ratios import OutputRatio, output_ratio
from bisimdist.report.numbers import is_long, short_rational
from bisimdist.report.tables import Report

__all__ = ["program_data", "program_report", "ratio_data"]

MOST_PARTINGS = 5

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
    result: list[dict[str, object]] = []
    for pair in answer.pairs:
        found = _ratio(answer, pair)
        if found is None:
            result.append({})
        elif found.ratio is None:
            result.append({"ratio": "inf", "epsilon": ["inf", "inf"], "output": found.output})
        elif found.exact:
            enclosure = list(log_enclosure(found.ratio))
            result.append(
                {"ratio": format_rational(found.ratio), "epsilon": enclosure, "output": found.output}
            )
        else:
            result.append({"ratio_at_least": format_rational(found.ratio), "output": found.output})
    return result


def _ratio(answer: DeltaAnswer, pair: DeltaBound) -> OutputRatio | None:
    model = answer.model
    if not isinstance(model, ProgramChain):
        return None
    return output_ratio(model, pair.source, pair.target)


def _pure(answer: DeltaAnswer) -> list[str]:
    """Say what the largest ratio is."""
    found = _ratio(answer, answer.worst)
    if found is None:
        return []
    if found.ratio is None:
        return [f"No epsilon bounds it without a delta: {found.output} comes from one of the two only."]
    at_least = "" if found.exact else "at least "
    level = log_enclosure(found.ratio)
    size = f"e^{level[0]}..." if is_long(found.ratio) else short_rational(found.ratio)
    return [
        f"Without a delta the ratio is {at_least}{size} (epsilon {at_least}{level[0]}), "
        f"for the output {found.output}."
    ]


def program_report(answer: DeltaAnswer, report: Report) -> Report:
    """Return a report of delta with what is said of the program."""
    model = answer.model
    if not isinstance(model, ProgramChain):
        return report
    seen = " and ".join(SEEN.get(part, part) for part in model.origin.observe.split(","))
    worst = answer.worst
    found = model.origin.partings.get((worst.source, worst.target), ())
    remarks = [f"Of {model.origin.function} an observer sees {seen}."]
    remarks += _pure(answer)
    remarks += [f"Where the runs part: {parting.text}." for parting in found[:MOST_PARTINGS]]
    return replace(report, remarks=(*report.remarks, *remarks))
