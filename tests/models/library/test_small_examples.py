from __future__ import annotations

import math

import pytest
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import UsageError
from bisimdist.models.library.figure1 import figure1
from bisimdist.models.library.leaky_retry import leaky_retry
from bisimdist.models.library.randomised_response import randomised_response
from tests.reference.acyclic_bd import acyclic_bd, skewed_kantorovich
from tests.reference.traces import true_delta
from tests.strategies import alphas

PROBABILITIES = [fmpq(0), fmpq(1, 10), fmpq(1, 3), fmpq(1, 2), fmpq(3, 4), fmpq(1)]


def test_figure1_is_example_1() -> None:
    lmc = figure1()
    assert lmc.canonical() == {
        "kind": "lmc",
        "states": {"s0": "a", "s1": "a", "s2": "b", "s3": "c"},
        "transitions": {
            "s0": {"s2": "3/5", "s3": "2/5"},
            "s1": {"s2": "2/5", "s3": "3/5"},
            "s2": {"s2": "1"},
            "s3": {"s3": "1"},
        },
    }
    assert lmc.pairs == ((0, 1),)


@pytest.mark.parametrize("alpha", [fmpq(1), fmpq(11, 10), fmpq(3, 2), fmpq(2)])
def test_figure1_distance(alpha: fmpq) -> None:
    expected = max(fmpq(3, 5) - alpha * fmpq(2, 5), fmpq(0))
    assert acyclic_bd(figure1(), alpha)[0, 1] == expected
    assert true_delta(figure1(), 0, 1, alpha, 2) == expected


def composition(k: int, p: fmpq, rounds: int, alpha: fmpq) -> fmpq:
    q = (1 - p) / (k - 1)
    total = fmpq(0)
    for a in range(rounds + 1):
        for b in range(rounds + 1 - a):
            c = rounds - a - b
            ways = math.factorial(rounds) // (math.factorial(a) * math.factorial(b) * math.factorial(c))
            gap = max(p**a * q**b - alpha * q**a * p**b, fmpq(0))
            total += ways * fmpq(k - 2) ** c * q**c * gap
    return total


@given(st.integers(2, 4), st.sampled_from(PROBABILITIES), st.integers(1, 3), alphas())
def test_randomised_response_has_the_delta_of_its_closed_form(
    k: int, p: fmpq, rounds: int, alpha: fmpq
) -> None:
    lmc = randomised_response(k, p, rounds)
    delta = true_delta(lmc, 0, 1, alpha, rounds + 1)
    assert delta == composition(k, p, rounds, alpha)
    assert lmc.pairs == ((0, 1),)
    assert len(lmc) == k + (rounds - 1) * k * k + k
    if rounds == 1:
        q = (1 - p) / (k - 1)
        assert delta == max(p - alpha * q, q - alpha * p, fmpq(0))


@given(st.integers(2, 3), st.sampled_from(PROBABILITIES), alphas())
def test_randomised_response_asked_once_has_its_delta_as_distance(k: int, p: fmpq, alpha: fmpq) -> None:
    lmc = randomised_response(k, p)
    assert acyclic_bd(lmc, alpha)[0, 1] == true_delta(lmc, 0, 1, alpha, 2)


def test_randomised_response_asked_twice_has_a_distance_of_at_least_delta() -> None:
    lmc = randomised_response(2, "3/4", 2)
    for alpha in (fmpq(1), fmpq(3, 2), fmpq(2)):
        assert acyclic_bd(lmc, alpha)[0, 1] >= true_delta(lmc, 0, 1, alpha, 3) > 0


def test_leaky_retry_distance_for_alpha_one_solves_its_equation() -> None:
    lmc = leaky_retry("1/2", "3/5")
    claimed = (fmpq(3, 5) - fmpq(1, 2)) / fmpq(3, 5)

    def d(i: int, j: int) -> fmpq:
        return fmpq(0) if i == j else claimed

    total = sum(
        (skewed_kantorovich(fmpq(1), lmc.rows[0], lmc.rows[1], block, d) for block in ([0, 1], [2])), fmpq(0)
    )
    assert total == claimed
    assert true_delta(lmc, 0, 1, fmpq(1), 12) <= claimed


def test_leaky_retry_delta_is_that_of_the_number_of_attempts() -> None:
    p, q, alpha, length = fmpq(1, 2), fmpq(3, 4), fmpq(11, 10), 8
    lmc = leaky_retry(p, q)
    last = (1 - p) ** (length - 1), (1 - q) ** (length - 1)
    attempts = [((1 - p) ** i * p, (1 - q) ** i * q) for i in range(length - 1)] + [last]
    expected = max(
        sum((max(x - alpha * y, fmpq(0)) for x, y in attempts), fmpq(0)),
        sum((max(y - alpha * x, fmpq(0)) for x, y in attempts), fmpq(0)),
    )
    assert true_delta(lmc, 0, 1, alpha, length) == expected


def test_what_is_out_of_range_is_refused() -> None:
    with pytest.raises(UsageError, match="there are 1 answers"):
        randomised_response(1)
    with pytest.raises(UsageError, match="asked 0 times"):
        randomised_response(2, "1/2", 0)
    with pytest.raises(UsageError, match="is 2; expected"):
        randomised_response(2, 2)
    with pytest.raises(UsageError, match="success of secret1 is -1"):
        leaky_retry("1/2", -1)
