"""What an answer about a program says beside its numbers: the program, and where its runs part."""

from __future__ import annotations

from dataclasses import replace

from bisimdist.analysis.delta import DeltaAnswer
from bisimdist.programs.chain import ProgramChain
from bisimdist.report.tables import Report

__all__ = ["program_data", "program_report"]

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


def program_report(answer: DeltaAnswer, report: Report) -> Report:
    """Return a report of delta with what is said of the program."""
    model = answer.model
    if not isinstance(model, ProgramChain):
        return report
    seen = " and ".join(SEEN.get(part, part) for part in model.origin.observe.split(","))
    worst = answer.worst
    found = model.origin.partings.get((worst.source, worst.target), ())
    remarks = [f"Of {model.origin.function} an observer sees {seen}."]
    remarks += [f"Where the runs part: {parting.text}." for parting in found[:MOST_PARTINGS]]
    return replace(report, remarks=(*report.remarks, *remarks))
