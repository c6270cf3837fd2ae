"""``bisimdist metric --kind additive`` and ``multiplicative``: answers, certificates, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist.faces.shown.answer import FORMAT
from bisimdist.models.library.pin_checking import pin_checking
from tests.cli.conftest import Command

IRRATIONAL = """\
kind: pa
states: [s, t, u]
transitions:
  - {from: s, action: a, to: {s: 1/2, t: 1/2}}
  - {from: t, action: a, to: {t: 1/2, u: 1/2}}
  - {from: u, action: a, to: {s: 2/3}}
pairs: [[s, t]]
"""
PIN = "example:pin-checking"


def test_additive_json_is_exactly_this(command: Command) -> None:
    ended = command("metric", PIN, "--kind", "additive", "--json")
    assert (ended.code, ended.err) == (0, "")
    assert json.loads(ended.out) == {
        **FORMAT,
        "command": "metric",
        "model": {"digest": pin_checking().digest(), "states": 17},
        "kind": "additive",
        "discount": "1",
        "pairs": [
            {"from": "s1", "to": "t1", "distance": "1/3", "exact": True, "lower": "1/3", "upper": "1/3"}
        ],
        "status": "exact",
    }


def test_multiplicative_json_is_exactly_this(command: Command) -> None:
    ended = command("metric", "example:counting-queries", "--kind", "multiplicative", "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["pairs"] == [
        {
            "from": "s",
            "to": "t",
            "ratio": "4",
            "epsilon": ["1.3862", "1.3863"],
            "exact": True,
            "lower": "4",
            "upper": "4",
        }
    ]


def test_infinity_is_an_answer(command: Command) -> None:
    ended = command("metric", PIN, "--kind", "multiplicative", "--json")
    pair = json.loads(ended.out)["pairs"][0]
    assert ended.code == 0
    assert (pair["ratio"], pair["epsilon"], pair["exact"]) == ("inf", ["inf", "inf"], True)


def test_a_person_is_told_the_same(command: Command) -> None:
    ended = command("metric", PIN, "--kind", "additive", "--discount", "1/2")
    assert ended.code == 0
    assert "additive bisimilarity metric, discount 1/2" in ended.out
    infinite = command("metric", PIN, "--kind", "multiplicative").out
    assert "inf" in infinite
    assert "logarithm of the ratio" in infinite


def test_an_irrational_distance_is_not_decided_unless_a_precision_will_do(
    command: Command, tmp_path: Path
) -> None:
    model = tmp_path / "model.yaml"
    model.write_text(IRRATIONAL)
    ended = command("metric", str(model), "--kind", "multiplicative")
    assert ended.code == 3
    assert "or is irrational" in ended.out
    ended = command("metric", str(model), "--kind", "multiplicative", "--precision", "1/1000", "--json")
    data = json.loads(ended.out)
    assert (ended.code, data["status"]) == (0, "bracket")
    assert data["pairs"][0]["exact"] is False
    assert data["pairs"][0]["ratio"] == data["pairs"][0]["upper"] != data["pairs"][0]["lower"]


@pytest.mark.parametrize("kind", ["additive", "multiplicative"])
def test_certificates_are_read_back(command: Command, tmp_path: Path, kind: str) -> None:
    proof, model = str(tmp_path / "proof.json"), tmp_path / "model.yaml"
    model.write_text(IRRATIONAL)
    for discount in ("1", "9/10"):
        command("metric", str(model), "--kind", kind, "--discount", discount, "--certificate", proof)
        ended = command("check", proof, "--json")
        assert (ended.code, json.loads(ended.out)["valid"]) == (0, True)


def test_bad_input_is_refused(command: Command) -> None:
    def refused(*words: str, kind: str = "additive") -> str:
        ended = command("metric", PIN, "--kind", kind, *words)
        ended.assert_refused()
        return ended.err

    assert "--discount 3/2: expected more than 0 and at most 1" in refused("--discount", "3/2")
    assert "--discount 0: expected" in refused("--discount", "0")
    assert "--discount" in refused("--discount", "x")
    assert "--precision 0: expected a number above 0" in refused("--precision", "0")
    assert "--relation is for the kinds accumulative and amortised" in refused("--relation", "x")
    assert "state 'x'" in refused("--pair", "s1", "x")
    for option in ("--discount", "--precision"):
        message = f"{option} is for the kinds additive and multiplicative, not for amortised"
        assert message in refused(option, "1/2", kind="amortised")


def test_merging_bisimilar_states_changes_nothing(command: Command) -> None:
    plain = command("metric", PIN, "--kind", "additive")
    merged = command("metric", PIN, "--kind", "additive", "--quotient")
    assert merged.out == plain.out
    assert "--quotient changes nothing" in merged.err


def test_no_time_ends_it_with_bounds(command: Command) -> None:
    ended = command("metric", PIN, "--kind", "additive", "--timeout", "0", "--json")
    pair = json.loads(ended.out)["pairs"][0]
    assert ended.code == 3
    assert (pair["lower"], pair["upper"], pair["exact"]) == ("0", "1", False)
