"""Certificates of kind ``delta``: what is altered must be refused, by the rule that forbids it."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from flint import fmpq

from bisimdist.checker import check_certificate
from bisimdist.checker.claims.delta import check_document
from bisimdist.checker.core.reading import MalformedCertificate, decode
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.library.dining_cryptographers import dining_cryptographers
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta import work as facade
from bisimdist.privacy.delta.ask import delta

Document = dict[str, Any]
RING = quotient(dining_cryptographers(3))[0]


def plain(document: object) -> Document:
    found = decode(json.dumps(document), numbers=False)
    assert isinstance(found, dict)
    return found


def ring() -> Document:
    return plain(delta(RING, "1.0002").certificate())


def cyclic() -> Document:
    chain = LMC.from_mappings(
        {"s": "wait", "t": "wait", "t2": "wait", "x": "x", "y": "y"},
        {
            "s": {"s": "1/2", "x": "3/10", "y": "1/5"},
            "t": {"t2": "1/2", "x": "1/5", "y": "3/10"},
            "t2": {"t": "1/4", "t2": "1/4", "x": "1/5", "y": "3/10"},
            "x": {"x": 1},
            "y": {"y": 1},
        },
    )
    return plain(delta(quotient(chain)[0], "5/4", pairs=[("s", "t")]).certificate())


def with_ceiling(monkeypatch: pytest.MonkeyPatch) -> Document:
    monkeypatch.setattr(facade, "WITHOUT_DISTANCES", 0)
    return plain(delta(quotient(random_lmc(6, 2, 2, 1))[0], "101/100", gap="1/20").certificate())


def covered() -> Document:
    return plain(delta(quotient(leaky_retry())[0], "101/100").certificate())


def node_with(document: Document, *keys: str) -> Document:
    return next(node for node in document["nodes"] if all(key in node for key in keys))


def refused(document: Document, rule: str) -> None:
    report = check_document(document)
    assert not report.valid
    assert rule in report.reason.replace(":", " ").split(), report.reason
    assert report.other_claims


def test_valid_ones_and_what_they_claim() -> None:
    (claim,) = check_document(ring()).other_claims
    assert claim == {
        "from": "payer0",
        "to": "payer1",
        "quantity": "delta",
        "alpha": "5001/5000",
        "lower": "17501/50000000",
        "upper": "17501/50000000",
        "exact": True,
    }
    assert check_document(cyclic()).valid
    answer = delta(figure1(), epsilon="1/10")
    assert check_document(plain(answer.certificate())).other_claims[0]["alpha"] == [
        str(answer.alpha_upper),
        str(answer.alpha_lower),
    ]


def test_the_model_that_is_given() -> None:
    document = ring()
    assert check_document(document, RING.canonical()).valid
    assert check_document(document, RING.canonical()).valid
    report = check_document(document, dining_cryptographers(4).canonical())
    assert not report.valid
    assert report.reason.startswith("G2")


def set_claim(key: str, value: object) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        document["claims"][0][key] = value

    return change


def reverse_direction(document: Document) -> None:
    document["claims"][0]["direction"].reverse()


def other_probability(document: Document) -> None:
    document["claims"][0]["probabilities"][0] = "1"


def cycle_in_event(document: Document) -> None:
    document["claims"][0]["event"]["nodes"][-1]["disagree"] = 0


def no_probabilities(document: Document) -> None:
    del document["claims"][0]["probabilities"]


def smaller_alpha(document: Document) -> None:
    document["alpha"] = {"lower": "1/2", "upper": "1/2"}


def crossed_alpha(document: Document) -> None:
    document["alpha"]["upper"] = "2"


def other_vector(document: Document) -> None:
    node = node_with(document, "then")
    state = next(iter(node["vector"]))
    node["vector"][state] += "1"


def zero_entry(document: Document) -> None:
    document["nodes"][-1]["vector"]["payer0"] = "0"


def mixed_labels(document: Document) -> None:
    document["nodes"][-1]["vector"][
        "payer0" if "payer0" not in document["nodes"][-1]["vector"] else "done"
    ] = "1"


def forgotten_label(document: Document) -> None:
    node = node_with(document, "then")
    node["then"].popitem()


def added_label(document: Document) -> None:
    node_with(document, "then")["then"]["no label"] = 0


def smaller_upper(document: Document) -> None:
    node_with(document, "then", "upper")["upper"] = "0"


def smaller_leaf(document: Document) -> None:
    node = next(n for n in document["nodes"] if "bound" in n and n["upper"] != "0")
    node["upper"] = "1/1000000"


def no_reason(document: Document) -> None:
    del node_with(document, "bound")["bound"]


def no_upper_below(document: Document) -> None:
    node = node_with(document, "then", "upper")
    child = document["nodes"][next(iter(node["then"].values()))]
    del child["upper"]


def other_digest(document: Document) -> None:
    document["digest"] = "sha256:00"


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        (set_claim("upper", "17500/50000000"), "C1"),
        (set_claim("lower", "17502/50000000"), "C1"),
        (set_claim("upper", "2"), "C1"),
        (set_claim("lower", "-1"), "C1"),
        (set_claim("from", "nobody"), "C1"),
        (set_claim("direction", ["payer0", "payer2"]), "C1"),
        (reverse_direction, "D8"),
        (other_probability, "D8"),
        (cycle_in_event, "D8"),
        (no_probabilities, "D8"),
        (smaller_alpha, "D2"),
        (crossed_alpha, "D2"),
        (other_vector, "D4"),
        (zero_entry, "D3"),
        (mixed_labels, "D3"),
        (forgotten_label, "D4"),
        (added_label, "D4"),
        (smaller_upper, "D5"),
        (smaller_leaf, "D5"),
        (no_reason, "D10"),
        (no_upper_below, "D5"),
        (other_digest, "G3"),
    ],
)
def test_altered(change: Callable[[Document], None], rule: str) -> None:
    document = ring()
    change(document)
    refused(document, rule)


def test_altered_lower_nodes() -> None:
    document = cyclic()
    assert "event" not in document["claims"][0]
    for number, node in enumerate(document["nodes"]):
        if "lower" in node:
            changed = copy.deepcopy(document)
            changed["nodes"][number]["lower"] = "5"
            refused(changed, "D7")
            changed = copy.deepcopy(document)
            del changed["nodes"][number]["lower"]
            assert not check_document(changed).valid


def test_a_lower_bound_must_not_live_on_a_cycle_that_nothing_leaves() -> None:
    # two loops that nobody can tell apart: delta is 1 - alpha < 0, so 0, but any z is a post-fixed point
    chain = LMC.from_mappings({"s": "a", "t": "a"}, {"s": {"s": 1}, "t": {"t": 1}})
    document = {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "delta",
        "model": chain.canonical(),
        "digest": chain.digest(),
        "alpha": {"lower": "1", "upper": "1"},
        "claims": [{"from": "s", "to": "t", "lower": "1", "upper": "1", "direction": ["s", "t"]}],
        "nodes": [{"vector": {"s": "1", "t": "-1"}, "then": {"a": 0}, "lower": "1"}],
    }
    refused(document, "D7")


def test_altered_couplings(monkeypatch: pytest.MonkeyPatch) -> None:
    document = with_ceiling(monkeypatch)
    assert check_document(document).valid
    coupled = [k for k, node in enumerate(document["nodes"]) if node.get("bound", {}).get("moves")]
    assert coupled
    for number in coupled:
        changed = copy.deepcopy(document)
        changed["nodes"][number]["bound"]["moves"] = []
        if changed["nodes"][number]["bound"]["given_up"] or changed["nodes"][number]["bound"]["complement"]:
            refused(changed, "D6")
        changed = copy.deepcopy(document)
        del changed["ceiling"]
        refused(changed, "D6")
    changed = copy.deepcopy(document)
    changed["ceiling"]["bounds"][0][2] = "0"
    refused(changed, "C1")
    changed = copy.deepcopy(document)
    changed["ceiling"]["upper"]["pairs"][0]["value"] = "0"
    assert not check_document(changed).valid


@pytest.mark.parametrize(
    "change",
    [
        lambda d: d.pop("claims"),
        lambda d: d.update(claims=[]),
        lambda d: d.update(kind="other"),
        lambda d: d.update(version=True),
        lambda d: d.update(extra=1),
        lambda d: d["nodes"][0].update(vector={}),
        lambda d: d["nodes"][0].update(vector={"payer0": "1/2"}),
        lambda d: d["nodes"][0].update(then={"a": 10**6}),
        lambda d: d["nodes"][0].update(then={"a": True}),
        lambda d: d["nodes"][0].update(stop=False),
        lambda d: d["nodes"][0].update(bound={"complement": 1}),
        lambda d: d["claims"][0].update(upper="0.5"),
        lambda d: d["claims"][0]["event"].update(root="maybe"),
        lambda d: d["alpha"].pop("lower"),
    ],
)
def test_malformed(change: Callable[[Document], object]) -> None:
    document = ring()
    change(document)
    with pytest.raises(MalformedCertificate):
        check_certificate(json.dumps(document))


@pytest.mark.parametrize(
    "model",
    [
        "not an object",
        {"kind": "hmm"},
        {"kind": "lmc", "states": {}, "transitions": {}},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": "1/2"}}},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"t": "1"}}},
        {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": "x"}}},
    ],
)
def test_a_model_file_that_makes_no_chain_is_malformed(model: object) -> None:
    with pytest.raises(MalformedCertificate, match="model file"):
        check_document(ring(), model)


def test_another_model_is_not_valid() -> None:
    other = {"kind": "lmc", "states": {"s": "a"}, "transitions": {"s": {"s": "1"}}}
    report = check_document(ring(), other)
    assert not report.valid
    assert "G2" in report.reason


def test_a_ceiling_with_a_bad_alpha(monkeypatch: pytest.MonkeyPatch) -> None:
    document = with_ceiling(monkeypatch)
    document["ceiling"]["alpha"] = "1/2"
    refused(document, "ceiling")
    document["ceiling"]["distance"] = "td"
    with pytest.raises(MalformedCertificate, match="the ceiling"):
        check_document(document)


def test_long_integers_whatever_the_limit_of_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facade, "WITHOUT_DISTANCES", 0)
    chain, little = random_lmc(6, 2, 2, 1), fmpq(1, 10**700)
    rows = tuple(
        ((row[0][0], row[0][1] + little), (row[1][0], row[1][1] - little)) if len(row) == 2 else row
        for row in chain.rows
    )
    chain = LMC(chain.states, chain.labels, rows, chain.pairs)
    document = delta(chain, "101/100", gap="1/20").certificate()
    assert "ceiling" in document
    changed = copy.deepcopy(plain(document))
    changed["ceiling"]["bounds"][0][2] = "0"
    code = """
import json, sys
from bisimdist.checker import check_certificate
for document in json.load(sys.stdin):
    report = check_certificate(json.dumps(document), json.dumps(document["model"]))
    print(report.valid, report.other_claims, report.reason)
"""
    said = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps([document, changed]),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONINTMAXSTRDIGITS": "640"},
    ).stdout
    assert [line.split()[0] for line in said.splitlines()] == ["True", "False"]
    here = [check_certificate(json.dumps(each)) for each in (document, changed)]
    assert said.splitlines() == [f"{report.valid} {report.other_claims} {report.reason}" for report in here]


def test_altered_ratios() -> None:
    document = covered()
    assert check_document(document).valid
    assert document["ratios"] == [["secret1", "secret0", "51/50"]]
    covers = [k for k, node in enumerate(document["nodes"]) if node.get("bound", {}).get("covers")]
    assert covers
    for number in covers:
        changed = copy.deepcopy(document)
        changed["nodes"][number]["bound"]["covers"] = []
        refused(changed, "D9")
        changed = copy.deepcopy(document)
        changed["nodes"][number]["bound"]["covers"][0][2] = "-1"
        refused(changed, "D9")
        changed = copy.deepcopy(document)
        changed["nodes"][number]["bound"]["complement"] ^= True
        refused(changed, "D9")
    for ratio in ("1", "1/2", "101/100"):
        changed = copy.deepcopy(document)
        changed["ratios"][0][2] = ratio
        refused(changed, "D9")
    changed = copy.deepcopy(document)
    changed["ratios"] = [["secret0", "secret1", "100"]]  # unbounded: more and more attempts fail
    refused(changed, "D9")
    changed["ratios"] = [["secret0", "done", "100"]]
    refused(changed, "D9")
    changed["ratios"] = [["secret1", "secret0", "51/50"]] * 2
    with pytest.raises(MalformedCertificate):
        check_document(changed)
