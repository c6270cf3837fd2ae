"""Chains of intervals on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_a_proof_is_held_against_the_file_of_intervals(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    text = "kind: lmc\nstates: {s: a, t: a}\ntransitions:\n  s: {s: [LOW, 0.6], t: [0.4, 0.7]}\n  t: {t: 1}\n"
    for name, low in (("model.yaml", "0.3"), ("other.yaml", "0.35")):
        (tmp_path / name).write_text(text.replace("LOW", low), encoding="utf-8")
    model = tmp_path / "model.yaml"
    assert command("show", model, "--format", "json", "-o", tmp_path / "model.json").code == 0
    asked = ("--alpha", "2", "--pair", "s", "t", "--certificate", proof)
    for question in (("bound", model), ("delta", model), ("delta", model, "--nature", "fixed")):
        assert command(*question, *asked).code == 0
        for file in (model, tmp_path / "model.json"):
            assert command("check", proof, file).code == 0
        other = command("check", proof, tmp_path / "other.yaml")
        assert (other.code, "G2" in other.out + other.err) == (1, True)


@pytest.mark.parametrize(
    "row",
    ['{"s": ["3/5", "3/5"], "t": ["2/5", "1/2"]}', '{"X": {"s": ["3/5", "3/5"], "t": ["2/5", "1/2"]}}'],
)
def test_a_proof_is_held_against_intervals_without_choice(command: Command, tmp_path: Path, row: str) -> None:
    proof, model = tmp_path / "proof.json", tmp_path / "model.json"
    kind = "interactive" if "X" in row else "lmc"
    states = '{"s": "a", "t": "a"}'
    still = '{"X": {"t": 1}}' if "X" in row else '{"t": 1}'
    model.write_text(f'{{"kind": "{kind}", "states": {states}, "transitions": {{"s": {row}, "t": {still}}}}}')
    assert command("delta", model, "--alpha", "2", "--pair", "s", "t", "--certificate", proof).code == 0
    assert command("check", proof, model).code == 0


RESPONDENT = """\
kind: lmc
states: {s: ask, t: ask, yes: y, no: n}
transitions:
  s: {yes: [0.74, 0.76], no: [0.24, 0.26]}
  t: {yes: [0.24, 0.26], no: [0.74, 0.76]}
  yes: {yes: 1}
  no: {no: 1}
pairs: [[s, t]]
"""


@pytest.fixture
def respondent(tmp_path: Path) -> Path:
    path = tmp_path / "respondent.yaml"
    path.write_text(RESPONDENT)
    return path


@pytest.mark.parametrize("nature", ["each-step", "fixed"])
@pytest.mark.parametrize("name", ["profile", "compare"])
def test_answers_say_which_nature_they_speak_of(
    name: str, nature: str, respondent: Path, command: Command
) -> None:
    words = (name, respondent, "--nature", nature, "--alpha", "3")
    said = json.loads(command(*words, "--json").out)
    assert said["nature"] == nature
    assert "1/25" in json.dumps(said)
    assert "The worst case:" in command(*words).out


def test_a_page_is_about_the_worst_that_nature_does(respondent: Path, command: Command) -> None:
    path = respondent.with_suffix(".html")
    assert command("report", respondent, "--nature", "fixed", "--alpha", "3", "-o", path).code == 0
    page = path.read_text()
    for said in (
        "--nature fixed",
        "1/25",
        "nature has picked probabilities",
        "At every level",
        "nature fixed",
    ):
        assert said in page


def test_what_intervals_have_no_answer_for_is_refused(respondent: Path, command: Command) -> None:
    for flag in ("--runs", "--renyi"):
        ended = command("profile", respondent, flag, "2")
        ended.assert_refused(f"{flag}: is for models whose probabilities are known; these lie in intervals")


def test_nature_has_no_say_in_what_is_known(command: Command, figure1: Path) -> None:
    for name in ("profile", "compare"):
        ended = command(name, figure1, "--alpha", "2", "--nature", "fixed")
        ended.assert_refused("--nature: the probabilities of this model are known")
