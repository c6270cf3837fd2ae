"""Certificates of satisfaction: what is computed is accepted, every other claim is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.checker.claims.satisfaction import check_document
from bisimdist.checker.core import reading
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.formula_states import FormulaReader
from bisimdist.logic.engine.formula import Mixture, StateFormula
from bisimdist.logic.satisfaction.ask import satisfying
from bisimdist.logic.satisfaction.distributions import satisfying_transitions
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from tests.logic.formula_reference import formulae
from tests.logic.test_distribution_formulae import distribution_formulae
from tests.strategies import automata, lmcs

Document = dict[str, Any]
SYSTEMS = (
    "rec X = <a>X in X",
    "rec X = <a>(1/2 X + 1/2 T) in X",
    "rec X = X & !<b>T; Y = <a>(1/2 X + 1/2 !<b>!X) in Y & X",
    "rec X = <a>Y; Y = <b>X in !X & <a>!Y",
    "let z = <a>X; m = (1/2 z + 1/2 T) in rec X = !<b>!<a>m & z; Y = X in Y",
    "rec X = Y; Y = Z; Z = <a>T in X",
    "rec X = !!X in X",
)


def as_read(document: dict[str, object]) -> Document:
    result: Document = json.loads(json.dumps(document))
    return result


@settings(max_examples=40)
@given(automata(), formulae(), st.data())
def test_states_are_proved_and_no_others(automaton: PA, formula: StateFormula, data: st.DataObject) -> None:
    document = as_read(satisfying(automaton, formula).certificate())
    model = as_read(automaton.canonical())
    assert check_document(document, model).valid
    listed = document["claims"][0]["satisfying"]
    changed = data.draw(st.lists(st.sampled_from(automaton.states), unique=True))
    document["claims"][0]["satisfying"] = changed
    assert check_document(document, model).valid == (set(changed) == set(listed))


@settings(max_examples=40)
@given(automata(), distribution_formulae(), st.data())
def test_transitions_are_proved_and_no_others(automaton: PA, formula: Mixture, data: st.DataObject) -> None:
    document = as_read(satisfying_transitions(automaton, formula).certificate())
    assert check_document(document, None).valid
    steps = [json.dumps(step, sort_keys=True) for step in document["model"]["transitions"]]
    listed = {json.dumps(step, sort_keys=True) for step in document["claims"][0]["transitions"]}
    changed = data.draw(st.lists(st.sampled_from(steps), unique=True)) if steps else []
    document["claims"][0]["transitions"] = [json.loads(step) for step in changed]
    assert check_document(document, None).valid == (set(changed) == listed)


@settings(max_examples=30)
@given(automata(), st.sampled_from(SYSTEMS))
def test_recursive_formulae_have_their_greatest_solution(automaton: PA, text: str) -> None:
    answer = satisfying(automaton, text)
    document = as_read(answer.certificate())
    assert check_document(document, None).valid
    for state in automaton.states:
        listed = set(answer.states) ^ {state}
        document["claims"][0]["satisfying"] = sorted(listed)
        assert not check_document(document, None).valid


@settings(max_examples=50)
@given(automata(), formulae(), formulae())
def test_another_formula_is_judged_by_what_it_means(
    automaton: PA, formula: StateFormula, other: StateFormula
) -> None:
    document = as_read(satisfying(automaton, formula).certificate())
    document["claims"][0]["formula"] = str(other)
    same = satisfying(automaton, formula).states == satisfying(automaton, other).states
    assert check_document(document, None).valid == same


@settings(max_examples=20)
@given(lmcs())
def test_chains_are_taken_with_their_labels_as_actions(chain: Any) -> None:
    document = as_read(satisfying(chain, "<a>T").certificate())
    assert check_document(document, as_read(chain.canonical())).valid
    assert document["digest"] == chain_as_automaton(chain).digest()


def simple() -> Document:
    return as_read(satisfying(pin_checking(), "<ok>T").certificate())


def moves() -> Document:
    return as_read(satisfying_transitions(pin_checking(), "(3/5 <ok>T + 2/5 T)").certificate())


def test_each_rule() -> None:
    for change, rule in (
        ({"digest": "sha256:0"}, "S2"),
        ({"claims": [{"formula": "<ok>T", "satisfying": ["s5", "x"]}]}, "S4: claim 1 names 'x'"),
        ({"claims": [{"formula": "<ok>T", "satisfying": ["s5", "s5"]}]}, "S4: claim 1 names 's5' twice"),
        ({"claims": [{"formula": "<ok>T", "satisfying": ["s5"]}]}, "S5: claim 1: 't5' satisfies"),
        ({"claims": [{"formula": "<no>T", "satisfying": ["s5"]}]}, "S5: claim 1: 's2' satisfies"),
        ({"claims": [{"formula": "!T", "satisfying": ["s5"]}]}, "'s5' does not satisfy the formula"),
    ):
        report = check_document({**simple(), **change}, None)
        assert not report.valid
        assert rule in report.reason
    other = as_read(PA(("s",), ()).canonical())
    assert "S3" in check_document(simple(), other).reason
    step = moves()["claims"][0]["transitions"][0]
    for listed, rule in (
        ([], "S5: claim 1: a transition 'a1' of 's1' satisfies"),
        ([step, step], "S4: claim 1 lists a transition twice"),
        ([{**step, "to": {"s2": "1"}}], "S4: claim 1 lists a transition 'a1' of 's1' that is none"),
        ([{**step, "action": "a2"}], "that is none"),
    ):
        claim = {"formula": "(3/5 <ok>T + 2/5 T)", "transitions": listed}
        report = check_document({**moves(), "claims": [claim]}, None)
        assert not report.valid
        assert rule in report.reason


MALFORMED: list[tuple[dict[str, object], str]] = [
    ({"formula": "<ok>", "satisfying": []}, "the formula has its end"),
    ({"formula": "(1 <ok>T)", "satisfying": []}, "not about states"),
    ({"formula": "<ok>T", "transitions": []}, "not about distributions"),
    ({"formula": "rec X = <a>X in (1 X)", "transitions": []}, "has equations"),
    ({"formula": "rec X = <a>X in Y", "satisfying": []}, "'Y' of the formula has no definition"),
    ({"formula": "rec X = (1 T) in X", "satisfying": []}, "not about states"),
    ({"formula": "rec X = !X in X", "satisfying": []}, "odd number of negations"),
    ({"formula": "let m = (1 X) in rec X = !<a>m in X", "satisfying": []}, "odd number of negations"),
    ({"formula": "let y = X; X = T in y", "satisfying": []}, "no definition"),
    ({"formula": "T", "satisfying": "s1"}, "expected an array"),
    ({"formula": "T", "satisfying": [1]}, "expected a string"),
    ({"formula": "T", "satisfying": [], "states": []}, "unknown key"),
    ({"formula": "T", "transitions": [{"from": "s1", "action": "a", "to": []}]}, "expected an object"),
    ({"formula": "T"}, "has no 'transitions'"),
]


@pytest.mark.parametrize(("claim", "words"), MALFORMED)
def test_malformed_claims(claim: dict[str, object], words: str) -> None:
    with pytest.raises(MalformedCertificate, match=words):
        check_document({**simple(), "claims": [claim]}, None)


def test_anything_is_satisfied_by_all_transitions() -> None:
    document = as_read(satisfying_transitions(pin_checking(), "T").certificate())
    assert check_certificate(json.dumps(document)).valid
    del document["claims"][0]["transitions"][3]
    assert not check_certificate(json.dumps(document)).valid


def test_absurd_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    one = fmpq(1)
    steps = tuple(Transition(s, "a", ((s + 1, one),)) for s in range(60))
    answer = satisfying(PA(tuple(f"s{n}" for n in range(61)), steps), "rec X = <a>X in X")
    assert answer.states == ()
    document = as_read(answer.certificate())
    assert check_document(document, None).valid
    monkeypatch.setattr(reading, "LEAST_WORK", 400_000)
    with reading.limited(0), pytest.raises(MalformedCertificate, match="more work"):
        check_document(document, None)


def test_variables_of_two_claims_are_different() -> None:
    document = simple()
    loops = read_automaton(document["model"])
    reader = FormulaReader(loops)
    assert reader.satisfying("rec X = <ok>T in X") == reader.satisfying("<ok>T")
    assert reader.satisfying("rec X = <no>T in X") == reader.satisfying("<no>T")
    with pytest.raises(MalformedCertificate):
        reader.satisfying("X")
