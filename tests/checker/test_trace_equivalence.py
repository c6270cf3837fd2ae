"""Certificates of trace equivalence: what is computed is accepted, what is false is refused."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker.claims.trace_equivalence import check_document
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.logic.engine.linear_semantics import TraceSemantics
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from bisimdist.traces.equivalence.ask import trace_equivalence
from tests.reference.information_space import information_space
from tests.speed import leeway
from tests.words.fully_probabilistic import deferred_choice, random_automata, randomised_responses

Document = dict[str, Any]


def certificate(automaton: PA, pairs: list[tuple[int, int]] | None = None) -> Document:
    names = automaton.states
    asked = None if pairs is None else [(names[s], names[t]) for s, t in pairs]
    result: Document = json.loads(json.dumps(trace_equivalence(automaton, asked).certificate()))
    return result


def all_pairs(automaton: PA) -> list[tuple[int, int]]:
    return [(s, t) for s in range(len(automaton)) for t in range(s + 1)]


@settings(max_examples=50, deadline=None)
@given(random_automata(6))
def test_what_is_computed_is_accepted(automaton: PA) -> None:
    document = certificate(automaton, all_pairs(automaton))
    report = check_document(document, json.loads(json.dumps(automaton.canonical())))
    assert report.valid, report.reason
    for (s, t), claim in zip(all_pairs(automaton), report.other_claims, strict=True):
        assert claim["equivalent"] == (information_space(automaton, s, t).trace is None)


def test_equivalence_beyond_bisimilarity_is_proved() -> None:
    document = certificate(deferred_choice())
    assert document["basis"]
    assert check_document(document, None).valid


def sharpened(document: Document, data: st.DataObject) -> None:
    """Change some numbers, names and claims."""
    for _ in range(data.draw(st.integers(1, 3))):
        kind = data.draw(st.integers(0, 4))
        claim = data.draw(st.sampled_from(document["claims"]))
        names = document["model"]["states"]
        if kind == 0:
            claim[data.draw(st.sampled_from(["from", "to"]))] = data.draw(st.sampled_from(names))
        elif kind == 1:
            claim["equivalent"] = True
            claim.pop("trace", None)
            claim.pop("probabilities", None)
        elif kind == 2 and not claim["equivalent"]:
            claim["trace"] = data.draw(st.lists(st.sampled_from("ab"), max_size=3))
            claim["probabilities"] = [data.draw(st.sampled_from(["0", "1", "1/2"])) for _ in range(2)]
        elif kind == 3 and document["basis"]:
            function = data.draw(st.sampled_from(document["basis"]))
            if data.draw(st.booleans()):
                document["basis"].remove(function)
            else:
                state = data.draw(st.sampled_from(names))
                function["values"][state] = data.draw(st.sampled_from(["0", "1", "1/2", "-1"]))
        elif kind == 4 and document["basis"]:
            data.draw(st.sampled_from(document["basis"]))["pivot"] = data.draw(st.sampled_from(names))


@settings(max_examples=150, deadline=None)
@given(random_automata(5), st.data())
def test_whatever_is_accepted_is_true(automaton: PA, data: st.DataObject) -> None:
    document = certificate(automaton, all_pairs(automaton))
    sharpened(document, data)
    report = check_document(document, None)
    if not report.valid:
        return
    for claim in report.other_claims:
        s, t = (automaton.index(str(claim[key])) for key in ("from", "to"))
        assert claim["equivalent"] == (information_space(automaton, s, t).trace is None)


@settings(max_examples=100, deadline=None)
@given(random_automata(5), st.data())
def test_whatever_is_accepted_of_another_automaton_is_true(automaton: PA, data: st.DataObject) -> None:
    assume(automaton.transitions)
    document = certificate(automaton, all_pairs(automaton))
    steps = list(automaton.transitions)
    changed = data.draw(st.integers(0, len(steps) - 1))
    old = steps[changed]
    assume(old.row)
    row = tuple((t, data.draw(st.sampled_from([fmpq(1, 4), fmpq(1, 3), p]))) for t, p in old.row)
    assume(sum((p for _, p in row), fmpq(0)) <= 1)
    steps[changed] = Transition(old.source, data.draw(st.sampled_from("ab")), row)
    other = PA(automaton.states, tuple(steps))
    document["model"] = json.loads(json.dumps(other.canonical()))
    document["digest"] = other.digest()
    report = check_document(document, None)
    for (s, t), claim in zip(all_pairs(other), report.other_claims, strict=True):
        if report.valid:
            assert claim["equivalent"] == (information_space(other, s, t).trace is None)


def refused(document: Document, reason: str, model: object | None = None) -> None:
    report = check_document(document, model)
    assert not report.valid
    assert reason in report.reason


def test_each_rule() -> None:
    document = certificate(deferred_choice())
    broken = {**document, "digest": "sha256:0"}
    refused(broken, "T2")
    refused(document, "T3", json.loads(json.dumps(randomised_responses().canonical())))
    twice = PA(("s", "t"), tuple(Transition(0, a, ((1, fmpq(1)),)) for a in "ab"))
    refused({**document, "model": twice.canonical(), "digest": twice.digest()}, "T1")
    refused({**document, "claims": [{"from": "s", "to": "?", "equivalent": True}]}, "T4")
    refused({**document, "claims": [{"from": "s", "to": "u", "equivalent": True}]}, "T7")
    refused({**document, "basis": document["basis"][:-1]}, "T6")
    refused({**document, "basis": [*document["basis"], document["basis"][0]]}, "T6")
    apart: Document = {"from": "s", "to": "u", "equivalent": False, "trace": ["a"]}
    assert check_document({**document, "claims": [{**apart, "probabilities": ["1", "0"]}]}, None).valid
    refused({**document, "claims": [{**apart, "probabilities": ["1", "1/2"]}]}, "T5")
    same = {**apart, "to": "t", "probabilities": ["1", "1"]}
    refused({**document, "claims": [same]}, "T5: claim 1, ['s', 't']: the trace has the same")


@pytest.mark.parametrize(
    "change",
    [
        {"claims": [{"from": "s", "to": "t"}]},
        {"claims": [{"from": "s", "to": "t", "equivalent": True, "trace": []}]},
        {"claims": [{"from": "s", "to": "t", "equivalent": False, "trace": [], "probabilities": ["1"]}]},
        {"basis": [{"pivot": "s", "values": []}]},
        {"basis": [{"pivot": "s", "values": {"s": "x"}}]},
        {"more": 1},
    ],
)
def test_malformed(change: Document) -> None:
    with pytest.raises(MalformedCertificate):
        check_document({**certificate(deferred_choice()), **change}, None)


def test_a_chain_may_be_given() -> None:
    chain = LMC.from_mappings({"s": "a", "t": "b"}, {"s": {"t": 1}, "t": {"t": 1}})
    document = json.loads(json.dumps(trace_equivalence(chain, [("s", "t")]).certificate()))
    plain = json.loads(json.dumps(chain.canonical()))
    assert check_document(document, plain).valid
    assert read_automaton(document["model"]).digest() == document["digest"]


def test_a_long_trace_through_a_cycle_is_followed_quickly() -> None:
    thirds, elevenths = ((0, fmpq(1, 3)), (1, fmpq(1, 7))), ((0, fmpq(1, 13)), (1, fmpq(1, 11)))
    document = certificate(
        PA(("s", "t"), (Transition(0, "a", thirds), Transition(1, "a", elevenths)), ((0, 1),))
    )
    (claim,) = document["claims"]
    claim["trace"] = ["a"] * 10_000
    before = time.process_time()
    report = check_document(document, None)
    assert time.process_time() - before < 10 * leeway()
    assert "not the probabilities" in report.reason


@settings(max_examples=50, deadline=None)
@given(random_automata(5), st.lists(st.sampled_from("ab"), max_size=150))
def test_any_trace_has_its_own_probabilities(automaton: PA, trace: list[str]) -> None:
    semantics = TraceSemantics(automaton, (0, 1))
    first, second = (semantics.probability(s, tuple(trace)) for s in (0, 1))
    document = certificate(automaton, [(0, 1)])
    claim = {"from": automaton.states[0], "to": automaton.states[1], "equivalent": False, "trace": trace}
    document["claims"] = [{**claim, "probabilities": [str(first), str(second)]}]
    report = check_document(document, None)
    assert report.valid == (first != second)
    assert report.valid or "same probability" in report.reason
