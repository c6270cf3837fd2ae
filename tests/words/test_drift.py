"""Quotients that grow like a power of the length: they are found, proved, and nothing false is proved so."""

from __future__ import annotations

import json
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.checker.claims.trace_metric import check_document
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.models.pa import PA, Transition
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.trace.ask import trace_metric
from tests.words.trace_reference import long_probability

HALF, QUARTER, THIRD, FIFTH = fmpq(1, 2), fmpq(1, 4), fmpq(1, 3), fmpq(1, 5)
LIMITS = Effort(nodes=200, work=20_000)
Rows = dict[int, tuple[str, dict[int, fmpq]]]
Document = dict[str, Any]


def automaton(rows: Rows) -> PA:
    steps = tuple(Transition(s, action, tuple(sorted(row.items()))) for s, (action, row) in rows.items())
    return PA(tuple(f"s{n}" for n in range(len(rows))), steps, ((0, 1),))


# s0 is always the side that grows; s1 stays behind
STEP: Rows = {0: ("a", {0: HALF, 1: QUARTER}), 1: ("a", {1: HALF})}
CASES: dict[str, tuple[Rows, int]] = {
    "one step behind": (STEP, 1),
    "two steps behind": (
        {0: ("a", {0: HALF, 2: QUARTER}), 1: ("a", {1: HALF}), 2: ("a", {2: HALF, 1: QUARTER})},
        2,
    ),
    "three against two": (
        {
            0: ("a", {0: HALF, 2: QUARTER}),
            1: ("a", {1: HALF, 3: fmpq(1, 8)}),
            2: ("a", {2: HALF, 3: QUARTER}),
            3: ("a", {3: HALF}),
        },
        1,
    ),
    "a slow beginning on the other side": (
        {
            0: ("a", {0: HALF, 2: QUARTER}),
            1: ("a", {1: THIRD, 3: QUARTER}),
            2: ("a", {2: HALF}),
            3: ("a", {3: FIFTH, 4: QUARTER}),
            4: ("a", {4: HALF}),
        },
        1,
    ),
    "by way of states that are left at once": (
        {
            0: ("a", {0: HALF, 3: QUARTER}),
            1: ("a", {1: HALF}),
            2: ("a", {2: HALF}),
            3: ("a", {4: HALF}),
            4: ("a", {4: THIRD, 2: HALF}),
        },
        1,
    ),
    "parts of two states": (
        {
            0: ("a", {2: HALF}),
            1: ("a", {3: HALF}),
            2: ("a", {0: HALF, 4: QUARTER}),
            3: ("a", {1: HALF}),
            4: ("a", {5: HALF}),
            5: ("a", {4: HALF}),
        },
        1,
    ),
    "a cycle of two actions": (
        {
            0: ("a", {2: HALF, 3: fmpq(1, 8)}),
            1: ("a", {3: HALF}),
            2: ("b", {0: HALF, 1: QUARTER}),
            3: ("b", {1: HALF}),
        },
        1,
    ),
    "a last action that only some can do": (
        {
            0: ("a", {0: HALF, 2: QUARTER, 3: fmpq(1, 8)}),
            1: ("a", {1: HALF, 3: fmpq(1, 8)}),
            2: ("a", {2: HALF, 3: fmpq(1, 8)}),
            3: ("b", {3: fmpq(1)}),
        },
        1,
    ),
}


def swapped(rows: Rows) -> Rows:
    other = {0: 1, 1: 0}
    return {
        other.get(s, s): (action, {other.get(t, t): p for t, p in row.items()})
        for s, (action, row) in sorted(rows.items(), key=lambda entry: other.get(entry[0], entry[0]))
    }


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("other", [False, True])
def test_growth_like_a_power_is_proved(name: str, other: bool) -> None:
    rows, degree = CASES[name]
    model = automaton(swapped(rows) if other else rows)
    answer = trace_metric(model, limits=LIMITS)
    (found,) = answer.pairs
    assert (found.lower, found.upper, found.exact) == (None, None, True)
    assert found.repeated is not None
    assert (found.repeated.factor, found.repeated.degree) == (1, degree)
    document = json.loads(json.dumps(answer.certificate()))
    assert document["lower"][0]["type"] == "drift"
    report = check_document(document)
    assert report.valid, report.reason
    parts = found.repeated
    quotients = []
    for rounds in (20, 40):
        one, two = (
            long_probability(model, s, (*parts.prefix, *parts.cycle * rounds, *parts.suffix))
            for s in ((1, 0) if other else (0, 1))
        )
        quotients.append(one / two)
    assert quotients[1] / quotients[0] > fmpq(17, 10) ** degree  # twice as many rounds


def test_equal_growth_on_both_sides_is_not_infinite() -> None:
    rows: Rows = {
        0: ("a", {0: HALF, 2: QUARTER}),
        1: ("a", {1: HALF, 3: THIRD}),
        2: ("a", {2: HALF}),
        3: ("a", {3: HALF}),
    }
    (found,) = trace_metric(automaton(rows), limits=LIMITS).pairs
    assert found.lower is not None
    assert found.upper is not None


def proof(name: str) -> str:
    return json.dumps(trace_metric(automaton(CASES[name][0]), limits=LIMITS).certificate())


@pytest.mark.parametrize("name", CASES)
def test_each_number_of_a_proof_counts(name: str) -> None:
    """Whatever makes the claim of a vector or a rate stronger is refused."""
    text = proof(name)

    def refused(change: dict[str, Any]) -> None:
        document: Document = json.loads(text)
        document["lower"][0].update(change)
        assert not check_document(document).valid, change

    drift: Document = json.loads(text)["lower"][0]
    refused({"swapped": not drift["swapped"]})
    refused({"factor": "51/100"})
    refused({"factor": "0"})
    refused({"below": drift["below"][:1]})
    refused({"below": drift["below"][1:] + drift["below"][-1:]})
    refused({"above": drift["above"][:-1]})
    refused({"above": drift["above"] * len(drift["below"])})
    refused({"below": [*drift["below"], drift["below"][-1]]})
    refused({"below": []})
    refused({"suffix": ["c"]})
    for number, vector in enumerate(drift["below"]):
        larger = {state: str(1000 * fmpq(*map(int, _parts(value)))) for state, value in vector.items()}
        refused({"below": [*drift["below"][:number], larger, *drift["below"][number + 1 :]]})
    for number, (rate, vector) in enumerate(drift["above"]):
        smaller = {state: str(fmpq(*map(int, _parts(value))) / 1000) for state, value in vector.items()}
        refused({"above": [*drift["above"][:number], [rate, smaller], *drift["above"][number + 1 :]]})
        slower = str(fmpq(*map(int, _parts(rate))) * fmpq(9, 10))
        if rate != "0":
            refused({"above": [*drift["above"][:number], [slower, vector], *drift["above"][number + 1 :]]})


def _parts(text: str) -> tuple[int, int]:
    above, _, below = text.partition("/")
    return int(above, 0), int(below or "1", 0)


@pytest.mark.parametrize(
    "change",
    [{"swapped": 1}, {"below": "x"}, {"above": [["1/2"]]}, {"above": [["1/2", []]]}, {"below": [[]]}],
)
def test_malformed_proofs(change: dict[str, Any]) -> None:
    document: Document = json.loads(proof("one step behind"))
    document["lower"][0].update(change)
    with pytest.raises(MalformedCertificate):
        check_document(document)


@settings(max_examples=50)
@given(st.data())
def test_no_change_proves_something_false(data: st.DataObject) -> None:
    """Pit a proof against other automata of the same states, of which the growth is known."""
    name = data.draw(st.sampled_from(sorted(CASES)))
    document: Document = json.loads(proof(name))
    rows = {s: (action, dict(row)) for s, (action, row) in CASES[name][0].items()}
    values = [fmpq(1, 8), FIFTH, QUARTER, THIRD, HALF]
    for _ in range(data.draw(st.integers(1, 2))):
        source = data.draw(st.sampled_from(sorted(rows)))
        target = data.draw(st.sampled_from(sorted(rows)))
        rows[source][1][target] = data.draw(st.sampled_from(values))
        if sum(rows[source][1].values(), fmpq(0)) > 1:
            rows[source][1].pop(target)
    if not all(row for _, row in rows.values()):
        return
    model = automaton(rows)
    document["model"], document["digest"] = json.loads(json.dumps(model.canonical())), model.digest()
    document.pop("combination", None)
    if not check_document(document).valid:
        return
    drift = document["lower"][0]
    quotients = []
    for rounds in (60, 480):
        word = (*drift["prefix"], *drift["cycle"] * rounds, *drift["suffix"])
        one, two = (long_probability(model, s, word) for s in ((1, 0) if drift["swapped"] else (0, 1)))
        assert one > 0
        quotients.append(None if two == 0 else one / two)
    assert quotients[1] is None or (quotients[0] is not None and quotients[1] > 2 * quotients[0])
