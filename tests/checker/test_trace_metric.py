"""Certificates of trace metrics: what is computed is accepted, and whatever says more is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.checker.claims.trace_metric import check_document
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.pa import PA, Transition, chain_as_automaton
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.trace.ask import trace_metric
from tests.words.fully_probabilistic import randomised_responses
from tests.words.trace_reference import enumerated, fully_probabilistic

KINDS = ("multiplicative", "additive")
LIMITS = Effort(nodes=200, work=20_000)
LENGTHS = (None, 3)
NUMBERS = ("1", "2", "1/2", "3/2", "4", "0", "inf", "1/4", "3", "9/8", "-1")
Document = dict[str, Any]


def certificate(automaton: PA, kind: str, length: int | None = None) -> Document:
    answer = trace_metric(automaton, kind, length=length, limits=LIMITS)
    result: Document = json.loads(json.dumps(answer.certificate()))
    return result


def as_rational(text: str) -> fmpq:
    above, _, below = text.partition("/")
    return fmpq(int(above, 0), int(below or "1", 0))


def cyclic(*, dead: bool = False) -> PA:
    """Return two states whose beliefs converge without closing, so that the proof needs the table."""
    rows = [
        (0, "a", (fmpq(1, 2), fmpq(1, 4), fmpq(1, 4))),
        (1, "a", (fmpq(1, 4), fmpq(1, 2), fmpq(1, 4))),
        (2, "b", (fmpq(1, 3), fmpq(2, 3), fmpq(0))),
    ]
    steps = tuple(
        Transition(s, action, tuple((t, p) for t, p in enumerate(row) if p)) for s, action, row in rows
    )
    return PA(("x", "y", "z"), steps[:2] if dead else steps, ((0, 1),))


@settings(max_examples=60)
@given(fully_probabilistic(5), st.sampled_from(KINDS), st.sampled_from(LENGTHS))
def test_what_is_computed_is_accepted(automaton: PA, kind: str, length: int | None) -> None:
    document = certificate(automaton, kind, length)
    report = check_document(document, json.loads(json.dumps(automaton.canonical())))
    assert report.valid, report.reason


@pytest.mark.parametrize("automaton", [cyclic(), cyclic(dead=True), randomised_responses()])
@pytest.mark.parametrize("kind", KINDS)
def test_proofs_of_every_sort_are_accepted(automaton: PA, kind: str) -> None:
    document = certificate(automaton, kind)
    assert check_document(document).valid, check_document(document).reason


@settings(max_examples=60)
@given(
    fully_probabilistic(5),
    st.sampled_from(KINDS),
    st.sampled_from(LENGTHS),
    st.sampled_from(("lower", "upper")),
)
def test_claims_cannot_be_sharpened(automaton: PA, kind: str, length: int | None, side: str) -> None:
    document = certificate(automaton, kind, length)
    claim = document["claims"][0]
    assume(claim[side] != "inf")
    value = as_rational(claim[side])
    if side == "lower":
        claim[side] = str(value * fmpq(1001, 1000) + fmpq(1, 10**6))
    else:
        claim[side] = str(value - fmpq(1, 10**9))
        for node in (document["upper"][0] or {}).get("nodes", []) if kind == "multiplicative" else []:
            for key in ("grow", "shrink"):
                if node[key] == str(value):
                    node[key] = claim[side]
    assert not check_document(document).valid


def places(node: Any, *, skip: tuple[str, ...] = ()) -> list[tuple[Any, Any]]:
    found = []
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if isinstance(value, dict | list):
            found += places(value, skip=skip)
        elif key not in skip and value is not None:
            found.append((node, key))
    return found


@settings(max_examples=150)
@given(
    st.one_of(fully_probabilistic(4), fully_probabilistic(4, losing=False)),
    st.sampled_from(KINDS),
    st.sampled_from(LENGTHS),
    st.data(),
)
def test_no_change_makes_it_prove_something_false(
    automaton: PA, kind: str, length: int | None, data: st.DataObject
) -> None:
    """Change things somewhere: whatever is accepted must be true of traces up to a length."""
    document = certificate(automaton, kind, length)
    found = places(
        {key: document[key] for key in ("claims", "lower", "upper", "combination") if key in document},
        skip=("from", "to", "type"),
    )
    assume(found)
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(found))
        if isinstance(node[key], bool):
            node[key] = not node[key]
        elif isinstance(node[key], int):
            node[key] = data.draw(st.integers(0, 4))
        elif node[key] in ("a", "b"):
            node[key] = data.draw(st.sampled_from(("a", "b")))
        elif isinstance(node[key], str) and node[key][:1] == "s":
            node[key] = data.draw(st.sampled_from(automaton.states))
        else:
            node[key] = data.draw(st.sampled_from(NUMBERS))
    judge(document, automaton, kind, length)


def judge(document: Document, automaton: PA, kind: str, length: int | None) -> None:
    try:
        report = check_document(document)
    except MalformedCertificate:
        return
    if not report.valid:
        return
    claim = document["claims"][0]
    ratio, difference = enumerated(automaton, 0, 1, 7 if length is None else length)
    truth = ratio if kind == "multiplicative" else difference
    if claim["upper"] != "inf":
        assert truth is not None
        assert truth <= as_rational(claim["upper"])
    exact = trace_metric(automaton, kind, length=length, limits=LIMITS).pairs[0]
    if claim["lower"] == "inf":
        assert exact.upper is None
    elif exact.upper is not None:
        assert as_rational(claim["lower"]) <= exact.upper


@settings(max_examples=100)
@given(fully_probabilistic(4, losing=False), st.sampled_from(KINDS), st.sampled_from(LENGTHS), st.data())
def test_no_certificate_of_another_automaton_proves_something_false(
    automaton: PA, kind: str, length: int | None, data: st.DataObject
) -> None:
    """Change the automaton below a certificate, with a digest to match: whatever is accepted must be true."""
    document = certificate(automaton, kind, length)
    steps = list(automaton.transitions)
    changed = data.draw(st.integers(0, len(steps) - 1))
    values = [fmpq(1, 4), fmpq(1, 3), fmpq(1, 2)]
    row = tuple((t, data.draw(st.sampled_from(values))) for t, _ in steps[changed].row)
    assume(sum((p for _, p in row), fmpq(0)) <= 1)
    steps[changed] = Transition(steps[changed].source, data.draw(st.sampled_from("ab")), row)
    other = PA(automaton.states, tuple(steps), automaton.pairs)
    document["model"] = json.loads(json.dumps(other.canonical()))
    document["digest"] = other.digest()
    judge(document, other, kind, length)


def test_every_number_of_a_proof_counts() -> None:
    """Make each number of a proof that uses the table smaller: hardly one is larger than it has to be."""
    document = certificate(chain_as_automaton(random_lmc(5, 5, 2, 3)), "multiplicative")
    assert document["upper"][0]["table"]
    assert check_document(document).valid
    text = json.dumps(document)
    accepted = []
    for number in range(len(places(document["upper"]))):
        copy: Document = json.loads(text)
        node, key = places(copy["upper"])[number]
        if key in ("grow", "shrink", "bound"):
            node[key] = str((as_rational(node[key]) - 1) * fmpq(1, 2) + 1)
        elif key == 2:  # the amount of a move
            node[key] = str(as_rational(node[key]) * fmpq(1, 2))
        else:
            continue
        if check_document(copy).valid:
            accepted.append(key)
    # the quotient of the pair needs one side of the first node alone
    assert set(accepted) <= {"grow", "shrink"}


def test_infinity_is_proved_by_a_loop() -> None:
    document = certificate(trace_metric(leaky_retry()).model, "multiplicative")
    assert check_document(document).valid
    assert document["lower"][0]["type"] == "loop"
    document["lower"][0]["cycle"] = []
    assert not check_document(document).valid
    document = certificate(randomised_responses(), "multiplicative")
    document["claims"][0]["lower"] = "inf"
    assert not check_document(document).valid
    document["claims"][0]["upper"] = "inf"
    assert not check_document(document).valid


def test_a_pump_is_checked() -> None:
    rows = [
        (0, {0: fmpq(1, 2), 2: fmpq(2, 5)}),
        (2, {0: fmpq(1, 10), 2: fmpq(4, 5)}),
        (1, {1: fmpq(1, 3), 3: fmpq(1, 3)}),
        (3, {1: fmpq(1, 2), 3: fmpq(1, 10)}),
    ]
    steps = tuple(Transition(s, "a", tuple(row.items())) for s, row in rows)
    text = json.dumps(certificate(PA(("p", "q", "r", "s"), steps, ((0, 1),)), "multiplicative"))
    document: Document = json.loads(text)
    assert document["lower"][0]["type"] == "drift"
    assert check_document(document).valid
    (below,), ((slow, above),) = (document["lower"][0][side] for side in ("below", "above"))
    change: Document
    for change in (
        {"swapped": not document["lower"][0]["swapped"]},
        {"factor": "1"},
        {"above": [["1/4", above]]},
        {"factor": slow},
        {"below": []},
        {"above": []},
        {"below": [{}]},
        {"above": [[slow, {}]]},
        {"below": [dict.fromkeys(below, "1")]},
        {"above": [[slow, dict.fromkeys(above, "1/100000")]]},
        {"suffix": ["b"]},
    ):
        document = json.loads(text)
        document["lower"][0].update(change)
        assert not check_document(document).valid, change


def test_combinations_are_checked() -> None:
    half, one = fmpq(1, 2), fmpq(1)
    rows = [
        (0, "a", {2: one}),
        (1, "a", {3: half, 4: half}),
        (2, "b", {0: half, 5: half}),
        (3, "b", {1: one}),
        (4, "b", {5: one}),
        (5, "c", {5: one}),
    ]
    steps = tuple(Transition(s, action, tuple(row.items())) for s, action, row in rows)
    text = json.dumps(certificate(PA(tuple("stuvwx"), steps, ((0, 1),)), "multiplicative"))
    document: Document = json.loads(text)
    assert check_document(document).valid
    for number in range(len(places(document["combination"]))):
        document = json.loads(text)
        node, key = places(document["combination"])[number]
        node[key] = "2" if node[key] == "1" else "1"
        assert not check_document(document).valid
    document = json.loads(text)
    del document["combination"]
    assert not check_document(document).valid


def test_malformed_documents() -> None:
    text = json.dumps(certificate(randomised_responses(), "multiplicative"))
    change: Document
    for change in (
        {"metric": "amortised"},
        {"length": "-1"},
        {"claims": []},
        {"lower": []},
        {"upper": [None]},
        {"upper": [{"nodes": [], "table": []}]},
        {"combination": []},
        {"lower": [{"type": "story"}]},
    ):
        document: Document = json.loads(text)
        document.update(change)
        with pytest.raises(MalformedCertificate):
            check_document(document)
    document = json.loads(text)
    document["digest"] = "sha256:0"
    assert not check_document(document).valid
    other = json.loads(json.dumps(cyclic().canonical()))
    assert not check_document(json.loads(text), other).valid


def test_claims_of_thousands_of_digits_are_checked() -> None:
    tiny = fmpq(1, 10**1500)
    rare = [Transition(n, "a", ((n + 1, tiny),)) for n in range(4)]
    sure = [Transition(n, "a", ((n + 1, 1 - tiny),)) for n in range(5, 9)]
    rare, sure = ([*steps, Transition(steps[-1].source + 1, "b", ())] for steps in (rare, sure))
    automaton = PA(tuple(f"s{n}" for n in range(10)), (*rare, *sure), ((0, 5),))
    answer = trace_metric(automaton)
    assert answer.pairs[0].exact
    report = check_document(json.loads(json.dumps(answer.certificate())), None)
    assert report.valid, report.reason
    assert len(str(report.other_claims[0]["upper"])) > 4300
