from __future__ import annotations

import random

import pytest
from flint import fmpq
from scipy import stats

from bisimdist.budgets.engine.sampling import narrow, p_value, sample_candidates, sampler_of
from bisimdist.budgets.verify.sampling import narrow_budget, sample_and_verify
from bisimdist.errors import UsageError
from bisimdist.exact.binomial import binomial_interval
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.library.hidden_markov import (
    contagious_disease,
    independent_disease,
    noisy_max_diseases,
    noisy_max_neighbours,
)


def _tail(successes: int, trials: int, probability: fmpq) -> fmpq:
    total, term = fmpq(0), (1 - probability) ** trials
    for k in range(trials + 1):
        total += term if k >= successes else fmpq(0)
        if k < trials:
            term = term * (trials - k) / (k + 1) * probability / (1 - probability)
    return total


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (7, 40), (1, 200)])
def test_the_intervals_are_those_of_clopper_and_pearson(successes: int, trials: int) -> None:
    low, high = binomial_interval(successes, trials, "1/20")
    step = fmpq(1, 2**40)
    if successes:
        assert _tail(successes, trials, low) <= fmpq(1, 40) < _tail(successes, trials, low + step)
    else:
        assert low == 0
    if successes < trials:
        above = fmpq(1) - high
        assert _tail(trials - successes, trials, above) <= fmpq(1, 40)
        assert _tail(trials - successes, trials, above + step) > fmpq(1, 40)
    else:
        assert high == 1


def test_samples_of_a_model_find_a_violation_that_is_then_exact() -> None:
    model = noisy_max_neighbours("naive")
    found = sample_and_verify(model, ("1,1,1", "2,2,0"), 2, 1, samples=4000, seed=7)
    assert found[0].violates
    assert found[0].ratio == 8
    assert found[0].candidate.word == ("3",)
    assert 4 < found[0].candidate.lower <= 8
    assert found == sample_and_verify(model, ("1,1,1", "2,2,0"), 2, 1, samples=4000, seed=7)
    assert all(one.candidate.lower <= (one.ratio or 0) for one in found)


def test_a_candidate_of_samples_may_be_refuted() -> None:
    model = contagious_disease()
    found = sample_and_verify(model, model.pairs[0], 4, 1, samples=2000)
    assert not any(one.violates for one in found)


def test_a_callable_is_sampled_without_a_model() -> None:
    def biased(chance: int) -> object:
        def run(source: random.Random) -> tuple[str, ...]:
            return ("yes",) if source.randrange(100) < chance else ("no",)

        return run

    found = sample_candidates(biased(90), biased(10), samples=3000, seed=1)  # type: ignore[arg-type]
    assert {one.word for one in found} == {("yes",), ("no",)}
    assert all(5 < one.lower <= 9 for one in found)
    assert [one.swapped for one in found if one.word == ("no",)] == [True]


def test_a_bracket_is_narrowed_to_a_precision() -> None:
    asked = []

    def refute(budget: fmpq) -> fmpq | bool:
        asked.append(budget)
        return True if budget >= fmpq(24, 7) else fmpq(24, 7) if budget > 3 else fmpq(3)

    low, high = narrow(refute, fmpq(1), fmpq(8), fmpq(1, 1000))
    assert low == high == fmpq(24, 7)  # a ratio that is reached is tried itself
    assert narrow(lambda budget: None, fmpq(1), fmpq(2), fmpq(1, 9)) == (1, 2)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(UsageError):
        binomial_interval(3, 2, "1/20")
    with pytest.raises(UsageError):
        binomial_interval(1, 2, 1)
    with pytest.raises(UsageError, match="parameters"):
        sampler_of(independent_disease(), "independent|sick", 1)
    with pytest.raises(UsageError, match="confidence"):
        sample_candidates(lambda _: ("x",), lambda _: ("x",), confidence=1)


def test_a_lower_bound_is_narrowed_to_a_precision() -> None:
    """The papers narrow the budget of improved Noisy Max to 1.232 = ln 3.428; it is 24/7."""
    model = noisy_max_neighbours("improved")
    found = narrow_budget(model, ("1,1,1", "0,2,2"), 1, "1/1000", start=3)
    assert found.low == found.high == fmpq(24, 7)
    assert found.proof is not None
    assert found.proof.certified


def test_a_budget_for_all_parameters_is_narrowed() -> None:
    model = noisy_max_diseases()
    found = narrow_budget(model, model.pairs[0], 1, "1/50")
    assert found.witness is not None
    assert found.high is not None
    assert 1 < found.low <= found.high <= found.low + fmpq(1, 50)
    assert found.high <= 2
    with pytest.raises(UsageError, match="precision"):
        narrow_budget(model, model.pairs[0], 1, 0)


@pytest.mark.parametrize(("counts", "samples"), [((30, 12), 100), ((3, 0), 3), ((50, 50), 50), ((0, 7), 20)])
def test_p_values_are_those_of_fishers_exact_test(counts: tuple[int, int], samples: int) -> None:
    first, second = counts
    table = [[first, second], [samples - first, samples - second]]
    expected = stats.fisher_exact(table, alternative="greater").pvalue
    found = p_value(counts, samples, 1)
    assert float(found.p) / float(found.q) == pytest.approx(float(expected), rel=1e-9)


def test_p_values_fall_below_the_budget_and_rise_above_it() -> None:
    """LWZ22, long version, Figure 4: near 0 for smaller budgets, near 1 for larger ones."""
    model = noisy_max_neighbours("naive")
    best = sample_and_verify(model, ("1,1,1", "2,2,0"), 2, 1, samples=3000, seed=7)[0]
    assert best.ratio == 8
    assert best.p_value(4) < fmpq(1, 20)
    assert best.p_value(16) > fmpq(19, 20)


@pytest.mark.parametrize(
    ("counts", "samples", "ratio"), [((5, 1), 4, 2), ((-1, 1), 4, 2), ((1, 1), 0, 2), ((1, 1), 4, "1/2")]
)
def test_p_values_of_nothing(counts: tuple[int, int], samples: int, ratio: ExactNumber) -> None:
    with pytest.raises(UsageError, match="up to the samples"):
        p_value(counts, samples, ratio)
