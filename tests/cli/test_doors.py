"""Models of other tools on the command line: their options, one against another, and checks of proofs."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from tests.cli.conftest import Command

TRA = "4 6\n0 2 1/2\n0 3 1/2\n1 2 1/3\n1 3 2/3\n2 2 1\n3 3 1\n"
LAB = '0="init" 1="deadlock" 2="won"\n0: 0\n1: 0\n2: 2\n'
STA = "(s,x)\n0:(0,1)\n1:(1,1)\n2:(2,0)\n3:(3,0)\n"


@pytest.fixture
def model(tmp_path: Path) -> Path:
    for suffix, text in (("tra", TRA), ("lab", LAB), ("sta", STA)):
        (tmp_path / f"game.{suffix}").write_text(text)
    return tmp_path / "game.tra"


def test_initial_states_are_the_pair(command: Command, model: Path) -> None:
    answer = json.loads(command("delta", str(model), "--alpha", "1", "--json").out)
    (pair,) = answer["pairs"]
    assert (pair["from"], pair["to"], pair["upper"]) == ("0,1", "1,1", "1/6")


@pytest.mark.parametrize("pair", [("s=0", "#1"), ("(0,1)", "1,1"), ("#0", "s=1,x=1")])
def test_pairs_are_named_in_many_ways(command: Command, model: Path, pair: tuple[str, str]) -> None:
    answer = json.loads(command("delta", str(model), "--alpha", "1", "--pair", *pair, "--json").out)
    assert [answer["pairs"][0][key] for key in ("from", "to", "upper")] == ["0,1", "1,1", "1/6"]


def test_what_is_observed(command: Command, model: Path) -> None:
    ask = ("delta", str(model), "--alpha", "1", "--json")
    nothing = command(*ask, "--observe-variables", "x")
    assert json.loads(nothing.out)["pairs"][0]["upper"] == "0"
    everything = command(*ask, "--observe-variables", "x,s", "--hide-silent")
    assert json.loads(everything.out)["pairs"][0]["upper"] == "1"
    command(*ask, "--observe-variables", "y").assert_refused("no variable 'y'; expected some of s, x")
    command(*ask, "--observe-labels", "won,").assert_refused("expected names with commas between them")
    command(*ask, "--initial-pairs", "some").assert_refused("expected first or all")
    command(*ask, "--constants", "N").assert_refused("expected values such as N=5")
    command(*ask, "--constants", "N=five").assert_refused("'five' is not an exact number")
    command(*ask, "--constants", "N=5").assert_refused(
        "models in the formats jani, prism-language, not prism"
    )
    command(*ask, "--pair", "s=7", "s=0").assert_refused("0 states have this valuation")


def test_one_model_against_another(command: Command, model: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.tra"
    other.write_text(TRA.replace("1/2", "1/4", 1).replace("1/2", "3/4", 1))
    other.with_suffix(".lab").write_text(LAB)
    ask = ("delta", str(model), "--against", str(other), "--alpha", "1")
    answer = json.loads(command(*ask, "--json").out)
    found = [[pair[key] for key in ("from", "to", "upper")] for pair in answer["pairs"]]
    assert found == [["first:0,1", "second:0", "1/4"], ["first:1,1", "second:1", "0"]]
    one = json.loads(command(*ask, "--pair", "s=1", "#0", "--json").out)
    assert [one["pairs"][0][key] for key in ("from", "to", "upper")] == ["first:1,1", "second:0", "1/12"]
    assert command(*ask, "--certificate", str(other)).code == 2
    proof = tmp_path / "proof.json"
    assert command(*ask, "--certificate", str(proof)).code == 0
    assert command("check", str(proof), str(model), "--against", str(other)).code == 0
    assert command("check", str(proof), str(model)).code == 1


def test_kinds_against_each_other(command: Command) -> None:
    hidden = command("delta", "example:geometric", "--against", "example:geometric,alpha=1/3", "--alpha", "1")
    assert hidden.code == 0
    ask = ("epsilon", "example:geometric", "--against", "example:geometric,alpha=1/3", "--length", "1")
    pairs = json.loads(command(*ask, "--json").out)["pairs"]
    assert [[pair[key] for key in ("from", "to", "ratio")] for pair in pairs] == [
        ["first:0", "second:0", "2"],
        ["first:1", "second:1", "3/2"],
    ]
    (one,) = json.loads(command(*ask, "--pair", "0", "2", "--json").out)["pairs"]
    assert (one["from"], one["to"], one["ratio"]) == ("first:0", "second:2", "8")
    ended = command(
        "metric", "example:mimicking", "--against", "example:mimicking", "--kind", "additive", "--json"
    )
    assert {pair["upper"] for pair in json.loads(ended.out)["pairs"]} == {"0"}
    command("delta", "example:figure1", "--against", "example:pin-checking", "--alpha", "1").assert_refused(
        "several transitions"
    )


def test_doubles_are_said_to_be_replaced(command: Command, model: Path) -> None:
    model.write_text(TRA.replace("1/3", "0.3333333333333333").replace("2/3", "0.6666666666666666"))
    ask = ("delta", str(model), "--alpha", "1", "--json")
    command(*ask).assert_refused("the probabilities sum to")
    ended = command(*ask, "--rationalise")
    assert json.loads(ended.out)["pairs"][0]["upper"] == "1/6"
    assert "0.3333333333333333 -> 1/3" in ended.err


def test_the_answer_holds_for_what_rounds_to_doubles(command: Command, model: Path) -> None:
    model.write_text(TRA.replace("1/3", "0.3333333333333333").replace("2/3", "0.6666666666666666"))
    ended = command("delta", str(model), "--alpha", "1", "--json", "--enclose")
    (pair,) = json.loads(ended.out)["pairs"]
    assert 0 < Fraction(pair["upper"]) - Fraction(1, 6) < Fraction(1, 10**15)
    assert "became intervals" in ended.err
    command("classes", str(model), "--enclose").assert_refused("only known to lie in intervals")


def test_other_models_have_no_variables(command: Command) -> None:
    command("delta", "example:figure1", "--alpha", "1", "--rationalise").assert_refused("is built in")
    program = ("delta", "walk.py:walk", "--input", "0", "--input", "1", "--alpha", "1")
    for more in (["--hide-silent"], ["--choices", "interactive"]):
        command(*program, *more).assert_refused(more[0], "is for files of models")


def test_silent_steps_of_any_chain(command: Command) -> None:
    ask = ("delta", "example:leaky-retry", "--alpha", "1", "--json")
    seen, hidden = (json.loads(command(*ask, *more).out) for more in ([], ["--hide-silent"]))
    assert float(seen["pairs"][0]["lower"].split("/")[0]) > 0
    assert hidden["model"]["states"] <= seen["model"]["states"]
    command("show", "example:figure1", "--constants", "N=1").assert_refused("the model has no parameters")


def test_a_program_is_never_run_as_a_file(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "model.py"
    path.write_text("import pathlib\npathlib.Path(__file__).with_name('ran').touch()\n")
    for arguments in (["show", str(path)], ["show", str(path), "--input-format", "prism-language"]):
        assert command(*arguments).code == 2
    assert not (tmp_path / "ran").exists()


@pytest.mark.extra("umb")
def test_umb(command: Command, tmp_path: Path) -> None:
    path, again = tmp_path / "model.umb", tmp_path / "again.umb"
    assert command("show", "example:figure1", "-o", str(path)).code == 0
    assert command("convert", str(path), "--to", "lmc", "-o", str(again)).code == 0
    assert path.read_bytes() == again.read_bytes()
    assert "1/5" in command("delta", str(again), "--alpha", "1").out
    command("show", "example:figure1", "--format", "umb").assert_refused("say where with -o")


def test_labels_are_added(command: Command, model: Path, tmp_path: Path) -> None:
    ask = ("delta", str(model), "--alpha", "1", "--json")
    told = ("--label", "high: s>=2 & x=0", "--label", "two: s+x", "--observe-variables", "x")
    proof = tmp_path / "proof.json"
    seen = command(*ask, *told, "--certificate", str(proof))
    assert json.loads(seen.out)["pairs"][0]["upper"] == "1"
    assert command("check", str(proof), str(model), *told).code == 0
    assert command("check", str(proof), str(model)).code == 1
    command(*ask, "--label", "high").assert_refused(
        "--label high: expected a name, a colon and an expression"
    )
    command(*ask, "--label", "a: s=0", "--label", "a: s=1").assert_refused("each name once")
    command(*ask, "--label", "a: q=0").assert_refused("the label 'a' (q=0): there is no variable")
    command("delta", "example:figure1", "--alpha", "1", "--label", "a: s=0").assert_refused("is built in")
    own = tmp_path / "own.yaml"
    own.write_text("{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}")
    command("show", str(own), "--label", "a: s=0").assert_refused("label: this is for models in", "not yaml")


def test_properties_are_seen(command: Command, model: Path, tmp_path: Path) -> None:
    ask = ("delta", str(model), "--alpha", "1", "--observe-variables", "x")
    file = tmp_path / "game.pctl"
    file.write_text("P=? [ F s=2 ]; P=? [ F s=3 & x=0 ]")
    blind = tmp_path / "blind.tra"
    for suffix, text in (("tra", TRA), ("sta", STA), ("lab", LAB[:22] + "\n0: 0\n1: 0\n")):
        blind.with_suffix(f".{suffix}").write_text(text)
    assert f"--properties {file} would show s=2, s=3 & x=0" in command("show", str(blind)).err
    answer = command(*ask, "--properties", str(file), "--json")
    assert json.loads(answer.out)["pairs"][0]["upper"] == "1/6"
    command(*ask, "--properties", str(file), "--csv", str(file)).assert_refused("is read by the same command")
    command(*ask, "--properties", str(tmp_path / "none.pctl")).assert_refused("none.pctl")


FORK = "3 4 5\n0 0 1 1/2 go\n0 0 2 1/2 go\n0 1 2 1 stop\n1 0 1 1 up\n2 0 2 1\n"
STRAIGHT = "2 2 3\n0 0 0 1/2 go\n0 0 1 1/2 go\n1 0 1 1 end\n"


def test_choices_drawn_at_random(command: Command, tmp_path: Path) -> None:
    fork = tmp_path / "fork.tra"
    fork.write_text(FORK)
    fork.with_suffix(".lab").write_text('0="init" 1="deadlock" 2="up"\n0: 0\n1: 2\n')
    written = tmp_path / "chain.json"
    assert command("show", fork, "--resolve", "uniform", "-o", written).code == 0
    chain = json.loads(written.read_text())
    assert (chain["kind"], chain["transitions"]["0"]) == ("lmc", {"1": "1/4", "2": "3/4"})
    command("show", fork, "--resolve", "first").assert_refused("expected scheduler or uniform")
    both = ("--resolve", "uniform", "--choices", "interactive")
    command("show", fork, *both).assert_refused("nobody makes them")
    dice = command("show", "example:leaky-retry", "--resolve", "uniform")
    dice.assert_refused("resolve")


def test_choices_without_names_are_scheduled_and_seen(command: Command, tmp_path: Path) -> None:
    fork = tmp_path / "fork.tra"
    fork.write_text("4 6 7\n0 0 2 1\n0 1 3 1\n1 0 2 1\n1 1 2 0.5\n1 1 3 0.5\n2 0 2 1\n3 0 3 1\n")
    fork.with_suffix(".lab").write_text('0="init" 1="up"\n0: 0\n1: 0\n2: 1\n')
    worst = json.loads(command("schedule", fork, "--length", "2", "--json").out)["pairs"][0]
    assert (worst["ratio"], worst["scheduler"][0]["screen"], worst["scheduler"][0]["choice"]) == (
        "inf",
        ["0", "1"],
        "1",
    )
    command("trace", fork, "--kind", "additive").assert_refused("several transitions")
    drawn = ("--resolve", "uniform", "--observe-actions")
    seen = json.loads(command("trace", fork, "--kind", "multiplicative", *drawn, "--json").out)
    assert seen["pairs"][0]["ratio"] == "inf"  # <0><[1]><up> has probability 0 and 1/4
    parts = json.loads(command("classes", fork, *drawn, "--json").out)["classes"]
    assert not any({"0", "1"} <= set(part["states"] if isinstance(part, dict) else part) for part in parts)


def test_a_decision_process_without_choices_is_a_chain(command: Command, tmp_path: Path) -> None:
    straight = tmp_path / "straight.tra"
    straight.write_text(STRAIGHT)
    straight.with_suffix(".lab").write_text('0="init" 1="deadlock" 2="x"\n0: 0 2\n1: 2\n')
    plain, seen = (command("show", straight, *more, "--json") for more in ((), ("--observe-actions",)))
    assert "every state has one choice: the model is a Markov chain" in plain.err
    assert [json.loads(found.out)["labels"] for found in (plain, seen)] == [1, 2]
    straight.with_suffix(".lab").write_text('0="init" 1="deadlock" 2="x"\n0: 0 2\n')
    asked = json.loads(command("show", straight, "--choices", "interactive", "--json").out)
    assert asked["kind"] == "interactive"


def test_chains_have_no_choices_rates_or_rewards(command: Command, model: Path) -> None:
    command("show", model, "--resolve", "uniform").assert_refused("no choice in this model to resolve")
    command("show", model, "--observe", "time").assert_refused("the model has no rates")
    command("show", model, "--observe", "draws").assert_refused("--observe is for programs")
    command("show", model, "--observe-rewards", "cost").assert_refused("no rewards 'cost'")
