"""Roots and logarithms as the checker encloses them, against balls of 2,000 bits."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import arb, ctx, fmpq
from hypothesis import example, given
from hypothesis import strategies as st

from bisimdist.checker.claims.leakage_measures import BITS, Enclosure, logarithm, root

POSITIVE = st.fractions(min_value=Fraction(1, 10**40), max_value=10**40) | st.builds(
    Fraction, st.integers(1, 2**400), st.integers(1, 2**400)
)


def encloses(ends: Enclosure, value: arb) -> bool:
    """Tell whether a number lies between two, and these as close together as they have to be."""
    low, high = (arb(fmpq(end.numerator, end.denominator)) for end in ends)
    near = arb(fmpq(1, 2 ** (BITS - 12))) * (1 + abs(value))
    return not low > value and not high < value and bool(high - low < near)


@given(POSITIVE)
@example(Fraction(1))
@example(Fraction(2))
@example(Fraction(1, 2))
@example(Fraction(2**64 - 1, 2**64))
@example(1 + Fraction(1, 2**300))
@example(1 + Fraction(1, 2**160))
def test_a_logarithm_lies_between_its_ends(value: Fraction) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ctx, "prec", 2000)
        assert encloses(logarithm(value), arb(fmpq(value.numerator, value.denominator)).log())
    assert (value == 1) == (set(logarithm(value)) == {0})


@given(POSITIVE)
@example(Fraction(0))
def test_a_root_lies_between_its_ends(value: Fraction) -> None:
    low, high = root(value)
    assert low * low <= value <= high * high
    assert (high - low) * 2**BITS <= high
    assert root(value * value) == (value, value)
