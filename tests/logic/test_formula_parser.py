"""The text of formulae: read, written, and refused with the column."""

from __future__ import annotations

import re

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.errors import ModelError
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    TOP,
    StateFormula,
    conjunction,
    diamond,
    enabled,
    formula_size,
    mixture,
    negation,
    variable,
)
from bisimdist.logic.engine.formula_parser import parse_formula, parse_node, parse_system
from bisimdist.logic.engine.formula_printer import formula_text, system_text
from bisimdist.logic.engine.mimicking import mimicking_formulae, mimicking_system
from bisimdist.models.pa import PA
from tests.logic.formula_reference import formulae
from tests.logic.test_formula import chain_of
from tests.strategies import automata


@given(formulae(4), st.booleans())
def test_what_is_written_is_read(formula: StateFormula, unicode: bool) -> None:
    text = formula_text(formula, unicode=unicode)
    assert parse_formula(text) is formula
    assert formula_text(parse_formula(text), unicode=unicode) == text


@settings(max_examples=30)
@given(automata(), st.integers(0, 6))
def test_shared_formulae_are_read_back(automaton: PA, depth: int) -> None:
    for state, formula in mimicking_formulae(automaton, depth).items():
        assert parse_formula(str(formula)) is formula
        system, _ = mimicking_system(automaton, state)
        assert parse_system(str(system)) == system
        assert parse_system(system_text(system, unicode=True)) == system


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("<a>T", "⟨a⟩\u22a4"),
        ("¬⟨a⟩(1/2 ⟨b⟩\u22a4 ⊕ 1/2 \u22a4) ∧ \u22a4", "!<a>(0.5 <b>T (+) 5e-1 T)"),
        ("<a><b>T", "<a>(1 <b>T)"),
        ("<a>(<b>T & <c>T)", "<a>(1 (<c>T & <b>T))"),
        ("<a>!<b>T & <c>T", "<c>T & (<a>(1 !<b>T))"),
        ("let x = <b>T; y = (1/2 x + 1/2 T) in <a>y & <c>x", "<a>(1/2 <b>T + 1/2 T) & <c><b>T"),
        ("((T)) & !!<a>T  # and this is a remark", '<"a">T'),
        ("<a>()", "< a >( )"),
        ("let x = T; in <a>x", "<a>(1 T)"),
    ],
)
def test_ways_to_write_the_same(text: str, same: str) -> None:
    assert parse_formula(text) is parse_formula(same)


def test_any_mass_and_mass_one_differ() -> None:
    assert parse_formula("<a>T") is enabled("a")
    assert parse_formula("<a>(1 T)") is diamond("a", mixture([(1, TOP)]))
    assert str(parse_formula("<a>(1 T)")) == "<a>(1 T)"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=8))
def test_actions_of_any_name(action: str) -> None:
    for unicode in (False, True):
        assert parse_formula(formula_text(enabled(action), unicode=unicode)) is enabled(action)


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("", 1, "found the end of the text; expected a formula, such as T"),
        ("<a>", 4, "expected a formula"),
        ("<a T", 1, "no action follows '<'; expected an action in angle brackets"),
        ("<a>T <b>T", 6, "found 'b'; expected '&' or the end of the text"),
        ("<a>(1/2 T + )", 13, "found ')'; expected a weight, such as 1/2"),
        ("<a>(1/2 T & <b>T)", 11, "found '&'; expected '+' or ')'"),
        ("<a>(1/2 T + 3/4 <b>T)", 4, "the weights sum to 5/4; expected at most 1"),
        ("<a>(0 T)", 5, "the weight 0 is not above 0"),
        ("<a>(1/0 T)", 5, "zero denominator"),
        ("<a>T & (<b>T", 13, "found the end of the text; expected '&' or ')'"),
        ("<a>T & ", 8, "expected a formula"),
        ("(1/2 T)", 1, "a formula about distributions stands here"),
        ("x", 1, "the name x has no definition"),
        ("let x = T; x = T in x", 12, "defined twice"),
        ("let x = T in let", 14, "found 'let'; expected a formula"),
        ("let y = (1/2 T) in y", 20, "y is a formula about distributions"),
        ("let x = <a>T <b>T", 14, "expected '&', ';' and another definition, or 'in'"),
        ("let T = <a>T in T", 5, "expected the name of a definition"),
        ("let x <a>T in T", 7, "expected '='"),
        ("<a>$", 4, "found '$'"),
        ('<"a\\q">T', 1, "is no quoted text"),
        ("rec X = !<a>X in X", 0, "odd number of negations"),
        ("rec X = <a>Y in X", 12, "the name Y has no definition"),
        ("rec X = <a>X in X", 0, "is recursive"),
    ],
)
def test_errors_say_where_and_what(text: str, column: int, words: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_formula(text)
    message = str(caught.value)
    assert words in message
    assert "\n" not in message
    if column:
        assert message.startswith(f"line 1: column {column}: "), message


def test_errors_in_later_lines() -> None:
    with pytest.raises(ModelError, match=re.escape("line 3: column 8: found ')'")):
        parse_formula("let\n  x = <a>T\nin (x &)")


@settings(max_examples=150)
@given(st.text(alphabet='<ab>T!&()+1/2 ;=x"inletrc', max_size=25))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        formula = parse_formula(text)
    except ModelError as error:
        assert "\n" not in str(error)
    else:
        assert parse_formula(str(formula)) is formula


def test_deep_nesting_and_long_texts() -> None:
    deep = "!" * 10_001 + "(" * 10_000 + "<a>T" + ")" * 10_000
    assert parse_formula(deep) is negation(enabled("a"))
    formula = chain_of(3000)
    assert parse_formula(str(formula)) is formula
    doubled: StateFormula = enabled("a")
    for level in range(1000):
        # As a tree this has 2^1000 leaves.
        doubled = conjunction(
            [
                diamond("a", mixture([(fmpq(1, 2), doubled), (fmpq(1, 2), enabled(f"x{level % 7}"))])),
                diamond("b", mixture([(fmpq(1, 3), doubled)])),
            ]
        )
    text = str(doubled)
    assert len(text) < 20 * formula_size(doubled)
    assert parse_formula(text) is doubled


def test_distribution_formulae_in_several_places_are_written_once() -> None:
    target = mixture([(fmpq(1, 50), enabled(f"a{number}")) for number in range(50)])
    formula = conjunction([diamond(f"b{number}", target) for number in range(50)])
    text = str(formula)
    assert text.startswith("let\n  x1 = (1/50 <a0>T + ")
    assert text.count("1/50") == 50
    assert parse_formula(text) is formula


def test_names_do_not_collide_with_variables() -> None:
    shared = conjunction([diamond("a", mixture([(1, variable("x1"))])), enabled("b")])
    root = conjunction([diamond("c", mixture([(1, shared)])), diamond("d", mixture([(1, shared)]))])
    system = EquationSystem(root, (("x1", shared),))
    assert str(system).startswith("let\n  x2 = <a>x1 & <b>T\nin rec x1 = x2 in ")
    assert parse_system(str(system)) == system
    assert parse_node(str(root)) is root
