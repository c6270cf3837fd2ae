"""A small random system, how it is given to a command, and what is true of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.crossings import truths
from tests.crossings.logics import System

ALPHA = Fraction(5, 4)
ONE = Fraction(1)
SLACK = 1e-7
"""What a reference in doubles may be wrong by."""

LABELS = {"s": "q", "t": "q", "a": "1", "b": "1", "c": "2", "u": "e", "v": "e", "y": "Y", "n": "N"}
AFTER = {"s": "abc", "t": "abc", "a": "uv", "b": "uv", "c": "uv", "u": "yn", "v": "yn"}

Range = tuple[float, float]
"""Between what a true value lies."""


@dataclass(frozen=True)
class Case:
    """A model, how it is given to a command, and what is true of its pair.

    ``delta`` and ``distance`` say between what the true values lie, ``words`` how likely words are from a
    state; None where nothing is known of them.
    """

    arguments: tuple[str, ...]
    options: tuple[str, ...] = ()
    delta: Callable[[Fraction], Range] | None = None
    distance: Callable[[Fraction], Range] | None = None
    words: Callable[[str], Mapping[tuple[str, ...], Fraction]] | None = None
    at: Callable[[Fraction], Case] | None = None
    """What is true where the parameter has a value."""
    system: System | None = None
    """What states perform, where nobody chooses and all is known."""
    moves: truths.Moves | None = None
    """What an analyst may ask, where one does."""
    pair: tuple[str, str] = ("s", "t")

    @property
    def ratio(self) -> Callable[[int | None], Fraction | float] | None:
        """The largest ratio of the probabilities of a word, of one length or of any."""
        words = self.words
        if words is None:
            return None
        first, second = map(words, self.pair)
        return lambda length: truths.largest_ratio(first, second, length)


@dataclass(frozen=True)
class Feature:
    """What is crossed with every question.

    ``asks`` is by command what is said for it; None stands for any command.
    """

    name: str
    make: Callable[[Path, random.Random, str], Case]
    asks: Mapping[str | None, tuple[str, ...]] = field(default_factory=dict)


def random_row(source: random.Random, targets: str) -> dict[str, Fraction]:
    parts = [source.choice((0, 1, 1, 2, 3)) for _ in targets]
    parts[source.randrange(len(parts))] += 1
    return {t: Fraction(part, sum(parts)) for t, part in zip(targets, parts, strict=True) if part}


def random_rows(source: random.Random) -> dict[str, dict[str, Fraction]]:
    return {state: random_row(source, after) for state, after in AFTER.items()}


def row_text(row: Mapping[str, Any]) -> dict[str, Any]:
    return {t: [str(e) for e in p] if isinstance(p, tuple) else str(p) for t, p in row.items()}


def written(folder: Path, name: str, model: Mapping[str, object]) -> str:
    path = folder / name
    path.write_text(json.dumps(model))
    return str(path)


def document(labels: Mapping[str, str], rows: Mapping[str, Any], **more: object) -> dict[str, object]:
    ends = {state: {state: "1"} for state in labels if state not in rows}
    moves = {state: row_text(row) for state, row in rows.items()}
    return {"kind": "lmc", **more, "states": labels, "transitions": moves | ends, "pairs": [["s", "t"]]}


def without_choice(rows: Mapping[str, Mapping[str, Fraction]]) -> truths.Moves:
    return {state: {"": row} for state, row in rows.items()}


def true_of_chain(
    moves: truths.Moves, labels: Mapping[str, str] = LABELS
) -> tuple[Callable[[Fraction], Range], Callable[[Fraction], Range]]:
    """Return what is true of a chain: its delta, and its distance."""

    def delta(alpha: Fraction) -> Range:
        value = float(truths.delta_of(labels, moves, ("s", "t"), alpha))
        return value, value

    def distance(alpha: Fraction) -> Range:
        def facing(i: str, j: str) -> list[tuple[Any, Any]]:
            return [(moves[i][""], moves[j][""])] if i in moves and j in moves else []

        value = truths.distance(labels, ("s", "t"), alpha, facing)
        return value, value

    return delta, distance


def word_laws(
    moves: truths.Moves, *, ends: bool | None = None
) -> Callable[[str], Mapping[tuple[str, ...], Fraction]]:
    return lambda state: truths.words(LABELS, moves, state, ends=ends)


def for_ever(rows: Mapping[str, Mapping[str, Fraction]]) -> System:
    """Return the system whose states perform their labels, for ever in the end."""
    return {state: (label, rows.get(state, {state: ONE})) for state, label in LABELS.items()}
