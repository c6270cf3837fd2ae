"""``bisimdist metric``: answers, certificates, relations, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.faces.shown.answer import FORMAT
from bisimdist.models.library.pin_checking import pin_checking
from tests.cli.conftest import Command

RELATION = """\
triples:
  - [s1, t1, 1]
  - [s2, t2, 2/3]
  - [s5, t5, 3/2]
  - [s3, t3, 2/3]
  - [s4, t4, 1]
  - [s5, t5, 4/9]
  - [s6, t6, 3/2]
  - [s5, t5, 2/3]
  - [s7, t7, 3/2]
  - [s8, t8, 1]
  - [s5, t5, 9/4]
  - [done, done, 3/2]
  - [done, done, 4/9]
  - [done, done, 2/3]
  - [done, done, 9/4]
"""
SPLIT = """\
kind: pa
states: [s, t, u, v]
transitions:
  - {from: s, action: a, to: {u: 1/2, v: 1/2}}
  - {from: t, action: a, to: {u: 1}}
pairs: [[s, t]]
"""
IRRATIONAL = """\
kind: pa
states: [s, t]
transitions:
  - {from: s, action: a, to: {s: 1}}
  - {from: s, action: a, to: {s: 1/3}}
  - {from: s, action: a, to: {s: 1/8}}
  - {from: t, action: a, to: {t: 1}}
  - {from: t, action: a, to: {t: 1/8}}
pairs: [[s, t]]
"""


def test_amortised_json_is_exactly_this(command: Command) -> None:
    ended = command("metric", "example:pin-checking", "--kind", "amortised", "--json")
    assert (ended.code, ended.err) == (0, "")
    data = json.loads(ended.out)
    relation = data["pairs"][0].pop("relation")
    assert data == {
        **FORMAT,
        "command": "metric",
        "model": {"digest": pin_checking().digest(), "states": 17},
        "kind": "amortised",
        "pairs": [
            {
                "from": "s1",
                "to": "t1",
                "ratio": "9/4",
                "epsilon": ["0.81093", "0.81094"],
                "exact": True,
                "lower": "9/4",
                "reason": "(s1, t1) --a1 [2/3]--> (s2, t2) --no--> (s3, t3) --a2 [2/3]--> (s5, t5)",
                "all_schedulers": {
                    "action": "a1",
                    "from": ["3/5", "1"],
                    "to": ["2/5", "1"],
                    "ratio": "5/2",
                    "schedulers": [
                        [["s1", "a1", [["s2", "2/5"], ["s5", "3/5"]]]],
                        [["t1", "a2", [["t5", "3/5"], ["t6", "2/5"]]]],
                    ],
                },
            }
        ],
        "status": "exact",
    }
    assert ["s2", "t2", "2/3"] in relation


def test_accumulative_is_infinite_with_its_cycle(command: Command) -> None:
    ended = command("metric", "example:pin-checking", "--kind", "accumulative")
    assert ended.code == 0
    assert "(s1, t1) is infinite: (s1, t1) --a1 [3/2]--> (s2, t2)" in ended.out
    assert "and again from (s1, t1) for ever: each turn multiplies by 9/4" in ended.out
    data = json.loads(command("metric", "example:pin-checking", "--kind", "accumulative", "--json").out)
    assert (data["pairs"][0]["ratio"], data["pairs"][0]["epsilon"]) == ("inf", ["inf", "inf"])
    assert data["pairs"][0]["exact"] is True


@pytest.mark.parametrize("kind", ["accumulative", "amortised"])
def test_certificates_are_accepted(command: Command, tmp_path: Path, kind: str) -> None:
    proof = tmp_path / "proof.json"
    assert command("metric", "example:pin-checking", "--kind", kind, "--certificate", proof).code == 0
    ended = command("check", proof, "example:pin-checking", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["valid"] is True
    document = json.loads(proof.read_text())
    document["claims"][0]["lower"] = "inf"
    document["claims"][0]["upper"] = "1"
    proof.write_text(json.dumps(document))
    assert command("check", proof).code == 1


def test_the_relation_of_example_2(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "relation.yaml"
    file.write_text(RELATION)
    ended = command("metric", "example:pin-checking", "--kind", "amortised", "--relation", file)
    assert ended.code == 0
    assert "The relation (15 triples) is an epsilon-amortised bisimulation, epsilon = ln(9/4)" in ended.out
    assert "The amortised distance of (s1, t1) is at most epsilon." in ended.out
    proof = tmp_path / "proof.json"
    file.write_text("".join(line for line in RELATION.splitlines(keepends=True) if "done" not in line))
    ask = ("metric", "example:pin-checking", "--kind", "amortised", "--relation", file)
    ended = command(*ask, "--certificate", proof)
    assert ended.code == 0
    assert "The relation (11 triples) is an epsilon-amortised bisimulation" in ended.out
    assert "Supplied, since a state always answers itself: (done, done, 3/2)" in ended.out
    assert "s1    t1  9/4 = 2.25  1" in command("check", proof, "example:pin-checking").out
    assert len(json.loads(command(*ask, "--json").out)["supplied"]) == 4
    file.write_text(RELATION.replace("[s7, t7, 3/2]", "[s7, t7, 4/3]"))
    ended = command("metric", "example:pin-checking", "--kind", "amortised", "--relation", file)
    assert ended.code == 1
    assert "(s6, t6, 3/2): s6 --no--> {s7: 1} is not answered" in ended.out
    ended = command("metric", "example:pin-checking", "--kind", "amortised", "--relation", file, "--json")
    assert ended.code == 1
    data = json.loads(ended.out)
    assert data["verdict"] == "violated"
    assert data["violations"][0]["triple"] == ["s6", "t6", "3/2"]


def test_different_supports_and_the_quotient(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "split.yaml"
    file.write_text(SPLIT)
    ended = command("metric", file, "--kind", "amortised")
    assert ended.code == 0
    assert "supports of different sizes have no bijection" in ended.out
    assert "--quotient merges bisimilar states first" in ended.err
    ended = command("metric", file, "--kind", "amortised", "--quotient", "--json")
    assert ended.code == 0
    assert "bisimilar states are merged: 4 states, 2 classes" in ended.err
    data = json.loads(ended.out)
    assert (data["pairs"][0]["from"], data["pairs"][0]["to"], data["pairs"][0]["ratio"]) == ("s", "t", "1")
    assert data["quotient_of"]["states"] == 4
    assert data["schedulers"] == "alike in bisimilar states"
    said = command("metric", file, "--kind", "accumulative", "--quotient").out
    assert "A scheduler that tells such states apart may reach a larger ratio." in said


def test_undecided_is_exit_code_3_with_bounds(command: Command, tmp_path: Path) -> None:
    file, proof = tmp_path / "loops.yaml", tmp_path / "proof.json"
    file.write_text(IRRATIONAL)
    ended = command("metric", file, "--kind", "amortised", "--json", "--certificate", proof)
    assert ended.code == 3
    pair = json.loads(ended.out)["pairs"][0]
    assert pair["exact"] is False
    assert pair["lower"] != pair["ratio"] != "inf"
    assert float(pair["epsilon"][0]) < 1.0398 < float(pair["epsilon"][1])
    assert command("check", proof).code == 0


def test_a_chain_shows_its_labels(command: Command, figure1: Path) -> None:
    ended = command("metric", figure1, "--kind", "accumulative", "--json")
    assert ended.code == 0
    assert "its labels are taken as actions" in ended.err
    assert json.loads(ended.out)["pairs"][0]["ratio"] == "3/2"


def test_a_time_limit(command: Command) -> None:
    ended = command("metric", "example:pin-checking", "--kind", "amortised", "--timeout", "0", "--json")
    assert ended.code == 3
    pair = json.loads(ended.out)["pairs"][0]
    assert (pair["lower"], pair["ratio"], pair["exact"]) == ("1", "inf", False)


def test_the_state_limit_of_a_text_of_the_calculus(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "chain.ccsp"
    file.write_text("limit 3;\n  pairs X, a.c.d.0;\nX = a.c.d.0;\n")
    command("metric", file, "--kind", "amortised").assert_refused(
        f"{file}:2: column 3, after the state c.d.0:"
    )
    ended = command("metric", file, "--kind", "amortised", "--state-limit", "9", "--json")
    assert (ended.code, json.loads(ended.out)["pairs"][0]["ratio"]) == (0, "1")
    command("metric", file, "--kind", "amortised", "--state-limit", "0").assert_refused("--state-limit 0")


def test_the_cryptographers_as_a_text_give_the_same(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "table.ccsp"
    name = "dining-cryptographers-pa,n=4,graph=ring,bias=1/3,pairs=all"
    assert command("example", name, "-o", file).code == 0
    assert command("example", name, "--format", "ccsp").out == file.read_text()
    for kind in ("accumulative", "amortised"):
        texts = [
            json.loads(command("metric", model, "--kind", kind, "--json").out)["pairs"]
            for model in (file, f"example:{name}")
        ]
        assert texts[0] == texts[1]
        assert [pair["ratio"] for pair in texts[0]] == ["2", "4", "2", "2", "4", "2"]
    command("example", "pin-checking", "--format", "ccsp").assert_refused(
        "is not written in the process calculus"
    )


def test_bad_input_is_refused(command: Command, tmp_path: Path) -> None:
    pin = "example:pin-checking"
    command("metric", pin).assert_refused("--kind was not given; expected accumulative, amortised,")
    command("metric", pin, "--kind", "x").assert_refused("--kind x: there is no such metric")
    command("metric", pin, "--kind", "amortised", "--pair", "s1", "x").assert_refused("state 'x'")
    command("metric", pin, "--kind", "amortised", "--timeout", "soon").assert_refused("--timeout")
    relation = tmp_path / "relation.yaml"
    relation.write_text("triples:\n  - [s1, x, 1]\n")
    given = ("metric", pin, "--kind", "amortised", "--relation", relation)
    command(*given).assert_refused(f"{relation}:2: triple number 1: 'x' is no state of the model")
    command(*given, "--quotient").assert_refused("--relation is checked by itself")
    lonely = tmp_path / "lonely.yaml"
    lonely.write_text("kind: pa\nstates: [s]\ntransitions: []\n")
    command("metric", lonely, "--kind", "amortised").assert_refused("no pairs of its own")
    command("metric", "example:geometric", "--kind", "amortised").assert_refused("hidden Markov model")


def test_ends_for_lack_of_mass_are_not_looked_at(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(
        "kind: pa\nstates: [s, t]\npairs: [[s, t]]\ntransitions:\n"
        "  - {from: s, action: a, to: {t: 1}}\n  - {from: t, action: a, to: {s: 1/2}}\n"
    )
    ask = ("metric", path, "--kind", "amortised")
    assert "private for the pair (s, t) under admissible schedulers, where nobody sees" in command(*ask).out
    answer = json.loads(command(*ask, "--json").out)
    assert (answer["pairs"][0]["ratio"], answer["missing_mass"]) == ("2", True)
    assert json.loads(command("trace", path, "--json").out)["pairs"][0]["ratio"] == "inf"
