"""The page of limits, made of the table."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from pathlib import Path

__all__ = ["CELLS", "PAGE", "UNHELD", "cells", "page"]

CELLS = Path(__file__).with_name("cells.json")
"""What became of every cell when the page was made."""

PAGE = Path(__file__).parents[2] / "docs" / "limits.md"

NONE = "No such option"
MODEL = re.compile(r"^\S+\.(json|py:f|wasm:f): ")
"""The name of a model before what is wrong with it."""
EARLY = "the answer claims nothing yet"
STATES = "the states are those of the machine that runs the program; no definition gives their number"
UNHELD = {
    **dict.fromkeys(
        (
            (question, "time-out")
            for question in (
                "synthesise",
                "equivalence",
                "classes",
                "logic formula",
                "verify",
                "epsilon",
            )
        ),
        EARLY,
    ),
    ("show", "program that asks"): STATES,
    ("show", "bent coins"): STATES,
    ("show", "compiled code"): STATES,
}
"""Cells that are answered and held against nothing, with the reason."""

BEGIN = """# What goes together

Every command is tried with every feature of models and of questions, on small random systems. Each
combination is answered, or refused with exit code 2 and a line that says why. Tests compare every answer with
a slow computation from the definition, and they check every certificate. The end of the page lists the
answers that no test compares. `python -m tests.crossings` makes this page.

A command that stands in neither column of a feature has no option for it.

| feature | what it is | answered by | refused by |
| --- | --- | --- | --- |
"""

AFTER = """
`--rounds` and `--nature` never go together: the one is for models with an analyst, the other for chains in
intervals. If an interactive model has intervals, nature picks at every step. Then neither its picks nor what
is asked can be fixed beforehand.

## Why a command refuses

| message | feature |
| --- | --- |
"""

FEATURES: Mapping[str, tuple[str, str]] = {
    "nothing else": ("plain model", "a model without any feature below"),
    "intervals, each step": (
        "intervals, new at each step",
        "probabilities in intervals; nature picks them anew at each step",
    ),
    "intervals, fixed": ("intervals, picked once", "the same with `--nature fixed`: nature picks them once"),
    "parameters": ("parameters", "probabilities are expressions over parameters, which have no values"),
    "parameters, given": ("parameters with values", "the same with `--set`: every parameter has a value"),
    "interactive": ("interactive model", "an analyst chooses the actions"),
    "rounds": ("rounds", "an interactive model with `--rounds`"),
    "fixed rounds": (
        "rounds, fixed beforehand",
        "the same with `--fixed`: the actions are chosen beforehand",
    ),
    "cut program": ("program that is cut off", "a program with `--cut`: improbable runs are given up"),
    "program that asks": ("interactive program", "a program whose analyst chooses what to ask next"),
    "compiled code": ("compiled code", "a function of a WebAssembly module"),
    "bent coins": (
        "program with biased bits",
        "a program with `--coins`: its random bits are biased, within bounds",
    ),
    "automaton": ("automaton", "a model of kind pa, with at most one transition in a state"),
    "ends visible": ("visible ends", "`--ends visible`: an observer sees that a run has ended"),
    "ends hidden": ("hidden ends", "`--ends hidden`: an observer does not see it"),
    "missing mass": ("missing mass", "an automaton whose probabilities sum to less than 1: a run may end"),
    "merged states": ("merged states", "`--minimise`: nearly equal states are merged first"),
    "compact tables": ("compact tables", "a certificate with `--certificate-format compact`"),
    "threshold": ("threshold", "`--threshold`: only a bound is decided"),
    "precision": ("precision", "`--precision`: bounds may be so far apart"),
    "gap": ("gap", "`--gap`: the work ends once the bounds are so close"),
    "time-out": ("time limit", "`--timeout 0`: what is known without any work"),
}
"""What a reader calls a feature, and what it is."""


def cells() -> dict[str, dict[str, str]]:
    """Return by question and feature ``answered``, or why it is refused."""
    found: dict[str, dict[str, str]] = json.loads(CELLS.read_text())
    return found


def page(table: Mapping[str, Mapping[str, str]]) -> str:
    """Return the page."""
    parts, why = [BEGIN], dict[str, dict[str, None]]()
    for feature, (shown, meaning) in FEATURES.items():
        said = {question: row[feature] for question, row in table.items()}
        answered = [question for question, text in said.items() if text == "answered"]
        refused = {q: text for q, text in said.items() if text != "answered" and not text.startswith(NONE)}
        for text in refused.values():
            why.setdefault(MODEL.sub("", text).replace("|", "\\|"), {})[shown] = None
        whole = len(answered) + len(refused) == len(table)  # every command has the option
        cells = (_commands(answered, refused, whole=whole), _commands(refused, answered, whole=whole))
        parts.append(f"| {shown} | {meaning} | {' | '.join(cells)} |\n")
    parts += [AFTER, *(f"| {text} | {'; '.join(features)} |\n" for text, features in why.items())]
    parts.append("\n## Not compared\n\n| command | feature | why |\n| --- | --- | --- |\n")
    parts += [f"| `{question}` | {FEATURES[name][0]} | {why} |\n" for (question, name), why in UNHELD.items()]
    return "".join(parts)


def _commands(some: Collection[str], others: Collection[str], *, whole: bool) -> str:
    """Return the names of some commands; whole: whether there are none beside the others."""
    if whole and len(some) > len(others):
        return "all others" if others else "all"
    return ", ".join(f"`{question}`" for question in some) or "none"
