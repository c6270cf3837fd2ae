"""Case studies of interactive models: what an analyst gains by asking adaptively."""

from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.budgets.verify.ask import epsilon
from bisimdist.distances.bound.ask import bound
from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.models.interactive import Interactive
from bisimdist.models.library.interactive import (
    adaptive_above_threshold,
    coin_and_doors,
    randomised_responses,
    two_questions,
)
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.lmc import LMC
from bisimdist.models.mechanisms.above_threshold import above_threshold
from bisimdist.models.mechanisms.interaction import neighbouring_queries, side_by_side, sparse_vector
from bisimdist.privacy.delta.ask import delta


def gained(model: Interactive, alpha: str | fmpq, rounds: int, *, fixed: bool = False) -> fmpq:
    answer = delta(model, alpha, rounds=rounds, fixed=fixed)
    assert answer.status is Status.EXACT
    return answer.upper


def test_above_threshold_under_two_adaptive_queries() -> None:
    model = adaptive_above_threshold()
    assert gained(model, "1", 2) == fmpq(4, 15)
    assert gained(model, "2", 2) == fmpq(13, 90)


def test_it_is_zero_from_exactly_the_pure_budget_on() -> None:
    model = adaptive_above_threshold()
    (pure,) = epsilon(above_threshold(), length=5).pairs  # start, then two queries with their answers
    assert pure.ratio is not None
    assert gained(model, pure.ratio, 2) == 0
    assert gained(model, pure.ratio - fmpq(1, 1000), 2) > 0


def test_two_answers_above() -> None:
    model = adaptive_above_threshold(answers=2)
    assert gained(model, "3/2", 3) == fmpq(11, 45)
    assert gained(model, "3/2", 3, fixed=True) == fmpq(25, 108)


@pytest.mark.parametrize("rounds", [1, 2, 3])
def test_randomised_response_composes_as_a_product(rounds: int) -> None:
    alpha = fmpq(3, 2)
    product = LMC.from_mappings(
        {"s": "r", "t": "r", "end": "e"}
        | {f"{w}{k}{a}": a for w in "st" for k in range(rounds) for a in "yn"},
        {
            **{
                f"{w}{k}{a}" if k >= 0 else w: (
                    {"end": 1} if k == rounds - 1 else {f"{w}{k + 1}y": yes, f"{w}{k + 1}n": 1 - yes}
                )
                for w, yes in (("s", fmpq(3, 4)), ("t", fmpq(1, 4)))
                for k in range(-1, rounds)
                for a in "yn"
            },
            "end": {"end": 1},
        },
        [("s", "t")],
    )
    expected = delta(product, alpha).upper
    model = randomised_responses()
    assert gained(model, alpha, rounds) == gained(model, alpha, rounds, fixed=True) == expected


def test_of_a_mechanism_with_memory_an_adaptive_analyst_gains_more() -> None:
    model = coin_and_doors()
    assert gained(model, "1", 2) == fmpq(1, 2)
    assert gained(model, "1", 2, fixed=True) == fmpq(1, 4)
    assert delta(model, 1).upper == bound(model, 1).pairs[0].upper == fmpq(1, 2)


def test_two_mechanisms_side_by_side_are_asked_in_any_order() -> None:
    one, other = coin_and_doors(), two_questions()
    both = side_by_side([one, other], [("1:start", "0:start"), ("1:start", "0:start")])
    alone = gained(one, "2", 2), gained(other, "2", 2)
    together = gained(both, "2", 2)
    assert max(alone) <= together <= gained(both, "2", 3)
    assert gained(both, "2", 2, fixed=True) <= together
    assert "0:toss" in both.actions
    assert "1:X" in both.actions


def test_concurrent_composition_of_two_mechanisms_with_memory() -> None:
    """An analyst who looks finds both secrets by randomised response, and gains what their product does."""
    one = coin_and_doors()
    both = side_by_side([one, one], [("1:start", "0:start")] * 2)
    for alpha in (fmpq(1), fmpq(2), fmpq(3), fmpq(9)):
        nine, three, single = fmpq(9, 16), fmpq(3, 16), fmpq(1, 16)
        product = max(fmpq(0), nine - alpha * single) + 2 * max(fmpq(0), three - alpha * three)
        assert gained(both, alpha, 4) == product + max(fmpq(0), single - alpha * nine)
    assert gained(both, "2", 4, fixed=True) == fmpq(15, 64)


def test_a_pair_of_queries_asks_each_world_its_own() -> None:
    mechanism = sparse_vector()
    same = neighbouring_queries(mechanism, "start", [("0", "0"), ("2", "2")])
    assert gained(same, "1", 3) == 0
    far = neighbouring_queries(mechanism, "start", [("0", "2")])
    assert gained(far, "1", 1) > gained(adaptive_above_threshold(), "1", 1)
    with pytest.raises(UsageError, match="'3' is no query"):
        neighbouring_queries(mechanism, "start", [("0", "3")])


@pytest.mark.parametrize(
    "name", ["two-questions", "randomised-responses", "coin-and-doors", "adaptive-above-threshold,answers=2"]
)
def test_the_examples_are_there(name: str) -> None:
    model = build_any_example(name)
    assert isinstance(model, Interactive)
    answer = delta(model, 2, rounds=2)
    assert answer.upper <= bound(model, 2, distance="lbd").pairs[0].upper


def test_parameters_are_checked() -> None:
    with pytest.raises(UsageError, match="threshold"):
        sparse_vector(answers=0)
    with pytest.raises(UsageError, match="threshold"):
        adaptive_above_threshold(threshold=3)
