"""Certificates of compositions: what is proved is accepted, what is claimed falsely is not."""

from __future__ import annotations

import copy
import json
import random
from fractions import Fraction
from typing import Any

import pytest

import bisimdist
from bisimdist.checker import MalformedCertificate, check_certificate

LISTS: dict[str, tuple[list[Any], str]] = {
    "gaussian": ([{"gaussian": {"sigma": 10}, "times": 100}], "add-remove"),
    "laplace": ([{"laplace": {"scale": 2}, "times": 5}], "add-remove"),
    "mixed": (
        [
            {"subsampled": {"q": "1/10", "of": {"gaussian": {"sigma": 2}}}, "times": 7},
            {"discrete-laplace": {"scale": 3, "sensitivity": 2}, "times": 2},
            {"randomised-response": {"truth": "2/3", "options": 3}},
        ],
        "add-remove",
    ),
    "subsampled laplace": (
        [{"subsampled": {"q": "1/5", "of": {"laplace": {"scale": 2}}}, "times": 3}],
        "add",
    ),
    "discrete": (
        [
            {"subsampled": {"q": "1/5", "of": {"discrete-gaussian": {"sigma": 2}}}},
            {"discrete-gaussian": {"sigma": 3}},
        ],
        "remove",
    ),
    "without replacement": (
        [
            {"subsampled": {"q": "1/5", "sampling": "without-replacement", "of": {"gaussian": {"sigma": 2}}}},
            {"subsampled": {"q": "1/5", "sampling": "without-replacement", "of": {"pure": {"epsilon": 1}}}},
        ],
        "replace",
    ),
    "poisson, replaced": (
        [
            {"subsampled": {"q": "1/5", "of": {"gaussian": {"sigma": 2}}}},
            {"subsampled": {"q": "1/4", "of": {"laplace": {"scale": 2}}}, "times": 2},
            {"subsampled": {"q": "1/3", "of": {"discrete-laplace": {"scale": 3, "sensitivity": 2}}}},
            {"subsampled": {"q": "1/2", "of": {"discrete-gaussian": {"sigma": 4, "sensitivity": 2}}}},
            {"subsampled": {"q": "1/3", "of": {"pure": {"epsilon": "1/4"}}}, "times": 2},
        ],
        "replace",
    ),
    "poisson, replaced, of other mechanisms": (
        [
            {"subsampled": {"q": "1/5", "of": {"approximate": {"epsilon": "1/4", "delta": "1e-4"}}}},
            {"subsampled": {"q": "1/4", "of": {"randomised-response": {"truth": "3/4"}}}, "times": 2},
            {"subsampled": {"q": "1/2", "of": {"subsampled": {"q": "1/3", "of": {"laplace": {"scale": 2}}}}}},
        ],
        "replace",
    ),
    "without replacement, added": (
        [
            {"subsampled": {"q": "1/5", "sampling": "without-replacement", "of": {"gaussian": {"sigma": 2}}}},
            {"subsampled": {"q": "1/5", "sampling": "without-replacement", "of": {"pure": {"epsilon": 1}}}},
        ],
        "add-remove",
    ),
    "approximate": ([{"approximate": {"epsilon": "1/10", "delta": "1e-4"}, "times": 4}], "add-remove"),
    "shuffled": (
        [{"shuffled": {"n": 20, "of": {"randomised-response": {"truth": "3/4"}}}, "times": 2}],
        "replace",
    ),
    "model": ([{"model": "example:dining-cryptographers"}, {"pure": {"epsilon": "1/10"}}], "add-remove"),
}


@pytest.mark.parametrize("name", LISTS)
def test_proofs_are_accepted_and_better_bounds_are_not(name: str) -> None:
    mechanisms, relation = LISTS[name]
    answer = bisimdist.compose(mechanisms, relation=relation, width="1/100")
    answer.delta("1/4")
    answer.epsilon("1e-3" if name != "approximate" else "1e-2")
    document = answer.certificate()
    report = check_certificate(json.dumps(document))
    assert report.valid, report.reason
    for number, claim in enumerate(document["claims"]):  # type: ignore[arg-type, var-annotated]
        for side, factor in (("lower", "101/100"), ("upper", "99/100"), ("lower", "10"), ("upper", "1/10")):
            forged = copy.deepcopy(document)
            value = Fraction(claim[side]) * Fraction(factor)
            forged["claims"][number][side] = str(value)  # type: ignore[index]
            other = Fraction(claim["upper" if side == "lower" else "lower"])
            if value != Fraction(claim[side]) and (value > other) == (side == "lower"):
                assert not check_certificate(json.dumps(forged)).valid, (side, factor)


@pytest.mark.parametrize("delta", ["1e-6", "1e-30"])
def test_an_epsilon_next_to_the_largest_loss_is_proved_on_both_sides(delta: str) -> None:
    answer = bisimdist.compose([{"laplace": {"scale": 5}, "times": 3}])
    point = answer.epsilon(delta)
    assert Fraction("0.599") < point.lower < point.upper <= Fraction("0.6")
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason


def test_a_large_epsilon_of_one_run_is_proved() -> None:
    answer = bisimdist.compose([{"subsampled": {"q": "9/10", "of": {"gaussian": {"sigma": "1/20"}}}}])
    assert answer.epsilon("1e-3").upper > 260
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        ({"subsampled": {"q": "1/10", "of": {"discrete-gaussian": {"sigma": "1/20"}}}}, "1"),
        ({"subsampled": {"q": "1/10", "of": {"laplace": {"scale": "1/1000"}}}}, "1"),
        ({"subsampled": {"q": "1/2", "of": {"pure": {"epsilon": 40}}}}, "30"),
    ],
)
def test_sampled_mechanisms_with_hardly_any_noise_are_proved(mechanism: Any, epsilon: str) -> None:
    for times in (1, 2):
        answer = bisimdist.compose([mechanism | {"times": times}])
        answer.delta(epsilon)
        document: Any = answer.certificate()
        report = check_certificate(json.dumps(document))
        assert report.valid, report.reason
        claim = document["claims"][0]
        claim["upper"] = str(Fraction(claim["lower"]) * Fraction(99, 100))
        claim["lower"] = "0"
        assert not check_certificate(json.dumps(document)).valid


@pytest.mark.parametrize("rate", ["1/3", "1"])
@pytest.mark.parametrize(
    "mechanism",
    [
        {"gaussian": {"sigma": "1/20"}},
        {"gaussian": {"sigma": 1}},
        {"laplace": {"scale": "1/30"}},
        {"laplace": {"scale": 1}},
        {"discrete-laplace": {"scale": 1, "sensitivity": 2}},
        {"discrete-gaussian": {"sigma": 1, "sensitivity": 2}},
        {"pure": {"epsilon": 1}},
        {"pure": {"epsilon": 0}},
        *({"approximate": {"epsilon": 1, "delta": delta}} for delta in ("1e-6", "1/10", "1/3", "3/5", "1")),
        {"approximate": {"epsilon": 0, "delta": "1/10"}},
        {"approximate": {"epsilon": 300, "delta": "1e-40"}},
        {"randomised-response": {"truth": "3/4"}},
        {"shuffled": {"n": 5, "of": {"randomised-response": {"truth": "3/4"}}}},
        {"model": "example:dining-cryptographers"},
        {"subsampled": {"q": "1/2", "of": {"gaussian": {"sigma": 1}}}},
        {"subsampled": {"q": "1/2", "of": {"randomised-response": {"truth": "3/4"}}}},
    ],
)
def test_one_run_is_proved_where_a_record_is_replaced(mechanism: Any, rate: str) -> None:
    answer = bisimdist.compose([{"subsampled": {"q": rate, "of": mechanism}}], relation="replace")
    answer.deltas([0, "1/2", 2])
    document: Any = answer.certificate()
    report = check_certificate(json.dumps(document))
    assert report.valid, report.reason
    for claim in document["claims"]:
        if Fraction(claim["lower"]):
            forged = copy.deepcopy(document)
            forged["claims"] = [claim | {"upper": str(Fraction(claim["lower"]) * Fraction(999, 1000))}]
            forged["claims"][0]["lower"] = "0"
            assert not check_certificate(json.dumps(forged)).valid


@pytest.mark.parametrize(
    ("mechanism", "times", "relation", "epsilons", "deltas", "width"),
    [
        ({"subsampled": {"q": 1, "of": {"gaussian": {"sigma": "1/20"}}}}, 100, "add", [1], [], "1/1000"),
        ({"subsampled": {"q": "1/100", "of": {"laplace": {"scale": 8}}}}, 1000, "add", [0, 0], [], 1),
        ({"laplace": {"scale": "1/50"}}, 2, "replace", [1, 2], [1], "1/10"),
        # the check looks at no test with a label far below epsilon
        ({"discrete-laplace": {"scale": "169/100", "sensitivity": 5}}, 100, "add", ["1/100"], [], 1),
    ],
)
def test_what_is_asked_at_once_is_proved_at_once(  # noqa: PLR0917
    mechanism: Any, times: int, relation: str, epsilons: list[Any], deltas: list[Any], width: Any
) -> None:
    answer = bisimdist.compose([mechanism | {"times": times}], relation=relation, width=width)
    answer.deltas(epsilons)
    for delta in deltas:
        answer.epsilon(delta)
    report = check_certificate(json.dumps(answer.certificate()))
    assert report.valid, report.reason


def test_changed_parameters_are_refused() -> None:
    answer = bisimdist.compose([{"laplace": {"scale": 2}, "times": 3}])
    answer.delta(1)
    document = answer.certificate()
    for key, value in (("scale", "1"), ("sensitivity", "2")):
        forged = copy.deepcopy(document)
        forged["mechanisms"][0]["laplace"][key] = value  # type: ignore[index]
        assert not check_certificate(json.dumps(forged)).valid
    forged = copy.deepcopy(document)
    forged["mechanisms"][0]["times"] = "4"  # type: ignore[index]
    assert "as often as it runs" in check_certificate(json.dumps(forged)).reason


def test_no_change_of_the_steps_proves_more() -> None:
    """Whatever a tape says, the bounds stay true: truth is known here by the sum of two tails."""
    answer = bisimdist.compose([{"laplace": {"scale": 4}, "times": 2}], width="1/20")
    fine = bisimdist.compose([{"laplace": {"scale": 4}, "times": 2}], width="1e-4").delta("1/4")
    answer.delta("1/4")
    document = answer.certificate()
    generator = random.Random(1)
    accepted = 0
    for _ in range(150):
        forged = copy.deepcopy(document)
        ((tape,),) = forged["tapes"].values()  # type: ignore[attr-defined]
        step = generator.choice(tape["steps"])
        places = [k for k in range(1, len(step)) if isinstance(step[k], str)]
        place = generator.choice(places)
        step[place] = str(int(step[place]) + generator.choice([-3, -1, 1, 2, 9]))
        if generator.random() < 0.3:
            tape["step"] = str(Fraction(tape["step"]) * Fraction(generator.choice(["1/2", "2", "3"])))
        claim = forged["claims"][0]  # type: ignore[index]
        if generator.random() < 0.5:
            claim["upper"] = str(
                Fraction(int(fine.lower.numerator), int(fine.lower.denominator)) * Fraction(99, 100)
            )
        else:
            claim["lower"] = str(
                Fraction(int(fine.upper.numerator), int(fine.upper.denominator)) * Fraction(101, 100)
            )
        try:
            accepted += check_certificate(json.dumps(forged)).valid
        except MalformedCertificate:
            continue
    assert accepted == 0


@pytest.mark.parametrize("relation", ["add", "remove", "add-remove"])
def test_what_is_always_sampled_costs_what_it_costs_alone(relation: str) -> None:
    inner = {"approximate": {"epsilon": 1, "delta": "1/10"}}
    alone, sampled = (
        bisimdist.compose([one], relation=relation) for one in (inner, {"subsampled": {"q": 1, "of": inner}})
    )
    assert sampled.delta("1/2").upper == alone.delta("1/2").upper
    assert check_certificate(json.dumps(sampled.certificate())).valid
    forged: Any = copy.deepcopy(sampled.certificate())
    forged["claims"][0] |= {"epsilon": "2", "lower": "0", "upper": "1/1000"}
    assert not check_certificate(json.dumps(forged)).valid


@pytest.mark.parametrize(
    "mechanism",
    [
        {"gaussian": {"sigma": "1" + "0" * 100, "sensitivity": "1"}},
        {
            "subsampled": {
                "q": "1/1" + "0" * 1000,
                "sampling": "poisson",
                "of": {"gaussian": {"sigma": "1", "sensitivity": "1"}},
            }
        },
    ],
)
def test_numbers_that_vanish_at_the_precision_are_refused(mechanism: dict[str, Any]) -> None:
    document = {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "composition",
        "relation": "remove",
        "mechanisms": [mechanism],
        "tapes": {},
        "claims": [{"epsilon": "1", "lower": "0", "upper": "1/2"}],
    }
    with pytest.raises(MalformedCertificate, match="too small"):
        check_certificate(json.dumps(document))
