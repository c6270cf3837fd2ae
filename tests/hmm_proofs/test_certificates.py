from __future__ import annotations

import copy
import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest

from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.engine.budget import geometric_family, noisy_max_family
from bisimdist.budgets.engine.parametric import prove_for_all
from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.prove.certificate import parametric_certificate
from bisimdist.checker import CheckReport, check_certificate
from bisimdist.checker.claims import KINDS
from bisimdist.checker.core.reading import MalformedCertificate
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import (
    contagious_disease,
    geometric,
    independent_disease,
    noisy_max_diseases,
)
from bisimdist.models.mechanisms import above_threshold
from tests.hmm_proofs.random_models import random_hmm

Document = dict[str, Any]


def _check(document: Document, model: object | None = None) -> CheckReport:
    plain = json.loads(json.dumps(document))
    report = import_module(KINDS[plain["kind"]]).check_document(plain, model)
    assert isinstance(report, CheckReport)
    return report


def _parametric(model: HMM, ratio: str, length: int = 1) -> Document:
    return parametric_certificate(prove_for_all(model, model.pairs[0], ratio, length))


def _split_model() -> HMM:
    """A budget whose proof needs more than one box."""
    return HMM.from_mappings(
        {"s": {"x": 1}, "t": {"y": 1}, "u": {"x": "1/2", "y": "1/2"}},
        {},
        {"pi": {"u": 1}, "tau": {"s": "1/4+(p-2/5)^2", "t": "3/4-(p-2/5)^2"}},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1)},
    )


def _quotient_model() -> HMM:
    return HMM.from_mappings(
        {"s": {"x": "1/(1+p)", "y": "p/(1+p)"}, "t": {"x": "1/2", "y": "1/2"}},
        {"s": {"s": "p/(1+p)", "t": "1/(1+p)"}, "t": {"t": 1}},
        {"pi": {"s": "p/(2-p)", "t": "(2-2*p)/(2-p)"}, "tau": {"t": 1}},
        pairs=[("pi", "tau")],
        parameters={"p": (0, 1)},
    )


MAKERS: dict[str, Callable[[], Document]] = {
    "independent": lambda: _parametric(independent_disease(), "2"),
    "noisy max": lambda: _parametric(noisy_max_diseases(), "2"),
    "violated": lambda: _parametric(noisy_max_diseases(prior="contagious"), "2"),
    "splits": lambda: _parametric(_split_model(), "201/100"),
    "denominators": lambda: _parametric(_quotient_model(), "4", 2),
    "cone": lambda: for_all_lengths(contagious_disease(), 4).certificate(),
    "factors": lambda: for_all_lengths(random_hmm(3, zero=0), method="factors").certificate(),
    "coupling": lambda: for_all_lengths(geometric(), 2, pairs=[("0", "1")], method="coupling").certificate(),
    "pump": lambda: for_all_lengths(above_threshold()).certificate(),
    "counterexample": lambda: for_all_lengths(above_threshold(), 16).certificate(),
    "noisy max budget": lambda: mechanism_budget(noisy_max_family(3), "all").certificate(),
    "naive budget": lambda: mechanism_budget(noisy_max_family(3, ties="first"), "one").certificate(),
    "geometric budget": lambda: mechanism_budget(geometric_family(), "one").certificate(),
}


@pytest.fixture(scope="module")
def documents() -> dict[str, Document]:
    return {name: make() for name, make in MAKERS.items()}


@pytest.mark.parametrize("name", list(MAKERS))
def test_proofs_are_accepted(documents: dict[str, Document], name: str) -> None:
    report = _check(documents[name])
    assert (report.valid, report.reason) == (True, "")
    assert report.other_claims


def test_the_proof_of_a_split_is_not_trivial(documents: dict[str, Document]) -> None:
    assert documents["splits"]["proofs"]
    assert len(documents["denominators"]["denominators"]) == 3


@pytest.mark.parametrize("name", [n for n in MAKERS if "budget" not in n])
def test_a_proof_is_about_its_own_model(documents: dict[str, Document], name: str) -> None:
    document = documents[name]
    assert _check(document, document["model"]).valid
    other = json.loads(json.dumps(geometric("1/3").canonical()))
    assert "G2" in _check(document, other).reason
    changed = copy.deepcopy(document)
    changed["digest"] = "sha256:" + "0" * 64
    assert "G3" in _check(changed).reason


def _set(document: Document, path: tuple[str | int, ...], value: object) -> Document:
    changed: Any = copy.deepcopy(document)
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    assert isinstance(changed, dict)
    return changed


FALSE_CLAIMS = [
    ("independent", ("claims", 0, "ratio"), "19/10", "B3"),
    ("noisy max", ("claims", 0, "ratio"), "15/10", "B3"),
    ("violated", ("claims", 0, "ratio"), "5", "P1"),
    ("violated", ("claims", 0, "counterexample"), ["2"], "P1"),
    ("violated", ("claims", 0, "parameters", "pA"), "3/2", "H4"),
    ("splits", ("proofs",), [], "B3"),
    ("splits", ("claims", 0, "from"), "nobody", "H3"),
    ("denominators", ("denominators", 0, "polynomial"), {"0": "1"}, "P3"),
    ("denominators", ("denominators", 1, "polynomial"), {"0": "-1"}, "B3"),
    ("denominators", ("claims", 0, "ratio"), "21/20", "B3"),
    ("cone", ("claims", 0, "ratio"), "3", "I4"),
    ("cone", ("invariant", "starts"), {}, "I2"),
    ("cone", ("invariant", "generators", 0, "0"), "9", "I"),
    ("factors", ("claims", 0, "ratio"), "1", "F5"),
    ("factors", ("invariant", "forward"), {}, "F2"),
    ("factors", ("invariant", "table"), [], "F2"),
    ("factors", ("invariant", "table", 0, "factor"), "1", "F4"),
    ("coupling", ("claims", 0, "ratio"), "19/10", "K3"),
    ("coupling", ("invariant", "merged"), {}, "K1"),
    ("pump", ("pump", "fast"), "1/7", "U4"),
    ("pump", ("pump", "slow"), "1/22", "U5"),
    ("pump", ("pump", "slow"), "2/21", "U2"),
    ("pump", ("pump", "swapped"), True, "U"),
    ("pump", ("pump", "above"), {}, "U5"),
    ("pump", ("pump", "below"), {}, "U7"),
    ("pump", ("pump", "counting"), [], "U6"),
    ("counterexample", ("claims", 0, "probabilities"), ["1", "0"], "P1"),
    ("noisy max budget", ("claims", 0, "ratio"), "3", "M3"),
    ("noisy max budget", ("claims", 0, "pair"), [["1", "1", "1"], ["1", "2", "2"]], "M3"),
    ("noisy max budget", ("claims", 0, "answer"), "7", "M3"),
    ("noisy max budget", ("mechanism", "ties"), "first", "M3"),
    ("naive budget", ("claims", 0, "adjacency"), "all", "M4"),
    ("geometric budget", ("mechanism", "noise"), "1/3", "M3"),
]


@pytest.mark.parametrize(("name", "path", "value", "rule"), FALSE_CLAIMS)
def test_false_claims_are_rejected(
    documents: dict[str, Document], name: str, path: tuple[str | int, ...], value: object, rule: str
) -> None:
    report = _check(_set(documents[name], path, value))
    assert not report.valid
    assert f"{rule}" in report.reason


MALFORMED = [
    ("independent", ("claims",), []),
    ("independent", ("version",), 2),
    ("independent", ("claims", 0, "verdict"), "perhaps"),
    ("independent", ("denominators",), []),
    ("independent", ("extra",), 1),
    ("splits", ("proofs", 0, "proof"), "root"),
    ("splits", ("proofs", 0, "polynomial"), {"x": "1"}),
    ("cone", ("invariant", "type"), "sphere"),
    ("cone", ("invariant", "generators"), {}),
    ("factors", ("invariant", "forward"), 3),
    ("pump", ("pump", "type"), "bicycle"),
    ("pump", ("pump", "cycle"), []),
    ("pump", ("claims", 0, "ratio"), "2"),
    ("pump", ("model", "states"), []),
    ("noisy max budget", ("mechanism", "kind"), "laplace"),
    ("noisy max budget", ("claims", 0, "adjacency"), "none"),
]


@pytest.mark.parametrize(("name", "path", "value"), MALFORMED)
def test_what_is_no_certificate_is_malformed(
    documents: dict[str, Document], name: str, path: tuple[str | int, ...], value: object
) -> None:
    with pytest.raises(MalformedCertificate):
        check_certificate(json.dumps(_set(documents[name], path, value)))


def test_a_row_that_is_no_distribution_is_rejected(documents: dict[str, Document]) -> None:
    """A distribution that does not sum to one would make every inequality meaningless."""
    for entry in ("1/2", "-1", "1+p"):
        model = copy.deepcopy(documents["independent"]["model"])
        name = next(iter(model["distributions"]))
        model["distributions"][name] = {next(iter(model["states"])): entry}
        document = _set(documents["independent"], ("model",), model)
        text = json.dumps(model, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        import hashlib  # noqa: PLC0415

        document["digest"] = "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
        assert "H2" in _check(document).reason


@pytest.mark.parametrize("seed", range(6))
def test_proofs_about_random_models_are_accepted(seed: int) -> None:
    model = random_hmm(seed, 3, 2, zero=0.2, end=0.2)
    for method in ("auto", "factors"):
        answer = for_all_lengths(model, method=method)
        if answer.verdict.value != "unknown":
            report = _check(answer.certificate())
            assert (report.valid, report.reason) == (True, "")


def test_several_pairs_share_a_certificate() -> None:
    document = for_all_lengths(geometric()).certificate()
    assert document["kind"] == "hmm-several"
    report = _check(document)
    assert (report.valid, len(report.other_claims)) == (True, 2)
