"""Every question with every feature, on small random systems: right, or refused with a line that says why."""

from __future__ import annotations

import random
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from bisimdist.faces.cli.main import run
from tests.crossings import held
from tests.crossings.features import FEATURES
from tests.crossings.page import PAGE, UNHELD, cells, page
from tests.crossings.table import ANSWERED, COLUMNS, QUESTIONS, Cell, cell

CELLS = [(question, feature) for question in QUESTIONS for feature in COLUMNS]


def asked(question: str, feature: str, seed: int, capsys: pytest.CaptureFixture[str]) -> Cell:
    def ended(words: list[str]) -> tuple[int, str, str]:
        capsys.readouterr()
        code = run(words)
        return (code, *capsys.readouterr())

    with TemporaryDirectory() as folder:  # messages shorten the names of longer ones
        return cell(question, feature, Path(folder), seed, ended)


@pytest.mark.parametrize(("question", "feature"), CELLS, ids=lambda word: str(word).replace(" ", "-"))
def test_a_cell(question: str, feature: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(question, feature, 0, capsys)
    assert not found.wrong
    assert found.shown == cells()[question][feature], "python -m tests.crossings writes the page anew"
    if found.shown == ANSWERED:
        assert found.held != ((question, feature) in UNHELD), "held against nothing, without a reason"


FALSE: dict[str, dict[str, Any]] = {
    "trace": {"pairs": [{"lower": "1000000", "upper": "1000000"}]},
    "secrets": {"ratio": "1", "lower": {"ratio": "1"}},
    "equivalence": {"pairs": [{"equivalent": True}]},
    "same": {"pairs": [{"equivalent": True}]},
    "metric": {"pairs": [{"ratio": "1"}]},
    "schedule": {"pairs": [{"ratio": "1", "length": 4}]},
    "classes": {"classes": [["s", "t"]]},
}


@pytest.mark.parametrize("question", FALSE)
def test_what_is_false_is_found(question: str, tmp_path: Path) -> None:
    case = FEATURES["nothing else"].make(tmp_path, random.Random(0), question)
    assert any(held.falsehoods(question, case, FALSE[question], tmp_path))


@pytest.mark.parametrize(
    ("question", "pair"),
    [
        ("delta", {"breaks": [], "pieces": ["2"]}),
        ("bound", {"verdict": "violated", "at": {"p": "1/2"}}),
        ("synthesise", {"lower": "0", "upper": "0", "at": None}),
    ],
)
def test_what_is_false_of_parameters_is_found(question: str, pair: dict[str, Any], tmp_path: Path) -> None:
    case = FEATURES["parameters"].make(tmp_path, random.Random(0), question)
    assert any(held.falsehoods(question, case, {"pairs": [pair]}, tmp_path))


def test_every_cell_that_is_held_against_nothing_has_a_reason() -> None:
    table = cells()
    assert all(table[question][feature] == ANSWERED and why for (question, feature), why in UNHELD.items())


def test_the_page_is_the_table() -> None:
    assert PAGE.read_text() == page(cells())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1, 21))
@pytest.mark.parametrize(("question", "feature"), CELLS, ids=lambda word: str(word).replace(" ", "-"))
def test_other_systems(question: str, feature: str, seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert not asked(question, feature, seed, capsys).wrong
