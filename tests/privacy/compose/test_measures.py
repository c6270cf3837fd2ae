"""Integers on a grid: every rounding goes in its direction, and every step is what it says."""

from __future__ import annotations

import random

from flint import fmpz, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.privacy.compose.engine.measures import Measure, coarsened, cut, divided_up, multiplied

UNIT = fmpz(10) ** 6


def drawn(seed: int, low: int = -3) -> Measure:
    generator = random.Random(seed)
    size = generator.randint(1, 9)
    parts = [[generator.choice([0, 1, 7, 5000, 900_000]) for _ in range(size)] for _ in range(3)]
    above, p, q = (fmpz_poly(part) for part in parts)
    excess, sure = fmpz(generator.randint(0, 50)), fmpz(generator.randint(0, 50))
    return Measure(low=low, size=size, above=above, excess=excess, p=p, q=q, sure=sure)


def entries(part: fmpz_poly, size: int) -> list[int]:
    found = [int(entry) for entry in part.coeffs()]
    return found + [0] * (size - len(found))


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_division_rounds_up(values: list[int]) -> None:
    found = entries(divided_up(fmpz_poly(values), UNIT), len(values))
    assert found == [-(-value // int(UNIT)) for value in values]


@given(st.integers(0, 10**6))
def test_products_round_in_their_direction(seed: int) -> None:
    one, other = drawn(seed), drawn(seed + 1, 2)
    found = multiplied(one, other, UNIT)
    assert (found.low, found.size) == (one.low + other.low, one.size + other.size - 1)
    for name, up in (("above", True), ("p", False), ("q", True)):
        first, second = (entries(getattr(part, name), part.size) for part in (one, other))
        exact = [0] * found.size
        for i, a in enumerate(first):
            for j, b in enumerate(second):
                exact[i + j] += a * b
        unit = int(UNIT)
        assert entries(getattr(found, name), found.size) == [
            -(-x // unit) if up else x // unit for x in exact
        ]
    whole = sum(entries(one.above, one.size))
    assert (found.excess - one.excess) * UNIT >= other.excess * whole
    assert found.sure * UNIT <= (one.sure + other.sure) * UNIT - one.sure * other.sure


@given(st.integers(0, 10**6), st.integers(-6, 6))
def test_coarser_grids_and_windows_keep_all_mass(seed: int, low: int) -> None:
    found = drawn(seed, low)
    share = fmpz(550_000)
    coarse = coarsened(found, share, UNIT)
    for name in ("above", "p", "q"):
        assert sum(entries(getattr(coarse, name), coarse.size)) == sum(
            entries(getattr(found, name), found.size)
        )
    assert coarse.low == low // 2
    small = cut(found, found.low + (found.size > 1), found.low + found.size - 1 - (found.size > 2))
    assert (
        sum(entries(small.above, small.size)) + small.excess
        == sum(entries(found.above, found.size)) + found.excess
    )
    assert sum(entries(small.q, small.size)) == sum(entries(found.q, found.size)[found.size > 1 :])
