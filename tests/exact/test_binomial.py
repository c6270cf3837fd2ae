"""Tails and intervals against tables, exact sums and ball arithmetic."""

from __future__ import annotations

from math import comb

import pytest
from flint import arb, fmpq
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.exact.binomial import binomial_interval, lower_end, tail_at_most
from bisimdist.exact.precision import working_precision


def tail(successes: int, trials: int, p: fmpq) -> fmpq:
    return sum(
        (comb(trials, k) * p**k * (1 - p) ** (trials - k) for k in range(successes, trials + 1)), fmpq(0)
    )


TABLE = [  # Geigy Scientific Tables, 95% limits for proportions, as printed to four places
    (0, 10, "0.0000", "0.3085"),
    (1, 10, "0.0025", "0.4450"),
    (5, 10, "0.1871", "0.8129"),
    (1, 20, "0.0013", "0.2487"),
    (4, 20, "0.0573", "0.4366"),
    (10, 100, "0.0490", "0.1762"),
]


@pytest.mark.parametrize(("successes", "trials", "low", "high"), TABLE)
def test_intervals_are_those_of_the_tables(successes: int, trials: int, low: str, high: str) -> None:
    ends = binomial_interval(successes, trials, "1/20")
    assert [f"{float(int(end.p) / int(end.q)):.4f}" for end in ends] == [low, high]


@given(st.integers(1, 40), st.integers(1, 40), st.fractions(0, 1, max_denominator=50), st.integers(2, 10**6))
def test_what_is_proved_holds_and_little_else_is_left_open(k: int, more: int, p: object, part: int) -> None:
    trials, chance, risk = k + more - 1, fmpq(p.numerator, p.denominator), fmpq(1, 2 * part)  # type: ignore[attr-defined]
    exact = tail(k, trials, chance)
    proved = tail_at_most(k, trials, chance, risk)
    assert not proved or exact <= risk
    assert proved or exact * (1 + fmpq(1, 2**50)) > risk


def test_the_lower_end_is_sharp() -> None:
    end, step = lower_end(37, 120, fmpq(1, 200)), fmpq(1, 2**40)
    assert tail(37, 120, end) <= fmpq(1, 200) < tail(37, 120, end + step)


def test_a_million_trials_agree_with_the_incomplete_beta_function() -> None:
    end, step = lower_end(300_000, 10**6, fmpq(1, 40)), fmpq(1, 2**40)
    with working_precision(256):
        below, above = (arb(p).beta_lower(300_000, 700_001, 1) for p in (end, end + step))
    assert below <= arb(fmpq(1, 40)) < above


def test_a_tail_that_is_next_to_nothing_is_proved_small() -> None:
    assert tail_at_most(90_000, 100_000, fmpq(1, 10), fmpq(1, 10**9))
    assert not tail_at_most(10, 100, fmpq(1), fmpq(1, 3))
