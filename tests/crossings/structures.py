"""Models that were shown, written in another form or made smaller, counted and compared by hand."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.crossings import truths
from tests.crossings.logics import System, bisimilar

__all__ = ["false_conversion", "false_counts", "false_merging"]

STOPPED, END, ENDED = "(stop)", "(end)", "(ended)"
SLACK = 1e-7


def false_counts(path: Path, system: System | None, answer: Mapping[str, Any]) -> Iterator[str]:
    """Count states, transitions and the like in the file."""
    model = json.loads(path.read_text())
    steps = model["transitions"]
    rows = [step["to"] for step in steps] if isinstance(steps, list) else list(steps.values())
    counts = {"states": len(model["states"]), "transitions": sum(map(len, rows))}
    if model["kind"] == "pa":
        counts |= {"transitions": len(rows), "actions": len({step["action"] for step in steps})}
    else:
        counts["labels"] = len(set(model["states"].values()))
    if model["kind"] == "interactive":
        counts["transitions"] = sum(len(row) for moves in rows for row in moves.values())
        counts["actions"] = len({action for moves in rows for action in moves})
    entries = [p for row in rows for p in row.values()]
    if any(isinstance(p, list) for p in entries):
        boxes = [{target: _ends(p) for target, p in row.items()} for row in rows]
        counts["intervals"] = sum(isinstance(p, list) and p[0] != p[1] for p in entries)
        counts["vertices"] = max(len(truths.vertices(box)) for box in boxes)
    if system is not None and model["kind"] == "lmc":
        counts["bisimilarity_classes"] = len(set(bisimilar(system).values()))
        counts["strongly_connected_components"] = len(system)  # nothing goes round in more than one state
    for name, count in counts.items():
        yield (
            "" if answer.get(name) == count else f"there are {answer.get(name)} {name}, where {count} is true"
        )


def _ends(value: Any) -> tuple[Fraction, Fraction]:
    low, high = value if isinstance(value, list) else (value, value)
    return Fraction(low), Fraction(high)


def read(path: Path) -> tuple[dict[str, str], dict[str, dict[str, dict[str, Fraction]]]]:
    """Return labels and moves of a chain or of an interactive model in a file."""
    model = json.loads(path.read_text())
    moves = {
        state: {
            action: {target: Fraction(p) for target, p in row.items()}
            for action, row in (step.items() if model["kind"] == "interactive" else [("", step)])
        }
        for state, step in model["transitions"].items()
    }
    return model["states"], moves


def false_conversion(
    path: Path, pair: tuple[str, str], alpha: Fraction, delta: tuple[float, float]
) -> Iterator[str]:
    """Read an interactive model back, whose delta has to be that of the given one."""
    labels, moves = read(path)
    true = float(truths.delta_asked(labels, moves, pair, alpha, rounds=6))
    low, high = delta
    yield "" if low - SLACK <= true <= high + SLACK else f"delta of what was written is {true}, not {low}"


def false_merging(
    path: Path, system: System, answer: Mapping[str, Any], pair: tuple[str, str]
) -> Iterator[str]:
    """Demand that classes hold every state once, and that the loss is at least the distance of the pair."""
    members = sorted(state for group in answer["classes"] for state in group)
    if members != sorted({*system, *(state for state in members if state in {END, ENDED})}):
        yield f"the classes hold {members}"
        return
    labels, moves = read(path)
    both = {f"small {state}": label for state, label in labels.items()}
    rows = {f"small {state}": {f"small {t}": p for t, p in row[""].items()} for state, row in moves.items()}
    one, zero = Fraction(1), Fraction(0)
    lost = {s: 1 - sum(row.values(), zero) for s, (action, row) in system.items() if action is not None}
    seen = any(lost.values())  # then an end is one step, and what comes after it another
    both |= {END: END, ENDED: STOPPED}
    rows |= {END: {ENDED: one}, ENDED: {ENDED: one}}
    for state, (action, row) in system.items():
        if action is None:
            both[state], rows[state] = (END, {ENDED: one}) if seen else (STOPPED, {state: one})
        else:
            both[state], rows[state] = action, {**row, **({END: lost[state]} if lost[state] else {})}
    for state in pair:
        (group,) = (group for group in answer["classes"] if state in group)
        (name,) = (name for name in group if name in labels)
        far = truths.distance(both, (state, f"small {name}"), one, lambda i, j: [(rows[i], rows[j])])
        fits = far <= float(Fraction(answer["loss"])) + SLACK
        yield "" if fits else f"{state} is {far} from {name}, where at most {answer['loss']} is lost"
