"""Exponentials and normal tails of the checker are as close as they say."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import pytest
from flint import arb, ctx, fmpz

from bisimdist.checker.core.balls import DOUBT, Fixed


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


@pytest.mark.parametrize("bits", [64, 288, 1600])
def test_a_normal_tail_is_off_by_less_than_it_says(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctx, "prec", 2 * bits + 100)
    fixed, generator = Fixed(bits), random.Random(bits)
    step = fixed.one >> 4
    edges = [k * step + apart for k in range(0, 700, 9) for apart in (-1, 0, 1)]
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
