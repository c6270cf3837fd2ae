from __future__ import annotations

import pytest
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from bisimdist.models.lmc import LMC
from tests.reference.bd_oracle import gamma, is_fixed_point
from tests.reference.kleene import iterate_above, iterate_below, round_down, round_up
from tests.strategies import alphas, lmcs


@given(st.fractions(), st.integers(0, 90))
def test_rounding_is_outwards_and_close(value: object, bits: int) -> None:
    number = fmpq(value.numerator, value.denominator)  # type: ignore[attr-defined]
    low, high = round_down(number, bits), round_up(number, bits)
    assert low <= number <= high
    assert high - low <= fmpq(1, 2**bits)
    assert (low * 2**bits).q == (high * 2**bits).q == 1


@settings(max_examples=20, deadline=None)
@given(lmcs(5, True), alphas(), st.sampled_from([8, 80]))
def test_both_sides_of_every_fixed_point(lmc: LMC, alpha: fmpq, bits: int) -> None:
    below = iterate_below(lmc, alpha, 12, bits=bits)
    above = iterate_above(lmc, alpha, 12, bits=bits)
    image_below, image_above = gamma(lmc, alpha, below), gamma(lmc, alpha, above)
    for i in range(len(lmc)):
        for j in range(len(lmc)):
            assert below[i][j] <= above[i][j]
            assert image_below[i][j] >= below[i][j]  # post-fixed: it still grows
            assert image_above[i][j] <= above[i][j] + fmpq(1, 2**bits)


def test_from_above_it_need_not_come_down_to_the_least_fixed_point() -> None:
    """Two states that only circulate among each other: bd is 0, yet 1 is a fixed point too for alpha = 1."""
    one = fmpq(1)
    lmc = LMC(("s", "t"), ("a", "a"), (((1, one),), ((0, one),)))
    assert iterate_below(lmc, one, 50)[0][1] == 0
    assert iterate_above(lmc, one, 50)[0][1] == 1
    assert is_fixed_point(lmc, one, iterate_above(lmc, one, 50))


@pytest.mark.parametrize("backend", ["simplex", "z3", "pulp"])
def test_gamma_with_every_kind_of_backend(backend: str) -> None:
    lmc = LMC.from_mappings(
        {"s": "a", "t": "a", "u": "b"},
        {"s": {"t": "1/2", "u": "1/2"}, "t": {"s": "3/4", "u": "1/4"}, "u": {"u": 1}},
    )
    d = iterate_below(lmc, fmpq(11, 10), 5)
    assert gamma(lmc, fmpq(11, 10), d, backend) == gamma(lmc, fmpq(11, 10), d)
