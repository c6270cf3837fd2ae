"""Certificates of hidden Markov models written by somebody who wants a false claim to be accepted."""

from __future__ import annotations

import copy
import hashlib
import json
import random
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest

from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.engine.budget import geometric_family, noisy_max_family
from bisimdist.budgets.engine.chain import as_chain
from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.checker import MalformedCertificate, check_certificate
from bisimdist.distances.bound.ask import bound
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import contagious_disease, geometric, independent_disease
from bisimdist.models.mechanisms import above_threshold
from tests.hmm_proofs.random_models import random_hmm

Document = dict[str, Any]


def plain(document: object) -> Document:
    result = json.loads(json.dumps(document))
    assert isinstance(result, dict)
    return result


def reason(document: Document) -> str:
    """Return why a certificate is rejected: a rule, or that it is malformed; empty if it is accepted."""
    try:
        report = check_certificate(json.dumps(document))
    except MalformedCertificate as error:
        return f"malformed: {error}"
    return "" if report.valid else report.reason


def with_model(document: Document, model: Document) -> Document:
    """Put another model into a certificate, with the digest that it has."""
    text = json.dumps(model, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return {**document, "model": model, "digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest()}


def changed(document: Document, *path: str | int, to: object) -> Document:
    result = copy.deepcopy(document)
    place: Any = result
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = to
    return result


ONE_SIDED: Document = {
    "kind": "hmm",
    "observations": ["x", "y"],
    "states": {"u": {"x": "1"}, "v": {"y": "1"}},
    "transitions": {},
    "distributions": {"pi": {"u": "1"}, "tau": {"u": "1/2", "v": "1/2"}},
}
"""Budget 2 holds from pi to tau, but tau makes y, which pi never does."""


def coupling_certificate(chain: object) -> Document:
    return with_model(
        {
            "format": "bisimdist-certificate",
            "version": 1,
            "kind": "hmm-all-lengths",
            "claims": [{"from": "pi", "to": "tau", "ratio": "2", "verdict": "holds", "length": "all"}],
            "invariant": {"type": "coupling", "chain": chain, "merged": {}},
        },
        ONE_SIDED,
    )


@pytest.mark.parametrize("distance", ["bd", "lbd"])
def test_a_distance_of_one_direction_is_no_coupling(distance: str) -> None:
    """The asymmetric distance from pi to tau is zero here, and says nothing of the way back."""
    model = HMM.from_mappings(ONE_SIDED["states"], {}, ONE_SIDED["distributions"], pairs=[("pi", "tau")])
    chain = as_chain(model, ("pi", "tau"))
    answer = bound(chain, 2, distance=distance, pairs=[('["first"]', '["second"]')])
    document = coupling_certificate(plain(answer.certificate()))
    assert check_certificate(json.dumps(document["invariant"]["chain"])).valid
    assert "K3" in reason(document)


@pytest.mark.parametrize(
    "chain",
    [
        {},
        plain(mechanism_budget(noisy_max_family(2), "one").certificate()),
        {"format": "bisimdist-certificate", "version": 1, "model": {}},
    ],
)
def test_a_chain_of_another_kind_is_malformed(chain: Document) -> None:
    assert reason(coupling_certificate(chain)).startswith("malformed")


def test_a_bare_integer_of_many_digits_inside_a_chain_is_malformed() -> None:
    text = json.dumps(coupling_certificate({"format": "bisimdist-certificate", "version": "HERE"}))
    with pytest.raises(MalformedCertificate):
        check_certificate(text.replace('"HERE"', "1" + "0" * 3900))


def narrow(low: str) -> HMM:
    """A budget that holds for p > 1/4 only."""
    return HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}},
        {},
        {"pi": {"s": "1/2", "t": "1/2"}, "tau": {"s": "p", "t": "1-p"}},
        pairs=[("pi", "tau")],
        parameters={"p": (low, "3/4")},
    )


def touching() -> Document:
    """A proof that takes a square out: the polynomial vanishes inside, where no halving cuts."""
    model = HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}, "u": {"x": "1/2", "y": "1/2"}},
        {},
        {"pi": {"u": 1}, "tau": {"s": "1/4+q*(2*p^2-1)^2/4", "t": "3/4-q*(2*p^2-1)^2/4"}},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1), "q": (0, 1)},
    )
    return plain(verify(model, 2, length=1).certificate())


def test_a_square_that_vanishes_inside_the_box_has_a_certificate() -> None:
    document = touching()
    assert reason(document) == ""
    assert any("square" in part["proof"] for part in document["proofs"])
    for key, value in (
        ("square", {"0,0": "1"}),
        ("rest", {"0,1": "-2"}),
        ("rest", {"0,1": "0"}),
    ):
        assert "B5" in reason(changed(document, "proofs", 0, "proof", key, to=value))
    again = {"square": {"0,0": "1"}, "rest": {"0,0": "1"}, "proof": "leaf"}
    assert "malformed" in reason(changed(document, "proofs", 0, "proof", "proof", to=again))
    assert "B3" in reason(changed(document, "claims", 0, "ratio", to="199/100"))


def test_a_square_proves_no_denominator_positive() -> None:
    model = HMM.from_mappings(
        {"s": {"x": "1/(1+p)", "y": "p/(1+p)"}},
        {},
        {"pi": {"s": 1}, "tau": {"s": 1}},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1)},
    )
    document = plain(verify(model, 2, length=1).certificate())
    assert reason(document) == ""
    place = next(k for k, d in enumerate(document["denominators"]) if "1" in d["polynomial"])
    trick = {"square": {"0": "1"}, "rest": document["denominators"][place]["polynomial"], "proof": "leaf"}
    assert "malformed" in reason(changed(document, "denominators", place, "proof", to=trick))
    # a denominator that vanishes inside the box would turn inequalities round
    wrong = {"0": "-1", "1": "1", "2": "2"}  # (1 + p) (2 p - 1)
    lie = changed(document, "denominators", place, "polynomial", to=wrong)
    cut = {"split": "p", "at": "1/2", "below": "leaf", "above": "leaf"}
    assert reason(changed(lie, "denominators", place, "proof", to=cut)).startswith("denominator 1: B")


def test_another_interval_is_another_claim() -> None:
    document = plain(verify(narrow("1/4"), "2", length=1).certificate())
    assert reason(document) == ""
    model = copy.deepcopy(document["model"])
    model["parameters"]["p"] = ["0", "3/4"]
    wider = with_model(document, model)
    assert "B3" in reason(wider)
    polynomial = {"0": "-1", "1": "4"}
    for proof in (
        {"split": "p", "at": "1/2", "below": "leaf", "above": "leaf"},
        {"split": "p", "at": "0", "below": "leaf", "above": "leaf"},
        {"split": "p", "at": "-1", "below": "leaf", "above": "leaf"},
        {"split": "p", "at": "1/2", "above": "leaf"},
        {"split": "q", "at": "1/2", "below": "leaf", "above": "leaf"},
    ):
        assert reason({**wider, "proofs": [{"polynomial": polynomial, "proof": proof}]})
    for interval in (["1", "0"], ["1/2", "1/2"], ["1/2"], "1/2"):
        model["parameters"]["p"] = interval
        assert "malformed" in reason(with_model(document, model))


def test_wrong_degrees_are_malformed() -> None:
    document = touching()
    for polynomial in ({"0": "1"}, {"0,0,0": "1"}, {"-1,0": "1"}, {"0, 0": "1"}, {"00,0": "1"}, {"": "1"}):
        assert "malformed" in reason(changed(document, "proofs", 0, "polynomial", to=polynomial))
    huge = {"9999,9999": "1"}
    assert "B1" in reason(changed(document, "denominators", 0, "polynomial", to=huge))


def test_a_claim_that_holds_carries_nothing_that_is_not_checked() -> None:
    document = plain(verify(independent_disease(secret="member"), 2, length=1).certificate())
    assert "malformed" in reason(changed(document, "claims", 0, "probabilities", to=["1", "0"]))


def test_factors_show_signs_and_nothing_else() -> None:
    model = HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}},
        {},
        {"pi": {"s": "(3*p-1)^2/4", "t": "1-(3*p-1)^2/4"}, "tau": {"s": "1/2", "t": "1/2"}},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1)},
    )
    document = plain(verify(model, 2, length=1).certificate())
    assert reason(document) == ""
    assert "H2" in reason({**document, "factors": []})
    assert "malformed" in reason({**document, "factors": [{"0": "2"}]})
    assert "malformed" in reason({**document, "factors": [{}]})
    lie = copy.deepcopy(document["model"])
    lie["distributions"]["pi"] = {"s": "(3*p-1)/4", "t": "1-(3*p-1)/4"}
    assert "H2" in reason(with_model(document, lie))


def test_rows_that_are_none_are_rejected() -> None:
    document = plain(epsilon(contagious_disease("9/10"), length=1).certificate())
    assert reason(document) == ""
    for row in ({}, {"0": "0"}):
        model = copy.deepcopy(document["model"])
        model["transitions"] = {"0": row}
        assert "H1" in reason(with_model(document, model))
    for row in ({"0": "1/2"}, {"0": "3/2", "1": "-1/2"}):
        model = copy.deepcopy(document["model"])
        model["transitions"] = {"0": row}
        assert "H2" in reason(with_model(document, model))


def test_a_length_at_which_nothing_is_possible_proves_nothing() -> None:
    document = plain(verify(geometric(), 2, length=1, pairs=[("0", "1")]).certificate())
    assert reason(document) == ""
    document["length"] = "2"
    for proof in document["proofs"]:
        proof["layers"].append([{}])
        proof["covers"].append([{}] * len(proof["layers"][0]))
    assert "L6" in reason(document)


def test_a_key_that_stands_twice_is_malformed() -> None:
    text = json.dumps(plain(epsilon(contagious_disease(), length=1).certificate()))
    with pytest.raises(MalformedCertificate, match="twice"):
        check_certificate(text[:-1] + ', "claims": []}')


PUMP = plain(for_all_lengths(above_threshold()).certificate())
IN_USE = PUMP["pump"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("below", dict.fromkeys(IN_USE["below"], "1")),
        ("below", dict.fromkeys(IN_USE["below"], "-1")),
        ("below", {"nowhere": "1"}),
        ("above", dict.fromkeys(IN_USE["above"], "0")),
        ("above", dict.fromkeys(IN_USE["above"], "-1")),
        ("counting", []),
        ("counting", [*IN_USE["above"]][:1]),
        ("cycle", IN_USE["cycle"][::-1]),
        ("cycle", ["bottom", "00"]),
        ("cycle", ["nothing"]),
        ("prefix", IN_USE["prefix"][:-1]),
        ("suffix", ["start"]),
        ("fast", "1"),
        ("slow", "-1"),
        ("slow", "0"),
    ],
)
def test_pumps_with_wrong_parts_are_rejected(key: str, value: object) -> None:
    assert reason(PUMP) == ""
    assert reason(changed(PUMP, "pump", key, to=value))


def test_a_model_with_a_budget_has_no_pump() -> None:
    """Both sides of a pump that grow alike: no pair of factors is accepted."""
    model = HMM.from_mappings(
        {"s": {"x": "1/2", "y": "1/2"}, "t": {"x": "1/2", "y": "1/2"}},
        {"s": {"s": 1}, "t": {"t": 1}},
        {"pi": {"s": "2/3", "t": "1/3"}, "tau": {"s": "1/3", "t": "2/3"}},
        pairs=[("pi", "tau")],
    )
    base = {key: PUMP[key] for key in ("format", "version", "kind")}
    claim = {"from": "pi", "to": "tau", "ratio": "any", "length": "all", "verdict": "violated"}
    for counting in (["s"], ["t"], ["s", "t"], []):
        for below in ({"s": "1/3"}, {"s": "1/3", "t": "1/6"}, {}):
            for fast, slow in (("1/2", "1/3"), ("2/3", "1/2"), ("1/2", "0")):
                pump = {
                    "type": "pump",
                    "swapped": False,
                    "prefix": ["x"],
                    "cycle": ["y"],
                    "suffix": [],
                    "fast": fast,
                    "slow": slow,
                    "below": below,
                    "above": {"s": "1/6", "t": "1/3"},
                    "counting": counting,
                }
                document = with_model({**base, "claims": [claim], "pump": pump}, plain(model.canonical()))
                assert reason(document)


def test_parts_taken_together_are_checked_one_by_one() -> None:
    document = plain(for_all_lengths(geometric()).certificate())
    assert document["kind"] == "hmm-several"
    assert reason(document) == ""
    assert "part 2: I4" in reason(changed(document, "parts", 1, "claims", 0, "ratio", to="3/2"))
    assert "G3" in reason({**document, "digest": "sha256:0"})
    wrong: list[object] = [
        [],
        {},
        [3],
        [{"kind": "hmm-several", "parts": document["parts"]}],
        [{"kind": "mechanism-budget"}],
        [{**document["parts"][0], "model": document["model"]}],
    ]
    for parts in wrong:
        assert "malformed" in reason({**document, "parts": parts})


def test_every_verdict_of_several_lengths_and_pairs_is_proved() -> None:
    answer = verify(independent_disease(), 2, length=4, up_to=True)
    assert answer.verdict.value == "holds"
    assert reason(plain(answer.certificate())) == ""
    members = independent_disease(3)
    both = verify(members, 2, length=1, pairs=[members.pairs[0], members.pairs[0][::-1]])
    document = plain(both.certificate())
    assert reason(document) == ""
    assert len(document["parts"]) == 2


@pytest.mark.parametrize("levels", [50, pytest.param(150, marks=pytest.mark.slow)])
def test_large_mechanisms_are_checked_or_refused(levels: int) -> None:
    assert reason(plain(mechanism_budget(geometric_family(levels=levels), "all").certificate())) == ""


def _ratio_of(document: Document) -> Fraction:
    return Fraction(document["claims"][0]["ratio"])


MAKERS: dict[str, Callable[[], object]] = {
    "layers": lambda: epsilon(above_threshold(), length=4).certificate(),
    "cone": lambda: for_all_lengths(contagious_disease()).certificate(),
    "factors": lambda: for_all_lengths(random_hmm(3, zero=0), method="factors").certificate(),
}


@pytest.mark.parametrize("name", list(MAKERS))
def test_no_change_of_a_proof_proves_less_than_the_least_budget(name: str) -> None:
    """Whatever numbers stand in the proof, a ratio below that of a sequence is never accepted."""
    document = plain(MAKERS[name]())
    assert reason(document) == ""
    source = random.Random(5)
    if name == "layers":
        for extra in ("word", "probabilities", "parameters"):
            del document["claims"][0][extra]
        truth = Fraction(2)  # at length 4
        assert _ratio_of(document) == truth
    elif name == "cone":
        truth = _ratio_of(document)
    else:
        model = random_hmm(3, zero=0)
        found = epsilon(model, length=5, up_to=True).pairs[0].ratio
        assert found is not None
        truth = Fraction(int(found.p), int(found.q))
    lie = truth - Fraction(1, 1000)
    document["claims"][0]["ratio"] = str(lie)
    part = "proofs" if name == "layers" else "invariant"
    places = [*_numbers(document[part], (part,))]
    for _ in range(80):
        attempt = copy.deepcopy(document)
        if name == "layers":
            for proof in attempt["proofs"]:
                proof["ratio"] = str(lie)
        for path in source.sample(places, min(len(places), source.randint(0, 4))):
            place: Any = attempt
            for key in path[:-1]:
                place = place[key]
            old = Fraction(place[path[-1]])
            new = source.choice([old * 2, old / 2, -old, Fraction(0), Fraction(1), old + 1])
            place[path[-1]] = str(new if name != "layers" or new.denominator == 1 else old)
        assert reason(attempt), attempt[part]


def _numbers(data: object, path: tuple[str | int, ...]) -> list[tuple[str | int, ...]]:
    if isinstance(data, dict):
        return [found for key, value in data.items() for found in _numbers(value, (*path, key))]
    if isinstance(data, list):
        return [found for key, value in enumerate(data) for found in _numbers(value, (*path, key))]
    try:
        Fraction(str(data))
    except ValueError:
        return []
    return [path]
