"""Texts of CCS_p are accepted wherever automata are."""

from __future__ import annotations

import io
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from flint import fmpq

from bisimdist.cli.main import run
from bisimdist.errors import ModelError
from bisimdist.models.io import load_model, parse_model, write_model
from bisimdist.models.io.ccsp import looks_like_ccsp
from bisimdist.models.pa import PA

COIN = "# a coin\nCoin = 1/3: heads.Coin (+) 2/3: tails.Coin;\n"


@pytest.mark.parametrize(
    "text",
    [
        COIN,
        "X=0;",
        "\n\n# a\n#b\n  X ( a , b ) = a.0; main X(c, d);",
        "main a.0;",
        "main (nu a) a.0;",
        "pairs a.0, b.0;",
        "pairs\n(a.0), b.0;",
    ],
)
def test_a_text_is_recognised(text: str) -> None:
    assert looks_like_ccsp(text)
    assert parse_model(text) == parse_model(text.encode(), format="ccsp")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "kind: pa",
        "{X = a.0;",
        "pairs: [[a, b]]",
        "main: x",
        "# only\n# comments",
        "X: Y",
        "pairs : []",
        "x = 0;",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not looks_like_ccsp(text)


@pytest.mark.parametrize("text", ["#" * 10**6, "\n" * 10**6, "#\n" * 10**6, "X(" * 10**6, "X(" + "a" * 10**6])
def test_recognising_takes_little_time(text: str) -> None:
    begin = time.monotonic()
    assert not looks_like_ccsp(text)
    assert time.monotonic() - begin < 5


def test_files(tmp_path: Path) -> None:
    path = tmp_path / "coin.ccsp"
    path.write_text(COIN, encoding="utf-8")
    model = load_model(path)
    assert isinstance(model, PA)
    assert model.states == ("Coin", "heads.Coin", "tails.Coin")
    assert model.transitions[0].row == ((1, fmpq(1, 3)), (2, fmpq(2, 3)))
    upper = tmp_path / "COIN.CCSP"
    upper.write_text(COIN, encoding="utf-8")
    assert load_model(upper) == load_model(path, format="ccsp") == model
    assert parse_model(write_model(model, "json")) == model


def test_errors_name_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "wrong.ccsp"
    path.write_text("X = a.0;\nY = b.(X + Z);\n", encoding="utf-8")
    with pytest.raises(ModelError) as caught:
        load_model(path)
    assert str(caught.value).startswith(f"{path}:2: column 12: Z is not defined")


def test_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "coin.ccsp"
    path.write_text(COIN, encoding="utf-8")
    assert run(["show", str(path), "--format", "yaml"]) == 0
    from_file = capsys.readouterr().out
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(COIN.encode())))
    assert run(["show", "-", "--format", "yaml"]) == 0
    assert capsys.readouterr().out == from_file
    path.write_text("X = a.(X | b.0);", encoding="utf-8")
    assert run(["show", str(path)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "a process grows beyond 200 components" in captured.err
