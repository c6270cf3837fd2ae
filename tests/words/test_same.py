"""Two models in one answer: verdict, difference and bounds agree with one another, and with the proof."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path

import pytest

from bisimdist import HMM, LMC, UsageError, build_any_example, build_example, write_model
from bisimdist.checker import check_certificate
from bisimdist.models.library.pin_checking import pin_checking
from bisimdist.progress import Deadline
from bisimdist.traces import same_models
from tests.cli.conftest import Command, command  # noqa: F401

ONE = LMC.from_mappings(
    {"s": "a", "t": "b", "u": "c"}, {"s": {"t": "1/2", "u": "1/2"}, "t": {"t": 1}, "u": {"u": 1}}
)
SPLIT = LMC.from_mappings(
    {"s": "a", "t": "b", "v": "b", "u": "c"},
    {"s": {"t": "1/4", "v": "1/4", "u": "1/2"}, "t": {"v": 1}, "v": {"t": 1}, "u": {"u": 1}},
)
OTHER = LMC.from_mappings(
    {"s": "a", "t": "b", "u": "c"}, {"s": {"t": "1/4", "u": "3/4"}, "t": {"t": 1}, "u": {"u": 1}}
)
LATE = (
    LMC.from_mappings(
        {"s": "a", "t": "b", "u": "b", "v": "c", "w": "d"},
        {"s": {"t": "1/2", "u": "1/2"}, "t": {"v": 1}, "u": {"w": 1}, "v": {"v": 1}, "w": {"w": 1}},
    ),
    LMC.from_mappings(
        {"s": "a", "t": "b", "v": "c", "w": "d"},
        {"s": {"t": 1}, "t": {"v": "1/2", "w": "1/2"}, "v": {"v": 1}, "w": {"w": 1}},
    ),
)


def test_bisimilar_models_are_equivalent() -> None:
    answer = same_models(ONE, SPLIT)
    (pair,) = answer.pairs
    assert (answer.equivalent, pair.bound.upper, pair.delta.upper, pair.difference) == (True, 0, 0, None)
    report = check_certificate(json.dumps(answer.certificate()).encode())
    assert report.valid
    assert [claim["equivalent"] for claim in report.plain_claims()] == [True]


def test_equivalent_models_need_not_be_bisimilar() -> None:
    (pair,) = same_models(*LATE).pairs
    assert (pair.equivalent, pair.bound.upper > 0, pair.delta.upper) == (True, True, 0)


def test_models_that_differ() -> None:
    answer = same_models(ONE, OTHER, alpha="3/2")
    (pair,) = answer.pairs
    assert answer.equivalent is False
    assert (str(pair.bound.upper), str(pair.delta.upper), pair.delta.exact) == ("1/8", "1/8", True)
    assert pair.difference is not None
    assert pair.difference.trace == ("a", "b")
    assert [str(p) for p in pair.difference.probabilities or ()] == ["1/2", "1/4"]
    report = check_certificate(json.dumps(answer.certificate()).encode())
    assert report.valid
    assert report.plain_claims()[0]["probabilities"] == ["1/2", "1/4"]


def test_a_skew_does_not_make_models_equivalent() -> None:
    """At alpha = 3 delta is 0 although a trace has two probabilities."""
    answer = same_models(ONE, OTHER, alpha=3)
    assert (answer.equivalent, answer.pairs[0].delta.upper) == (False, 0)


def test_without_time_nothing_is_claimed() -> None:
    (pair,) = same_models(ONE, SPLIT, deadline=Deadline.after(0)).pairs
    assert pair.equivalent in {None, True}
    assert pair.delta.lower == 0


def test_models_with_nothing_in_common_are_refused() -> None:
    hidden = build_any_example("geometric")
    assert isinstance(hidden, HMM)
    with pytest.raises(UsageError):
        same_models(hidden, pin_checking())
    with pytest.raises(UsageError, match="alpha"):
        same_models(ONE, ONE, alpha="1/2")


def test_the_command(command: Command, tmp_path: Path) -> None:  # noqa: F811
    for name, model in (("one", ONE), ("split", SPLIT), ("other", OTHER)):
        (tmp_path / f"{name}.json").write_text(write_model(model, "json"))
    one, split, other = (str(tmp_path / f"{name}.json") for name in ("one", "split", "other"))
    alike = command("same", one, split, "--json")
    data = json.loads(alike.out)
    assert (alike.code, data["equivalent"], data["difference"]) == (0, True, None)
    proof = tmp_path / "proof.json"
    apart = command("same", one, other, "--json", "--certificate", str(proof))
    data = json.loads(apart.out)
    assert (apart.code, data["equivalent"], data["difference"]["trace"]) == (1, False, ["a", "b"])
    for name in ("bound", "delta"):
        assert Fraction(data[name]["lower"]) == Fraction(data[name]["upper"]) == Fraction(1, 4)
    assert data["pairs"][0]["from"] == "first:s"
    assert command("check", str(proof)).code == 0
    assert command("check", str(proof), one, "--against", other).code == 0
    ended = command("same", one, other, "--timeout", "0", "--json")
    assert (ended.code, json.loads(ended.out)["equivalent"]) == (3, None)
    assert "not equivalent" in command("same", one, other).out
    assert json.loads(command("same", one, other, "--pair", "t", "t", "--json").out)["equivalent"] is True
    command("same", one).assert_refused("Missing argument 'OTHER'")
    command("same", one, other, "--certificate", other).assert_refused("is read by the same command")
    command("same", one, "example:pin-checking").assert_refused("expected")


def test_an_example_is_the_same_as_itself() -> None:
    assert same_models(build_example("figure1"), build_example("figure1")).equivalent
