"""What an answer about a program says beside its numbers: the program, and where its runs part."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import is_long, short_rational
from bisimdist.faces.shown.tables import Report
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.programs.chain import ProgramChain, ProgramInteractive, Replayed
from bisimdist.programs.ratios import OutputRatio, output_delta, output_ratio
from bisimdist.programs.texts import RAISES

MOST_PARTINGS = 5

SEEN = {
    "output": "what it returns",
    "draws": "what it returns and how many draws it makes",
    "bits": "what it returns and how many random bits it takes",
    "steps": "what it returns and how many steps it takes",
    "trace": "what it announces and returns",
    "instructions": "what it returns and how many instructions it executes before each draw",
    "memory": "what it returns and which lines of 64 bytes it reads and writes",
    "branches": "what it returns and which way it branches",
}

BEYOND = (
    "A processor shows more than that: the same instructions may take longer for some numbers (divisions), "
    "and it guesses branches."
)  # what no model of compiled code has

GIVES_UP = (
    "Without --gap the search for runs ends after 40,000 steps for each input. --gap G lets it go on until "
    "the bounds are so close, or until --timeout. A float of several draws has too many values to list: "
    "round it with --round G."
)  # why bounds of a program that runs as it is stay apart


def program_data(answer: DeltaAnswer, data: dict[str, object]) -> dict[str, object]:
    """Return what is said of deltas with the program, where its runs part, and the ratios of its outputs."""
    model = answer.model
    if isinstance(model, ProgramInteractive):
        return {**data, "program": {**model.origin.data(), "places": model.origin.explored}}
    if not isinstance(model, ProgramChain):
        return data
    shown: Any = data["pairs"]
    partings = model.origin.partings
    return {
        **data,
        "pairs": [
            {**entry, **ratio_data(output_ratio(model, pair.source, pair.target))}
            for entry, pair in zip(shown, answer.pairs, strict=True)
        ],
        **_clip_data(answer, model),
        "program": {**model.origin.data(), "places": model.origin.explored, **_way(model.origin.replayed)},
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


def _way(replayed: Replayed | None) -> dict[str, object]:
    """Return how a program was explored, and why so."""
    if replayed is None:
        return {"way": "compiled"}
    return {"way": "replay", "why": replayed.why, "runs": replayed.runs, "checked": replayed.checked}


def _clip_data(answer: DeltaAnswer, model: ProgramChain) -> dict[str, object]:
    """Return what would be seen of the pairs if no noise were clipped, where some is and that is finite."""
    whole = None if model.origin.unclipped is None else model.origin.unclipped()
    if whole is None:
        return {}
    named = [(pair.source, pair.target) for pair in answer.pairs]
    deltas = [output_delta(whole, *pair, answer.alpha_upper) for pair in named]
    return {
        "without_clip": [
            {
                "from": source,
                "to": target,
                **({} if delta is None else {"upper": format_rational(delta)}),
                **ratio_data(output_ratio(whole, source, target)),
            }
            for (source, target), delta in zip(named, deltas, strict=True)
        ]
    }


def _clip_remarks(answer: DeltaAnswer, model: ProgramChain) -> list[str]:
    """Say what the clip costs the worst pair."""
    whole = None if model.origin.unclipped is None else model.origin.unclipped()
    if whole is None:
        return []
    pair = answer.worst.source, answer.worst.target
    delta, found = output_delta(whole, *pair, answer.alpha_upper), output_ratio(whole, *pair)
    if delta is None or found is None:
        return []
    ratio = "infinite" if found.ratio is None else short_rational(found.ratio)
    return [
        f"The noise is clipped: without the clip delta would be {short_rational(delta)}, the ratio {ratio}."
    ]


def ratio_data(found: OutputRatio | None) -> dict[str, object]:
    """Return the ratio of the outputs as plain data, where nothing else is seen."""
    if found is None:
        return {}
    if found.ratio is None:
        return {"ratio": "inf", "epsilon": ["inf", "inf"], "output": found.output}
    text = format_rational(found.ratio)
    if not found.exact:
        return {"ratio_at_least": text, "output": found.output}
    return {"ratio": text, "epsilon": list(log_enclosure(found.ratio)), "output": found.output}


def ratio_remarks(found: OutputRatio | None) -> list[str]:
    """Say what the largest ratio is."""
    if found is None:
        return []
    if found.ratio is None:
        return [f"With delta = 0 no epsilon suffices: only one of the two inputs can give {found.output}."]
    low, high = log_enclosure(found.ratio)
    size = f"e^{low}..." if is_long(found.ratio) else short_rational(found.ratio)
    where = f", for the output {found.output}" if found.output else ""
    if not found.exact:
        return [f"With delta = 0 the ratio is at least {size} (epsilon at least {low}){where}."]
    return [f"With delta = 0 the ratio is {size} (epsilon {'=' if low == high else '<='} {high}){where}."]


def raised_remarks(model: ProgramChain | ProgramInteractive, names: Iterable[str]) -> list[str]:
    """Say so where no run from any of some inputs returns, and nothing is seen or asked before."""
    if isinstance(model, ProgramInteractive):
        return []
    ends = {model.labels[target] for name in names for target, _ in model.rows[model.index(name)]}
    if not ends or not all(end.startswith(RAISES) for end in ends):
        return []
    first = min(ends).removeprefix(RAISES)
    return [
        f"Nothing is ever returned: every run raises {first}{', or another exception' * (len(ends) > 1)}."
    ]


def _replay_remarks(replayed: Replayed | None) -> list[str]:
    """Say that a program was run as it is, and why, and what that rests on."""
    if replayed is None:
        return []
    versions = ", ".join(f"{name} {version}" for name, version in replayed.versions.items())
    lines = [
        f"The function was executed {replayed.runs} times, as it is ({versions}). "
        f"The compiler cannot translate it: {replayed.why}.",
        f"Checked: {replayed.checked} runs in another process end as the chain says.",
    ]
    lines += [f"Assumed: {what}." for what in replayed.assumed]
    if replayed.floats:
        lines.append(
            "It releases floats, which have too many values to list. Round them with --round G, or bound "
            "delta from below with 'audit --attainable'."
        )
    return lines


def program_report(answer: DeltaAnswer, report: Report) -> Report:
    """Return a report of delta with what is said of the program."""
    model = answer.model
    if not isinstance(model, ProgramChain | ProgramInteractive):
        return report
    parts = [SEEN.get(part, part) for part in model.origin.observe.split(",")]
    seen = " and ".join([parts[0], *(part.removeprefix(f"{SEEN['output']} and ") for part in parts[1:])])
    worst = answer.worst
    found = model.origin.partings.get((worst.source, worst.target), ())
    who = "An observer" if isinstance(model, ProgramChain) else "An analyst"
    remarks = [f"{who} of {model.origin.function} sees {seen}."]
    remarks += _replay_remarks(model.origin.replayed)
    if {"instructions", "memory", "branches"}.intersection(model.origin.observe.split(",")):
        remarks.append(BEYOND)
    if isinstance(model, ProgramChain):
        replayed = model.origin.replayed
        if replayed is not None and not replayed.floats and model.cut and answer.status is Status.LIMIT:
            remarks.append(GIVES_UP)
        remarks += ratio_remarks(output_ratio(model, worst.source, worst.target))
        remarks += _clip_remarks(answer, model)
    remarks += [f"Where the two runs differ: {parting.text}." for parting in found[:MOST_PARTINGS]]
    return replace(report, remarks=(*report.remarks, *remarks))
