"""Testing and verification together: the curves of a tester, and budgets that end at the exact value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from flint import fmpq

from bisimdist.budgets.verify.ask import epsilon
from bisimdist.budgets.verify.tested import TestedAnswer
from bisimdist.budgets.verify.tested import tested_budget as budget_by_testing
from bisimdist.checker import check_certificate
from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import (
    contagious_disease,
    independent_disease,
    noisy_max_neighbours,
)
from bisimdist.models.mechanisms import above_threshold
from bisimdist.progress import Deadline
from tests.cli.conftest import Command, command

__all__ = ["command"]

GEOMETRIC = ("epsilon", "example:geometric", "--length", "1", "--samples", "200")


def curve_of(answer: TestedAnswer) -> list[fmpq]:
    return [point.value for point in answer.pairs[0].curve]


@pytest.mark.parametrize(
    ("variant", "pair"), [("naive", ("1,1,1", "2,2,0")), ("improved", ("1,1,1", "0,2,2"))]
)
def test_the_curves_of_figure_4(variant: str, pair: tuple[str, str]) -> None:
    """LWZ22-long, Figure 4: near 0 up to the exact budget, near 1 beyond it, and in between no conclusion."""
    answer = budget_by_testing(noisy_max_neighbours(variant, 3), length=1, samples=2000, seed=7, pairs=[pair])
    (found,) = answer.pairs
    low, high = (float(end) for end in found.budget.epsilon or ())
    assert found.rejected is not None
    assert found.held is not None
    assert float(found.rejected) < high
    assert low < float(found.held)
    values = curve_of(answer)
    assert values == sorted(values)
    assert values[0] < fmpq(1, 1000)
    assert values[-1] > fmpq(19, 20)


def test_longer_runs_have_larger_budgets_which_testing_does_not_see() -> None:
    """LWZ22-long, Figure 4 (c) and (d): the worst sequence is too rare to be sampled."""
    answers = [budget_by_testing(above_threshold(), length=k, samples=300, seed=7) for k in (7, 11)]
    short, longer = (answer.pairs[0] for answer in answers)
    assert short.budget.ratio is not None
    assert longer.budget.ratio is not None
    assert short.budget.ratio < longer.budget.ratio
    assert longer.candidate is not None
    assert longer.candidate.candidate.lower < longer.budget.ratio


def test_algorithm_5_ends_at_the_exact_budget() -> None:
    model = noisy_max_neighbours("improved", 2)
    answer = budget_by_testing(model, length=1, samples=50, seed=3)
    exact = {(pair.source, pair.target): pair.ratio for pair in epsilon(model, length=1).pairs}
    assert {(p.budget.source, p.budget.target): p.budget.ratio for p in answer.pairs} == exact
    ratios = [pair.budget.ratio or fmpq(0) for pair in answer.pairs]
    assert ratios == sorted(ratios, reverse=True)  # the worst first
    proof = check_certificate(json.dumps(answer.certificate()))
    assert proof.valid, proof.reason


def test_what_testing_finds_first_needs_few_verifications() -> None:
    """Where the candidate is the worst sequence the first question settles it."""
    (found,) = budget_by_testing(contagious_disease(), length=1, samples=200).pairs
    assert found.candidate is not None
    assert (found.budget.ratio, found.candidate.ratio, found.asked) == (4, 4, 1)


def test_a_sequence_of_one_side_only_has_no_budget() -> None:
    model = HMM.from_mappings(
        {"s": {"x": "1"}, "t": {"x": "1/2", "y": "1/2"}},
        {},
        {"a": {"s": 1}, "b": {"t": 1}},
        pairs=[("a", "b")],
    )
    (found,) = budget_by_testing(model, length=1, samples=100).pairs
    assert (found.budget.infinite, found.budget.witness) == (True, ("y",))
    assert check_certificate(json.dumps(budget_by_testing(model, length=1, samples=100).certificate())).valid


def test_the_same_seed_gives_the_same_answer() -> None:
    one, two = (budget_by_testing(contagious_disease(), length=1, samples=100, seed=5) for _ in range(2))
    assert one.data() == two.data()


def test_without_time_a_lower_bound_remains() -> None:
    answer = budget_by_testing(contagious_disease(), length=1, deadline=Deadline.after(0))
    assert answer.status.value == "limit"
    assert (answer.pairs[0].budget.at_least, answer.pairs[0].budget.exact) == (4, False)
    with pytest.raises(UsageError):
        answer.certificate()


def test_parameters_cannot_be_sampled() -> None:
    with pytest.raises(UsageError, match="parameters"):
        budget_by_testing(independent_disease(), length=1)


def test_the_command(command: Command, tmp_path: Path) -> None:
    proof = tmp_path / "proof.json"
    ended = command(*GEOMETRIC, "--json", "--certificate", proof)
    data = json.loads(ended.out)
    assert (ended.code, data["sampled"], data["seed"]) == (0, 200, 0)
    assert [pair["ratio"] for pair in data["pairs"]] == ["2", "2"]
    assert data["pairs"][0]["tested"]["sampled"] == 200
    assert all(len(point["p_value"]) == 2 for point in data["pairs"][0]["points"])
    assert command("check", proof).code == 0
    assert "p-values are below 0.05" in command(*GEOMETRIC).out


@pytest.mark.extra("plot")
def test_the_curve_is_drawn(command: Command, tmp_path: Path) -> None:
    picture = tmp_path / "curve.svg"
    assert command(*GEOMETRIC, "--plot", picture).code == 0
    assert "p-value" in picture.read_text()


def test_bad_input_is_refused(command: Command) -> None:
    plain = GEOMETRIC[:-2]
    command(*plain, "--seed", "3").assert_refused("--seed is for the tester; say with --samples N")
    command(*plain, "--samples", "0").assert_refused("--samples")
    command(*GEOMETRIC, "--up-to").assert_refused("--samples and --up-to")
    command(*GEOMETRIC, "--plot", "curve.txt").assert_refused("curve.txt")
    command("epsilon", "example:independent-disease", "--length", "1", "--samples", "9").assert_refused(
        "cannot be sampled"
    )
