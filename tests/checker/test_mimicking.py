"""Certificates of mimicking formulae: what is computed is accepted, every other formula is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import MalformedCertificate
from bisimdist.checker.claims import mimicking as mimicking_module
from bisimdist.checker.claims.mimicking import check_document
from bisimdist.checker.core import reading
from bisimdist.errors import LimitError
from bisimdist.logic.engine.equations import EquationSystem
from bisimdist.logic.engine.formula_parser import parse_formula
from bisimdist.logic.engine.mimicking import mimicking_formulae
from bisimdist.logic.formula import ask as writer
from bisimdist.logic.formula.ask import mimicking_formula
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from tests.strategies import automata

Document = dict[str, Any]


def certificate(automaton: PA, state: str, depth: int | None = None) -> Document:
    result: Document = json.loads(json.dumps(mimicking_formula(automaton, state, depth).certificate()))
    return result


@settings(max_examples=50)
@given(automata(), st.one_of(st.none(), st.integers(0, 5)))
def test_what_is_computed_is_accepted(automaton: PA, depth: int | None) -> None:
    model = json.loads(json.dumps(automaton.canonical()))
    for state in automaton.states:
        report = check_document(certificate(automaton, state, depth), model)
        assert report.valid, report.reason


@settings(max_examples=75)
@given(automata(4), st.integers(0, 4), st.integers(0, 4), st.data())
def test_a_formula_is_accepted_exactly_if_it_is_that_of_the_state(
    automaton: PA, depth: int, other_depth: int, data: st.DataObject
) -> None:
    """Claim the formula of one state and depth for another state and depth."""
    state, other = (data.draw(st.sampled_from(automaton.states)) for _ in range(2))
    document = certificate(automaton, state, depth)
    document["claims"][0].update(state=other, depth=str(other_depth))
    wanted = mimicking_formulae(automaton, other_depth)[automaton.index(other)]
    same = parse_formula(document["claims"][0]["formula"]) is wanted
    assert check_document(document, None).valid == same


@settings(max_examples=75)
@given(automata(4), st.data())
def test_equations_are_accepted_exactly_if_they_are_those_of_the_states(
    automaton: PA, data: st.DataObject
) -> None:
    """Give a state another variable, or the formula of another state: its bisimilar ones alone will do."""
    state = data.draw(st.sampled_from(automaton.states))
    document = certificate(automaton, state)
    claim = document["claims"][0]
    if "variables" not in claim:
        return
    changed = data.draw(st.sampled_from(sorted(claim["variables"])))
    before = claim["variables"][changed]
    claim["variables"][changed] = data.draw(st.sampled_from(sorted(claim["variables"].values())))
    assert check_document(document, None).valid == (claim["variables"][changed] == before)
    claim["variables"][changed] = before
    claim["state"] = data.draw(st.sampled_from(sorted(claim["variables"])))
    answer = mimicking_formula(automaton, claim["state"])
    reached = isinstance(answer.formula, EquationSystem) and before in claim["variables"].values()
    same = claim["variables"][claim["state"]] == claim["variables"][state]
    report = check_document(document, None)
    # Bisimilar states may reach different states; then the table has to be another one, too.
    assert not report.valid or (reached and same)


CHAIN = PA(
    ("s", "t", "u"),
    (
        Transition(0, "a", ((0, fmpq(1, 2)), (1, fmpq(1, 2)))),
        Transition(1, "b", ((2, fmpq(1)),)),
    ),
)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"state": "x"}, "N4: claim 1 names 'x'"),
        ({"state": "t"}, "N6: claim 1: the states with a variable"),
        ({"depth": "3"}, "N5: claim 1: the formula is recursive"),
        ({"variables": {}}, "N6: claim 1: the states with a variable"),
        ({"variables": {"s": "X_s", "t": "X_t", "u": "X_t"}}, "N6: claim 1: the variables of the states"),
        ({"variables": {"s": "X_s", "t": "X_u", "u": "X_t"}}, "N6: claim 1: the equation of"),
        ({"formula": "T"}, "N5: claim 1: the formula is less deep"),
        ({"formula": "<a>T", "depth": "7"}, "N5: claim 1: the formula is less deep"),
        ({"formula": "T", "depth": "1"}, "N5: claim 1: this is not what 's' can do for 1 steps"),
        ({"formula": "<a>(1 T) & !<b>T", "depth": "1"}, ""),
        ({"formula": "!<b>T & <a>(1/2 T + 1/2 T)", "depth": "1"}, ""),
        ({"formula": "<a>(1 T)", "depth": "1"}, "N5"),
        ({"formula": "<a>T & !<b>T", "depth": "1"}, "N5"),
        ({"formula": "T", "depth": "0"}, ""),
    ],
)
def test_each_rule(change: Document, rule: str) -> None:
    document = certificate(CHAIN, "s")
    document["claims"][0].update(change)
    report = check_document(document, None)
    assert report.valid == (not rule)
    assert rule in report.reason
    document = certificate(CHAIN, "s")
    assert "N2" in check_document({**document, "digest": "sha256:0"}, None).reason
    assert "N3" in check_document(document, json.loads(json.dumps(PA(("s",), ()).canonical()))).reason


def test_equations_cannot_be_changed() -> None:
    text = certificate(CHAIN, "s")["claims"][0]["formula"]
    for before, after in (
        ("1/2 X_s + 1/2 X_t", "1/3 X_s + 2/3 X_t"),
        ("1/2 X_s + 1/2 X_t", "1/2 X_s + 1/2 X_u"),
        ("in X_s", "in X_t"),
        ("in X_s", "in X_s & X_t"),
        ("!<b>T", "T"),
    ):
        document = certificate(CHAIN, "s")
        assert before in text
        document["claims"][0]["formula"] = text.replace(before, after, 1)
        assert not check_document(document, None).valid


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({"state": "s", "depth": 1, "formula": "T"}, "expected a string"),
        ({"state": "s", "depth": "-1", "formula": "T"}, "expected a natural number"),
        ({"state": "s", "depth": "1e9", "formula": "T"}, "expected a natural number"),
        ({"state": "s", "depth": None, "formula": "(1 T)"}, "not about states"),
        ({"state": "s", "depth": None, "formula": "T", "variables": []}, "expected an object"),
        ({"state": "s", "depth": None, "formula": "T", "variables": {"s": 1}}, "expected a string"),
        ({"state": "s", "formula": "T"}, "has no 'depth'"),
    ],
)
def test_malformed_claims(claim: Document, words: str) -> None:
    with pytest.raises(MalformedCertificate, match=words):
        check_document({**certificate(CHAIN, "s"), "claims": [claim]}, None)


def test_absurd_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    document = certificate(CHAIN, "s", 3)
    document["claims"][0]["depth"] = "999999999"
    assert "less deep" in check_document(document, None).reason
    monkeypatch.setattr(reading, "LEAST_WORK", 20 * mimicking_module.PART)
    with reading.limited(0), pytest.raises(MalformedCertificate, match="more work"):
        check_document(document, None)
    monkeypatch.setattr(writer, "MAX_WORK", 20)
    with pytest.raises(LimitError, match="too long to check"):
        certificate(CHAIN, "s", 3)


def test_larger_formulae() -> None:
    document = certificate(chain_as_automaton(random_lmc(200, 3, 2, 1)), "s0", 30)
    assert check_document(document, None).valid
    assert check_document(certificate(pin_checking(), "s1", 40), None).valid
