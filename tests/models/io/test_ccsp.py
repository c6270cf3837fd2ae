"""Texts of CCS_p are accepted wherever automata are."""

from __future__ import annotations

import io
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.faces.cli.main import run
from bisimdist.models.io import load_model, parse_model, write_model
from bisimdist.models.io.ccsp import looks_like_ccsp
from bisimdist.models.pa import PA
from tests.speed import leeway

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
        "limit 10;\nX = a.0;",
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
        "limit: 10",
        "x = 0;",
    ],
)
def test_other_texts_are_not(text: str) -> None:
    assert not looks_like_ccsp(text)


@pytest.mark.parametrize("text", ["#" * 10**6, "\n" * 10**6, "#\n" * 10**6, "X(" * 10**6, "X(" + "a" * 10**6])
def test_recognising_takes_little_time(text: str) -> None:
    begin = time.process_time()
    assert not looks_like_ccsp(text)
    assert time.process_time() - begin < 5 * leeway()


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


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("A = a.0;\n  X = a.(X | b.0);\nmain A, X;", "line 2: column 3, after the state X", "X calls itself"),
        (
            "X = a.Y;\nY = b.Z;\nZ = a.0 + (nu c) X;",
            "line 3: column 1, after the state",
            "Z calls itself beside others",
        ),
        ("X = a.b.c.0;\n limit 2; pairs X, X;", "line 2: column 11, after the state", "more than 2 states"),
        ("P(a) = a.(nu b) a.0;\nmain P(b);", "line 1: column 1, the definition of P", "would be captured"),
        ("limit 1; X = a.0;", "line 1: column 10, after the state X", "more than 1 states"),
    ],
)
def test_what_makes_no_finite_automaton_has_a_place(text: str, place: str, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_model(text, format="ccsp")
    assert str(caught.value).startswith(place)
    assert message in str(caught.value)


def test_a_state_limit_beside_the_text() -> None:
    text = "X = a.b.c.0; limit 2; main X;"
    assert len(parse_model(text, state_limit=4)) == 4
    with pytest.raises(ModelError, match="more than 3 states"):
        parse_model(text, state_limit=3)


def test_hopeless_texts_are_refused_soon() -> None:
    begin = time.process_time()
    doubled = "".join(f"X{i} = X{i + 1} | X{i + 1};\n" for i in range(60)) + "X60 = a.0; main X0;"
    with pytest.raises(
        ModelError, match=r"line 61: column 12: the transitions of one process have more than"
    ):
        parse_model(doubled)
    assert len(parse_model("main " + "(nu a) " * 100_000 + "0;")) == 1
    assert time.process_time() - begin < 30 * leeway()
