"""Certificates of metrics: what is computed is accepted, and whatever says more is refused."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from bisimdist.automata.metric.ask import metric
from bisimdist.checker.claims.metric import check_document
from bisimdist.checker.core.automaton import read_automaton
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.models.pa import PA, Transition
from tests.strategies import similar_automata, tangled_automata

KINDS = ("accumulative", "amortised")
Document = dict[str, Any]


def certificate(automaton: PA, kind: str) -> Document:
    result: Document = json.loads(json.dumps(metric(automaton, kind).certificate()))
    return result


@settings(max_examples=40)
@given(st.one_of(similar_automata(), tangled_automata()), st.sampled_from(KINDS))
def test_what_is_computed_is_accepted(automaton: PA, kind: str) -> None:
    report = check_document(certificate(automaton, kind), json.loads(json.dumps(automaton.canonical())))
    assert report.valid, report.reason


@settings(max_examples=35)
@given(similar_automata(), st.sampled_from(KINDS), st.sampled_from(("upper", "lower")))
def test_claims_cannot_be_sharpened(automaton: PA, kind: str, side: str) -> None:
    document = certificate(automaton, kind)
    claim = document["claims"][0]
    bound = claim[side]
    if side == "lower":
        assume(bound != "inf")
        claim[side] = str(as_rational(bound) * fmpq(1001, 1000))
        for entry in document.get("lower", []):
            if entry["value"] == bound:
                entry["value"] = claim[side]
    else:
        assume(bound not in ("1", "inf"))
        claim[side] = str((as_rational(bound) - 1) * fmpq(999, 1000) + 1)
        for entry in document.get("upper", []):
            if entry["value"] == bound:
                entry["value"] = claim[side]
    assert not check_document(document, None).valid


def as_rational(text: str) -> fmpq:
    above, _, below = text.partition("/")
    return fmpq(int(above), int(below or 1))


@settings(max_examples=50)
@given(similar_automata(3), st.sampled_from(KINDS), st.data())
def test_no_change_makes_it_prove_something_false(automaton: PA, kind: str, data: st.DataObject) -> None:
    """Change one number somewhere and sharpen a claim: whatever is accepted must be true."""
    answer = metric(automaton, kind)
    truth = answer.pairs[0]
    assume(truth.exact)
    document: Document = json.loads(json.dumps(answer.certificate()))
    places: list[tuple[Any, Any]] = []

    def collect(node: Any) -> None:
        for key, value in node.items() if isinstance(node, dict) else enumerate(node):
            if isinstance(value, dict | list):
                collect(value)
            elif key not in ("from", "to", "pair", "direction"):
                places.append((node, key))

    for table in ("claims", "upper", "lower", "infinite", "relations", "losses"):
        collect(document.get(table, []))
    numbers = ["1", "2", "1/2", "3/2", "4", "3", "inf", "1/4"]
    for _ in range(data.draw(st.integers(1, 3))):
        node, key = data.draw(st.sampled_from(places))
        if isinstance(node[key], int):
            node[key] = data.draw(st.integers(0, 6))
        else:
            node[key] = data.draw(st.sampled_from(numbers))
    try:
        report = check_document(document, None)
    except MalformedCertificate:
        return
    if not report.valid:
        return
    claim = document["claims"][0]
    if claim["lower"] == "inf":
        assert truth.ratio is None
    elif truth.ratio is not None:
        assert as_rational(claim["lower"]) <= truth.ratio
    if claim["upper"] != "inf":
        assert truth.ratio is not None
        assert as_rational(claim["upper"]) >= truth.ratio


@settings(max_examples=50)
@given(st.one_of(similar_automata(3), tangled_automata(2)), st.sampled_from(KINDS), st.data())
def test_no_certificate_of_another_automaton_proves_something_false(
    automaton: PA, kind: str, data: st.DataObject
) -> None:
    """Change the automaton below a certificate, with a digest to match: whatever is accepted must be true."""
    assume(automaton.transitions)
    document = certificate(automaton, kind)
    steps = list(automaton.transitions)
    changed = data.draw(st.integers(0, len(steps) - 1))
    values = [fmpq(1, 4), fmpq(1, 3), fmpq(1, 2)]
    row = tuple((t, data.draw(st.sampled_from(values))) for t, _ in steps[changed].row)
    steps[changed] = Transition(steps[changed].source, data.draw(st.sampled_from("ab")), row)
    assume(sum((p for _, p in row), fmpq(0)) <= 1)
    other = PA(automaton.states, tuple(steps), automaton.pairs)
    document["model"] = json.loads(json.dumps(other.canonical()))
    document["digest"] = read_automaton(document["model"]).digest()
    if check_document(document, None).valid:
        truth = metric(other, kind).pairs[0]
        claim = document["claims"][0]
        if claim["lower"] == "inf":
            assert truth.upper is None
        else:
            assert truth.upper is None or as_rational(claim["lower"]) <= truth.upper
        if claim["upper"] != "inf":
            assert truth.lower is not None
            assert truth.lower <= as_rational(claim["upper"])


def pin(kind: str) -> Document:
    return certificate(pin_checking(), kind)


def test_pin_checking_is_proved_on_both_sides() -> None:
    for kind, value in zip(KINDS, ("inf", "9/4"), strict=True):
        report = check_document(pin(kind), None)
        assert report.valid
        claim = {"metric": kind, "quantity": "e^distance", "from": "s1", "to": "t1"}
        assert report.other_claims == (claim | {"upper": value, "lower": value},)


@pytest.mark.parametrize(
    ("kind", "path", "value", "rule"),
    [
        ("amortised", ("claims", 0, "upper"), "2", "M10"),
        ("amortised", ("claims", 0, "lower"), "5/2", "M11"),
        ("amortised", ("claims", 0, "lower"), "inf", "M11"),
        ("amortised", ("claims", 0, "lower"), "1/2", "M4"),
        ("amortised", ("claims", 0, "from"), "s9", "M4"),
        ("amortised", ("digest",), "sha256:0", "M2"),
        ("amortised", ("relations",), [], "M9"),
        ("amortised", ("relations", 0, 0, "credits"), [["2", "2"]], "M10"),
        ("amortised", ("relations", 0, 1, "credits"), [["1", "1"]], "M10"),
        ("amortised", ("relations", 0, 0, "pair"), ["s2", "t2"], "M10"),
        ("amortised", ("losses", 0), [], "M11"),
        ("amortised", ("losses", 0, 0, "rank"), 99, "M11"),
        ("amortised", ("losses", 0, 0, "challenge"), 99, "M11"),
        ("amortised", ("losses", 0, 0, "credit"), "1/5", "M11"),
        ("accumulative", ("lower", 1, "rank"), 0, "M8"),
        ("accumulative", ("lower", 0, "challenge"), 2, "M8"),
        ("accumulative", ("lower", 0, "pair"), ["s5", "t5"], "M8"),
        ("accumulative", ("lower",), [], "M6"),
        ("accumulative", ("claims", 0, "upper"), "1000", "M5"),
        ("accumulative", ("upper",), [{"pair": ["s1", "t1"], "value": "1000"}], "M7"),
        ("accumulative", ("model", "transitions", 0, "to", "s2"), "4/5", "M1"),
        ("accumulative", ("model", "transitions", 0, "to", "s2"), "-1/5", "M1"),
        ("accumulative", ("model", "transitions", 0, "from"), "x", "M1"),
        ("accumulative", ("model", "states", 0), "s2", "M1"),
    ],
)
def test_rules(kind: str, path: tuple[str | int, ...], value: object, rule: str) -> None:
    document = pin(kind)
    node: Any = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    report = check_document(document, None)
    assert not report.valid
    assert report.reason.startswith(f"{rule}: "), report.reason


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("metric",), "other"),
        (("metric",), 1),
        (("claims", 0, "upper"), 2),
        (("claims", 0, "upper"), "9/4x"),
        (("losses", 0, 0, "rank"), -1),
        (("losses", 0, 0, "rank"), True),
        (("losses", 0, 0, "side"), "from"),
        (("relations", 0, 0, "credits"), [["1"]]),
        (("infinite",), {}),
        (("model", "kind"), "lmc"),
        (("model", "transitions", 0, "to"), []),
    ],
)
def test_malformed(path: tuple[str | int, ...], value: object) -> None:
    document = pin("amortised")
    node: Any = document
    for key in path[:-1]:
        node = node[key]
    node[path[-1]] = value
    with pytest.raises(MalformedCertificate):
        check_document(document, None)


def test_unknown_and_missing_keys_are_malformed() -> None:
    for change in ("add", "drop"):
        document = pin("amortised")
        if change == "add":
            document["more"] = 1
        else:
            del document["infinite"]
        with pytest.raises(MalformedCertificate):
            check_document(document, None)


def test_another_model_is_noticed() -> None:
    document = pin("amortised")
    model = copy.deepcopy(document["model"])
    assert check_document(document, model).valid
    model["transitions"].reverse()
    assert check_document(document, model).valid
    model["transitions"].pop()
    report = check_document(document, model)
    assert report.reason == "M3: the certificate is about another model than the one that is given"
    with pytest.raises(MalformedCertificate, match="model file: M1"):
        check_document(document, {"kind": "pa", "states": [], "transitions": []})


def test_infinite_positions_of_the_amortised_metric() -> None:
    third, half = fmpq(1, 3), fmpq(1, 2)
    automaton = PA(
        ("s", "t", "s0", "t0"),
        (
            Transition(0, "a", ((0, half),)),
            Transition(1, "a", ((1, third),)),
            Transition(2, "b", ((0, half),)),
            Transition(3, "b", ((1, fmpq(1)),)),
        ),
        ((2, 3),),
    )
    document = certificate(automaton, "amortised")
    assert check_document(document, None).valid
    assert [entry["rank"] for entry in document["infinite"]] == [2, 1] or len(document["infinite"]) == 2
    for key, value in (("direction", "down"), ("potential", "0"), ("pair", ["s", "s"])):
        changed = copy.deepcopy(document)
        first = next(entry for entry in changed["infinite"] if entry["pair"] == ["s", "t"])
        first[key] = value
        assert check_document(changed, None).reason.startswith("M12: ")


def test_intervals_of_credits() -> None:
    one = fmpq(1)
    steps = [Transition(0, "a", ((0, p),)) for p in (one, fmpq(1, 3), fmpq(1, 8))]
    steps += [Transition(1, "a", ((1, p),)) for p in (one, fmpq(1, 8))]
    document = certificate(PA(("s", "t"), tuple(steps), ((0, 1),)), "amortised")
    assert check_document(document, None).valid
    assert document["relations"][0][0]["credits"][0][0] != document["relations"][0][0]["credits"][0][1]
    low, _ = document["relations"][0][0]["credits"][0]
    document["relations"][0][0]["credits"] = [[low, "1"]]
    assert not check_document(document, None).valid


def test_a_step_to_distance_0_keeps_the_running_product_in_the_window() -> None:
    # t0 goes to s1 alone, which s0 answers with s1 for a factor of 1/3, too much, or with s0 for 2/3.
    steps = (
        (0, ((1, "1/3"),)),
        (0, ((0, "2/3"),)),
        (1, ((1, "1/4"),)),
        (1, ((0, "2/3"),)),
        (2, ((1, "1"),)),
        (2, ((0, "1/3"),)),
    )
    automaton = PA(
        ("s0", "s1", "t0"),
        tuple(Transition(s, "a", tuple((t, as_rational(p)) for t, p in row)) for s, row in steps),
        ((0, 2),),
    )
    answer = metric(automaton, "amortised")
    assert answer.pairs[0].ratio == fmpq(3, 2)
    document: Document = json.loads(json.dumps(answer.certificate()))
    assert check_document(document, None).valid
    assert ("s0", "s1") in {tuple(entry["pair"]) for entry in document["relations"][0]}
