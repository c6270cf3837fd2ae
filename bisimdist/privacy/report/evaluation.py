"""What an evaluator has to ask about a mechanism: which hazards a page answers, how, and which not.

The rows follow the privacy hazards of NIST SP 800-226, Guidelines for Evaluating Differential Privacy
Guarantees (March 2025); the words and the order are ours.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bisimdist.errors import visible
from bisimdist.faces.shown.numbers import at_most, short_rational

if TYPE_CHECKING:
    from bisimdist.privacy.report.page import Decision

Shown = tuple[str, str]
"""What a page shows about a hazard, and what it does not; the first is empty where it shows nothing."""

MACHINE = ("instructions", "memory", "branches", "draws")
"""What an observer of compiled code may see of the machine."""


Told = Callable[["Decision", Mapping[str, Any]], Shown]


@dataclass(frozen=True, slots=True)
class Hazard:
    """A hazard, what answers it, and what one page says of it."""

    name: str
    command: str  # what answers it here, as Markdown; empty where nothing does
    proof: str
    outside: str  # what no command answers
    told: Told  # of a page, and what its proof says of a program


def _parameters(found: Decision, _: Mapping[str, Any]) -> Shown:
    worst, alpha = found.delta.worst, found.delta.alpha_upper
    said = f"delta is at most {at_most(worst.upper)} at alpha = e^epsilon = {short_rational(alpha)}"
    curve = "" if found.profile is None else "; the profile bounds delta at other levels"
    return said + curve, "whether this level protects enough: that is for people to decide"


def _neighbours(found: Decision, _: Mapping[str, Any]) -> Shown:
    pairs = [f"({bound.source}, {bound.target})" for bound in found.delta.pairs]
    more = f" and {len(pairs) - 4} more" if len(pairs) > 4 else ""
    shown = f"both directions of {', '.join(pairs[:4])}{more}"
    return shown, "that these are all neighbours, and that a neighbour is a whole person"


def _floating(_: Decision, program: Mapping[str, Any]) -> Shown:
    if "replay" in program or _compiled(program):
        replay = program.get("replay")
        assumed = replay.get("assumed", "") if isinstance(replay, dict) else ""
        shown = "the code as it is, with the doubles that its machine computes"
        return shown, f"it is assumed: {assumed}" if assumed else "hardware that departs from IEEE 754"
    if program:
        return "the function computes with integers and exact fractions: its compiler takes no floats", ""
    return "", "whether the implementation computes the exact numbers of this model"


def _side_channels(_: Decision, program: Mapping[str, Any]) -> Shown:
    seen = str(program.get("observe", "the labels"))
    shown = f"what an observer of {seen} learns"
    machine = any(name in seen for name in MACHINE)
    return (
        shown,
        "caches, power and wall-clock time" if machine else "time, memory and all that is not observed",
    )


def _implementation(_: Decision, program: Mapping[str, Any]) -> Shown:
    if not program:
        return "", "that the implementation is this model: audit tests it with samples"
    names = ", ".join(map(str, program.get("sources", {})))
    return f"the model was made of {program.get('function')} in {names}; its proof names their digests", (
        "the interpreter or runtime, and what other code does with the result"
    )


def _checked(found: Decision, _: Mapping[str, Any]) -> Shown:
    if found.checked.startswith("proved"):
        return "a checker that shares no code with the engine accepted the proof", "the checker's own code"
    return "", "the page has no proof that was checked"


_NEVER: Told = lambda *_: ("", "no part of this page is about it")  # noqa: E731

HAZARDS = (
    Hazard(
        "The parameters say too little",
        "`delta`, `profile`, `leakage`",
        "bounds on both sides, with the event that attains the lower one",
        "which level is enough",
        _parameters,
    ),
    Hazard(
        "The unit of privacy and the neighbouring relation",
        "`--pair`, `--all-pairs`, `budget`",
        "each pair is claimed by name, or all neighbours of a mechanism",
        "whether a neighbour is a person",
        _neighbours,
    ),
    Hazard(
        "Composition and the budget",
        "`compose`, `delta` of a model of several rounds",
        "a certificate of the composition; adaptive analysts are part of interactive models",
        "releases that nobody counted",
        lambda *_: ("", "what several releases lose together: compose, or a model of all of them"),
    ),
    Hazard(
        "Floating point",
        "`program` on Python as it is, and on WebAssembly",
        "the doubles of IEEE 754 are enclosed, and every comparison is exact",
        "hardware that departs from the standard",
        _floating,
    ),
    Hazard(
        "Side channels: time, memory, branches",
        "`program --observe instructions`, `memory`, `branches`",
        "delta of what such an observer sees",
        "caches, power, wall-clock time, the network",
        _side_channels,
    ),
    Hazard(
        "The implementation differs from its description",
        "`program`, `audit`, `assert_private`",
        "the certificate names the digests of the sources",
        "the interpreter, the compiler, the system",
        _implementation,
    ),
    Hazard(
        "The source of chance",
        "`program` finds draws that are not caught; `--coins` takes biased ones",
        "bounds for every bias in an interval",
        "whether a generator can be guessed",
        lambda *_: ("", "that random bits are uniform, independent and unknown to everybody: it is assumed"),
    ),
    Hazard(
        "The analysis is wrong",
        "`check`, `check --with formal`, `report --with-proof`, `attest`",
        "the proof; for distances and delta of chains the checker itself is proved",
        "the few lines that read the file",
        _checked,
    ),
    Hazard("Bias and utility", "", "", "whether the answers are useful and fair", _NEVER),
    Hazard(
        "Security of the data, access, threat model",
        "",
        "",
        "who holds the data, and whom one trusts with it",
        _NEVER,
    ),
)
"""The rows of the page for evaluators, in the documentation and in a report."""


def markdown() -> str:
    """Return the table of the documentation."""
    lines = ["| hazard | command | its proof | what stays outside |", "| --- | --- | --- | --- |"]
    lines += [f"| {row.name} | {row.command} | {row.proof} | {row.outside} |" for row in HAZARDS]
    return "\n".join(line.replace("|  |  |", "| nothing | - |") for line in lines)


def evaluated(found: Decision) -> str:
    """Return the part of a page for an evaluator: by hazard, what the page shows and what it does not."""
    said: Any = json.loads(found.proof).get("program") if found.proof else None
    program: Mapping[str, Any] = said if isinstance(said, dict) else {}
    rows = "".join(_row(hazard.name, *hazard.told(found, program)) for hazard in HAZARDS)
    return (
        "<h2>For an evaluation</h2><p>The hazards of NIST SP 800-226, for this mechanism. What stands under "
        "&ldquo;not shown&rdquo; is for the evaluator to find out by other means.</p>"
        '<div class="wide"><table><thead><tr><th>hazard</th><th>shown here</th><th>not shown</th></tr>'
        f"</thead><tbody>{rows}</tbody></table></div>"
    )


def _row(*cells: str) -> str:
    return f"<tr>{''.join(_cells(cells))}</tr>"


def _cells(cells: tuple[str, ...]) -> Iterator[str]:
    for cell in cells:
        yield f"<td>{escape(visible(cell)) or 'nothing'}</td>"


def _compiled(program: Mapping[str, Any]) -> bool:
    return any(str(name).endswith(".wasm") for name in program.get("sources", {}))
