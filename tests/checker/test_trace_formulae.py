"""Certificates of the trace logic: what is computed is accepted, every other claim is refused."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.checker.claims.trace_formulae import check_document
from bisimdist.checker.core import reading
from bisimdist.checker.core.formula_text import read_linear
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula
from bisimdist.logic.traces.ask import satisfies_trace_formulae, trace_formulae
from bisimdist.models.pa import PA, Transition
from tests.words.fully_probabilistic import (
    all_traces,
    loses_mass,
    probability,
    random_automata,
    randomised_responses,
)

Document = dict[str, Any]


def as_read(document: dict[str, object]) -> Document:
    result: Document = json.loads(json.dumps(document))
    return result


def accepted(document: Document) -> bool:
    return check_document(document, None).valid


@settings(max_examples=40)
@given(random_automata(), st.integers(0, 4), st.integers(0, 12))
def test_listings_are_accepted(automaton: PA, depth: int, limit: int) -> None:
    model = as_read(automaton.canonical())
    answer = trace_formulae(automaton, "s0", depth, limit)
    document = as_read(answer.certificate())
    assert document["claims"][0]["complete"] == answer.complete
    assert check_document(document, model).valid
    # That these were all is accepted exactly if it is true.
    document["claims"][0]["complete"] = True
    words = all_traces(automaton, depth, ends=loses_mass(automaton, 0))
    complete = sum(probability(automaton, 0, word) > 0 for word in words)
    assert accepted(document) == (max(1, min(limit, complete)) == complete)


@settings(max_examples=100)
@given(random_automata(4), st.data())
def test_no_change_makes_a_listing_prove_something_false(automaton: PA, data: st.DataObject) -> None:
    depth = data.draw(st.integers(0, 3))
    document = as_read(trace_formulae(automaton, "s0", depth).certificate())
    claim = document["claims"][0]
    traces = claim["traces"]
    match data.draw(st.integers(0, 5)):
        case 0:
            claim["state"] = data.draw(st.sampled_from(automaton.states))
        case 1:
            claim["depth"] = str(data.draw(st.integers(0, 4)))
        case 2 if traces:
            del traces[data.draw(st.integers(0, len(traces) - 1))]
        case 3 if traces:
            traces[data.draw(st.integers(0, len(traces) - 1))][2] = data.draw(
                st.sampled_from(["0", "1", "1/2", "1/3", "2/3", "1/4"])
            )
        case 4 if traces:
            traces[data.draw(st.integers(0, len(traces) - 1))][1] = data.draw(st.sampled_from("abc"))
        case 5:
            before = data.draw(st.integers(0, len(traces)))
            traces.append([before, data.draw(st.sampled_from("ab")), "1/2"])
        case _:
            claim["depth"] = None
    try:
        if not accepted(document):
            return
    except MalformedCertificate:
        return
    words: list[tuple[str, ...]] = [()]
    start = automaton.index(claim["state"])
    for before, action, number in traces:
        words.append((*words[before], action))
        found = probability(automaton, start, words[-1])
        assert Fraction(int(found.p), int(found.q)) == Fraction(number)
    assert len(set(words)) == len(words)
    longest = max(map(len, words)) + 1 if claim["depth"] is None else int(claim["depth"])
    every = all_traces(automaton, longest, ends=document["ends"] == "visible")
    possible = [word for word in every if probability(automaton, start, word) > 0]
    assert claim["complete"]
    assert set(words) == set(possible)


@settings(max_examples=50)
@given(random_automata(), st.data())
def test_formulae_are_accepted_and_no_other_claim(automaton: PA, data: st.DataObject) -> None:
    word = LinearFormula(tuple(data.draw(st.text(alphabet="ab", max_size=4))))
    true = probability(automaton, 0, word.actions)
    number = data.draw(st.sampled_from([fmpq(1, 2), fmpq(1, 3), fmpq(0), true]))
    answer = satisfies_trace_formulae(automaton, "s0", [word, ProbabilisticFormula(number, word)])
    document = as_read(answer.certificate())
    assert accepted(document)
    for index in range(2):
        for change in (
            {"satisfied": not document["claims"][index]["satisfied"]},
            {"probability": "1/7"},
            {"formula": f"1/7 {word}", "satisfied": True},
            {"formula": "<c>T"} if true > 0 else {"formula": "T"},
        ):
            changed = copy.deepcopy(document)
            changed["claims"][index].update(change)
            assert not accepted(changed)


def test_all_formulae_of_a_state_that_ends() -> None:
    document = as_read(trace_formulae(randomised_responses(), "sy").certificate())
    assert document["claims"] == [
        {
            "state": "sy",
            "depth": None,
            "traces": [[0, "tau", "1"], [1, "tau", "1"], [2, "no", "1/4"], [2, "yes", "3/4"]],
            "complete": True,
        }
    ]
    assert accepted(document)
    for length in range(4):
        less = copy.deepcopy(document)
        del less["claims"][0]["traces"][length:]
        report = check_document(less, None)
        assert "W7: claim 1: trace" in report.reason
        less["claims"][0]["complete"] = False
        assert accepted(less)


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"state": "x"}, "W4: claim 1 names 'x'"),
        ({"state": "sn"}, "W6: claim 1: the probability of trace 3"),
        ({"depth": "2"}, "W6: claim 1: trace 3 has more than 2 actions"),
        ({"depth": "3"}, ""),
        ({"traces": [[0, "tau", "1"], [0, "tau", "1"]]}, "W6: claim 1: trace 2 is listed twice"),
        ({"traces": [[0, "tau", "1/2"]]}, "W6: claim 1: the probability of trace 1"),
        ({"traces": [[0, "no", "0"]]}, "W6: claim 1: the probability of trace 1"),
        ({"traces": []}, "W7: claim 1: trace 0 goes on by 'tau'"),
    ],
)
def test_each_rule(change: Document, rule: str) -> None:
    document = as_read(trace_formulae(randomised_responses(), "sy").certificate())
    document["claims"][0].update(change)
    report = check_document(document, None)
    assert report.valid == (not rule)
    assert rule in report.reason


def test_rules_on_the_model() -> None:
    document = as_read(trace_formulae(randomised_responses(), "sy").certificate())
    assert "W2" in check_document({**document, "digest": "sha256:0"}, None).reason
    other = PA(("s",), (Transition(0, "a", ()),))
    assert "W3" in check_document(document, as_read(other.canonical())).reason
    step = Transition(0, "a", ())
    several = PA(("s",), (step, step))
    document = as_read(trace_formulae(other, "s").certificate())
    document.update(model=as_read(several.canonical()), digest=several.digest())
    assert "W1: state 's' has several transitions" in check_document(document, None).reason


LIST: Document = {"state": "sy", "depth": None, "traces": [], "complete": False}
ONE: Document = {"state": "sy", "formula": "T", "probability": "1", "satisfied": True}


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        ({**LIST, "depth": "01"}, "expected a natural number"),
        ({**LIST, "complete": 1}, "expected true or false"),
        ({**LIST, "traces": [[0, "tau"]]}, "has 2 entries; expected 3"),
        ({**LIST, "traces": [[1, "tau", "1"]]}, "goes on from is 1; expected"),
        ({**LIST, "traces": [[-1, "tau", "1"]]}, "is -1; expected a natural number"),
        ({**LIST, "traces": [[True, "tau", "1"]]}, "is True; expected a natural number"),
        ({**LIST, "traces": [["0", "tau", "1"]]}, "is '0'; expected a natural number"),
        ({**LIST, "traces": [[0, "tau", 1]]}, "expected a string"),
        ({**LIST, "traces": {}}, "expected an array"),
        ({**ONE, "formula": "<tau>"}, "is no formula of the trace logic"),
        ({**ONE, "formula": "T T"}, "is no formula of the trace logic"),
        ({**ONE, "formula": "1 1 T"}, "is no formula of the trace logic"),
        ({**ONE, "formula": ""}, "is no formula of the trace logic"),
        ({**ONE, "formula": "<tau>T & T"}, "is no formula of the trace logic"),
        ({**ONE, "satisfied": "yes"}, "expected true or false"),
        ({**ONE, "extra": 1}, "unknown key"),
        ({}, "has no 'state'"),
    ],
)
def test_malformed_claims(claim: Document, words: str) -> None:
    document = as_read(trace_formulae(randomised_responses(), "sy").certificate())
    with pytest.raises(MalformedCertificate, match=words):
        check_document({**document, "claims": [claim]}, None)


def test_formulae_are_read() -> None:
    assert read_linear('3/4 <tau> <"go, home">T') == (Fraction(3, 4), ("tau", "go, home"))
    assert read_linear("T") == (None, ())


def test_absurd_work_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    third = fmpq(1, 3)
    automaton = PA(("s", "t"), tuple(Transition(s, "a", ((0, third), (1, third))) for s in range(2)))
    document = as_read(trace_formulae(automaton, "s", 2000, 3000).certificate())
    assert accepted(document)
    monkeypatch.setattr(reading, "MAX_WORK", 1000)
    monkeypatch.setattr(reading, "WORK_OF_EVERY_BYTE", 0)
    with pytest.raises(MalformedCertificate, match="more work"):
        check_certificate(json.dumps(document))
