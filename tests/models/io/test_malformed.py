"""Every file of tests/models/malformed is refused with one line that names it."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

from bisimdist.errors import ModelError
from bisimdist.models.io import load_model, parse_model
from tests.speed import leeway

FOLDER = Path(__file__).parents[1] / "malformed"
FILES = sorted(path for path in FOLDER.iterdir() if path.suffix not in {".expect", ".lab", ".sta"})


def refusal(path: Path) -> str:
    begin = time.process_time()
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert time.process_time() - begin < 5 * leeway()
    return str(caught.value)


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_is_refused_with_one_line(path: Path) -> None:
    message = refusal(path)
    assert message.isprintable(), message
    assert len(message) < 1500
    assert path.stem in message
    expected = path.with_name(path.name + ".expect")
    if expected.exists():
        assert re.search(expected.read_text(encoding="utf-8").strip(), message), message


def test_the_corpus_is_there() -> None:
    assert len(FILES) >= 40
    for expected in FOLDER.glob("*.expect"):
        assert expected.with_suffix("").exists(), expected


DEEP = 100_000


@pytest.mark.parametrize("suffix", [".json", ".yaml"])
@pytest.mark.parametrize(
    "text",
    ["[" * DEEP, '{"a":' * DEEP, "[\n" * DEEP, "[" * DEEP + "]" * DEEP, '{"a": [' * DEEP],
    ids=["lists", "mappings", "lines", "closed", "mixed"],
)
def test_deep_nesting_is_refused_quickly(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"deep{suffix}"
    path.write_text(text, encoding="utf-8")
    assert "nested deeper than the 100 allowed" in refusal(path)


def test_deep_block_nesting_is_refused_quickly(tmp_path: Path) -> None:
    path = tmp_path / "deep.yaml"
    path.write_text("- " * DEEP, encoding="utf-8")
    assert "nested deeper" in refusal(path)
    path.write_text("\n".join(" " * i + "a:" for i in range(500)), encoding="utf-8")
    assert "nested deeper" in refusal(path)


def test_numbers_that_take_too_much_memory_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.io.expect.MAX_NUMBER_BITS", 2**24)
    count = 1000
    states = ",".join(f'"x{i}": "a"' for i in range(count))
    row = ",".join(f'"x{i}": {i + 1}e-9999' for i in range(count))
    text = f'{{"kind": "lmc", "states": {{{states}}}, "transitions": {{"x0": {{{row}}}}}}}'
    with pytest.raises(
        ModelError, match=r"the numbers of the file take more than the 16777216 bits allowed$"
    ):
        parse_model(text)


def test_rows_whose_sum_takes_too_long_are_refused() -> None:
    count = 300
    states = ",".join(f'"x{i}": "a"' for i in range(count))
    row = ",".join(f'"x{i}": "1/{10**3999 + 2 * i + 1}"' for i in range(count))
    text = f'{{"kind": "lmc", "states": {{{states}}}, "transitions": {{"x0": {{{row}}}}}}}'
    with pytest.raises(ModelError, match="state 'x0': the common denominator of the probabilities is longer"):
        parse_model(text)


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bisimdist.models.io.document.MAX_NODES", 1000)
    for format_ in ("json", "yaml"):
        with pytest.raises(ModelError, match="more than the 1000 keys and values"):
            parse_model("[" + "0, " * 2000 + "0]", format=format_)


def test_a_file_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bisimdist.bounded.MAX_BYTES", 2**20)
    path = tmp_path / "large.yaml"
    path.write_bytes(b"#" * (2**20 + 1))
    assert refusal(path).endswith("large.yaml: the file is larger than the 1 MiB allowed")


def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    assert "missing.json: there is no such file" in refusal(tmp_path / "missing.json")
    assert "there is no such file" in refusal(tmp_path / "missing.tra")
    (tmp_path / "folder.json").mkdir()
    assert "folder.json: this is a directory" in refusal(tmp_path / "folder.json")
    assert "names no file" in refusal(tmp_path / "nul\0.json")
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert "the file cannot be read" in refusal(tmp_path / "file" / "model.json")
    assert "the file is empty; expected a mapping" in refusal(tmp_path / "file")
    assert "cannot be read" in refusal(tmp_path / ("x" * 300 + ".json"))


def test_names_cannot_break_the_line(tmp_path: Path) -> None:
    path = tmp_path / "two\nlines\x1b.json"
    name = "s\\n\\u001b[31m" + "x" * 10_000
    path.write_text(
        f'{{"kind": "lmc", "states": {{"{name}": "a"}}, "transitions": {{"{name}": {{"{name}": 2}}}}}}',
        encoding="utf-8",
    )
    message = refusal(path)
    assert message.isprintable()
    assert "two lines\\x1b.json:1: transition s" in message
    assert message.endswith("the probability is 2; expected a number in [0, 1]")
    assert len(message) < 1000
