"""Formulae about distributions on their own: read, printed, and judged by the linear program."""

from __future__ import annotations

import copy
import json
import pickle

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import check_certificate
from bisimdist.errors import LimitError, ModelError, NumberError, NumberTypeError, UsageError
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula import (
    ANYTHING,
    DistributionFormula,
    Mixture,
    diamond,
    enabled,
    mixture,
    negation,
    variable,
)
from bisimdist.logic.engine.formula_parser import parse_any_formula, parse_distribution_formula, parse_formula
from bisimdist.logic.engine.formula_printer import formula_text
from bisimdist.logic.engine.satisfaction import ModelChecker
from bisimdist.logic.engine.splitting import bits
from bisimdist.logic.satisfaction.distributions import distribution_satisfies, satisfying_transitions
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition
from bisimdist.progress import Deadline
from tests.logic.formula_reference import formulae, holds
from tests.logic.test_satisfaction import program_feasible
from tests.strategies import automata, rows, weights

HALF = fmpq(1, 2)


@st.composite
def distribution_formulae(draw: st.DrawFn) -> Mixture:
    """Draw a formula of up to three parts."""
    shares = draw(weights(draw(st.integers(1, 3))))
    scale = draw(st.sampled_from((fmpq(1), fmpq(1), HALF)))
    return mixture([(share * scale, draw(formulae(2))) for share in shares])


def defined(automaton: PA, row: Row, formula: Mixture) -> bool:
    """The definition: a linear program in which parts lie on states that satisfy their formulae."""
    parts = [
        (weight, sum(1 << s for s in range(len(automaton)) if holds(automaton, s, part)))
        for weight, part in formula.parts
    ]
    return program_feasible(row, parts)


@settings(max_examples=30, deadline=None)
@given(automata(), distribution_formulae())
def test_transitions_are_those_of_the_linear_program(automaton: PA, formula: Mixture) -> None:
    answer = satisfying_transitions(automaton, formula)
    found = {step.number for step in answer.transitions}
    for number, step in enumerate(automaton.transitions):
        assert (number in found) == defined(automaton, step.row, formula)
    # <a>psi holds exactly where a transition a satisfies psi.
    for action in "ab":
        sources = {step.source for step in answer.transitions if step.action == action}
        satisfied = ModelChecker(automaton).states(diamond(action, formula))
        assert sources == {automaton.states[s] for s in bits(satisfied)}


@settings(max_examples=100)
@given(automata(), distribution_formulae())
def test_splittings_prove(automaton: PA, formula: Mixture) -> None:
    for step in satisfying_transitions(automaton, formula).transitions:
        assert tuple((share.weight, share.formula) for share in step.splitting) == formula.parts
        for share in step.splitting:
            assert sum(share.masses.values(), fmpq(0)) == share.weight
            assert all(holds(automaton, automaton.index(s), share.formula) for s in share.masses)
        for target, p in step.targets.items():
            assert sum((share.masses.get(target, fmpq(0)) for share in step.splitting), fmpq(0)) == p


@settings(max_examples=30, deadline=None)
@given(automata(), distribution_formulae(), st.data())
def test_given_distributions_are_judged_by_the_linear_program(
    automaton: PA, formula: Mixture, data: st.DataObject
) -> None:
    scale = data.draw(st.sampled_from((fmpq(1), HALF)))
    row = tuple((s, p * scale) for s, p in data.draw(rows(range(len(automaton)))))
    masses = {automaton.states[s]: p for s, p in row}
    answer = distribution_satisfies(automaton, masses, formula)
    assert answer.satisfied == bool(answer) == defined(automaton, row, formula)
    assert (answer.splitting is not None) == answer.satisfied


@given(distribution_formulae(), st.booleans())
def test_what_is_written_is_read(formula: Mixture, unicode: bool) -> None:
    text = formula_text(formula, unicode=unicode)
    assert parse_distribution_formula(text) is formula
    assert parse_any_formula(text) is formula
    assert pickle.loads(pickle.dumps(formula)) is formula
    assert copy.deepcopy(formula) is formula


def test_texts_about_distributions() -> None:
    read = parse_distribution_formula
    assert read("T") is read("\u22a4") is ANYTHING
    assert read(str(ANYTHING)) is ANYTHING
    assert read("()") is mixture(())
    assert read("let m = (2/3 <a>T + 1/3 T) in m") is read("(2/3 <a>T + 1/3 T)")
    assert read("(1/3 T ⊕ 1/3 <a>T (+) 0.25 T) # so") is read("(1/3 <a>T + 7/12 T)")
    system = parse_any_formula("T")
    assert isinstance(system, EquationSystem)
    assert parse_any_formula("let m = (1 T) in <a>m") == EquationSystem(parse_formula("<a>(1 T)"))
    # A part that is used twice is written once.
    twice = mixture([(HALF, parse_formula("<a><b>T")), (HALF, negation(parse_formula("<a><b>T")))])
    assert str(twice).startswith("let")
    assert read(str(twice)) is twice


@pytest.mark.parametrize(
    ("text", "column", "words"),
    [
        ("<a>T", 1, "expected a formula about distributions, such as"),
        ("", 1, "found the end of the text; expected a formula about distributions"),
        ("x", 1, "expected a formula about distributions"),
        ("let x = <a>T in x", 17, "expected a formula about distributions"),
        ("(1/2 T) & T", 9, "found '&'; expected the end of the text after"),
        ("T & T", 3, "expected the end of the text after"),
        ("(1/2 T + 1/2 x)", 14, "the name x has no definition"),
        ("(2/3 T + 2/3 <a>T)", 1, "the weights sum to 4/3"),
        ("(0 T)", 2, "not above 0"),
        ("(1/2 T", 7, "expected '+' or ')'"),
        ("rec X = <a>X in (1 X)", 1, "found 'rec'; expected a formula about distributions"),
    ],
)
def test_errors_say_where_and_what(text: str, column: int, words: str) -> None:
    with pytest.raises(ModelError, match=f"column {column}: ") as caught:
        parse_distribution_formula(text)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@settings(max_examples=200)
@given(st.text(alphabet="<ab>T!&()+1/2 ;=xinlet", max_size=25))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        formula = parse_distribution_formula(text)
    except ModelError:
        return
    assert isinstance(formula, DistributionFormula)
    assert parse_distribution_formula(str(formula)) is formula


def test_answers() -> None:
    answer = satisfying_transitions(pin_checking(), "(3/5 <ok>T + 2/5 T)")
    assert answer.holds("s1")
    assert not answer.holds("s2")
    assert [step.number for step in answer.of("s7")] == [6]
    assert "<td>s7</td>" in answer._repr_html_()
    with pytest.raises(ModelError, match="state 'x'"):
        answer.holds("x")
    everything = satisfying_transitions(pin_checking(), "T")
    assert len(everything.transitions) == len(pin_checking().transitions)
    assert everything.transitions[0].splitting == ()
    assert not satisfying_transitions(PA(("s",), ()), "T").transitions
    with pytest.raises(LimitError):
        satisfying_transitions(pin_checking(), "(1/2 <ok>T + 1/2 <no>T)", deadline=Deadline.after(0))
    with pytest.raises(UsageError, match="the variable X has no equation"):
        satisfying_transitions(pin_checking(), mixture([(1, variable("X"))]))


def test_given_distributions() -> None:
    answer = distribution_satisfies(pin_checking(), {"s2": "1/2", "s5": "1/4", "s1": 0}, "(3/4 T)")
    assert answer.satisfied
    assert dict(answer.masses) == {"s2": HALF, "s5": fmpq(1, 4)}
    assert "satisfies" in answer._repr_html_()
    assert distribution_satisfies(pin_checking(), {}, "()")
    assert distribution_satisfies(pin_checking(), {}, ANYTHING)
    assert not distribution_satisfies(pin_checking(), {"s2": 1}, "()")
    with pytest.raises(ModelError, match="state 'x'"):
        distribution_satisfies(pin_checking(), {"x": 0}, "T")
    with pytest.raises(NumberError, match="sum to 3/2"):
        distribution_satisfies(pin_checking(), {"s1": 1, "s2": "1/2"}, "T")
    with pytest.raises(NumberError, match="the mass of 's1' is -1"):
        distribution_satisfies(pin_checking(), {"s1": -1}, "T")
    with pytest.raises(NumberTypeError):
        distribution_satisfies(pin_checking(), {"s1": 0.5}, "T")


def test_equal_transitions_are_proved_once() -> None:
    step = Transition(0, "a", ((1, fmpq(1)),))
    answer = satisfying_transitions(PA(("s", "t"), (step, step)), mixture([(1, negation(enabled("a")))]))
    assert [found.number for found in answer.transitions] == [0, 1]
    claims = answer.certificate()["claims"]
    assert isinstance(claims, list)
    assert len(claims[0]["transitions"]) == 1
    assert check_certificate(json.dumps(answer.certificate())).valid
