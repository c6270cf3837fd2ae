"""Two programs against each other, and a program against a model."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Command, command  # noqa: F401  (a fixture)

PROGRAM = """
def early(x, rng, n=3):
    k = 0
    while k < n and rng.randrange(2):
        k += 1
    return x + k

def always(x, rng, n=3):
    k, going = 0, True
    for _ in range(n):
        going = rng.randrange(2) == 1 and going
        k += going
    return x + k

def endless(x, rng):
    k = 0
    while rng.randrange(2):
        k += 1
    return x + k

def asks(x, rng, analyst):
    return analyst.choose(["a", "b"])

def tells(x, rng, analyst):
    which = analyst.choose(["a", "b"])
    analyst.tell(x if rng.flip("3/4") else 1 - x)

def tells_more(x, rng, analyst):
    which = analyst.choose(["a", "b"])
    analyst.tell(x if which == "b" or rng.flip("3/4") else 1 - x)
"""

ASKED = """
kind: interactive
states: {s: start, zero: '0', one: '1'}
transitions: {s: {ask: {zero: 1/2, one: 1/2}}, zero: {}, one: {}}
pairs: [[s, s]]
"""

MODEL = """
kind: lmc
states: {s: start, zero: '0', one: '1'}
transitions: {s: {zero: 1/2, one: 1/2}, zero: {zero: 1}, one: {one: 1}}
pairs: [[s, zero]]
"""


@pytest.fixture
def named(tmp_path: Path) -> str:
    (tmp_path / "program.py").write_text(PROGRAM)
    (tmp_path / "model.yaml").write_text(MODEL)
    return str(tmp_path / "program.py")


def answer(command: Command, *words: str) -> Any:  # noqa: F811
    ended = command("program" if ".py" in words[0] else "delta", *words, "--json")
    assert ended.code == 0, ended
    return json.loads(ended.out)


def test_programs_that_return_alike_draw(command: Command, named: str, tmp_path: Path) -> None:  # noqa: F811
    asked = (f"{named}:early", "--against", f"{named}:always", "--input", "0", "--input", "5", "--alpha", "1")
    proof = tmp_path / "proof.json"
    found = answer(command, *asked, "--certificate", str(proof))
    assert [(pair["from"], pair["to"], pair["upper"]) for pair in found["pairs"]] == [
        ("first:0", "second:0", "0"),
        ("first:5", "second:5", "0"),
    ]
    assert found["program"]["function"] == "early against always"
    assert len(found["program"]["sources"]) == 2
    assert command("check", proof).code == 0
    drawn = answer(command, *asked, "--observe", "draws")
    assert [pair["upper"] for pair in drawn["pairs"]] == ["3/4", "3/4"]  # one or two draws are too few
    other = answer(command, *asked, "--pair", "0", "5")
    assert [(pair["from"], pair["to"], pair["upper"]) for pair in other["pairs"]] == [
        ("first:0", "second:5", "1")
    ]


def test_what_is_cut_off_is_allowed_for(command: Command, named: str, tmp_path: Path) -> None:  # noqa: F811
    proof = tmp_path / "proof.json"
    asked = (f"{named}:early", "--against", f"{named}:endless", "--input", "0", "--alpha", "1")
    (pair,) = answer(command, *asked, "--cut", "1e-6", "--certificate", str(proof))["pairs"]
    assert Fraction(pair["lower"]) <= Fraction(1, 16) <= Fraction(pair["upper"])  # 3 instead of more
    assert Fraction(pair["upper"]) - Fraction(pair["lower"]) < Fraction(1, 10**4)
    assert command("check", proof).code == 0


def test_a_program_against_a_model(command: Command, named: str, tmp_path: Path) -> None:  # noqa: F811
    model = str(tmp_path / "model.yaml")
    (pair,) = answer(
        command, f"{named}:early", "--against", model, "--input", "0", "--pair", "0", "s", "--alpha", "1"
    )["pairs"]
    assert (pair["from"], pair["to"], pair["upper"]) == ("first:0", "second:s", "1/4")
    (pair,) = answer(command, model, "--against", f"{named}:early", "--input", "0", "--alpha", "1")["pairs"]
    assert (pair["from"], pair["to"], pair["upper"]) == ("first:s", "second:0", "1/4")


def test_programs_that_ask(command: Command, named: str, tmp_path: Path) -> None:  # noqa: F811
    proof = tmp_path / "proof.json"
    other = (f"{named}:tells", "--against", f"{named}:tells_more", "--input", "1")
    found = answer(command, *other, "--alpha", "1", "--certificate", str(proof))
    (pair,) = found["pairs"]
    assert (pair["from"], pair["to"], pair["upper"]) == ("first:1", "second:1", "1/4")  # ask b: 3/4, 1
    assert found["program"]["function"] == "tells against tells_more"
    assert command("check", proof).code == 0
    for asked, far in ("'a'", "0"), ("'b'", "1/4"):
        ended = command("leakage", *other, "--measure", "tv", "--ask", asked, "--json")
        assert json.loads(ended.out)["pairs"][0]["upper"] == far


def test_interactive_models_against_each_other(command: Command, tmp_path: Path) -> None:  # noqa: F811
    one, other, third = (tmp_path / f"{name}.yaml" for name in "abc")
    one.write_text(ASKED)
    other.write_text(ASKED.replace("1/2", "1/3", 1).replace("1/2", "2/3", 1))
    third.write_text(ASKED.replace("ask", "look"))
    ended = command("delta", one, "--against", other, "--alpha", "1", "--json")
    assert json.loads(ended.out)["pairs"][0]["upper"] == "1/6"
    command("delta", one, "--against", third, "--alpha", "1").assert_refused("the same actions for one label")


def test_what_cannot_be_compared_is_refused(command: Command, named: str, tmp_path: Path) -> None:  # noqa: F811
    model, given = str(tmp_path / "model.yaml"), ("--input", "0", "--input", "1", "--alpha", "1")
    early = f"{named}:early"
    command("delta", early, "--against", model, *given).assert_refused("start from, 2 and 1")
    command("delta", early, "--against", early, *given, "--neighbours", "one").assert_refused("one program")
    command("delta", early, "--against", f"{named}:asks", *given).assert_refused("interactive")
    command("delta", early, "--against", early, *given, "--hide-silent").assert_refused("files of models")
    command("delta", early, "--against", f"{named}:missing", *given).assert_refused("missing")
    command("delta", f"{named}:endless", "--against", model, *given, "--cut", "1e-3").assert_refused("--cut")
