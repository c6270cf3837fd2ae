"""Output files: no input is overwritten, no two are one, and the answer is printed first."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bisimdist.models.io import write_model
from bisimdist.models.library.registry import build_any_example
from tests.cli.conftest import Command


def same(model: Path, other: Path) -> Path:
    return model


def symbolic(model: Path, other: Path) -> Path:
    other.symlink_to(model)
    return other


def hard(model: Path, other: Path) -> Path:
    other.hardlink_to(model)
    return other


def roundabout(model: Path, other: Path) -> Path:
    return model.parent / "." / ".." / model.parent.name / model.name


COMMANDS = {
    "bound": ("figure1", "--alpha", "2"),
    "delta": ("figure1", "--alpha", "2"),
    "leakage": ("figure1", "--measure", "kl"),
    "synthesise": (
        *("dining-cryptographers,n=2,bias=p", "--alpha", "1", "--parameter", "p"),
        *("--maximise", "p", "--subject-to", "delta <= 1/4"),
    ),
    "metric": ("pin-checking", "--kind", "amortised"),
    "equivalence": ("figure1",),
    "logic explain": ("figure1",),
    "logic formula": ("pin-checking", "--state", "s1"),
    "logic satisfies": ("pin-checking", "--formula", "<a1>T"),
    "logic traces": ("figure1", "--state", "s0"),
    "trace": ("figure1",),
    "secrets": ("figure1",),
    "verify": ("geometric", "--ratio", "2", "--length", "1"),
    "epsilon": ("geometric", "--length", "1"),
    "prove": ("geometric", "--ratio", "2"),
}
OTHERS = [
    ("profile", "figure1", "--csv"),
    ("profile", "figure1", "--plot"),
    ("crosscheck", "figure1", "--html"),
    ("convert", "figure1", "-o", "--to", "pa"),
    ("show", "figure1", "-o"),
]
EVERY = [(name, words[0], "--certificate", *words[1:]) for name, words in COMMANDS.items()] + OTHERS
MARKS = {"--plot": [pytest.mark.extra("plot")]}


@pytest.fixture
def made(tmp_path: Path) -> Callable[[str], Path]:
    def make(name: str) -> Path:
        path = tmp_path / "model.json"
        path.write_text(write_model(build_any_example(name), "json"))
        return path

    return make


@pytest.mark.parametrize(
    "arguments",
    [pytest.param(words, id=f"{words[0]} {words[2]}", marks=MARKS.get(words[2], ())) for words in EVERY],
)
@pytest.mark.parametrize("way", [same, symbolic, hard, roundabout])
def test_an_input_is_not_overwritten(
    command: Command,
    made: Callable[[str], Path],
    tmp_path: Path,
    arguments: tuple[str, ...],
    way: Callable[[Path, Path], Path],
) -> None:
    verb, example, option, *rest = arguments
    model = made(example)
    before = model.read_bytes()
    if option == "--plot":
        model = model.rename(tmp_path / "model.svg")
        reached, read = way(model, tmp_path / "other.svg"), f"{tmp_path}/model.json"
        Path(read).hardlink_to(model)
    else:
        reached, read = way(model, tmp_path / "other.json"), str(model)
    kept = sorted(tmp_path.iterdir())
    ended = command(*verb.split(), read, option, str(reached), *rest)
    ended.assert_refused(option, "read by the same command")
    assert model.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == kept


def test_files_of_options_are_inputs_too(command: Command, tmp_path: Path) -> None:
    formula = tmp_path / "formula.txt"
    formula.write_text("<a1>T")
    ask = ("logic", "satisfies", "example:pin-checking", "--formula", f"@{formula}", "--certificate", formula)
    command(*ask).assert_refused("read by the same command")
    assert formula.read_text() == "<a1>T"


def test_all_files_of_a_model_in_several(command: Command, tmp_path: Path) -> None:
    assert command("show", "example:figure1", "--format", "prism", "-o", tmp_path / "m.tra").code == 0
    for suffix in (".tra", ".lab"):
        path = tmp_path / f"m{suffix}"
        before = path.read_bytes()
        ask = ("delta", tmp_path / "m.tra", "--alpha", "2", "--pair", "s0", "s1", "--certificate", path)
        command(*ask).assert_refused("read by the same command")
        assert path.read_bytes() == before


def test_what_a_program_imports_is_an_input(command: Command, tmp_path: Path) -> None:
    helper = tmp_path / "helper.py"
    helper.write_text("def pick(x, rng):\n    return rng.choice([x, 1 - x])\n")
    (tmp_path / "asks.py").write_text("import helper\ndef f(x, rng):\n    return helper.pick(x, rng)\n")
    before = helper.read_bytes()
    ask = ("program", f"{tmp_path}/asks.py:f", "--input", "0", "--input", "1", "--alpha", "2")
    command(*ask, "--certificate", helper).assert_refused("read by the same command")
    assert helper.read_bytes() == before


@pytest.mark.extra("plot")
def test_two_outputs_are_two_files(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "x.svg"
    ask = ("profile", "example:figure1", "--points", "3")
    command(*ask, "--csv", path, "--plot", path).assert_refused("--plot", "--csv names the same file")
    path.write_text("old")
    (tmp_path / "y.svg").hardlink_to(path)
    command(*ask, "--csv", path, "--plot", tmp_path / "y.svg").assert_refused("names the same file")
    assert path.read_text() == "old"
    assert command(*ask, "--csv", os.devnull).code == 0


@pytest.mark.parametrize("verb", sorted(COMMANDS))
def test_a_proof_that_cannot_be_written_loses_no_answer(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    example, *rest = COMMANDS[verb]
    place = tmp_path / "place"
    ask = (*verb.split(), f"example:{example}", *rest, "--json")
    plain = command(*ask)
    place.mkdir()
    opened = Path.open

    def gone(path: Path, *about: Any, **named: Any) -> Any:
        if path.parent == place:
            shutil.rmtree(place)
        return opened(path, *about, **named)

    monkeypatch.setattr(Path, "open", gone)
    ended = command(*ask, "--certificate", place / "proof.json")
    assert ended.out == plain.out
    assert json.loads(ended.out)["command"] == verb
    assert ended.code == (3 if plain.code == 0 else plain.code)
    assert f"no certificate was written to {place}/proof.json" in ended.err
    assert ended.err.count("\n") == plain.err.count("\n") + 1


def test_the_answer_comes_before_its_proof(
    command: Command, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    replaced = Path.replace

    def replace(path: Path, target: Path) -> Path:
        seen.append(capsys.readouterr().out)
        return replaced(path, target)

    monkeypatch.setattr(Path, "replace", replace)
    for number, (verb, (example, *rest)) in enumerate(COMMANDS.items(), start=1):
        command(
            *verb.split(), f"example:{example}", *rest, "--json", "--certificate", tmp_path / "proof.json"
        )
        assert len(seen) == number, verb
        assert json.loads(seen[-1])["command"] == verb
