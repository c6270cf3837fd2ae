"""Certificates of generalised metrics: what is computed is accepted, and whatever says more is refused."""

from __future__ import annotations

import copy
import json
import time
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.generalised.ask import GeneralisedAnswer, generalised_metric
from bisimdist.checker import check_certificate
from bisimdist.checker.claims.generalised import check_document
from bisimdist.checker.claims.generalised_upper import Metric
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.library.randomised_response import randomised_response
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, Transition
from tests.speed import leeway
from tests.strategies import automata, lmcs

KINDS = ("additive", "multiplicative")
DISCOUNTS = ("1", "1/2")
Document = dict[str, Any]


def answered(
    automaton: PA | LMC, kind: str, discount: str, **options: Any
) -> tuple[GeneralisedAnswer, Document]:
    names = automaton.states
    answer = generalised_metric(automaton, kind, discount=discount, pairs=[(names[0], names[1])], **options)
    document: Document = json.loads(json.dumps(answer.certificate()))
    return answer, document


def as_rational(text: str) -> fmpq:
    above, _, below = text.partition("/")
    return fmpq(int(above, 0), int(below or "1", 0))


@settings(max_examples=30, deadline=None)
@given(automata(5), st.sampled_from(KINDS), st.sampled_from(DISCOUNTS), st.sampled_from((None, "1/100")))
def test_what_is_computed_is_accepted(automaton: PA, kind: str, discount: str, precision: str | None) -> None:
    _, document = answered(automaton, kind, discount, precision=precision)
    report = check_document(document, json.loads(json.dumps(automaton.canonical())))
    assert report.valid, report.reason


@settings(max_examples=15, deadline=None)
@given(lmcs(4), st.sampled_from(KINDS))
def test_certificates_of_chains_are_checked_against_the_chain(chain: LMC, kind: str) -> None:
    _, document = answered(chain, kind, "1")
    assert check_document(document, json.loads(json.dumps(chain.canonical()))).valid


@settings(max_examples=20, deadline=None)
@given(automata(4), st.sampled_from(KINDS), st.sampled_from(DISCOUNTS), st.sampled_from(("upper", "lower")))
def test_claims_cannot_be_sharpened(automaton: PA, kind: str, discount: str, side: str) -> None:
    answer, document = answered(automaton, kind, discount)
    assume(answer.pairs[0].exact)
    claim = document["claims"][0]
    bound = claim[side]
    assume(bound != "inf")
    value = as_rational(bound)
    zero = fmpq(1 if kind == "multiplicative" else 0)
    assume(value != zero)
    other = zero + (value - zero) * (fmpq(1001, 1000) if side == "lower" else fmpq(999, 1000))
    claim[side] = str(other)
    tables = document["upper"] if side == "upper" else [e for b in document["lower"] for e in b["entries"]]
    for entry in tables:
        if entry["value"] == bound:
            entry["value"] = claim[side]
    assert not check_document(document, None).valid


def places(document: Document) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                collect(value)
            elif key not in ("from", "to", "action", "kind"):
                found.append((node, key))

    for part in ("claims", "upper", "lower"):
        collect(document[part])
    return found


NUMBERS = ("0", "1", "2", "1/2", "1/3", "3/4", "9/8", "inf", "100")


def still_true(document: Document, answer: GeneralisedAnswer) -> None:
    truth, claim = answer.pairs[0], document["claims"][0]
    if claim["lower"] == "inf":
        assert truth.upper is None
    elif truth.upper is not None:
        assert as_rational(claim["lower"]) <= truth.upper
    if claim["upper"] != "inf":
        assert truth.lower is not None
        assert as_rational(claim["upper"]) >= truth.lower


@settings(max_examples=75, deadline=None)
@given(automata(4), st.sampled_from(KINDS), st.sampled_from(DISCOUNTS), st.data())
def test_no_change_makes_it_prove_something_false(
    automaton: PA, kind: str, discount: str, data: st.DataObject
) -> None:
    """Change a few numbers anywhere and sharpen a claim: whatever is accepted must be true."""
    _, document = answered(automaton, kind, discount)
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places(document)))
        if isinstance(node[key], int):
            node[key] = data.draw(st.integers(0, 6))
        elif node[key] in automaton.states:
            node[key] = data.draw(st.sampled_from(automaton.states))
        elif node[key] in ("step", "fixed", "growth"):
            node[key] = data.draw(st.sampled_from(("step", "fixed", "growth")))
        elif node[key] in ("forward", "backward"):
            node[key] = data.draw(st.sampled_from(("forward", "backward")))
        else:
            node[key] = data.draw(st.sampled_from(NUMBERS))
    document["claims"][0]["lower"] = data.draw(st.sampled_from((*NUMBERS, document["claims"][0]["lower"])))
    try:
        report = check_document(document, None)
    except MalformedCertificate:
        return
    if report.valid:
        document["claims"][0].setdefault("lower", "0")
        names = document["claims"][0]["from"], document["claims"][0]["to"]
        still_true(document, generalised_metric(automaton, kind, discount=discount, pairs=[names]))


@settings(max_examples=30, deadline=None)
@given(automata(4), st.sampled_from(KINDS), st.sampled_from(DISCOUNTS), st.data())
def test_no_certificate_of_another_automaton_proves_something_false(
    automaton: PA, kind: str, discount: str, data: st.DataObject
) -> None:
    """Change the automaton below a certificate, with a digest to match: whatever is accepted must be true."""
    assume(automaton.transitions)
    _, document = answered(automaton, kind, discount)
    steps = list(automaton.transitions)
    changed = data.draw(st.integers(0, len(steps) - 1))
    values = [fmpq(1, 4), fmpq(1, 3), fmpq(1, 2)]
    row = tuple((t, data.draw(st.sampled_from(values))) for t, _ in steps[changed].row)
    assume(sum((p for _, p in row), fmpq(0)) <= 1)
    steps[changed] = Transition(steps[changed].source, data.draw(st.sampled_from("ab")), row)
    other = PA(automaton.states, tuple(steps))
    document["model"] = json.loads(json.dumps(other.canonical()))
    document["digest"] = read_automaton(document["model"]).digest()
    if check_document(document, None).valid:
        still_true(document, answered(other, kind, discount)[0])


def example(name: str) -> Document:
    """Return one of three certificates: by fixed block, by growth, or by steps alone."""
    half = fmpq(1, 2)
    cycle = PA(
        ("s", "t"), (Transition(0, "a", ((0, half), (1, half))), Transition(1, "a", ((0, half),))), ((0, 1),)
    )
    quarter, one = fmpq(1, 4), fmpq(1)
    leaving = (
        Transition(0, "a", ((0, half), (2, half))),
        Transition(1, "a", ((1, half), (2, quarter), (3, quarter))),
        Transition(2, "b", ((2, one),)),
        Transition(3, "c", ((3, one),)),
    )
    fixed = PA(("s", "t", "u", "v"), leaving, ((0, 1),))
    models: dict[str, PA | LMC] = {"growth": cycle, "fixed": fixed, "step": randomised_response()}
    kind = "additive" if name == "fixed" else "multiplicative"
    document: Document = json.loads(json.dumps(generalised_metric(models[name], kind).certificate()))
    return document


def changed(name: str, path: tuple[str | int, ...], value: object) -> Document:
    document = example(name)
    node: Any = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    return document


def test_the_examples_use_the_rules_that_they_are_named_for() -> None:
    for name in ("growth", "fixed", "step"):
        document = example(name)
        assert check_document(document, None).valid
        assert {block["rule"] for block in document["lower"]} == {name}


ENTRY = ("lower", 0, "entries", 0)
UPPER = ("upper", 0, "answers", 0)


@pytest.mark.parametrize(
    ("name", "path", "value", "rule"),
    [
        ("fixed", ("discount",), "0", "Q1"),
        ("fixed", ("discount",), "3/2", "Q1"),
        ("step", ("discount",), "1/100000", "Q1"),
        ("fixed", ("model", "states", 0), "t", "M1"),
        ("fixed", ("model", "transitions", 0, "to", "s"), "3/2", "M1"),
        ("fixed", (*UPPER, "couplings", 0, "moves", 0, 2), "2", "Q7"),
        ("fixed", (*UPPER, "couplings", 0, "moves", 0, 0), "v", "Q7"),
        ("fixed", (*UPPER, "couplings", 0, "moves", 0, 0), "x", "Q4"),
        ("fixed", ("digest",), "sha256:0", "Q2"),
        ("fixed", ("claims", 0, "from"), "x", "Q4"),
        ("fixed", ("claims", 0, "lower"), "-1", "Q4"),
        ("fixed", ("claims", 0, "upper"), "2", "Q4"),
        ("fixed", ("claims", 0, "upper"), "0", "Q5"),
        ("fixed", ("upper",), [], "Q5"),
        ("fixed", ("claims", 0, "lower"), "1", "Q6"),
        ("fixed", ("lower",), [], "Q6"),
        ("fixed", ("upper", 0, "pair"), ["s", "x"], "Q4"),
        ("fixed", ("upper", 0, "value"), "1/100", "Q7"),
        ("fixed", ("upper", 0, "value"), "-1", "Q7"),
        ("fixed", ("upper", 0, "answers"), [], "Q7"),
        ("fixed", (*UPPER, "couplings"), [], "Q7"),
        ("fixed", (*UPPER, "answer"), 9, "Q7"),
        ("fixed", (*UPPER, "challenge"), 2, "Q7"),
        ("fixed", (*UPPER, "challenge"), 9, "Q7"),
        ("fixed", (*UPPER, "side"), 2, "Q7"),
        ("fixed", (*UPPER, "couplings", 0, "moves"), [], "Q7"),
        ("fixed", (*UPPER, "couplings", 0, "given_up"), [["t", "-1"]], "Q7"),
        ("fixed", (*UPPER, "couplings", 0, "direction"), "backward", "Q7"),
        ("step", (*UPPER, "couplings", 0, "moves"), [], "Q7"),
        ("step", (*UPPER, "couplings", 0, "given_up"), [["true0", "1"]], "Q7"),
        ("fixed", (*ENTRY, "value"), "1", "Q10"),
        ("fixed", (*ENTRY, "rank"), 0, ""),
        ("fixed", (*ENTRY, "side"), 5, "Q10"),
        ("fixed", (*ENTRY, "challenge"), 5, "Q10"),
        ("fixed", (*ENTRY, "answers"), [], "Q10"),
        ("fixed", (*ENTRY, "answers", 0, "answer"), 5, "Q10"),
        ("fixed", (*ENTRY, "answers", 0, "prices"), {"x": "1"}, "Q4"),
        ("fixed", (*ENTRY, "answers", 0, "prices"), {"s": "-1"}, "Q8"),
        ("fixed", ("lower", 0, "rule"), "growth", "Q11"),
        ("fixed", ("lower", 0, "rule"), "step", "Q9"),
        ("growth", ("lower", 0, "rule"), "fixed", "Q6"),
        ("growth", ("lower", 0, "rule"), "step", "Q6"),
        ("growth", (*ENTRY, "value"), "2", "Q11"),
        ("growth", (*ENTRY, "value"), "0", "Q11"),
        ("growth", (*ENTRY, "answers", 0, "prices"), {}, "Q11"),
        ("growth", ("discount",), "1/2", "Q11"),
        ("step", (*ENTRY, "value"), "4", "Q9"),
        ("step", (*ENTRY, "answers", 0, "prices"), {}, "Q9"),
    ],
)
def test_rules(name: str, path: tuple[str | int, ...], value: object, rule: str) -> None:
    report = check_document(changed(name, path, value), None)
    if not rule:
        assert report.valid  # ranks do not matter where mass gets away at once
        return
    assert not report.valid
    assert report.reason.startswith(f"{rule}: "), report.reason


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("metric",), "other"),
        (("metric",), 1),
        (("discount",), 1),
        (("claims", 0, "upper"), 1),
        (("claims", 0, "upper"), "inf"),
        (("upper", 0, "value"), "1/0"),
        ((*UPPER, "side"), -1),
        ((*UPPER, "side"), True),
        ((*UPPER, "couplings", 0, "direction"), "up"),
        ((*UPPER, "couplings", 0, "moves"), [["s", "t"]]),
        ((*UPPER, "couplings", 0, "given_up"), [["s"]]),
        (("lower", 0, "rule"), "magic"),
        ((*ENTRY, "rank"), "1"),
        ((*ENTRY, "answers", 0, "direction"), "up"),
        ((*ENTRY, "answers", 0, "prices"), []),
        ((*ENTRY, "more"), 1),
    ],
)
def test_malformed(path: tuple[str | int, ...], value: object) -> None:
    with pytest.raises(MalformedCertificate):
        check_document(changed("fixed", path, value), None)


def test_ranks_matter_where_mass_could_circle() -> None:
    steps: tuple[tuple[int, str, dict[int, str]], ...] = (
        (0, "a", {0: "1"}),
        (0, "b", {2: "1"}),
        (1, "a", {1: "1"}),
        (1, "b", {3: "1"}),
        (2, "c", {}),
        (3, "d", {}),
    )
    rows = tuple(Transition(s, a, tuple((t, as_rational(p)) for t, p in row.items())) for s, a, row in steps)
    automaton = PA(("s", "t", "u", "v"), rows)
    _, document = answered(automaton, "additive", "1")
    assert document["claims"][0]["lower"] == "1"
    circle = copy.deepcopy(document)
    entry = circle["lower"][-1]["entries"][0]
    entry["challenge"], entry["answers"][0]["answer"] = 1, 3
    assert check_document(circle, None).reason.startswith("Q10: ")


def test_growth_may_lean_on_lower_ranks() -> None:
    steps = (
        (0, {0: "1/2", 1: "1/6", 2: "1/3"}),
        (0, {0: "1"}),
        (1, {2: "1"}),
        (2, {0: "1/3", 1: "1/2"}),
        (2, {2: "3/4"}),
    )
    rows = tuple(Transition(s, "a", tuple((t, as_rational(p)) for t, p in row.items())) for s, row in steps)
    answer, document = answered(PA(("s", "t", "u"), rows), "multiplicative", "1")
    assert answer.pairs[0].lower is None
    assert check_document(document, None).valid
    entries = [
        entry for block in document["lower"] if block["rule"] == "growth" for entry in block["entries"]
    ]
    assert len({entry["rank"] for entry in entries}) > 1
    for entry in entries:
        entry["rank"] = 1
    assert check_document(document, None).reason.startswith("Q11: ")


def test_another_model_is_noticed() -> None:
    _, document = answered(pin_checking(), "additive", "1")
    model = copy.deepcopy(document["model"])
    assert check_document(document, model).valid
    model["transitions"].reverse()
    assert check_document(document, model).valid
    model["transitions"].pop()
    assert check_document(document, model).reason == (
        "Q3: the certificate is about another model than the one that is given"
    )
    with pytest.raises(MalformedCertificate, match="model file: M1"):
        check_document(document, {"kind": "pa", "states": [], "transitions": []})


def test_the_checker_knows_the_kind() -> None:
    for kind in KINDS:
        report = check_certificate(json.dumps(answered(pin_checking(), kind, "1")[1]))
        assert report.valid, report.reason


@given(st.fractions(0, 100, max_denominator=50), st.fractions(0, 100, max_denominator=50), st.integers(1, 9))
def test_powers_are_compared_exactly(raw: Fraction, bound: Fraction, p: int) -> None:
    metric = Metric(additive=False, discount=Fraction(p, 10))
    p, q = metric.discount.numerator, metric.discount.denominator
    left, right = raw**p, bound**q
    assert metric.sides(raw, bound) == (left, right)


def test_a_long_number_is_refused_and_not_waited_for() -> None:
    _, document = answered(randomised_response(), "multiplicative", "9999/10000", precision="1/10")
    entry = next(entry for entry in document["upper"] if entry["value"] != "inf")
    entry["value"] = "0x" + "f" * 1_000_000
    started = time.process_time()
    with pytest.raises(MalformedCertificate, match="more work"):
        check_certificate(json.dumps(document))
    assert time.process_time() - started < 20 * leeway()
