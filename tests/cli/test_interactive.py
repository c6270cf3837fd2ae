"""Interactive models on the command line: what an analyst gains, its strategy, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from xml.etree import ElementTree

import pytest

from bisimdist.models.library.programs import asked
from tests.cli.conftest import Command

MODEL = """
kind: interactive
states: {s: q, t: q, yes: y, no: n}
transitions:
  s: {X: {yes: 3/4, no: 1/4}, Y: {yes: 5/8, no: 3/8}}
  t: {X: {yes: 1/2, no: 1/2}, Y: {yes: 7/8, no: 1/8}}
  yes: {}
  no: {}
pairs: [[s, t]]
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "asked.yaml"
    path.write_text(MODEL)
    return str(path)


def test_delta_answers_with_the_strategy(command: Command, model: str, tmp_path: Path) -> None:
    proof = str(tmp_path / "proof.json")
    ended = command("delta", model, "--alpha", "3/2", "--rounds", "1", "--json", "--certificate", proof)
    answer = json.loads(ended.out)
    (pair,) = answer["pairs"]
    assert (pair["lower"], pair["upper"], pair["exact"]) == ("3/16", "3/16", True)
    assert pair["directions"] == [["3/16", "3/16"], ["1/8", "1/8"]]
    assert pair["witness"] == {
        "from": "s",
        "to": "t",
        "probabilities": ["3/8", "1/8"],
        "event": {"root": 0, "nodes": [{"then": {"q": 1}}, {"ask": "Y", "then": {"n": "accept"}}]},
    }
    assert (answer["rounds"], answer["analyst"]) == (1, "adaptive")
    assert command("check", proof, model).code == 0
    assert "(1) ask Y: n -> convinced" in command("delta", model, "--alpha", "3/2").out


def test_fixed_and_without_rounds(command: Command, model: str, tmp_path: Path) -> None:
    proof = str(tmp_path / "proof.json")
    asked = ("delta", model, "--alpha", "2", "--rounds", "2", "--fixed")
    fixed = json.loads(command(*asked, "--json", "--certificate", proof).out)
    checked = command("check", proof, model)
    assert checked.code == 0
    assert "fixed sequences" in checked.out
    (claim,) = json.loads(command("check", proof, model, "--json").out)["claim"]
    assert (claim["quantity"], claim["rounds"], claim["upper"]) == ("delta of fixed sequences", 2, "1/8")
    assert (fixed["analyst"], fixed["pairs"][0]["upper"], fixed["status"]) == ("fixed", "1/8", "exact")
    free = json.loads(command("delta", model, "--alpha", "2", "--json").out)
    assert (free["rounds"], free["pairs"][0]["lower"]) == (None, "1/8")


def test_bound_compare_profile_and_show(command: Command, model: str, tmp_path: Path) -> None:
    proof = str(tmp_path / "proof.json")
    answer = json.loads(command("bound", model, "--alpha", "2", "--json", "--certificate", proof).out)
    assert answer["pairs"][0] | {"upper": "1/8", "exact": True, "distance": "bd"} == answer["pairs"][0]
    assert command("check", proof, model).code == 0
    compared = json.loads(command("compare", model, "--alpha", "2", "--rounds", "1", "--json").out)
    assert not compared["violated"]
    asked = json.loads(command("profile", model, "--threshold", "1/8", "--rounds", "1", "--json").out)
    few, enough = (Fraction(asked["least"][side]["ratio"]) for side in ("not_enough", "enough"))
    assert Fraction(1999999, 10**6) < few < 2 <= enough < Fraction(2000001, 10**6)
    curve = json.loads(command("profile", model, "--alpha", "1", "--alpha", "2", "--json").out)
    assert [point["upper"] for point in curve["points"]] == ["1/4", "1/8"]
    assert json.loads(command("show", model, "--json").out)["actions"] == 2


def test_the_strategy_is_drawn(command: Command, model: str, tmp_path: Path) -> None:
    picture, page = tmp_path / "strategy.svg", tmp_path / "strategy.html"
    ended = command("delta", model, "--alpha", "3/2", "--svg", str(picture), "--html", str(page))
    assert ended.code == 0
    drawn = ElementTree.fromstring(picture.read_text())
    words = {text.strip() for text in drawn.itertext()}
    assert {"ask Y", "q", "n", "in the event"} <= words
    assert "an event: 3/8 from s and 1/8 from t" in str(drawn.attrib)
    assert picture.read_text() in page.read_text()
    assert "3/16" in page.read_text()
    nothing = command("delta", model, "--alpha", "3/2", "--rounds", "0", "--svg", str(picture))
    assert nothing.code == 0
    assert "the empty event" in picture.read_text()
    chain = command("delta", "example:figure1", "--alpha", "1", "--svg", str(picture))
    assert chain.code == 0
    assert "ask" not in picture.read_text()


def test_crosscheck_holds_analysts_against_automata(command: Command, model: str) -> None:
    limit = ("--timeout", "300")  # machine code may have to be made
    answer = json.loads(command("crosscheck", model, "--length", "1", "--alpha", "2", "--json", *limit).out)
    (pair,) = answer["pairs"]
    values = {measure["name"]: (measure["lower"], measure["upper"]) for measure in pair["measures"]}
    assert values["fixed"] == values["delta_rounds"] == values["delta"] == values["bd"] == ("1/8", "1/8")
    assert values["m_A"] == values["m_D"] == values["l_x"] == ("3", "3")
    reasons = {(order["smaller"], order["larger"]) for order in pair["order"]}
    assert {("delta", "m_A"), ("delta", "l_x"), ("fixed", "delta_rounds")} <= reasons
    assert not answer["violated"]


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["delta", "example:figure1", "--alpha", "1", "--rounds", "2"], "this model has no analyst"),
        (["delta", "MODEL", "--alpha", "1", "--fixed"], "say how many actions with --rounds"),
        (["delta", "MODEL", "--alpha", "1", "--rounds", "-1"], "--rounds -1: expected at least 0"),
        (["profile", "MODEL", "--runs", "2"], "--runs: needs a model without an analyst"),
        (["metric", "MODEL", "--kind", "amortised"], "interactive model (kind interactive); expected"),
        (["verify", "MODEL", "--ratio", "2", "--length", "2"], "interactive model (kind interactive)"),
        (["convert", "MODEL", "--to", "lmc"], "an analyst chooses"),
    ],
)
def test_what_is_not_for_it_is_refused_in_one_line(
    command: Command, model: str, arguments: list[str], word: str
) -> None:
    ended = command(*(model if argument == "MODEL" else argument for argument in arguments))
    assert ended.code == 2
    assert word in ended.err
    assert ended.err.count("\n") == 1


def test_programs_that_ask(command: Command, tmp_path: Path) -> None:
    source = Path(str(asked.__file__)).read_text()
    (tmp_path / "asked.py").write_text(source)
    program = f"{tmp_path}/asked.py:asked_above_threshold"
    inputs = ("--input", "0", "--input", "1")
    page = tmp_path / "page.html"
    ended = command("program", program, *inputs, "--alpha", "2", "--html", str(page))
    assert ended.code == 0
    assert "13/90" in ended.out
    assert "(1) ask (0, 1): observe 'below' -> (2)" in ended.out
    assert "An analyst of asked_above_threshold sees what it announces and returns" in ended.out
    assert "ask (1, 0)" in page.read_text()
    assert "analyst.choose(near)" in page.read_text()
    told = json.loads(command("program", program, *inputs, "--alpha", "2", "--json").out)
    assert told["program"]["observe"] == "trace"
    kept = str(tmp_path / "model.json")
    assert command("convert", program, *inputs, "--to", "interactive", "-o", kept).code == 0
    assert "13/90" in command("delta", kept, "--alpha", "2").out
    refused = command("delta", program, *inputs, "--alpha", "2", "--cut", "1e-9")
    assert (refused.code, "expected no cut" in refused.err) == (2, True)
    refused = command("budget", program, "--domain", "0,1", "--size", "1", "--alpha", "2")
    assert (refused.code, "asks an analyst" in refused.err) == (2, True)
