"""``bisimdist trace`` and ``bisimdist secrets``: answers, certificates, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.faces.shown.answer import FORMAT
from bisimdist.models.library.randomised_response import randomised_response
from tests.cli.conftest import Command

MODEL = "example:randomised-response"
LOST = """\
kind: pa
states: [s, t]
transitions:
  - {from: s, action: a, to: {s: 1/2, t: 1/4}}
  - {from: t, action: a, to: {t: 1}}
pairs: [[s, t]]
"""


def test_trace_json_is_exactly_this(command: Command) -> None:
    ended = command("trace", MODEL, "--json")
    assert ended.code == 0
    data = json.loads(ended.out)
    assert data.pop("model")["states"] == 4
    assert data == {
        **FORMAT,
        "command": "trace",
        "kind": "multiplicative",
        "length": None,
        "ends": "visible",
        "end": "(end)",
        "missing_mass": False,
        "pairs": [
            {
                "from": "true0",
                "to": "true1",
                "ratio": "3",
                "epsilon": ["1.0986", "1.0987"],
                "exact": True,
                "lower": "3",
                "upper": "3",
                "witness": ["start", "answer0"],
                "probabilities": ["3/4", "1/4"],
            }
        ],
        "status": "exact",
    }


def test_additive_and_weak_anonymity(command: Command) -> None:
    ended = command("trace", MODEL, "--kind", "additive", "--threshold", "1/2", "--json")
    data = json.loads(ended.out)
    assert (ended.code, data["verdict"], data["threshold"]) == (0, "holds", "1/2")
    assert (data["pairs"][0]["upper"], data["pairs"][0]["verdict"]) == ("1/2", "holds")
    assert "ratio" not in data["pairs"][0]
    ended = command("trace", MODEL, "--kind", "additive", "--threshold", "0.4")
    assert ended.code == 1
    assert "of single traces: at most 2/5?" in ended.out
    assert "Of sets of traces (weak anonymity): violated, since" in ended.out
    three = ("trace", "example:randomised-response,rounds=3", "--kind", "additive", "--threshold", "1/2")
    ended = command(
        *three
    )  # all three answers: 27/64 against 1/64; at least two of them: 54/64 against 10/64
    assert (ended.code, "Of single traces: holds." in ended.out) == (0, True)
    assert "violated; (true0, true1) is 11/16: a set of " in ended.out
    ended = command(*three, "--of", "sets", "--json")
    data = json.loads(ended.out)
    assert (ended.code, data["of"], data["verdicts"]) == (1, "sets", {"traces": "holds", "sets": "violated"})
    assert (data["verdict"], data["pairs"][0]["probabilities"]) == ("violated", ["27/32", "5/32"])
    ended = command("trace", MODEL, "--threshold", "1.0986", "--json")
    assert (ended.code, json.loads(ended.out)["verdict"]) == (1, "violated")


def test_infinite_distances_say_why(command: Command) -> None:
    ended = command("trace", "example:leaky-retry")
    assert ended.code == 0
    assert "is infinite: attempt (attempt)^n: each round multiplies by 50/49 at least" in ended.out
    data = json.loads(command("trace", "example:leaky-retry", "--json").out)["pairs"][0]
    assert (data["ratio"], data["epsilon"], data["exact"]) == ("inf", ["inf", "inf"], True)
    assert data["repeated"]["factor"] == "50/49"
    data = json.loads(command("trace", "example:leaky-retry", "--length", "3", "--json").out)
    assert data["length"] == 3
    assert data["pairs"][0]["exact"] is True


@pytest.mark.parametrize("kind", ["multiplicative", "additive"])
def test_certificates_check(command: Command, tmp_path: Path, kind: str) -> None:
    proof = tmp_path / "proof.json"
    assert command("trace", MODEL, "--kind", kind, "--certificate", proof).code == 0
    assert command("check", proof, MODEL).code == 0
    assert command("check", proof, "example:leaky-retry").code == 1
    text = proof.read_text()
    proof.write_text(text.replace('"upper":"3"', '"upper":"2"').replace('"upper":"1/2"', '"upper":"1/3"'))
    assert command("check", proof).code == 1


def test_what_is_not_decided_is_printed(command: Command, tmp_path: Path) -> None:
    model = tmp_path / "lost.yaml"
    model.write_text(LOST)
    ended = command("trace", model, "--kind", "additive", "--json")
    data = json.loads(ended.out)
    assert (ended.code, data["status"], data["pairs"][0]["exact"]) == (3, "limit", False)
    assert command("trace", model, "--kind", "additive", "--threshold", "1/2").code == 3
    assert command("trace", model, "--kind", "additive", "--threshold", "0.501").code == 0
    ended = command("trace", "example:dining-cryptographers,n=4", "--timeout", "0", "--json")
    data = json.loads(ended.out)
    assert ended.code in (0, 3)
    assert data["pairs"][0]["lower"]


def test_trace_refuses(command: Command) -> None:
    command("trace", MODEL, "--kind", "amortised").assert_refused("amortised", "multiplicative or additive")
    command("trace", MODEL, "--length", "-1").assert_refused("--length")
    command("trace", MODEL, "--threshold", "-1").assert_refused("--threshold")
    command("trace", MODEL, "--threshold", "x").assert_refused("--threshold")
    command("trace", MODEL, "--pair", "true0", "nobody").assert_refused("nobody")
    command("trace", "example:pin-checking").assert_refused("several transitions")


# ------------------------------------------------------------------------------------------------ secrets


def test_secrets_json_is_exactly_this(command: Command) -> None:
    ended = command("secrets", MODEL, "--json", "--secret", "no", "true0", "--secret", "yes", "true1")
    assert ended.code == 0
    data = json.loads(ended.out)
    assert data.pop("model") == {
        "digest": data_digest(),
        "states": 4,
    }
    pair = data.pop("pairs")[0]
    assert data == {
        **FORMAT,
        "command": "secrets",
        "kind": "multiplicative",
        "metric": "discrete",
        "ends": "visible",
        "end": "(end)",
        "missing_mass": False,
        "ratio": "3",
        "distance": "1",
        "lower": {"ratio": "3", "distance": "1"},
        "epsilon": ["1.0986", "1.0987"],
        "exact": True,
        "worst": [["no", "yes"]],
        "saved": 0,
        "unexamined": 0,
        "status": "exact",
    }
    assert (pair["from"], pair["to"], pair["states"]) == ("no", "yes", ["true0", "true1"])


def data_digest() -> str:
    from bisimdist.models.pa import chain_as_automaton  # noqa: PLC0415

    return chain_as_automaton(randomised_response()).digest()


def test_secrets_default_to_the_states_of_the_pairs(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("secrets", MODEL, "--distance", "hamming", "--certificate", proof)
    assert ended.code == 0
    assert "The least epsilon is ln(3)" in ended.out
    assert "start answer0 has the probabilities 3/4 and 1/4" in ended.out
    assert command("check", proof, MODEL).code == 0


def test_secrets_by_a_table(command: Command, tmp_path: Path) -> None:
    table = tmp_path / "table.yaml"
    table.write_text("secrets: {no: true0, yes: true1, maybe: true0}\n"
                     "distances: [[no, yes, 2], [no, maybe, 0.5], [maybe, yes, 1]]\n")  # fmt: skip
    ended = command("secrets", MODEL, "--distance", table, "--json")
    data = json.loads(ended.out)
    assert ended.code == 0
    assert (data["metric"], data["ratio"], data["distance"]) == ("table", "3", "1")
    assert data["worst"] == [["yes", "maybe"]]
    assert "the table is no metric" in ended.err


def test_numbers_as_secrets(command: Command) -> None:
    ended = command(
        "secrets", MODEL, "--distance", "absolute", "--secret", "10", "true0", "--secret", "12", "true1"
    )
    assert ended.code == 0
    assert "The least epsilon is ln(3) / 2, in [0.5493" in ended.out


def test_secrets_refuses(command: Command, tmp_path: Path) -> None:
    command("secrets", MODEL, "--distance", "euclid").assert_refused("euclid", "discrete")
    command("secrets", MODEL, "--distance", "absolute").assert_refused("no number")
    command("secrets", MODEL, "--distance", tmp_path / "no.yaml").assert_refused("no such file")
    command("secrets", MODEL, "--secret", "x", "true0").assert_refused("at least two")
    command("secrets", MODEL, "--secret", "x", "true0", "--secret", "x", "true1").assert_refused("twice")
    command("secrets", MODEL, "--secret", "x", "true0", "--secret", "y", "nobody").assert_refused("nobody")
    table = tmp_path / "table.json"
    table.write_text('[["true0", "true1", -1]]')
    command("secrets", MODEL, "--distance", table).assert_refused("at least 0")


TRANSLATING = (("trace",), ("metric", "--kind", "amortised"), ("equivalence",), ("logic", "explain"))


@pytest.mark.parametrize("asked", TRANSLATING)
def test_refused_input_gets_one_line_although_the_model_was_translated(
    command: Command, asked: tuple[str, ...]
) -> None:
    command(*asked, MODEL, "--pair", "true0", "nobody").assert_refused("nobody")
    answered = command(*asked, MODEL, "--pair", "true0", "true0")
    assert answered.code == 0
    assert "its labels are taken as actions" in answered.err
