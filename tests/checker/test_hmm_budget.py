"""Certificates of hidden Markov budgets: accepted as written, rejected with any lie in them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.checker import check_certificate
from bisimdist.checker.claims.hmm_budget import check_document
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import contagious_disease, geometric, noisy_max_diseases
from bisimdist.models.mechanisms import above_threshold
from tests.strategies import hmms


def plain(certificate: dict[str, object]) -> dict[str, Any]:
    result = json.loads(json.dumps(certificate))
    assert isinstance(result, dict)
    return result


EXACT = plain(epsilon(above_threshold(), length=5).certificate())
VIOLATED = plain(verify(contagious_disease(), 2, length=1).certificate())
SYNTHESISED = plain(verify(noisy_max_diseases(prior="contagious"), 2, length=1).certificate())
SHORTER = plain(epsilon(above_threshold(), length=4, up_to=True).certificate())


@given(model=hmms(), length=st.integers(1, 4), up_to=st.booleans(), ratio=st.sampled_from(["1", "3/2", "4"]))
@settings(max_examples=40)
def test_what_is_written_is_accepted(model: HMM, length: int, up_to: bool, ratio: str) -> None:
    try:
        answers = (
            epsilon(model, length=length, up_to=up_to),
            verify(model, ratio, length=length, up_to=up_to),
        )
    except UsageError:
        return
    for answer in answers:
        report = check_document(plain(answer.certificate()), None)
        assert report.valid, report.reason


@pytest.mark.parametrize("document", [EXACT, VIOLATED, SYNTHESISED, SHORTER])
def test_the_examples_are_accepted_about_their_model_only(document: dict[str, Any]) -> None:
    assert check_document(document, None).valid
    assert check_document(document, document["model"]).valid
    other = plain({"model": geometric().canonical()})["model"]
    assert "G2" in check_document(document, other).reason


Change = Callable[[dict[str, Any]], None]


def _set(*path: str | int, value: Any) -> Change:
    def change(document: dict[str, Any]) -> None:
        place: Any = document
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


def _smaller(document: dict[str, Any]) -> None:
    """Lower one positive entry of a vector that covers something."""
    vector = document["proofs"][0]["layers"][2][0]
    state = next(s for s, v in vector.items() if not v.startswith("-"))
    del vector[state]


def _uncovered(document: dict[str, Any]) -> None:
    document["proofs"][0]["covers"][0][0].clear()


def _too_good(document: dict[str, Any]) -> None:
    for proof in document["proofs"]:
        proof["ratio"] = "3"
    document["claims"][0]["ratio"] = "3"
    del document["claims"][0]["word"], document["claims"][0]["probabilities"]
    del document["claims"][0]["parameters"]


def _one_direction(document: dict[str, Any]) -> None:
    document["proofs"].pop()


def _negative_factor(document: dict[str, Any]) -> None:
    row = document["proofs"][0]["covers"][0][0]
    symbol = next(iter(row))
    row[symbol] = [row[symbol][0], "-" + row[symbol][1]]


def _positive_end(document: dict[str, Any]) -> None:
    vector = document["proofs"][0]["layers"][-1][0]
    for state in vector:
        vector[state] = "1"


@pytest.mark.parametrize(
    ("document", "change", "rule"),
    [
        (EXACT, _set("claims", 0, "ratio", value="3"), "W4"),
        (EXACT, _too_good, "L2|L3|L4"),
        (EXACT, _smaller, "L4"),
        (EXACT, _uncovered, "L4"),
        (EXACT, _negative_factor, "L4"),
        (EXACT, _positive_end, "L3|L4"),
        (EXACT, _one_direction, "L5"),
        (EXACT, _set("proofs", value=[]), "L5"),
        (EXACT, _set("proofs", 0, "start", value="0"), "L2"),
        (EXACT, _set("proofs", 0, "start", value="-1"), "L2"),
        (EXACT, _set("proofs", 0, "from", value="nobody"), "H3"),
        (EXACT, _set("length", value="6"), "L1"),
        (EXACT, _set("claims", 0, "word", 1, value="00"), "W3"),
        (EXACT, _set("claims", 0, "word", 1, value="55"), "W3"),
        (EXACT, _set("claims", 0, "word", value=["start"]), "W1"),
        (EXACT, _set("claims", 0, "from", value="nobody"), "H3"),
        (EXACT, _set("claims", 0, "holds", value=False), "W5"),
        (EXACT, _set("claims", 0, "ratio", value="inf"), "W4"),
        (EXACT, _set("digest", value="sha256:0"), "G3"),
        (VIOLATED, _set("claims", 0, "ratio", value="5"), "W5"),
        (VIOLATED, _set("claims", 0, "ratio", value="inf"), "W5"),
        (VIOLATED, _set("claims", 0, "probabilities", 0, value="1"), "W3"),
        (VIOLATED, _set("claims", 0, "parameters", value={"p": "1/2"}), "W2"),
        (SYNTHESISED, _set("claims", 0, "parameters", "pA", value="2"), "H4"),
        (SYNTHESISED, _set("claims", 0, "parameters", value={}), "W2"),
        (SYNTHESISED, _set("proofs", value=EXACT["proofs"]), "H4"),
    ],
)
def test_a_lie_is_rejected(document: dict[str, Any], change: Change, rule: str) -> None:
    altered = copy.deepcopy(document)
    change(altered)
    report = check_document(altered, None)
    assert not report.valid
    assert any(name in report.reason for name in rule.split("|")), report.reason


@pytest.mark.parametrize(
    "change",
    [
        _set("claims", value=[]),
        _set("claims", value={}),
        _set("claims", 0, "holds", value="yes"),
        _set("claims", 0, "ratio", value="a lot"),
        _set("claims", 0, "ratio", value=2),
        _set("claims", 0, "word", value="start"),
        _set("claims", 0, "extra", value="1"),
        _set("claims", 0, "parameters", value=[]),
        _set("length", value="0"),
        _set("length", value=5),
        _set("length", value="999999999999"),
        _set("up_to", value="false"),
        _set("version", value=2),
        _set("model", "kind", value="lmc"),
        _set("model", value=[]),
        _set("proofs", 0, "layers", 0, 0, value=[]),
        _set("proofs", 0, "layers", 0, 0, value={"first:start": "1/2"}),
        _set("proofs", 0, "covers", 0, 0, value={"start": ["0"]}),
        _set("proofs", 0, "covers", 0, 0, value=[]),
        _set("proofs", 0, "start", value="1/0"),
        _set("more", value="1"),
    ],
)
def test_what_is_no_certificate_is_malformed(change: Change) -> None:
    altered = copy.deepcopy(EXACT)
    change(altered)
    with pytest.raises(MalformedCertificate):
        check_certificate(json.dumps(altered))
