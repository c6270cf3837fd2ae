"""Formulae in words."""

from __future__ import annotations

import pytest
from hypothesis import given

from bisimdist.logic.engine.formula import StateFormula
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.wording import difference_in_words, formula_in_words
from tests.logic.formula_reference import formulae


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<a>T", "s can do a; t cannot."),
        ("!<a>T", "t can do a; s cannot."),
        ("<a>()", "s can do a and then halts; t cannot."),
        ("<a>(1 T)", "s can do a and then goes on; t cannot."),
        ("<a>(1/2 T)", "s can do a and then goes on with probability 1/2; t cannot."),
        ("<a><b>T", "s can do a and then can do b; t cannot."),
        ("<a>(1/2 <b>T)", "s can do a and then, going on with probability 1/2, can do b; t cannot."),
        ("<a>(1/2 <b>T + 1/2 T)", "s can do a and then, with probability at least 1/2, can do b; t cannot."),
        (
            "<a>(1/2 <b>T + 1/3 !<b>T + 1/6 T)",
            "s can do a and then splits the probability into a part of 1/2 that can do b and a part of 1/3 "
            "that cannot do b; t cannot.",
        ),
        ("<a>T & <b>T", "s can do a and can do b; t does not."),
        ("!(<a>T & !<b>T)", "t can do a and cannot do b; s does not."),
        ("<a>!(<b>T & <c>T)", "s can do a and then cannot do b or cannot do c; t cannot."),
        ("<a>!<b><c>T", "s can do a and then cannot do b such that then it can do c; t cannot."),
        (
            "<a><b><c><d>T",
            "s can do a and then can do b and then can do c and then meets the rest of the formula; "
            "t cannot.",
        ),
    ],
)
def test_what_is_said(text: str, words: str) -> None:
    assert difference_in_words(parse_formula(text), "s", "t") == words


@given(formulae(5))
def test_every_formula_has_words(formula: StateFormula) -> None:
    words = formula_in_words(formula)
    assert words == words.strip()
    assert "  " not in words
    assert len(words) < 10_000
