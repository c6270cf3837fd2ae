"""Where nothing is seen of a run every answer is trivial, and a note says why."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bisimdist import LMC, load_model
from tests.cli.conftest import Command

CHAIN = "{kind: lmc, states: {s: a, t: a}, transitions: {s: {s: 1}, t: {t: 1}}, pairs: [[s, t]]}"
AUTOMATON = """
kind: pa
states: [s, t]
transitions: [{from: s, action: a, to: {t: 1}}, {from: t, action: a, to: {s: 1}}]
pairs: [[s, t]]
"""
HIDDEN = """
kind: hmm
observations: [a, b]
states: {s: {a: 1}, t: {a: 1}}
transitions: {s: {t: 1}, t: {s: 1}}
distributions: {pi: {s: 1}, tau: {t: 1}}
pairs: [[pi, tau]]
"""
COMMANDS = (
    (CHAIN, "bound --alpha 2"),
    (CHAIN, "delta --alpha 2"),
    (CHAIN, "profile"),
    (CHAIN, "compare --alpha 2"),
    (CHAIN, "trace"),
    (CHAIN, "equivalence"),
    (CHAIN, "crosscheck"),
    (AUTOMATON, "metric --kind accumulative"),
    (AUTOMATON, "metric --kind additive"),
    (AUTOMATON, "logic explain"),
    (HIDDEN, "epsilon --length 2"),
    (HIDDEN, "verify --ratio 1 --length 2"),
    (HIDDEN, "prove"),
    (HIDDEN, "show"),
)


@pytest.mark.parametrize(("model", "words"), COMMANDS)
def test_every_command_says_that_nothing_is_seen(
    command: Command, tmp_path: Path, model: str, words: str
) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(model)
    name, *options = words.replace("logic ", "logic_").split()
    ended = command(*name.split("_"), path, *options)
    assert ended.code == 0
    assert "nothing tells two runs apart" in ended.err
    assert "'a'" in ended.err


@pytest.mark.parametrize(
    "model",
    [
        CHAIN.replace("t: a", "t: b"),
        AUTOMATON.replace("to: {s: 1}", "to: {s: 1/2}"),
        AUTOMATON.replace(", {from: t, action: a, to: {s: 1}}", ""),
        HIDDEN.replace("t: {a: 1}", "t: {b: 1}"),
        HIDDEN.replace(", t: {s: 1}}", "}"),
    ],
)
def test_where_something_is_seen_there_is_no_note(command: Command, tmp_path: Path, model: str) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(model)
    assert "nothing tells" not in command("show", path).err


@pytest.fixture
def prism(tmp_path: Path) -> Path:
    """A chain that only PRISM's own labels tell apart, as PRISM exports one without labels of its own."""
    (tmp_path / "m.tra").write_text("4 5\n0 2 0.5\n0 3 0.5\n1 3 1\n2 2 1\n3 1 1\n")
    (tmp_path / "m.lab").write_text('0="init" 1="deadlock"\n0: 0\n2: 1\n')
    return tmp_path / "m.tra"


def test_labels_of_prism_itself_count_when_asked_for(command: Command, prism: Path) -> None:
    ask = ("bound", prism, "--alpha", "1", "--pair", "1", "3", "--pair", "2", "3", "--json")
    ended = command(*ask)
    assert [pair["upper"] for pair in json.loads(ended.out)["pairs"]] == ["0", "0"]
    assert "--prism-labels" in ended.err
    ended = command(*ask, "--prism-labels")
    assert [pair["upper"] for pair in json.loads(ended.out)["pairs"]] == ["0", "1"]
    assert ended.err == ""


def test_labels_of_prism_itself_count_in_python_when_asked_for(prism: Path) -> None:
    kept, left_out = load_model(prism, prism_labels=True), load_model(prism)
    assert isinstance(kept, LMC)
    assert isinstance(left_out, LMC)
    assert left_out.labels == ("", "", "", "")
    assert kept.labels == ("init", "", "deadlock", "")
