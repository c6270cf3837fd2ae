"""A slice of the campaign, and that it would notice what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist.budgets.prove.ask import for_all_lengths
from bisimdist.budgets.verify.ask import epsilon, verify
from bisimdist.checker import check_certificate
from bisimdist.distances.bound import ask as distances
from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.models.hmm import HMM
from bisimdist.models.io import parse_model
from bisimdist.models.pa import PA, Transition
from bisimdist.traces.trace.ask import trace_metric
from tests.campaign.campaign import Record, examine
from tests.campaign.draw import KINDS, draw


def slice_of(seed: int, count: int) -> Record:
    record = Record(seed)
    for number in range(count):
        examine(record, number)
    return record


def test_a_short_slice_agrees() -> None:
    record = slice_of(11, 40)
    assert not record.findings, record.table()
    assert record.counts["certificates"] > 60
    assert record.counts["comparisons"] > 150


@pytest.mark.slow
@pytest.mark.parametrize("seed", [12, 13])
def test_a_slice_agrees(seed: int) -> None:
    record = slice_of(seed, 800)
    assert not record.findings, record.table()
    assert record.counts["orders"] > 100


@pytest.mark.slow
def test_leakages_and_their_orders() -> None:
    record = Record(15)
    asked = ("leakage", "leakage by profile", "crosscheck")
    for number in range(120):
        examine(record, number, kinds=("lmc", "lmc", "hmm", "pa"), only=asked)
    assert not record.findings, record.table()
    assert record.counts["orders"] > 5000
    assert record.counts["leakages that close in time"] > 60


def test_models_are_the_same_for_the_same_numbers() -> None:
    assert [draw(5, n) for n in range(16)] == [draw(5, n) for n in range(16)]
    assert draw(5, 3) != draw(6, 3)
    assert {draw(5, n).kind for n in range(len(KINDS))} == set(KINDS)


def test_a_record_goes_on_where_it_stopped(tmp_path: Path) -> None:
    whole = slice_of(4, 4)
    part = slice_of(4, 2)
    part.following = 2
    part.save(tmp_path / "state.json")
    again = Record.load(tmp_path / "state.json")
    for number in (2, 3):
        examine(again, number)
    assert again.following == 2
    assert again.counts["models"] == whole.counts["models"] == 4


def test_a_wrong_answer_is_written_down(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    honest: Callable[..., DistanceAnswer] = distances.bound

    def lowered(*arguments: object, **options: object) -> DistanceAnswer:
        answer = honest(*arguments, **options)
        pairs = tuple(replace(p, upper=p.upper / 2, lower=min(p.lower, p.upper / 2)) for p in answer.pairs)
        return replace(answer, pairs=pairs)

    monkeypatch.setattr("tests.campaign.chains.bound", lowered)
    record = Record(1)
    for number in range(0, 80, len(KINDS)):
        examine(record, number, tmp_path)
    assert any("delta <= bd" in text for text in record.findings), record.table()
    (folder, *_) = (path for path in tmp_path.iterdir() if path.name.endswith("delta"))
    text = (folder / "finding.txt").read_text(encoding="utf-8")
    assert "python -m tests.campaign --seed 1 --from" in text
    parse_model((folder / "model.json").read_bytes(), format="json")


MERSENNE = 2**61 - 1


@pytest.mark.parametrize("prime", [MERSENNE, 2**521 - 1], ids=["2^61 - 1", "2^521 - 1"])
def test_found_probabilities_over_the_prime_in_which_combinations_are_sought(prime: int) -> None:
    p = fmpq((prime + 1) // 2, prime)
    steps = [
        step
        for k in (0, 2)
        for step in (Transition(k, "a", ((k, p), (k + 1, 1 - p))), Transition(k + 1, "b", ((k, fmpq(1)),)))
    ]
    automaton = PA(("s", "u", "t", "v"), tuple(steps), ((0, 2),))
    answer = trace_metric(automaton, "additive")
    assert answer.pairs[0].upper == 0
    assert check_certificate(json.dumps(answer.certificate())).valid


def test_found_parameters_that_nothing_depends_on() -> None:
    model = parse_model(
        '{"kind": "hmm", "observations": ["x", "y"], "states": {"s": {"x": "1"},'
        ' "t": {"x": "1/2", "y": "1/2"}}, "transitions": {},'
        ' "parameters": {"p": ["1/4", "1/2"]}, "pairs": [["pi", "tau"]],'
        ' "distributions": {"pi": {"s": "1/4", "t": "3/4"}, "tau": {"s": "1/2", "t": "1/2"}}}',
        format="json",
    )
    assert isinstance(model, HMM)
    for answer in (
        verify(model, 2, length=1),
        verify(model, "5/4", length=1),
        epsilon(model, length=1),
        for_all_lengths(model),
    ):
        report = check_certificate(json.dumps(answer.certificate()), json.dumps(model.canonical()))
        assert report.valid, report.reason


def test_a_parameter_that_something_depends_on_is_no_number() -> None:
    model = parse_model(
        '{"kind": "hmm", "observations": ["x", "y"], "states": {"s": {"x": "p", "y": "1-p"}},'
        ' "transitions": {}, "parameters": {"p": ["1/4", "1/2"]}, "pairs": [["pi", "tau"]],'
        ' "distributions": {"pi": {"s": "1"}, "tau": {"s": "1"}}}',
        format="json",
    )
    assert isinstance(model, HMM)
    document = epsilon(model.at({"p": "1/3"}), length=1).certificate()
    document |= {"model": model.canonical(), "digest": model.digest()}
    report = check_certificate(json.dumps(document))
    assert not report.valid
    assert "H4" in report.reason
