"""Which format a file is read in: what is asked, else what its extension says, else what its content says."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from pathlib import Path

import pytest

from bisimdist.automata.engine.relation import load_relation
from bisimdist.errors import ModelError, UsageError
from bisimdist.models.io import load_model, parse_model, write_model, write_prism
from bisimdist.models.io.formats import FORMATS, files_beside
from bisimdist.models.library.registry import build_example
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.traces.secrets.file import load_secret_table

CHAIN = build_example("figure1")
assert isinstance(CHAIN, LMC)
PRISM = write_prism(CHAIN)
TEXTS = {
    "json": write_model(CHAIN, "json"),
    "yaml": write_model(CHAIN, "yaml"),
    "ccsp": "X = a.0;\nmain X, a.X;",
    "prism": PRISM["tra"],
}
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}
FLOW = "{kind: lmc, states: {s: a}, transitions: {s: {s: 1}}}"


def named(folder: Path, name: str, extension: str) -> Path:
    for beside, text in PRISM.items():
        (folder / f"model.{beside}").write_text(text)
    path = folder / f"model{extension}"
    path.write_text(TEXTS[name])
    return path


def test_every_format_is_covered() -> None:
    by_tools = {"jani", "prism-language", "drn", "umb"}  # test_tools.py, test_umb.py
    assert set(TEXTS) | by_tools == {known.name for known in FORMATS}


@pytest.mark.parametrize("extension", ["", ".txt", ".dat", ".json~"])
@pytest.mark.parametrize("name", TEXTS)
def test_the_content_decides_where_the_extension_says_nothing(
    tmp_path: Path, name: str, extension: str
) -> None:
    found = load_model(named(tmp_path, name, extension))
    assert isinstance(found, PA) if name == "ccsp" else found.states == CHAIN.states


@pytest.mark.parametrize("name", TEXTS)
def test_what_is_asked_overrules_the_extension(tmp_path: Path, name: str) -> None:
    extension = ".json" if name != "json" else ".yaml"
    path = named(tmp_path, name, extension)
    found = load_model(path, format=name)
    assert isinstance(found, PA) if name == "ccsp" else found.states == CHAIN.states
    if name != "json":
        with pytest.raises(ModelError):
            load_model(path)


@pytest.mark.parametrize("text", [FLOW, f"\ufeff{FLOW}", f" # a comment\n{FLOW}", '{ "kind": "lmc"}'])
def test_brackets_are_json_only_where_a_quote_follows(text: str) -> None:
    if '"' in text:
        with pytest.raises(ModelError, match="the key 'states' is missing"):
            parse_model(text)
    else:
        assert parse_model(text) == parse_model(text, format="yaml")


def test_a_content_that_is_no_model_names_what_it_was_taken_for(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("buy milk")
    with pytest.raises(ModelError, match=r"taken for yaml by its content; --format says otherwise\)$"):
        load_model(path)
    path.write_bytes(b"\x89PNG\r\n")
    with pytest.raises(ModelError, match="0x89 at position 0 is not UTF-8"):
        load_model(path)
    with pytest.raises(ModelError, match=r"expected FILE\.py:FUNCTION"):
        load_model(tmp_path / "program.py")
    with pytest.raises(UsageError, match=r"no format 'xml'; expected .*json, ccsp"):
        load_model(path, format="xml")
    with pytest.raises(ModelError, match=r"read with the \.lab file beside it"):
        parse_model(TEXTS["prism"])


def test_relations_and_tables_of_any_name(tmp_path: Path) -> None:
    automaton = parse_model("{kind: pa, states: [s], transitions: []}")
    assert isinstance(automaton, PA)
    relation, table = tmp_path / "relation", tmp_path / "table.txt"
    for text in ("triples: [[s, s, 1]]", '{"triples": [["s", "s", "1"]]}'):
        relation.write_text(text)
        assert load_relation(relation, automaton).triples == ((0, 0, 1),)
    for text in ("[[x, y, 1]]", '[["x", "y", 1]]', "- [x, y, 1.0]"):
        table.write_text(text)
        assert load_secret_table(table).distances == {("x", "y"): 1}


def test_files_beside() -> None:
    beside = [
        Path(f"a.{kind}{packed}")
        for kind in ("lab", "sta", "srew", "trew")
        for packed in ("", ".gz", ".xz", ".bz2")
    ]
    assert files_beside(Path("a.json"), None) == files_beside(Path("a.tra"), "json") == []
    for name, format_name in (("a.tra", None), ("a.tra.xz", None), ("a.txt", None), ("a.json", "prism")):
        assert files_beside(Path(name), format_name) == beside


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items())
def test_compressed_files(suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path) -> None:
    """A model is the same, compressed or not, whatever the file is called, and so are the files beside it."""
    for name in (f"chain.json{suffix}", "chain.model", "chain.JSON.GZ"):
        (tmp_path / name).write_bytes(pack(TEXTS["json"].encode()))
        assert load_model(tmp_path / name) == CHAIN
    assert parse_model(pack(TEXTS["yaml"].encode())) == CHAIN
    for kind, text in PRISM.items():
        (tmp_path / f"chain.{kind}{suffix}").write_bytes(pack(text.encode()))
    pairs = [(CHAIN.states[s], CHAIN.states[t]) for s, t in CHAIN.pairs]
    assert load_model(tmp_path / f"chain.tra{suffix}", pairs=pairs) == CHAIN


@pytest.mark.parametrize(("suffix", "pack"), PACKERS.items())
def test_compressed_files_of_strangers(
    suffix: str, pack: Callable[[bytes], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"chain.json{suffix}"
    monkeypatch.setattr("bisimdist.models.io.compressed.MAX_BYTES", 1 << 20)
    for content, said in (
        (pack(bytes(1 << 24)), "unpacks to more than the 1 MiB allowed"),
        (pack(TEXTS["json"].encode())[:40], "cannot be unpacked"),
    ):
        path.write_bytes(content)
        with pytest.raises(ModelError, match=said) as caught:
            load_model(path)
        assert str(path) in str(caught.value)
