"""Every file of tests/models/valid loads, exactly, and survives the way through every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from flint import fmpq
from yaml import SafeLoader

from bisimdist.errors import UsageError
from bisimdist.models.io import load_model, parse_model, read_prism, write_model, write_prism
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA

FOLDER = Path(__file__).parents[1] / "valid"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix not in {".lab", ".sta"})
IDS = [path.name for path in FILES]
CROSS = LMC.from_mappings(
    {"s0": "a", "s1": "a", "s2": "b", "s3": "c"},
    {"s0": {"s2": "3/5", "s3": "2/5"}, "s1": {"s2": "2/5", "s3": "3/5"}, "s2": {"s2": 1}, "s3": {"s3": 1}},
    [("s0", "s1")],
)


def chain(name: str) -> LMC:
    model = load_model(FOLDER / name)
    assert isinstance(model, LMC)
    return model


@pytest.mark.parametrize("path", FILES, ids=IDS)
def test_loads_and_round_trips(path: Path) -> None:
    model = load_model(str(path))
    for format_ in ("json", "yaml"):
        written = write_model(model, format_)
        assert written.isascii()
        assert parse_model(written, format=format_) == model
        assert parse_model(written.encode()) == model  # the format is guessed
    if isinstance(model, LMC):
        files = write_prism(model)
        again = read_prism(files["tra"], files["lab"], files["sta"])
        assert again == replace(model, pairs=())
        assert again.digest() == model.digest()


@pytest.mark.parametrize("path", [path for path in FILES if path.name.startswith("cross-")])
def test_every_way_of_writing_a_chain_is_the_same_chain(path: Path) -> None:
    model = load_model(path)
    assert isinstance(model, LMC)
    assert model.digest() == CROSS.digest()
    assert replace(model, pairs=CROSS.pairs) == CROSS
    assert model.pairs == (() if path.suffix == ".tra" else CROSS.pairs)


def test_yaml_scalars_are_the_text_that_is_written() -> None:
    model = chain("numbers-as-names.yaml")
    assert model.states == ("1", "2.0", "0x3", "~", "yes")
    assert model.labels == ("true", "null", "9223372036854775809", "1e3", "true")
    assert model.pairs == ((0, 3),)


def test_numbers_are_read_exactly() -> None:
    assert chain("tiny-number.json").rows[0][0] == (0, fmpq(1, 10) ** 9999)
    assert len(str(chain("long-numbers.json").rows[0][0][1])) > 9000
    assert chain("beyond-64-bits.yaml").rows[0][0] == (0, fmpq(1, 2))
    tenth = parse_model(
        '{"kind": "lmc", "states": {"s": "a", "t": "b"}, "transitions": '
        '{"s": {"s": 0.1, "t": 0.9}, "t": {"t": 1}}}'
    )
    assert isinstance(tenth, LMC)
    assert tenth.rows[0] == ((0, fmpq(1, 10)), (1, fmpq(9, 10)))


def test_files_that_prism_wrote() -> None:
    model = chain("prism-own.tra")
    assert model.states == ("0,-1", "1,0", "2,6")
    assert model.labels == ("", "heads", "end,heads")
    assert chain("prism-without-states.tra").states == ("0", "1")
    assert chain("prism-without-states.tra").labels == ("", "a")


def test_automata() -> None:
    model = load_model(FOLDER / "automaton-choices.json")
    assert isinstance(model, PA)
    assert not model.fully_probabilistic
    assert [step.action for step in model.transitions] == ["a", "a", ""]
    assert model.transitions[0].row == ((1, fmpq(1, 10)),)
    assert model.transitions[1].row == ()


def test_unknown_formats() -> None:
    with pytest.raises(UsageError, match="'xml'; expected json or yaml"):
        write_model(CROSS, "xml")
    with pytest.raises(UsageError, match=r"'prism'; expected .*json.* or yaml"):
        parse_model("", format="prism")


def test_the_format_overrules_the_extension(tmp_path: Path) -> None:
    path = tmp_path / "chain.txt"
    path.write_text(write_model(CROSS, "yaml"), encoding="utf-8")
    assert load_model(path, format="yaml") == CROSS


def test_the_pure_python_reader_of_yaml_agrees(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.io.yaml_text._Loader", SafeLoader)
    for path in FILES:
        if path.suffix in {".yaml", ".yml"}:
            monkeypatch.undo()
            expected = load_model(path)
            monkeypatch.setattr("bisimdist.models.io.yaml_text._Loader", SafeLoader)
            assert load_model(path) == expected
