"""Formulae of the trace logic as texts: they round-trip, and errors say where they are."""

from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from bisimdist.errors import ModelError, NumberError, NumberTypeError
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula, TraceFormula
from bisimdist.logic.engine.linear_parser import (
    parse_probabilistic_formula,
    parse_trace_formula,
)

names = st.one_of(
    st.sampled_from(
        ["tau", "T", "yes", "go, home", 'a "b"', "<a>", "⟨a⟩", "\n", "", "a\\b", "3/4", "\u2028", "é"]
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=6),
)
linear = st.lists(names, max_size=5).map(lambda actions: LinearFormula(tuple(actions)))
numbers = st.fractions(0, 1).map(lambda x: fmpq(x.numerator, x.denominator))


@given(st.one_of(linear, st.builds(ProbabilisticFormula, numbers, linear)))
def test_formulae_round_trip(formula: TraceFormula) -> None:
    text = str(formula)
    assert "\n" not in text
    assert parse_trace_formula(text) == formula


@given(st.text(alphabet='<>⟨⟩T\u22a4"\\ab/1. \n', max_size=12))
@example('<"\\ud800">T')
def test_any_text_is_read_or_refused_in_one_line(text: str) -> None:
    try:
        formula = parse_trace_formula(text)
    except ModelError as error:
        assert "\n" not in str(error)
        assert "column" in str(error)
        assert "expected" in str(error) or "allowed" in str(error) or "denominator" in str(error)
    else:
        assert parse_trace_formula(str(formula)) == formula


def test_what_is_accepted() -> None:
    three = ProbabilisticFormula(fmpq(3, 4), LinearFormula(("tau", "tau", "yes")))
    for text in (
        "3/4 <tau><tau><yes>T",
        "0.75 ⟨tau⟩⟨tau⟩⟨yes⟩\u22a4",
        ' 75e-2 < tau ><"tau"> <yes> T ',
        "3/4<tau><tau><yes>T",
    ):
        assert parse_trace_formula(text) == three
    assert parse_trace_formula("T") == LinearFormula()
    assert str(three) == "3/4 <tau><tau><yes>T"
    assert str(ProbabilisticFormula(fmpq(1))) == "1 T"


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "found the end of the text; expected an action such as <a>, or T"),
        ("3/4 <tau>", 10, "found the end of the text"),
        ("<a", 1, "no action follows '<'"),
        ("<go, home>T", 1, "expected an action in angle brackets, such as <a>"),
        ("<>T", 1, "expected an action"),
        ('<a><"a>T', 4, "expected an action"),
        ('<"\\q">T', 1, "no quoted text"),
        ("<a>T<b>T", 5, "expected the end of the text"),
        ("3/0 T", 1, "zero denominator"),
        ("x <a>T", 1, "found 'x'; expected an action"),
        ("5/4 <a>T", 1, "from 0 to 1"),
        ("-1/4 <a>T", 1, "found '-'; expected an action"),
        ("1/2", 4, "found the end of the text"),
    ],
)
def test_errors_name_the_column(text: str, column: int, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_trace_formula(text)
    assert f"column {column}:" in str(caught.value)
    assert words in str(caught.value)


def test_a_probabilistic_formula_has_a_number() -> None:
    with pytest.raises(ModelError, match="no number stands before"):
        parse_probabilistic_formula("<a>T")


def test_formulae_are_validated() -> None:
    with pytest.raises(NumberError, match="from 0 to 1"):
        ProbabilisticFormula(fmpq(5, 4))
    with pytest.raises(NumberTypeError):
        ProbabilisticFormula(0.5)
    with pytest.raises(ModelError, match="lone surrogate"):
        LinearFormula(("\ud800",))
