"""``bisimdist logic traces`` and ``bisimdist equivalence``: answers, certificates, and how they end."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from bisimdist.faces.shown.answer import FORMAT
from bisimdist.models.io import write_model
from tests.cli.conftest import Command
from tests.words.fully_probabilistic import deferred_choice, randomised_responses


@pytest.fixture
def responses(tmp_path: Path) -> Path:
    path = tmp_path / "responses.yaml"
    path.write_text(write_model(randomised_responses(), "yaml"))
    return path


@pytest.fixture
def deferred(tmp_path: Path) -> Path:
    path = tmp_path / "deferred.json"
    path.write_text(write_model(deferred_choice(), "json"))
    return path


def test_the_formulae_of_a_state(command: Command, responses: Path) -> None:
    ended = command("logic", "traces", responses, "--state", "sy", "--json")
    assert (ended.code, ended.err) == (0, "")
    data = json.loads(ended.out)
    assert data == {
        **FORMAT,
        "command": "logic traces",
        "model": {"digest": randomised_responses().digest(), "states": 8},
        "state": "sy",
        "depth": None,
        "formulae": [
            {"formula": "1 T", "trace": [], "probability": "1"},
            {"formula": "1 <tau>T", "trace": ["tau"], "probability": "1"},
            {"formula": "1 <tau><tau>T", "trace": ["tau", "tau"], "probability": "1"},
            {"formula": "1/4 <tau><tau><no>T", "trace": ["tau", "tau", "no"], "probability": "1/4"},
            {"formula": "3/4 <tau><tau><yes>T", "trace": ["tau", "tau", "yes"], "probability": "3/4"},
        ],
        "complete": True,
        "count": 5,
        "following": None,
        "longest": 3,
        "ends": "visible",
        "end": None,
        "missing_mass": False,
        "status": "exact",
    }
    assert "These are all 5." in command("logic", "traces", responses, "--state", "sy").out


def test_a_limit_says_that_there_are_more(command: Command, responses: Path) -> None:
    ended = command("logic", "traces", responses, "--state", "sy", "--limit", "2", "--json")
    assert ended.code == 0
    data = json.loads(ended.out)
    assert (data["complete"], data["count"], len(data["formulae"])) == (False, 5, 2)
    assert data["following"]["formula"] == "1 <tau><tau>T"
    out = command("logic", "traces", responses, "--state", "sy", "--limit", "2", "--depth", "2").out
    assert "There are more, 3 in all; the next one is 1 <tau><tau>T" in out
    assert "The longest formula of sy has 3 actions." in out


def test_formulae_are_checked(command: Command, responses: Path) -> None:
    ended = command(
        "logic",
        "traces",
        responses,
        "--state",
        "sy",
        "--formula",
        "1/2 <tau><tau><yes>T",
        "--formula",
        "<tau>T",
        "--json",
    )
    assert ended.code == 1
    data = json.loads(ended.out)
    assert data["verdict"] == "violated"
    assert data["formulae"][0] == {
        "formula": "1/2 <tau><tau><yes>T",
        "satisfied": False,
        "probability": "3/4",
        "value": "3/4",
        "lenient_value": "3/4",
    }
    ended = command("logic", "traces", responses, "--state", "sy", "--formula", "0.75 <tau><tau><yes>T")
    assert ended.code == 0
    assert "3/4 <tau><tau><yes>T  yes        3/4" in ended.out


def test_equivalence_and_its_certificate(
    command: Command, responses: Path, deferred: Path, tmp_path: Path
) -> None:
    proof = tmp_path / "proof.json"
    ended = command("equivalence", deferred, "--certificate", proof, "--json")
    assert (ended.code, ended.err) == (0, "")
    data = json.loads(ended.out)
    assert data["verdict"] == "holds"
    assert data["pairs"] == [
        {"from": "s", "to": "t", "equivalent": True, "trace": None, "probabilities": None}
    ]
    assert command("check", proof, deferred).code == 0
    assert command("check", proof, responses).code == 1
    ended = command("equivalence", responses, "--certificate", proof, "--json")
    assert ended.code == 1
    assert json.loads(ended.out)["pairs"] == [
        {
            "from": "sy",
            "to": "sn",
            "equivalent": False,
            "trace": ["tau", "tau", "no"],
            "probabilities": ["1/4", "3/4"],
            "least": True,
        }
    ]
    ended = command("check", proof, responses, "--json")
    assert ended.code == 0
    assert json.loads(ended.out)["kind"] == "trace-equivalence"
    document = json.loads(proof.read_text())
    document["claims"][0]["probabilities"] = ["1/4", "1/2"]
    proof.write_text(json.dumps(document))
    assert command("check", proof).code == 1
    assert "No shorter trace" in command("equivalence", responses).out


def test_undecided(command: Command, responses: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command("equivalence", responses, "--timeout", "0", "--json", "--certificate", proof)
    assert ended.code == 3
    assert json.loads(ended.out)["pairs"][0]["equivalent"] is None
    assert "no certificate was written" in ended.err
    assert not proof.exists()
    ended = command("logic", "traces", responses, "--state", "sy", "--timeout", "0", "--json")
    assert ended.code == 3
    assert json.loads(ended.out)["status"] == "limit"


def test_a_chain_shows_its_labels(command: Command, figure1: Path) -> None:
    ended = command("equivalence", figure1, "--json")
    assert ended.code == 1
    assert "its labels are taken as actions" in ended.err
    assert json.loads(ended.out)["pairs"][0]["trace"] == ["a", "b"]


def test_bad_input_is_refused(command: Command, responses: Path, tmp_path: Path) -> None:
    command("logic", "traces", responses).assert_refused("--state was not given")
    command("logic", "traces", responses, "--state", "x").assert_refused("state 'x'")
    command("logic", "traces", responses, "--state", "sy", "--depth", "-1").assert_refused("--depth -1")
    command("logic", "traces", responses, "--state", "sy", "--limit", "-1").assert_refused("--limit -1")
    command("logic", "traces", responses, "--state", "sy", "--formula", "1/2 <a").assert_refused(
        "--formula:1: column 5: no action follows '<'; expected an action in angle brackets"
    )
    command("logic", "traces", responses, "--state", "sy", "--formula", "T", "--depth", "1").assert_refused(
        "--depth and --limit do not apply"
    )
    command("equivalence", responses, "--pair", "sy", "x").assert_refused("state 'x'")
    command("equivalence", responses, "--timeout", "soon").assert_refused("--timeout")
    choice = tmp_path / "choice.yaml"
    choice.write_text(
        "kind: pa\nstates: [s]\ntransitions:\n  - {from: s, action: a, to: {s: 1}}\n"
        "  - {from: s, action: b, to: {s: 1}}\n"
    )
    for asked in (("equivalence", choice, "--pair", "s", "s"), ("logic", "traces", choice, "--state", "s")):
        command(*asked).assert_refused("choice.yaml", "state 's'", "several transitions")
    command("trace", choice).assert_refused("choice.yaml", "several transitions")
    lone = tmp_path / "lone.yaml"
    lone.write_text("kind: pa\nstates: [s]\ntransitions: []\n")
    command("equivalence", lone).assert_refused("no pairs of its own")


@pytest.mark.usefixtures("by_cpu")
def test_long_traces_are_listed_in_time(command: Command, tmp_path: Path) -> None:
    """All traces together are as long as the square of their number: time is kept for writing them."""
    path = tmp_path / "loop.yaml"
    path.write_text("kind: pa\nstates: [s]\ntransitions:\n  - {from: s, action: a, to: {s: 1}}\n")
    given = ("logic", "traces", path, "--state", "s", "--limit", "1000000000", "--timeout", "1")
    started = time.monotonic()
    ended = command(*given, "--json", "--certificate", tmp_path / "proof.json")
    assert time.monotonic() - started < 6
    assert ended.code == 3
    data = json.loads(ended.out)
    assert (data["status"], data["complete"]) == ("limit", False)
    assert len(data["formulae"]) > 10
    assert command("check", tmp_path / "proof.json").code == 0
    assert "Time ran out; there may be more." in command(*given).out
