"""Answers that are disturbed are found to be false: references that never complain hold nothing."""

from __future__ import annotations

import contextlib
import io
import json
import random
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bisimdist.faces.cli.main import run
from bisimdist.reductions import nature
from bisimdist.reductions.nature import Widened
from bisimdist.reductions.step import Ways
from tests.crossings import cases, features, held, measured
from tests.crossings.__main__ import ended
from tests.crossings.cases import Case
from tests.crossings.features import FEATURES
from tests.crossings.table import cell, words_of

Answer = dict[str, Any]


def asked(question: str, feature: str, folder: Path) -> tuple[Case, Answer]:
    """Return a case, and what is answered about it."""
    case = FEATURES[feature].make(folder, random.Random(f"{feature} 0"), question)
    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        assert run([*words_of(question, feature, case, folder), "--json"]) == 0
    return case, json.loads(out.getvalue() or "{}")


def rewritten(name: str, **rows: dict[str, Any]) -> Callable[[Answer, Path], None]:
    """Return what changes rows of a file."""

    def disturb(answer: Answer, folder: Path) -> None:
        del answer
        model = json.loads((folder / name).read_text())
        model["transitions"] |= rows
        (folder / name).write_text(json.dumps(model))

    return disturb


def put(*path: str | int, value: Any) -> Callable[[Answer, Path], None]:
    """Return what puts something else into an answer."""

    def disturb(answer: Answer, folder: Path) -> None:
        del folder
        inside: Any = answer
        for key in path[:-1]:
            inside = inside[key]
        assert inside[path[-1]] != value
        inside[path[-1]] = value

    return disturb


def leave_out(name: str) -> Callable[[Answer, Path], None]:
    """Return what leaves the last entry out."""
    return lambda answer, folder: answer[name].pop() and None


DISTURBED: list[tuple[str, str, Callable[[Answer, Path], None]]] = [
    ("logic satisfies", "automaton", leave_out("satisfying")),
    ("logic satisfies", "missing mass", put("satisfying", value=["s", "t", "y"])),
    ("logic satisfies", "nothing else", put("formula", value="<1>T")),
    ("logic explain", "automaton", put("pairs", 0, "bisimilar", value=True)),
    ("logic explain", "automaton", put("pairs", 0, "formula", value="<q>T")),
    ("logic explain", "missing mass", put("pairs", 0, "trace", value=["q"])),
    ("logic formula", "nothing else", put("formula", value="rec X = <q>T & X in X")),
    ("logic formula", "missing mass", put("formula", value="<q>T")),
    ("logic traces", "automaton", put("formulae", 1, "probability", value="1/7")),
    ("logic traces", "ends visible", leave_out("formulae")),
    ("logic traces", "ends hidden", leave_out("formulae")),
    ("minimise", "automaton", lambda answer, folder: answer["classes"].pop() and None),
    ("minimise", "missing mass", rewritten("small.json", a={"u": "1"})),
    ("convert", "nothing else", rewritten("other.json", s={"x": {"u": "1"}})),
    ("convert", "interactive", rewritten("other.json", s={"X": {"a": "1"}}, t={"X": {"a": "1"}})),
    ("convert", "missing mass", rewritten("other.json", s={"x": {"n": "1"}})),
    ("show", "nothing else", put("states", value=1)),
    ("show", "nothing else", put("bisimilarity_classes", value=1)),
    ("show", "nothing else", put("strongly_connected_components", value=1)),
    ("show", "interactive", put("actions", value=1)),
    ("show", "interactive", put("transitions", value=1)),
    ("show", "automaton", put("transitions", value=1)),
    ("show", "intervals, each step", put("intervals", value=1)),
    ("show", "intervals, each step", put("vertices", value=1)),
    ("show", "parameters", put("labels", value=1)),
    ("leakage", "interactive", put("pairs", 0, "lower", value="2")),
    ("leakage", "interactive", put("pairs", 0, "upper", value="0")),
]


@pytest.mark.parametrize(
    ("question", "feature", "disturb"),
    DISTURBED,
    ids=[f"{q}-{f}-{k}" for k, (q, f, _) in enumerate(DISTURBED)],
)
def test_what_is_disturbed_is_found(
    question: str, feature: str, disturb: Callable[[Answer, Path], None], tmp_path: Path
) -> None:
    case, answer = asked(question, feature, tmp_path)
    compared = list(held.falsehoods(question, case, answer, tmp_path))
    assert compared
    assert not any(compared)
    disturb(answer, tmp_path)
    assert any(held.falsehoods(question, case, answer, tmp_path))


@pytest.mark.parametrize("feature", ["automaton", "interactive", "missing mass"])
def test_every_row_of_the_cross_check_is_held(feature: str, tmp_path: Path) -> None:
    case, answer = asked("crosscheck", feature, tmp_path)
    true = held.cross_checked(case, answer["length"])
    for row in answer["pairs"][0]["measures"]:
        assert list(measured.false_measures([row], true)) == [""], row["name"]
        wrong = [{**row, "lower": value, "upper": value} for value in ("-1", "1000000")]
        assert any(map(any, (measured.false_measures([one], true) for one in wrong))), row["name"]


def wide(folder: Path, source: random.Random) -> tuple[str, dict[str, Any]]:
    """Write a chain with a row of three vertices, which counts as one of very many here."""
    rows: dict[str, Any] = cases.random_rows(source)
    rows["s"] = dict.fromkeys("abc", (Fraction(0), Fraction(1, 2)))
    return cases.written(folder, "wide.json", cases.document(cases.LABELS, rows)), rows


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(features, "_intervals", wide)
    for name in ("models.intervals.MAX_CHOICES", "models.intervals.FEW", "models.worlds.FEW"):
        monkeypatch.setattr(f"bisimdist.{name}", 2)


@pytest.mark.usefixtures("few")
@pytest.mark.parametrize("feature", ["intervals, each step", "intervals, fixed"])
@pytest.mark.parametrize(
    "question", ["delta", *(pytest.param(name, marks=pytest.mark.slow) for name in ("bound", "leakage"))]
)
def test_rows_with_very_many_vertices(question: str, feature: str, tmp_path: Path) -> None:
    found = cell(question, feature, tmp_path, 0, ended)
    assert not found.wrong
    assert found.held


@pytest.mark.usefixtures("few")
def test_bounds_from_below_in_wider_intervals_would_be_false(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What nature does in wider intervals is no bound from below; the table finds who takes it for one."""
    apply = nature._NatureReduction.apply

    def one_way(self: Any, model: Any, question: Any) -> Ways:
        ways = apply(self, model, question)
        return Ways(ways.above, ways.above) if ways.members is None else ways

    monkeypatch.setattr(nature._NatureReduction, "apply", one_way)
    monkeypatch.setattr(Widened, "back", lambda self, claim: claim)
    assert any(cell("delta", "intervals, each step", tmp_path, seed, ended).wrong for seed in range(4))
