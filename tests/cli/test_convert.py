"""``bisimdist convert``."""

from __future__ import annotations

import io
import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bisimdist.models.conversions import convert
from bisimdist.models.io import load_model, parse_model
from bisimdist.models.library.registry import build_any_example
from tests.cli.conftest import Command

EXAMPLES = ("figure1", "randomised-response-pa", "geometric")


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("to", ["lmc", "pa", "hmm"])
@pytest.mark.parametrize("format_name", ["json", "yaml"])
def test_every_kind_becomes_every_other(command: Command, name: str, to: str, format_name: str) -> None:
    ended = command("convert", f"example:{name}", "--to", to, "--format", format_name)
    expected = convert(build_any_example(name), to)
    assert ended.code == 0
    assert parse_model(ended.out, format=format_name) == expected.model
    assert ended.err == "".join(f"bisimdist: {line}\n" for line in expected.preserved)


def test_json_is_the_default_and_only_the_model_is_on_standard_output(command: Command) -> None:
    plain = command("convert", "example:figure1", "--to", "pa")
    assert json.loads(plain.out)["kind"] == "pa"
    assert command("convert", "example:figure1", "--to", "pa", "--json") == plain
    assert "kept: the probability of every trace" in plain.err


def test_files_of_every_format(command: Command, tmp_path: Path) -> None:
    for extension in ("json", "yaml", "tra"):
        path = tmp_path / f"model.{extension}"
        ended = command("convert", "example:geometric", "--to", "lmc", "--output", path)
        assert (ended.code, ended.out) == (0, "")
        assert len(load_model(path)) == 13
    ended = command("convert", "example:geometric", "--to", "pa", "-o", tmp_path / "model.dot")
    assert (ended.code, ended.out) == (0, "")
    assert (tmp_path / "model.dot").read_text().startswith("digraph")


def test_emissions_are_unfolded_on_request(command: Command) -> None:
    ended = command("convert", "example:geometric", "--to", "lmc", "--unfold")
    chain = parse_model(ended.out, format="json")
    assert chain == convert(build_any_example("geometric"), "lmc", unfold=True).model
    assert "each observation is a step of its own" in ended.err


def test_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "kind: hmm\nobservations: [x]\nstates: {s: {x: 1}}\ntransitions: {}\ndistributions: {pi: {s: 1}}\n"
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(text.encode())))
    ended = command("convert", "-", "--to", "lmc")
    assert ended.code == 0
    assert json.loads(ended.out)["states"] == {"pi": "(start)", '["s", "x"]': "x", "(end)": "(end)"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["example:figure1"], "--to"),
        (["example:figure1", "--to", "tree"], "no such kind of model"),
        (["example:figure1", "--to", "pa", "--unfold"], "--unfold"),
        (["example:figure1", "--to", "pa", "--format", "xml"], "no such format"),
        (["example:figure1", "--to", "pa", "--format", "yaml", "--json"], "both given"),
        (["example:figure1", "--to", "pa", "--format", "prism", "-o", "x.tra"], "only Markov chains"),
        (["example:figure1", "--to", "hmm", "--format", "dot"], "hidden Markov models are written"),
        (["example:figure1", "--to", "pa", "-o", "/nowhere/at/all.json"], "/nowhere/at/all.json"),
        (["example:pin-checking", "--to", "lmc"], "example:pin-checking: state 's1': the state has several"),
        (["example:independent-disease", "--to", "lmc"], "depend on parameters"),
        (["example:nobody", "--to", "lmc"], "no example"),
    ],
)
def test_what_cannot_be_converted_is_one_line(command: Command, arguments: list[str], word: str) -> None:
    command("convert", *arguments).assert_refused(word)
