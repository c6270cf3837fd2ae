"""``bisimdist epsilon``: the exact least budgets, what is printed, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.checker.claims.hmm_budget import check_document
from bisimdist.errors import LimitError
from bisimdist.faces.shown.answer import FORMAT
from tests.cli.conftest import Command

ENDLESS = """\
kind: hmm
observations: [x, y]
states: {s: {x: 1}, t: {y: 1}}
transitions: {s: {s: 1}, t: {t: 1}}
distributions: {pi: {s: 1/2, t: 1/2}, tau: {t: 1}}
pairs: [[pi, tau], [pi, pi]]
"""


def test_the_json_answer_is_exactly_this(command: Command) -> None:
    ended = command("epsilon", "example:geometric", "--length", "1", "--pair", "0", "1", "--json")
    assert (ended.code, ended.err) == (0, "")
    data = json.loads(ended.out)
    assert data.pop("model")["states"] == 3
    assert data == {
        **FORMAT,
        "command": "epsilon",
        "length": 1,
        "up_to": False,
        "pairs": [
            {
                "from": "0",
                "to": "1",
                "ratio": "2",
                "epsilon": ["0.69314", "0.69315"],
                "exact": True,
                "witness": ["0"],
                "probabilities": ["2/3", "1/3"],
            }
        ],
    }


def test_an_infinite_budget_and_a_trivial_one(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(ENDLESS)
    proof = tmp_path / "proof.json"
    ended = command("epsilon", path, "--length", "3", "--json", "--certificate", proof)
    assert ended.code == 0
    first, second = json.loads(ended.out)["pairs"]
    assert (first["ratio"], first["epsilon"]) == ("inf", "inf")
    assert first["witness"] == ["x", "x", "x"]
    assert first["probabilities"] == ["1/2", "0"]
    assert (second["ratio"], second["epsilon"]) == ("1", ["0", "0"])
    report = check_document(json.loads(proof.read_text()), None)
    assert report.valid, report.reason
    assert "inf" in command("epsilon", path, "--length", "3").out


@pytest.mark.parametrize(
    ("variant", "adjacency", "ratio"),
    [("naive", "all", "8"), ("improved", "all", "24/7"), ("improved", "one", "40/21")],
)
def test_the_largest_budget_of_noisy_max(command: Command, variant: str, adjacency: str, ratio: str) -> None:
    name = f"example:noisy-max,variant={variant},adjacency={adjacency}"
    ended = command("epsilon", name, "--length", "1", "--json")
    assert ended.code == 0
    found = {pair["ratio"]: pair["epsilon"] for pair in json.loads(ended.out)["pairs"]}
    assert ratio in found
    if ratio == "24/7":
        assert found[ratio] == ["1.2321", "1.2322"]


def test_above_threshold_at_length_fifty(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "proof.json"
    ended = command("epsilon", "example:above-threshold", "--length", "50", "--certificate", path)
    assert ended.code == 0
    assert "16777216" in ended.out
    assert check_document(json.loads(path.read_text()), None).valid


def test_a_limit_leaves_a_lower_bound(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*arguments: object, **options: object) -> None:
        raise LimitError("the time limit was reached")

    monkeypatch.setattr("bisimdist.budgets.verify.ask.least_ratio", never)
    monkeypatch.setattr("bisimdist.budgets.verify.ask.GRACE", 60.0)  # a busy machine needs more
    ended = command(
        "epsilon", "example:above-threshold", "--length", "10", "--json", "--certificate", "/dev/null"
    )
    assert ended.code == 3
    (pair,) = json.loads(ended.out)["pairs"]
    assert (pair["ratio"], pair["epsilon"], pair["exact"]) == (None, None, False)
    assert pair["at_least"] == "16"
    assert "at least 16" in command("epsilon", "example:above-threshold", "--length", "10").out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("example:geometric",), ("--length",)),
        (("example:geometric", "--length", "-3"), ("length is -3",)),
        (("example:geometric", "--length", "3"), ("mean nothing",)),
        (("example:geometric", "--length", "1", "--pair", "0", "x"), ("distribution 'x'",)),
        (("example:figure1", "--length", "1"), ("expected a hidden Markov model",)),
    ],
)
def test_what_is_not_usable_is_refused(
    command: Command, arguments: tuple[str, ...], words: tuple[str, ...]
) -> None:
    command("epsilon", *arguments).assert_refused(*words)
