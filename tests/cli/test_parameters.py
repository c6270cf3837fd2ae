"""The command line on chains with parameters: functions, bounds for all values, best values, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command

RING = "example:dining-cryptographers,n=4,bias=p"
TWO = """
kind: lmc
parameters: {p: [0, 1], q: [0, 1]}
states: {s: a, t: a, y: y, n: n}
transitions: {s: {y: p, n: 1-p}, t: {y: q, n: 1-q}, y: {y: 1}, n: {n: 1}}
pairs: [[s, t]]
"""


@pytest.fixture
def two(tmp_path: Path) -> str:
    path = tmp_path / "two.yaml"
    path.write_text(TWO)
    return str(path)


def test_a_function_of_a_parameter(command: Command, tmp_path: Path) -> None:
    proof, table = tmp_path / "proof.json", tmp_path / "pairs.csv"
    ended = command(
        "delta", RING, "--alpha", "1", "--over", "p", "--json", "--certificate", proof, "--csv", table
    )
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert answer["over"] == "p"
    assert answer["range"] == ["0", "1"]
    assert answer["pairs"] == [
        {"from": "payer0", "to": "payer1", "breaks": [], "pieces": ["-8*p^4 + 16*p^3 - 6*p^2 - 2*p + 1"]}
    ]
    assert table.read_text().startswith("from,to,")
    ended = command("check", proof, RING, "--json")
    assert ended.code == 0
    (claim,) = json.loads(ended.out)["claim"]
    assert claim["pieces"] == ["-8*p^4 + 16*p^3 - 6*p^2 - 2*p + 1"] * (len(claim["breaks"]) + 1)
    part = command("delta", RING, "--alpha", "11/10", "--over", "p in [1/4, 1/2]")
    assert "1/4 to 0.390891..." in part.out


@pytest.mark.extra("plot")
def test_it_is_drawn(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "curve.svg"
    assert command("delta", RING, "--alpha", "1", "--over", "p", "--plot", path).code == 0
    assert path.read_text().startswith("<?xml")


def test_for_all_values(command: Command, two: str, tmp_path: Path) -> None:
    ask = ("delta", two, "--alpha", "1", "--json")
    box = ("--for-all", "p in [1/4, 1/2]", "--for-all", "q in [1/3,1/2]")
    held = command(*ask, *box, "--threshold", "1/4")
    assert held.code == 0
    assert json.loads(held.out)["for_all"] == {"p": ["1/4", "1/2"], "q": ["1/3", "1/2"]}
    proof = tmp_path / "proof.json"
    broken = command(*ask, *box, "--threshold", "1/10", "--certificate", proof)
    assert broken.code == 1
    assert set(json.loads(broken.out)["pairs"][0]["at"]) == {"p", "q"}
    assert command("check", proof, two).code == 0
    assert json.loads(command(*ask, "--for-all", "p", "--threshold", "1").out)["for_all"]["q"] == ["0", "1"]
    late = command(*ask, *box, "--threshold", "1/4", "--timeout", "0")
    assert late.code == 3
    assert json.loads(late.out)["pairs"][0]["verdict"] == "unknown"
    distance = command("bound", two, "--alpha", "1", *box, "--threshold", "1/4", "--json")
    assert json.loads(distance.out)["distance"] == "bd"
    assert distance.code == 0


def test_the_best_value(command: Command, tmp_path: Path) -> None:
    ask = ("synthesise", RING, "--alpha", "1", "--parameter", "p", "--maximise", "(1-2*p)^2")
    proof = tmp_path / "proof.json"
    ended = command(*ask, "--subject-to", "delta <= 1/100", "--json", "--certificate", proof)
    assert ended.code == 0
    answer = json.loads(ended.out)
    assert answer["status"] == "bracket"
    assert answer["pairs"][0]["polynomial"] == "50*x^2 - 150*x + 1"
    assert command("check", proof, RING).code == 0
    some = command(*ask, "--subject-to", "delta<=1/4", "--gap", "1/10")
    assert "attained with p =" in some.out
    command(*ask, "--subject-to", "bd <= 1/4").assert_refused("such as 'delta <= 1/100'")
    command(*ask, "--subject-to", "delta <= small").assert_refused("'small' is not an exact number")
    command(*ask[:-1], "1/q", "--subject-to", "delta <= 1/4").assert_refused("'q' is not declared")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("delta", "--over", "p"), "--over: expected an exact alpha"),
        (("delta", "--over", "q", "--alpha", "1"), "--over q: the parameters of the model are p"),
        (("delta", "--over", "p in 1/2", "--alpha", "1"), "such as 'p' or 'p in [1/4, 1/2]'"),
        (("delta", "--over", "p in [x, 1]", "--alpha", "1"), "--over: 'x' is not an exact number"),
        (("delta", "--over", "p in [1/2, 2]", "--alpha", "1"), "both from 0 to 1"),
        (("delta", "--over", "p", "--alpha", "1", "--gap", "1/2"), "--gap: says nothing of all values"),
        (("delta", "--over", "p", "--alpha", "1", "--plot", "curve.txt"), "--plot curve.txt: expected"),
        (
            ("delta", "--plot", "curve.svg", "--alpha", "1"),
            "--plot: draws delta as a function of a parameter",
        ),
        (
            ("delta", "--for-all", "p", "--alpha", "1"),
            "--for-all: expected an exact alpha (--alpha A) and a --thr",
        ),
        (
            ("delta", "--for-all", "q", "--alpha", "1", "--threshold", "1"),
            "--for-all q: the parameters are p",
        ),
        (("delta", "--for-all", "q in [0, 1]", "--alpha", "1", "--threshold", "1"), "no parameter 'q'"),
        (("delta", "--for-all", "p", "--for-all", "p", "--alpha", "1", "--threshold", "1"), "each once"),
        (
            ("bound", "--for-all", "p", "--alpha", "1", "--threshold", "1", "--distance", "lbd"),
            "is for the distance bd",
        ),
        (
            ("bound", "--for-all", "p", "--alpha", "1", "--threshold", "1", "--quotient"),
            "--quotient: says nothing",
        ),
        (("delta", "--alpha", "1"), "the model has the parameters p"),
    ],
)
def test_what_is_refused(command: Command, words: tuple[str, ...], said: str) -> None:
    command(words[0], RING, *words[1:]).assert_refused(said)


def test_models_without_or_with_more_parameters(command: Command, two: str) -> None:
    command("delta", "example:figure1", "--alpha", "1", "--over", "p").assert_refused(
        "expected a chain (kind lmc) with some"
    )
    command("delta", two, "--alpha", "1", "--over", "p").assert_refused("expected the only one (--set gives")
    fixed = command("delta", two, "--alpha", "1", "--over", "p", "--set", "q=1/2", "--json")
    assert json.loads(fixed.out)["pairs"][0]["breaks"] == [
        {"polynomial": "2*p - 1", "low": "1/2", "high": "1/2"}
    ]
    ask = ("--alpha", "1", "--parameter", "p", "--maximise", "p", "--subject-to", "delta <= 1/4")
    command("synthesise", two, *ask).assert_refused("--parameter p: the parameters of the model are p, q")
    best = command("synthesise", two, *ask, "--set", "q=1/2", "--json")
    assert json.loads(best.out)["pairs"][0]["upper"] == "3/4"
