"""Integers on a grid: every rounding goes in its direction, and every step is what it says."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest
from flint import arb, fmpq, fmpz, fmpz_poly
from hypothesis import given
from hypothesis import strategies as st

from bisimdist.exact.precision import working_precision
from bisimdist.privacy.compose.engine.measures import Grid, Measure, coarsened, cut, divided_up, multiplied

DIGITS, STEP = 6, fmpq(1, 4)
UNIT = fmpz(10) ** DIGITS


def drawn(seed: int, low: int = -3) -> Measure:
    generator = random.Random(seed)
    size = generator.randint(1, 9)
    parts = [[generator.choice([0, 1, 7, 5000, 900_000]) for _ in range(size)] for _ in range(3)]
    above, p, q = (fmpz_poly(part) for part in parts)
    excess, sure = arb(generator.randint(0, 50)) / UNIT, arb(generator.randint(0, 50)) / UNIT
    tilt, scale = fmpq(seed % 5, 2), fmpq(seed % 3 - 1, 3)
    grid = Grid(STEP, DIGITS, 60, tilt, scale)
    return Measure(grid=grid, low=low, size=size, above=above, excess=excess, p=p, q=q, sure=sure)


def entries(part: fmpz_poly, size: int) -> list[int]:
    found = [int(entry) for entry in part.coeffs()]
    return found + [0] * (size - len(found))


def gain(found: Measure, loss: fmpq) -> arb:
    """What the measure says of delta from above, at a loss."""
    places = range(found.low, found.low + found.size)
    alpha, step = arb(loss).exp(), found.grid.step
    return found.excess + sum(
        (
            arb(mass) * found.grid.unit(place) * (1 - alpha * (-arb(step * place)).exp())
            for place, mass in zip(places, entries(found.above, found.size), strict=True)
            if step * place > loss
        ),
        arb(0),
    )


def masses(found: Measure, place: int) -> tuple[arb, arb]:
    """The masses of P and Q of labels of at least a place."""
    sums = []
    for part, grid in ((found.p, found.grid), (found.q, found.grid.other)):
        some = enumerate(entries(part, found.size), found.low)
        sums.append(sum((grid.unit(k) * mass for k, mass in some if k >= place), arb(0)))
    return sums[0], sums[1]


@pytest.fixture(autouse=True)
def _precise() -> Iterator[None]:
    with working_precision(300):
        yield


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=20))
def test_division_rounds_up(values: list[int]) -> None:
    found = entries(divided_up(fmpz_poly(values), UNIT), len(values))
    assert found == [-(-value // int(UNIT)) for value in values]


@given(st.integers(0, 10**6))
def test_products_round_in_their_direction(seed: int) -> None:
    one, other = drawn(seed), replace(drawn(seed + 5, 2), grid=drawn(seed).grid)
    found = multiplied(one, other)
    assert (found.low, found.size) == (one.low + other.low, one.size + other.size - 1)
    assert found.grid.scale == 2 * one.grid.scale
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
    whole = one.grid.mass(one.above.coeffs(), one.low)
    assert not found.excess < one.excess + other.excess * whole
    assert not found.sure > one.sure + other.sure - one.sure * other.sure


@given(st.integers(0, 10**6), st.integers(-6, 6))
def test_coarser_grids_and_windows_are_bounds(seed: int, low: int) -> None:
    found = drawn(seed, low)
    coarse = coarsened(found)
    assert (coarse.low, coarse.grid.step) == (low // 2, 2 * STEP)
    small = cut(found, found.low + (found.size > 1), found.low + found.size - 1 - (found.size > 2))
    # less than a mass of one need not dominate
    for made in (coarse, small) if gain(found, fmpq(-50)) > 1 else (coarse,):
        for k in range(-40, 41):
            at = STEP * k / 2
            if made is coarse or at >= found.grid.step * small.low:
                assert not gain(made, at) < gain(found, at) - arb("1e-60")
    for place in range(coarse.low, coarse.low + coarse.size):
        (p, q), (fine_p, fine_q) = masses(coarse, place), masses(found, 2 * place)
        assert not p > fine_p and not q < fine_q
    for place in range(small.low, small.low + small.size):
        # a label beyond the window is the last one now
        (p, q), (fine_p, fine_q) = masses(small, place), masses(found, place)
        assert not p > fine_p and not q < fine_q
        assert not fine_p - p > 2 * small.grid.unit(small.low + small.size - 1)
        assert not q - fine_q > 2 * small.grid.other.unit(small.low + small.size - 1)


def test_a_window_leaves_no_more_than_a_mass_of_one() -> None:
    grid = Grid(STEP, DIGITS, 60, fmpq(2), fmpq(0))
    above = fmpz_poly([900_000, 300_000, 800_000])
    found = Measure(
        grid=grid, low=0, size=3, above=above, excess=arb(0), p=fmpz_poly(), q=fmpz_poly(), sure=arb(0)
    )
    small = cut(found, 0, 2)
    mass = small.grid.mass(small.above.coeffs(), 0)
    assert 1 <= mass <= 1 + arb(2) / UNIT
    assert entries(small.above, 3)[1:] == [300_000, 800_000]
