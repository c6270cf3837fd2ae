"""``bisimdist example`` and ``bisimdist show``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bisimdist.faces.shown.answer import FORMAT
from bisimdist.models.io import load_model, parse_model
from bisimdist.models.library.registry import build_example, list_examples
from tests.cli.conftest import Command


def test_examples_are_listed(command: Command) -> None:
    names = [info.name for info in list_examples()]
    text = command("example")
    assert (text.code, text.err) == (0, "")
    assert all(name in text.out for name in names)
    listed = json.loads(command("example", "--json").out)
    assert listed["command"] == "example"
    assert [info["name"] for info in listed["examples"]] == names


@pytest.mark.parametrize("format_name", ["json", "yaml"])
def test_an_example_reads_back(command: Command, format_name: str) -> None:
    ended = command("example", "dining-cryptographers,n=2", "--format", format_name)
    assert (ended.code, ended.err) == (0, "")
    assert parse_model(ended.out, format=format_name) == build_example("dining-cryptographers,n=2")


def test_an_example_is_json_unless_something_else_is_asked(command: Command, tmp_path: Path) -> None:
    assert json.loads(command("example", "figure1").out)["kind"] == "lmc"
    assert command("example", "figure1", "--json").out == command("example", "figure1").out
    assert command("example", "example:figure1").out == command("example", "figure1").out
    for extension in ("json", "yaml", "yml", "tra"):
        path = tmp_path / f"model.{extension}"
        assert command("example", "figure1", "-o", path).code == 0
        assert load_model(path).states == ("s0", "s1", "s2", "s3")
    assert (tmp_path / "model.lab").exists()
    assert command("example", "figure1", "-o", tmp_path / "model.dot").out == ""
    assert (tmp_path / "model.dot").read_text().startswith("digraph")


@pytest.mark.parametrize(
    "arguments",
    [
        ["nobody"],
        ["dining-cryptographers,n=x"],
        ["dining-cryptographers,m=3"],
        ["figure1", "--format", "xml"],
        ["figure1", "--format", "yaml", "--json"],
        ["figure1", "--format", "prism"],
        ["figure1", "-o", "/nowhere/at/all/model.json"],
        ["figure1", "-o", "model.unknown"],
        ["--format", "json"],
        ["-o", "model.json"],
    ],
)
def test_examples_that_cannot_be_written(command: Command, arguments: list[str]) -> None:
    command("example", *arguments).assert_refused()


def test_the_summary_of_a_chain(command: Command, figure1: Path) -> None:
    answer = json.loads(command("show", figure1, "--json").out)
    digest = load_model(figure1).digest()
    assert answer == {
        **FORMAT,
        "command": "show",
        "model": {"digest": digest, "states": 4},
        "kind": "lmc",
        "digest": digest,
        "states": 4,
        "transitions": 6,
        "labels": 3,
        "pairs": [["s0", "s1"]],
        "bisimilarity_classes": 4,
        "strongly_connected_components": 4,
        "largest_component": 1,
    }
    text = command("show", figure1)
    assert (text.code, text.err) == (0, "")
    assert digest in text.out
    assert "bisimilarity classes" in text.out


def test_the_summary_of_a_cyclic_chain(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "model.yaml"
    path.write_text(
        "{kind: lmc, states: {s: a, t: a, u: b, v: b},"
        " transitions: {s: {t: 1}, t: {u: 1/2, s: 1/2}, u: {u: 1}, v: {v: 1}}}"
    )
    answer = json.loads(command("show", path, "--json").out)
    assert answer["strongly_connected_components"] == 3
    assert answer["largest_component"] == 2
    assert answer["bisimilarity_classes"] == 3


@pytest.mark.parametrize("nondeterministic", [True, False])
def test_the_summary_of_an_automaton(command: Command, tmp_path: Path, nondeterministic: bool) -> None:
    path = tmp_path / "model.yaml"
    second = "s" if nondeterministic else "t"
    path.write_text(
        "{kind: pa, states: [s, t], transitions: [{from: s, action: a, to: {t: 1}},"
        f" {{from: {second}, action: a, to: {{t: 1/2}}}}], pairs: [[s, t]]}}"
    )
    answer = json.loads(command("show", path, "--json").out)
    assert (answer["kind"], answer["actions"], answer["transitions"]) == ("pa", 1, 2)
    assert answer["fully_probabilistic"] is not nondeterministic
    assert (answer["chain"] is None) is nondeterministic
    assert command("show", path).code == 0
    assert command("show", path, "--format", "json").code == 0


def test_conversion_keeps_the_model(command: Command, figure1: Path, tmp_path: Path) -> None:
    original = load_model(figure1)
    for format_name in ("json", "yaml"):
        ended = command("show", figure1, "--format", format_name)
        assert parse_model(ended.out, format=format_name) == original
    assert command("show", figure1, "--format", "prism", "-o", tmp_path / "model").code == 0
    assert load_model(tmp_path / "model.tra").states == original.states


def test_a_model_from_standard_input(
    command: Command, monkeypatch: pytest.MonkeyPatch, figure1: Path
) -> None:
    def give(text: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text)))

    for text in (figure1.read_bytes(), command("example", "figure1").out.encode()):
        give(text)
        assert json.loads(command("show", "-", "--json").out)["states"] == 4
    give(b"\xff\xfe")
    command("show", "-").assert_refused("standard input")
    monkeypatch.setattr("sys.stdin", None)
    command("show", "-").assert_refused("standard input")


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["missing.json"],
        ["example:nobody"],
        ["example:"],
        [""],
        ["/"],
        ["x.json", "--format", "xml"],
        ["a\0.json"],
    ],
)
def test_models_that_cannot_be_shown(command: Command, arguments: list[str]) -> None:
    command("show", *arguments).assert_refused()


def test_asking_for_two_answers_at_once(command: Command, figure1: Path) -> None:
    command("show", figure1, "--json", "--format", "yaml").assert_refused("--json")


def test_a_bad_model_names_file_and_place(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "bad.yaml"
    path.write_text("{kind: lmc, states: {s: a}, transitions: {s: {s: 99/100}}}")
    command("show", path).assert_refused("bad.yaml", "'s'", "99/100")
    command("bound", path, "--alpha", "2").assert_refused("bad.yaml", "'s'", "99/100")
