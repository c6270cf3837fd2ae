"""Decimals are rounded in the direction that their function names."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import fmpq, fmpz
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.errors import NumberError, UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below, decimal_exponent
from bisimdist.exact.rational import parse_rational, to_fmpq
from bisimdist.exact.simplest import simplest_between

rationals = st.one_of(
    st.fractions(),
    st.builds(lambda m, e: m * Fraction(10) ** e, st.integers(-(10**8), 10**8), st.integers(-60, 60)),
)


@given(rationals, st.integers(1, 20))
def test_decimals_enclose_tightly(value: Fraction, digits: int) -> None:
    exact = to_fmpq(value)
    low, high = (parse_rational(side(exact, digits)[0]) for side in (decimal_below, decimal_above))
    assert low <= exact <= high
    if value != 0:
        assert high - low <= to_fmpq(10 * abs(value)) / fmpz(10) ** digits
    assert (low == exact) == decimal_below(exact, digits)[1] == decimal_above(exact, digits)[1]
    assert (low == high) == (low == exact)


@given(rationals.filter(bool))
def test_the_exponent_is_that_of_the_leading_digit(value: Fraction) -> None:
    exponent = decimal_exponent(to_fmpq(value))
    assert Fraction(10) ** exponent <= abs(value) < Fraction(10) ** (exponent + 1)


@pytest.mark.parametrize(
    ("value", "digits", "low", "high"),
    [
        ("1/3", 3, "0.333", "0.334"),
        ("-1/3", 3, "-0.334", "-0.333"),
        ("1/2500", 5, "0.0004", "0.0004"),
        ("0.99999", 3, "0.999", "1.000"),
        ("1234567", 3, "1230000", "1240000"),
        ("0", 3, "0", "0"),
        ("1e-30", 3, "1e-30", "1e-30"),
    ],
)
def test_decimals(value: str, digits: int, low: str, high: str) -> None:
    exact = parse_rational(value)
    assert (decimal_below(exact, digits)[0], decimal_above(exact, digits)[0]) == (low, high)


def test_no_digits_are_refused() -> None:
    with pytest.raises(UsageError, match="digits"):
        decimal_above(fmpq(1), 0)


@given(st.fractions(min_value=0, max_value=20), st.fractions(min_value=0, max_value=2, max_denominator=300))
def test_the_simplest_rational_has_the_least_denominator(low: Fraction, width: Fraction) -> None:
    high = low + width
    found = simplest_between(to_fmpq(low), to_fmpq(high))
    assert to_fmpq(low) <= found <= to_fmpq(high)
    for denominator in range(1, min(int(found.q), 400)):
        first = -(-low * denominator // 1)  # the least numerator at or above low
        assert first > high * denominator


def test_an_empty_interval_has_no_simplest_rational() -> None:
    with pytest.raises(NumberError, match="no interval"):
        simplest_between(fmpq(2), fmpq(1))
    with pytest.raises(NumberError, match="no interval"):
        simplest_between(fmpq(-1), fmpq(1))
