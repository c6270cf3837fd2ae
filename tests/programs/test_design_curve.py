"""What a program releases, rounded to one grid or another: a row for each, and one verdict over all."""

from __future__ import annotations

import csv
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from bisimdist.faces.cli.main import run

UNIFORM = "def f(x, rng):\n    return x / 16 + rng.random()\n"
"""Rounded to 2^-k, 0 and 1 differ in a sixteenth of the mass as soon as the grid shows it."""


def asked(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: object, code: int = 0) -> str:
    file = folder / "program.py"
    file.write_text(UNIFORM)
    inputs = ("--input", "0", "--input", "1", "--alpha", "1")
    assert run(["program", f"{file}:f", *inputs, *map(str, arguments)]) == code
    return capsys.readouterr().out


def rounds(*grids: str) -> tuple[str, ...]:
    return tuple(word for grid in grids for word in ("--round", grid))


def overlap(grid: Fraction) -> Fraction:
    """Return delta at alpha 1 by going through 16 steps of the uniform law, all of them exact."""
    step = Fraction(1, 1 << 10)
    laws: list[dict[int, Fraction]] = [{}, {}]
    for x, law in enumerate(laws):
        for k in range(1 << 10):  # values k·step up to less than (k + 1)·step: in one cell of the grid each
            cell = (2 * (Fraction(x, 16) + k * step) + grid) // (2 * grid)
            law[cell] = law.get(cell, Fraction(0)) + step
    zero = Fraction(0)
    return sum((max(zero, p - laws[1].get(cell, zero)) for cell, p in laws[0].items()), zero)


def test_every_grid_has_a_row_and_the_verdict_is_over_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    grids = ("1/2", "1/16", "1/64")
    answer: Any = json.loads(asked(capsys, tmp_path, *rounds(*grids), "--json"))
    assert [row["grid"] for row in answer["rounded"]] == list(grids)
    for row, grid in zip(answer["rounded"], grids, strict=True):
        assert abs(Fraction(row["upper"]) - overlap(Fraction(grid))) < Fraction(1, 1 << 40)
    assert "verdict" not in answer["rounded"][0]
    for order in (grids[1:], grids[:0:-1]):  # the last grid counts as the first does
        answer = json.loads(
            asked(capsys, tmp_path, *rounds(*order), "--threshold", "1/1000", "--json", code=1)
        )
        assert answer["verdict"] == "violated"
        assert {row["claimed"] for row in answer["rounded"]} == {"1/1000"}
    answer = json.loads(asked(capsys, tmp_path, *rounds(*grids[:2]), "--threshold", "1/8", "--json"))
    assert answer["verdict"] == "holds"
    assert [row["verdict"] for row in answer["rounded"]] == ["holds"] * 2


@pytest.mark.parametrize("grids", [("1/64", "4"), ("4", "1/64")])
def test_one_grid_that_is_violated_decides(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], grids: tuple[str, ...]
) -> None:
    """All is rounded to 0 by the grid 4."""
    text = asked(capsys, tmp_path, *rounds(*grids), "--threshold", "1/17", code=1)
    assert text.splitlines()[0].endswith("of what is rounded to a grid: at most 1/17?")
    assert (text.count(" violated"), text.count(" holds")) == (1, 1)
    assert "What follows is about the grid 1/64." in text


def test_the_curve_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "curve.csv"
    asked(capsys, tmp_path, *rounds("1/4", "1/16"), "--threshold", "1/8", "--csv", table)
    rows = list(csv.DictReader(table.read_text().splitlines()))
    assert [row["grid"] for row in rows] == ["1/4", "1/16"]
    assert {row["verdict"] for row in rows} == {"holds"}


@pytest.mark.extra("plot")
def test_the_curve_is_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drawn = tmp_path / "curve.svg"
    asked(capsys, tmp_path, *rounds("1/4", "1/16"), "--threshold", "1/8", "--plot", drawn)
    assert "rounded to a grid" in drawn.read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((*rounds("1/4", "1/16"), "--certificate", "proof.json"), "give --round once"),
        (("--plot", "curve.svg"), "--round"),
        ((*rounds("1/4"), "--plot", "curve.txt"), "expected a file name that ends in"),
    ],
)
def test_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: str
) -> None:
    file = tmp_path / "program.py"
    file.write_text(UNIFORM)
    assert run(["program", f"{file}:f", "--input", "0", "--input", "1", "--alpha", "1", *arguments]) == 2
    assert said in capsys.readouterr().err
