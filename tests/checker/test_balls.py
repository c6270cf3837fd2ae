"""Exponentials and normal tails of the checker are as close as they say."""

from __future__ import annotations

import itertools
import random
from decimal import Context, Decimal
from fractions import Fraction
from math import ceil, floor, isqrt

import pytest
from flint import arb, ctx, fmpz

from bisimdist.checker.core.balls import DOUBT, MOST_BITS, Fixed
from bisimdist.checker.core.reading import MalformedCertificate


@pytest.mark.parametrize("bits", [64, 256, 2880])
def test_an_exponential_is_off_by_less_than_it_says(bits: int) -> None:
    fixed, generator = Fixed(bits), random.Random(bits)
    context = Context(prec=bits, Emin=-(10**6))
    edges = [0, 1, fixed.one >> 10, fixed.one >> 5, fixed.one, (fixed.one >> 10) - 1, bits << bits]
    some = [generator.randrange(fixed.one * size) for size in (1, 3, 40, bits) for _ in range(5)]
    for value in edges + some:
        truth = context.exp(context.divide(Decimal(-value), Decimal(fixed.one)))
        off = context.subtract(context.multiply(truth, Decimal(fixed.one)), Decimal(fixed._exp(-value)))
        assert abs(off) < 1 << 34
    assert fixed._exp(-(bits << bits) - 1) == 0


@pytest.fixture
def fixed(bits: int, monkeypatch: pytest.MonkeyPatch) -> Fixed:
    """Return numbers of so many bits, where those that they are held against have twice as many."""
    monkeypatch.setattr(ctx, "prec", 2 * bits + 100)
    return Fixed(bits)


@pytest.mark.parametrize("bits", [64, 288, 1600])
def test_a_normal_tail_is_off_by_less_than_it_says(fixed: Fixed, bits: int) -> None:
    generator = random.Random(bits)
    step = fixed.one >> 4
    edges = [k * step + apart for k in range(0, 700, 9) for apart in (-1, 0, 1)]
    last = isqrt(139 * bits // 100)  # where a tail is about a unit
    edges += [(last - 1) * fixed.one, last * fixed.one]
    some = [generator.randrange(fixed.one * size) for size in (1, 3, 9, 40) for _ in range(20)]
    for value in edges + some:
        for place in (value, -value):
            truth = (arb(fmpz(place)) / (arb(2).sqrt() * fmpz(fixed.one))).erfc() / 2 * fmpz(fixed.one)
            low, high = fixed.tail((place, place))
            assert (low == 0 or truth > low) and (high == fixed.one or truth < high)
            assert (
                abs(truth - fixed.one + fixed._tail(-place) if place < 0 else truth - fixed._tail(place))
                < DOUBT >> 2
            )


def exact(fixed: Fixed, end: int) -> arb:
    return arb(fmpz(end)) / arb(fmpz(fixed.one))


ENDS = [-900, -7, -1, 0, 1, 2, 5, 300]


def test_products_and_quotients_are_enclosed_as_closely_as_units_allow() -> None:
    fixed = Fixed(8)
    pairs = list(itertools.combinations_with_replacement(ENDS, 2))
    for one, other in itertools.product(pairs, pairs):
        products = [Fraction(a * b, fixed.one) for a in one for b in other]
        assert fixed.times(one, other) == (floor(min(products)), ceil(max(products)))
        if other[0] > 0:
            quotients = [Fraction(a * fixed.one, b) for a in one for b in other]
            assert fixed.over(one, other) == (floor(min(quotients)), ceil(max(quotients)))
        else:
            with pytest.raises(MalformedCertificate, match="too small"):
                fixed.over(one, other)
    assert fixed.over((1, 1), (1, 1)) == (256, 256)


def test_rationals_and_roots_are_enclosed_as_closely_as_units_allow() -> None:
    fixed = Fixed(8)
    for value in (Fraction(1, 3), Fraction(-1, 3), Fraction(5, 4), Fraction(0)):
        assert fixed.of(value) == (floor(value * 256), ceil(value * 256))
    for value in (Fraction(2), Fraction(1, 3), Fraction(4)):
        low, high = fixed.root(value)
        assert low == isqrt(floor(value * 256**2)) < high == low + 1


@pytest.mark.parametrize("bits", [128, 256])
def test_functions_of_what_is_known_roughly_enclose_all_values(fixed: Fixed, bits: int) -> None:
    places = [Fraction(k, 7) for k in (-388, -230, -40, -14, -7, -1, 0, 1, 5, 7, 8, 14, 25, 280)]
    for place, apart in itertools.product(
        places, (Fraction(0), Fraction(1, 1 << 30), Fraction(1, 9), Fraction(15, 16), Fraction(3))
    ):
        low, high = value = fixed.of(place)[0], fixed.of(place + apart)[1]
        for side in (low, high):
            shown = [exact(fixed, end) for end in fixed.exp(value)]
            assert not exact(fixed, side).exp() < shown[0] and not exact(fixed, side).exp() > shown[1]
            tail, shown = (
                (exact(fixed, side) / arb(2).sqrt()).erfc() / 2,
                [exact(fixed, end) for end in fixed.tail(value)],
            )
            assert not tail < shown[0] and not tail > shown[1]
        close = exact(fixed, DOUBT << 4) + 4 * exact(fixed, high - low)
        if apart < 1:
            first, last = (exact(fixed, end).exp() for end in value)
            low_end, high_end = (exact(fixed, end) for end in fixed.exp(value))
            assert last - first <= high_end - low_end < close * (1 + last * last)
        first, last = (exact(fixed, end) for end in fixed.tail(value))
        assert last - first < close
    for place, apart in itertools.product(
        (Fraction(1, 50), Fraction(1), Fraction(9, 8), Fraction(700)),
        (Fraction(0), Fraction(1, 1 << 19), Fraction(1, 1 << 22), Fraction(2)),
    ):
        low, high = value = fixed.of(place)[0], fixed.of(place + place * apart)[1]
        shown = [exact(fixed, end) for end in fixed.log(value)]
        truth = [exact(fixed, end).log() for end in value]
        spare = exact(fixed, DOUBT << 2) * 1000
        assert truth[0] - spare < shown[0] < truth[0] and truth[1] < shown[1] < truth[1] + spare
    for end in (0, 1):
        with pytest.raises(MalformedCertificate):
            fixed.log((end, end))
    with pytest.raises(MalformedCertificate, match="out of range"):
        fixed.exp((bits << bits, bits << bits))
    assert fixed.exp((0, 0)) == (fixed.one, fixed.one)
    far = -(bits << bits)
    assert fixed.exp((far, far))[0] == fixed.exp((far, 0))[0] == 0
    assert fixed.exp((far, 0))[1] == fixed.one
    assert fixed.exp((-fixed.one, 0))[0] < fixed.one >> 1


@pytest.mark.parametrize("bits", [16, 2880])
def test_a_series_of_a_logarithm_is_off_by_less_than_it_says(fixed: Fixed, bits: int) -> None:
    for apart in (
        0,
        1,
        -1,
        5,
        -7,
        fixed.one >> 10,
        -(fixed.one >> 10),
        fixed.one >> 12,
        -(fixed.one >> 13) + 3,
    ):
        truth = (exact(fixed, fixed.one + apart)).log() * arb(fmpz(fixed.one))
        low, high = (fixed._log(fixed.one + apart, down=down) for down in (True, False))
        assert low < truth < high
        assert high - low < 20_000
    with pytest.raises(MalformedCertificate, match="out of range"):
        fixed._log(fixed.one + (fixed.one >> 10) + 1, down=True)


def test_more_bits_than_are_meant_are_refused() -> None:
    assert Fixed(MOST_BITS).bits == MOST_BITS
    with pytest.raises(MalformedCertificate, match="at most 2900"):
        Fixed(MOST_BITS + 1)
