"""``bisimdist profile`` with the real engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_json(command: Command) -> None:
    ended = command(
        "profile", "example:figure1", "--alpha", "1", "--alpha", "5/4", "--threshold", "1/20", "--json"
    )
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert [point["upper"] for point in answer["points"]] == ["1/5", "1/10"]
    assert answer["points"][1]["epsilon"] == ["0.2231435513", "0.2231435514"]
    assert answer["least"]["enough"]["ratio"] == "11/8"
    assert answer["least"]["exact"] is True
    assert answer["pairs"][0]["losses"] == [["3/5", "2/5"], ["2/5", "3/5"]]


@pytest.mark.extra("plot")
def test_table_csv_and_picture(command: Command, tmp_path: Path) -> None:
    table, picture = tmp_path / "profile.csv", tmp_path / "profile.svg"
    ended = command(
        "profile",
        "example:leaky-retry",
        *("--points", "5", "--csv", table, "--plot", picture, "--log", "--trade-off"),
        *("--threshold", "1/100"),  # a tie at epsilon = 0
    )
    assert ended.code == 0
    assert "delta (exact)" in ended.out
    assert "ln(1) <= 0" in ended.out
    assert len(table.read_text().splitlines()) == 6
    assert picture.read_text().startswith("<?xml")


def test_runs(command: Command) -> None:
    ask = ("profile", "example:randomised-response", "--alpha", "2", "--json")
    once = json.loads(command(*ask).out)["points"][0]["upper"]
    twice = json.loads(command(*ask, "--runs", "2").out)["points"][0]["upper"]
    assert (once, twice) == ("1/4", "7/16")


def test_a_limit(command: Command) -> None:
    ended = command(
        "profile", "example:random,states=30,seed=1", "--pair", "s0", "s3", "--timeout", "1", "--json"
    )
    assert ended.code in {0, 3}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("--alpha", "0.5"), "at least 1"),
        (("--jobs", "0"), "--jobs"),
        (("--points", "1"), "points"),
        (("--plot", "x.gif"), "x.gif"),
        (("--log",), "--plot"),
        (("--threshold", "2"), "--threshold"),
        (("--to", "0"), "--to"),
        (("--runs", "0"), "runs"),
        (("--pair", "s0", "nobody"), "nobody"),
    ],
)
def test_refused(command: Command, arguments: tuple[str, ...], word: str) -> None:
    command("profile", "example:figure1", *arguments).assert_refused(word)


def test_a_missing_library_is_one_line(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    command("profile", "example:figure1", "--plot", tmp_path / "x.svg").assert_refused("bisimdist[plot]")


def test_what_is_known_from_the_start(command: Command) -> None:
    words = ("--alpha", "3", "--alpha", "2", "--timeout", "0", "--json")
    ended = command("profile", "example:random,states=30,seed=1", "--pair", "s0", "s3", *words)
    found = json.loads(ended.out)
    assert (ended.code, found["status"]) == (3, "limit")
    assert [(point["alpha"], point["lower"], point["upper"]) for point in found["points"]] == [
        ("2", "0", "1"),
        ("3", "0", "1"),
    ]
