"""Exponentials of the checker are as close as they say."""

from __future__ import annotations

import random
from decimal import Context, Decimal

import pytest

from bisimdist.checker.core.balls import Fixed


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
