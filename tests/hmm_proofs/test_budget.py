from __future__ import annotations

import pytest
from flint import fmpq

from bisimdist.budgets.budget.ask import mechanism_budget
from bisimdist.budgets.engine.budget import (
    Adjacency,
    QueryFamily,
    geometric_family,
    noisy_max_family,
    privacy_budget,
)
from bisimdist.errors import LimitError, UsageError
from bisimdist.models.mechanisms import Mechanism, geometric_mechanism, noisy_max
from bisimdist.progress import Deadline
from tests.reference.budgets import enumerated


def table_family(mechanism: Mechanism, count: int, levels: int) -> QueryFamily:
    """Return a mechanism on tuples of query results, or on one, without using symmetries."""

    def probability(answer: int, results: tuple[int, ...]) -> fmpq:
        found = mechanism.answer(results[0] if count == 1 else results)
        return found.get(mechanism.answers[answer], fmpq(0))

    answers = mechanism.answers
    alike = (tuple((query,) for query in range(count)),) * len(answers)
    return QueryFamily(mechanism.name, count, levels, answers, probability, alike, tuple(range(len(answers))))


@pytest.mark.parametrize(
    ("n", "ties", "adjacency", "ratio"),
    [
        (3, "uniform", "all", "24/7"),
        (3, "first", "all", "8"),
        (5, "uniform", "all", "288/73"),
        (5, "first", "all", "32"),
        (3, "uniform", "one", "40/21"),
        (3, "first", "one", "2"),
        (5, "uniform", "one", "1312/657"),
    ],
)
def test_published_budgets_of_noisy_max(n: int, ties: str, adjacency: str, ratio: str) -> None:
    """Liu, Wang, Zhang report 1.232 for the first by bisection; ln(24/7) = 1.23214..."""
    budget = mechanism_budget(noisy_max_family(n, ties=ties), adjacency)
    assert str(budget.ratio) == ratio
    result = budget.result
    assert result.probabilities[0] == result.probabilities[1] * fmpq(*map(int, (ratio + "/1").split("/")[:2]))
    first, second = result.pair
    assert all(abs(a - b) <= 1 for a, b in zip(first, second, strict=True))
    chances = [noisy_max(n, ties=ties).answer(results)[result.answer] for results in result.pair]
    assert tuple(chances) == result.probabilities


@pytest.mark.parametrize("ties", ["uniform", "first"])
@pytest.mark.parametrize("adjacency", list(Adjacency))
@pytest.mark.parametrize(
    ("n", "levels", "alpha"), [(1, 3, "1/2"), (2, 4, "1/3"), (3, 3, "1/2"), (4, 2, "2/3")]
)
def test_symmetries_change_nothing(n: int, levels: int, alpha: str, ties: str, adjacency: Adjacency) -> None:
    family = noisy_max_family(n, alpha=alpha, levels=levels, ties=ties)
    if n == 1:  # the only query always wins
        assert privacy_budget(family, adjacency).ratio == 1
        return
    plain = table_family(noisy_max(n, alpha=alpha, levels=levels, ties=ties), n, levels)
    fast, (ratio, pairs) = privacy_budget(family, adjacency), enumerated(plain, adjacency)
    assert fast.ratio == ratio
    assert fast.pairs == pairs
    assert fast.looked_at <= pairs * len(plain.answers)


def test_the_geometric_mechanism() -> None:
    for alpha, ratio in (("1/2", 2), ("1/4", 4), ("2/3", fmpq(3, 2))):
        assert privacy_budget(geometric_family(alpha=alpha, levels=5), Adjacency.ONE).ratio == ratio
        table = table_family(geometric_mechanism(alpha, 5), 1, 5)
        assert privacy_budget(table, Adjacency.ALL).ratio == ratio


def test_bad_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="adjacency"):
        mechanism_budget(noisy_max_family(2), "some")
    with pytest.raises(UsageError, match="ties"):
        noisy_max_family(2, ties="last")
    with pytest.raises(UsageError, match="at least 1"):
        noisy_max_family(0)
    with pytest.raises(LimitError):
        mechanism_budget(noisy_max_family(6, ties="first"), "all", deadline=Deadline.after(0))
