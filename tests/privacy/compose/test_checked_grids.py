"""Measures on a grid, as the check has them: every step goes to the side that proves less.

Most tests take rough arithmetic, in which each function is off by 2^-48, so that wrong roundings show.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from decimal import Inexact
from fractions import Fraction
from functools import cache

import pytest

from bisimdist.checker.claims import composition
from bisimdist.checker.core import loss_grid
from bisimdist.checker.core.balls import Enclosure, Fixed
from bisimdist.checker.core.loss_atoms import Atom, Atoms
from bisimdist.checker.core.loss_grid import (
    Known,
    Precisions,
    Units,
    coarsened,
    cut,
    gathered,
    product,
    short,
)
from bisimdist.checker.core.loss_laws import Law
from bisimdist.checker.core.reading import RuleViolation
from tests.reference.composition import exponential

DIGITS = 20
STEP = Fraction(1, 4)
ZERO = Fraction(0)
CLOSE = Fraction(1, 10**22)
ONE = 10**DIGITS

exp = cache(exponential)

Ends = tuple[Fraction, Fraction]


class Rough(Precisions):
    """Arithmetic in which functions are off by 2^-48."""

    def of(self, bits: int) -> Fixed:
        return super().of(96)


def known(
    seed: int, *, rough: bool, level: int = 0, single: bool = True, most: int = 2, size: int = 0
) -> Known:
    """Draw a measure; one with few masses lets no rounding hide another one."""
    drawn = random.Random(seed)
    tilt, scale = drawn.choice([ZERO, Fraction(-1), Fraction(2)]), ZERO
    low, size = drawn.randint(-6, 3), size or drawn.randint(1, 12)

    def part() -> list[int]:
        found = [0] * size
        for _ in range(1 if single else size):
            found[drawn.choice([0, size - 1, drawn.randrange(size)])] += drawn.randrange(1, ONE // 2)
        return found

    above, p, q = part(), part(), part()
    if drawn.random() < 0.5:
        p = [one + other for one, other in zip(p, part(), strict=True)]
    if drawn.random() < 0.3:
        q = [0] * size
    grid = STEP / (1 << level)
    if drawn.random() < 0.8:  # the unit at some place that has a mass is exact
        some = drawn.choice([above, p, p])
        scale = tilt * grid * (low + drawn.choice([k for k, mass in enumerate(some) if mass]))
    elif drawn.random() < 0.5:
        scale = Fraction(drawn.choice([-2, 3]))
    units = Units(STEP, DIGITS, tilt, (Fraction(1, 2), scale / most), Rough() if rough else Precisions())
    excess, sure = (drawn.choice([ZERO, Fraction(1, 7)]) for _ in range(2))
    return Known(units, level, low, above, excess, p, q, sure, {1: most})


def unit(found: Known, place: int, *, of_q: bool = False) -> Fraction:
    scale = sum((runs * found.units.scales[number] for number, runs in found.copies.items()), ZERO)
    grid = found.units.step / (1 << found.level)
    return exp(scale - (found.units.tilt + of_q) * grid * place) / int(10**found.units.digits)


def places(found: Known) -> range:
    return range(found.low, found.low + len(found.above))


def gain(found: Known, alpha: Fraction) -> Fraction:
    """Return what a measure says of delta from above."""
    masses = zip(found.above, places(found), strict=True)
    return found.excess + sum(
        (
            mass * unit(found, place) * max(ZERO, 1 - alpha * exp(-found.grid * place))
            for mass, place in masses
            if mass
        ),
        ZERO,
    )


def upper_ends(found: Known) -> dict[int, tuple[Fraction, Fraction]]:
    """Return by place the masses of P and Q of labels of at least that place."""
    ends, p, q = {}, ZERO, ZERO
    for place in reversed(places(found)):
        p += found.p[place - found.low] * unit(found, place)
        q += found.q[place - found.low] * unit(found, place, of_q=True)
        ends[place] = p, q
    return ends


def thresholds(found: Known, epsilon: Fraction) -> list[Fraction]:
    return [found.sure + p - exp(epsilon) * q for p, q in upper_ends(found).values()]


EPSILONS = [
    ZERO,
    Fraction(1, 100),
    Fraction(6, 25),
    Fraction(5, 4),
    Fraction(3, 2),
    Fraction(299, 100),
]


@pytest.mark.parametrize("rough", [True, False])
def test_a_bound_from_above_is_at_least_what_the_measure_says(rough: bool) -> None:
    for seed in range(150):
        found = known(seed, rough=rough, single=seed % 4 > 0)
        epsilon = EPSILONS[seed % len(EPSILONS)]
        truth, bound = gain(found, exp(epsilon)), found.upper(epsilon)
        assert bound >= truth - CLOSE
        assert rough or bound <= truth + CLOSE


def test_nothing_is_above_the_last_loss_but_the_excess() -> None:
    for seed in range(20):
        found = known(seed, rough=True)
        assert found.upper(STEP * places(found)[-1]) == found.excess
        assert found.upper(Fraction(1000)) == found.excess


@pytest.mark.parametrize("rough", [True, False])
def test_a_bound_from_below_is_at_most_what_some_threshold_shows(rough: bool) -> None:
    for seed in range(200):
        found = known(seed, rough=rough, single=seed % 4 > 0)
        epsilon = EPSILONS[seed % len(EPSILONS)]
        shown, bound = [found.sure, *thresholds(found, epsilon)], found.lower(epsilon)
        assert bound <= max(shown) + CLOSE
        if not rough:  # and it is what a threshold shows
            assert min(abs(bound - some) for some in shown) < CLOSE
        if not rough and not any(found.q):
            assert bound >= max(shown) - CLOSE


def test_what_is_exact_is_not_rounded() -> None:
    units, sure = Units(Fraction(1), 6), Fraction(1, 3)
    for p, q, delta in (([0, 0], [0, 0], 0), ([5, 7], [0, 0], 12), ([5, 7], [0, 60], 0), ([9, 0], [2, 0], 7)):
        found = Known(units, 0, 0, [3, 4], ZERO, p, q, sure, {})
        assert 0 <= sure + Fraction(delta, 10**6) - found.lower(ZERO) < Fraction(1, 1 << 260)
    assert Known(units, 0, 0, [3, 4], ZERO, [], [], sure, {}).lower(ZERO) == sure


def test_masses_of_q_at_larger_labels_are_rounded_up() -> None:
    size, some = 10, ONE // 10
    p, q = [ONE // 2, *[0] * (size - 2), some + some // 20], [*[0] * (size - 1), some]
    found = Known(
        Units(Fraction(3, 8), DIGITS, Fraction(6), precisions=Rough()), 0, 0, [0] * size, ZERO, p, q, ZERO, {}
    )
    epsilon = Fraction(3, 8) * (size - 1)
    assert 0 < max(thresholds(found, epsilon)) - found.lower(epsilon) < Fraction(1, 10**10)


def test_a_long_grid_has_all_its_labels() -> None:
    """Powers are made anew now and then, and sums are made of blocks: neither shows."""
    for tilt in (ZERO, Fraction(1, 2)):
        for step in (Fraction(1, 64), Fraction(1, 2)):
            units = Units(step, DIGITS, tilt)
            size = 3 * loss_grid.BLOCK + 5
            drawn = random.Random(7)
            above = [drawn.randrange(ONE) for _ in range(size)]
            found = Known(units, 0, -size // 2, above, ZERO, above, [0] * size, ZERO, {})
            assert 0 <= found.upper(ZERO) - gain(found, Fraction(1)) < CLOSE * 10**40
            q = [0] * size
            q[-1] = ONE // 10**6
            found = Known(units, 0, -size // 2, above, ZERO, above, q, ZERO, {})
            assert found.lower(ZERO) <= max(thresholds(found, ZERO))


@pytest.mark.parametrize("rough", [True, False])
def test_a_mass_is_enclosed(rough: bool) -> None:
    for seed in range(40):
        found = known(seed, rough=rough)
        fixed = found.units.fixed()
        low, high = (found.worth(3 * fixed.one, found.low, fixed, up=up) for up in (False, True))
        truth = 3 * unit(found, found.low)
        assert low - CLOSE <= truth <= high + CLOSE
        assert rough or high - low < CLOSE
    assert found.worth(0, found.low, fixed, up=True) == 0


@pytest.mark.parametrize("rough", [True, False])
def test_a_sum_of_entries_is_enclosed(rough: bool) -> None:
    fixed = Fixed(96 if rough else 256)
    drawn = random.Random(5)
    for size in (1, 2, 127, 128, 129, 300):
        for exponent in (ZERO, Fraction(-1, 8), Fraction(-7, 20), Fraction(1, 64)):
            for k in {0, size // 2, size - 1}:
                entries = [0] * size
                entries[k] = 10**8 + drawn.randrange(100)
                low, high = (
                    Fraction(gathered(entries, exponent, fixed, up=up), fixed.one) for up in (False, True)
                )
                truth = entries[k] * exp(exponent * k)
                assert low <= truth <= high
                assert rough or high - low < CLOSE
            entries = [drawn.randrange(100) for _ in range(size)]
            truth = sum((entry * exp(exponent * k) for k, entry in enumerate(entries)), ZERO)
            low, high = (
                Fraction(gathered(entries, exponent, fixed, up=up), fixed.one) for up in (False, True)
            )
            assert low - CLOSE <= truth <= high + CLOSE
            assert exponent or low == high


def test_fewer_digits_bound_a_number() -> None:
    for value in (
        Fraction(1, 3),
        Fraction(1, 3**200),
        Fraction(10**90, 7),
        Fraction(10**400, 7**3),
        Fraction(5, 8),
    ):
        low, high = (short(value, up=up) for up in (False, True))
        assert low <= value <= high
        assert (low == high) == (value == Fraction(5, 8) or low == value)
        assert high - low < value / 2**250
        assert (
            high.denominator.bit_length()
            <= 256 + max(0, (value.denominator // value.numerator).bit_length()) + 2
        )
    assert short(ZERO, up=True) == 0


@pytest.mark.parametrize("rough", [True, False])
def test_products_round_in_their_direction(rough: bool) -> None:
    for seed in range(60):
        one, other = known(seed, rough=rough, single=False), known(seed, rough=rough, single=seed % 2 > 0)
        other.units, other.low = one.units, other.low + seed % 3
        other.copies = {0: 1, 1: 3}
        low, high = one.low + other.low, places(one)[-1] + places(other)[-1]
        found = product(one, other, low, high, "")
        assert found.copies == {0: 1, 1: 5}
        assert (found.level, places(found)) == (one.level, range(low, high + 1))
        for name, up in (("p", False), ("q", True)):
            first, second, exact = getattr(one, name), getattr(other, name), [0] * len(found.above)
            for i, a in enumerate(first):
                for j, b in enumerate(second):
                    exact[i + j] += a * b
            assert getattr(found, name) == [-(-x // ONE) if up else x // ONE for x in exact]
        mass = gain(one, ZERO) - one.excess
        least = one.excess + other.excess * mass
        assert found.excess >= least
        assert rough or found.excess <= least + CLOSE
        sure = 1 - (1 - one.sure) * (1 - other.sure)
        assert sure - CLOSE <= found.sure <= sure
        if high > low:
            part = product(one, other, low + 1, high, "")
            assert (part.p, part.q) == (found.p[1:], found.q[1:])
            part = product(one, other, low, high - 1, "")
            assert (part.p[:-1], part.q[:-1]) == (found.p[:-2], found.q[:-2])


def test_products_from_above_round_up() -> None:
    units = Units(STEP, 3)
    for first, second, expected in (
        ([1, 0], [1, 0], [1, 0, 0]),
        ([400, 100], [700, 3], [280, 72, 1]),
        ([2], [500], [1]),
        ([2], [501], [2]),
    ):
        one, other = (Known(units, 0, 0, part, ZERO, [], [], ZERO, {}) for part in (first, second))
        found = product(one, other, 0, len(expected) - 1, "")
        assert found.above == expected
        assert (found.p, found.q) == ([], [])
    one, other = (Known(units, 0, 0, [some], ZERO, [some], [some], ZERO, {}) for some in (27, 37))
    found = product(one, other, 0, 0, "")  # 999 of 1000 parts of a unit
    assert (found.p, found.q) == ([0], [1])


def test_a_product_is_of_one_grid_and_not_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(entries: list[int], level: int) -> Known:
        return Known(Units(STEP, 800), level, 0, entries, ZERO, [], [], ZERO, {})

    with pytest.raises(RuleViolation, match="two grids"):
        product(made([1], 1), made([1], 0), 0, 0, "")
    with pytest.raises(RuleViolation, match="too long"):
        product(made([10**2500, 1], 0), made([10**2500], 0), 0, 1, "")
    monkeypatch.setattr(loss_grid, "MOST_ENTRIES", 5)
    assert product(made([1] * 3, 0), made([1] * 3, 0), 0, 4, "").above == [1] * 5
    with pytest.raises(RuleViolation, match="too long"):
        product(made([1] * 4, 0), made([1] * 3, 0), 0, 5, "")


def test_a_product_is_never_rounded(monkeypatch: pytest.MonkeyPatch) -> None:
    one = Known(Units(STEP, 2), 0, 0, [12, 34, 5], ZERO, [], [], ZERO, {})
    assert product(one, one, 0, 4, "").above == [2, 9, 13, 4, 1]
    monkeypatch.setattr(loss_grid, "MAX_PREC", 10)
    with pytest.raises(Inexact):
        product(one, one, 0, 4, "")


ALPHAS = [Fraction(k, 8) for k in range(0, 24, 2)] + [Fraction(k, 3) for k in range(10, 40, 3)]


@pytest.mark.parametrize("rough", [True, False])
@pytest.mark.parametrize("seeds", [range(30), range(30, 60)])
def test_a_coarser_grid_proves_less(seeds: range, rough: bool) -> None:
    for seed in seeds:
        found = known(seed, rough=rough, level=2, single=seed % 4 > 0)
        coarse = coarsened(found, "")
        assert (coarse.level, coarse.low, coarse.grid) == (1, found.low // 2, 2 * found.grid)
        assert len(coarse.above) == len(coarse.p) == len(coarse.q)
        assert coarse.low + len(coarse.above) > -(-places(found)[-1] // 2)
        for alpha in ALPHAS:
            assert gain(coarse, alpha) >= gain(found, alpha) - CLOSE
        assert rough or gain(coarse, ZERO) <= gain(found, ZERO) + 100 * CLOSE * ONE
        fine, nothing = upper_ends(found), (ZERO, ZERO)
        for place, (p, q) in upper_ends(coarse).items():
            fine_p, fine_q = (
                fine[max(found.low, 2 * place)] if 2 * place in {*fine, found.low - 1} else nothing
            )
            assert p <= fine_p + CLOSE
            assert q >= fine_q - CLOSE
    without = Known(found.units, 1, 0, [1], ZERO, [], [], ZERO, {})
    assert coarsened(without, "").p == []


@pytest.mark.parametrize("rough", [True, False])
def test_a_window_proves_less(rough: bool) -> None:
    for seed in range(120):
        found = known(seed, rough=rough, single=seed % 4 > 0, size=random.Random(seed).randint(3, 20))
        drawn = random.Random(-seed)
        low = found.low + drawn.randint(0, 2)
        high = max(low, places(found)[-1] - drawn.randint(0, 2))
        small = cut(found, low, high, "")
        assert places(small) == range(low, high + 1)
        window = slice(low - found.low, high - found.low + 1)
        assert (small.p[:-1], small.q[:-1]) == (found.p[window][:-1], found.q[window][:-1])
        assert small.sure == found.sure
        few, fine = upper_ends(small), upper_ends(found)
        close = 2 * unit(small, high), 2 * unit(small, high, of_q=True)
        for place in places(small):  # a label beyond the window is the last one now
            (p, q), (fine_p, fine_q) = few[place], fine[place]
            assert p <= fine_p + CLOSE
            assert q >= fine_q - CLOSE
            assert rough or (fine_p - p < close[0] + CLOSE and q - fine_q < close[1] + CLOSE)
        assert small.above[1:] == found.above[window][1:]
        assert small.above[0] >= 0
        whole, left = gain(found, ZERO), gain(small, ZERO)
        assert left >= min(whole, Fraction(1)) - CLOSE
        surplus = left > 1 + 2 * unit(small, low) and small.above[0]
        assert rough or not surplus
        if whole <= 1 or small.above[0]:
            for k in range(0, 60, 4):
                alpha = exp(small.grid * low) * (1 + Fraction(k, 12))
                assert gain(small, alpha) >= gain(found, alpha) - CLOSE
        assert rough or small.excess <= found.excess + gain(found, ZERO) + CLOSE


def test_what_is_beyond_a_window_counts_fully() -> None:
    for tilt in (Fraction(-1), Fraction(2)):
        scale = 4 * tilt * STEP  # the unit of the first place beyond is exact
        units = Units(STEP, DIGITS, tilt, (scale,), Rough())
        found = Known(units, 0, 3, [0] * 8 + [ONE // 9], ZERO, [], [], ZERO, {0: 1})
        mass = gain(found, ZERO)
        assert mass < cut(found, 3, 3, "").excess < mass + Fraction(1, 10**9)


def test_no_step_leaves_its_window() -> None:
    found = known(3, rough=False, size=4)
    for low, high in (
        (found.low - 1, found.low + 3),
        (found.low, found.low + 4),
        (found.low + 2, found.low + 1),
    ):
        with pytest.raises(RuleViolation, match="outside of its window"):
            cut(found, low, high, "")
    with pytest.raises(RuleViolation, match="coarser"):
        coarsened(found, "")


CUTS = [-8, -4, -3, -2, 0, 1, 2, 3, 4, 5, 7, 8]


def units_of(seed: int, rough: bool) -> Units:
    tilt = [ZERO, Fraction(-1), Fraction(2)][seed % 3]
    return Units(STEP, DIGITS, tilt, (tilt * STEP * (seed % 5),), Rough() if rough else Precisions())


def held(
    found: Known, shown: Callable[[Fraction], Fraction], ends: Callable[[int], Ends], close: Fraction
) -> None:
    """Hold a measure of one run against what its law shows at each factor, and has from each label on."""
    for alpha in ALPHAS:
        assert gain(found, alpha) >= shown(alpha)
    for place, (p, q) in upper_ends(found).items():
        exact_p, exact_q = ends(place)
        assert p <= exact_p
        assert q >= exact_q
        assert exact_p - p < close
        assert q - exact_q < close


@pytest.mark.parametrize("rough", [True, False])
def test_cells_of_atoms_prove_less(rough: bool) -> None:
    for seed in range(60):
        drawn, units = random.Random(seed), units_of(seed, rough)
        losses = [Fraction(drawn.randint(-40, 40), 16) for _ in range(drawn.randint(1, 3))]
        masses = [(loss, Fraction(drawn.randint(1, 20), 61)) for loss in losses]
        sure = drawn.choice([ZERO, Fraction(1, 61)])

        def made(
            fixed: Fixed, masses: list[tuple[Fraction, Fraction]] = masses, sure: Fraction = sure
        ) -> Atoms:
            points: list[Atom] = [(loss, fixed.of(p), fixed.of(p * exp(-loss))) for loss, p in masses]
            return Atoms(points, (fixed.of(sure), (0, 0)))

        def shown(
            alpha: Fraction, masses: list[tuple[Fraction, Fraction]] = masses, sure: Fraction = sure
        ) -> Fraction:
            return sum((p * max(ZERO, 1 - alpha * exp(-loss)) for loss, p in masses), sure)

        def ends(place: int, masses: list[tuple[Fraction, Fraction]] = masses) -> Ends:
            some = [(p, p * exp(-loss)) for loss, p in masses if place <= loss // STEP <= CUTS[-1]]
            return sum((p for p, _ in some), ZERO), sum((q for _, q in some), ZERO)

        law = Law(make=made)
        found = composition._cells(units, 0, (law, law, 1), 0, CUTS)
        assert found.excess >= sure >= found.sure
        held(found, shown, ends, Fraction(1, 10**10 if rough else 10**16))


@pytest.mark.parametrize("rough", [True, False])
def test_cells_of_tails_prove_less(rough: bool) -> None:
    """The density of P is e^-(x + 1/2) from -1/2 on, and that of Q is e^-x times it."""
    least = Fraction(-1, 2)

    def tails(loss: Fraction) -> Ends:
        loss = max(loss, least)
        return exp(least - loss), exp(least - 2 * loss) / 2

    def above(loss: Enclosure, fixed: Fixed) -> tuple[Enclosure, Enclosure]:
        p, q = tails(Fraction(loss[0], fixed.one))
        later_p, later_q = tails(Fraction(loss[1], fixed.one))
        return (fixed.of(later_p)[0], fixed.of(p)[1]), (fixed.of(later_q)[0], fixed.of(q)[1])

    def shown(alpha: Fraction) -> Fraction:
        if alpha <= exp(least):
            return 1 - alpha * tails(least)[1]
        return exp(least) / alpha / 2  # with x = ln(alpha): e^-(x + 1/2) - alpha e^-(2x + 1/2) / 2

    for seed in range(15):
        cuts = CUTS if seed % 2 else CUTS[1:-2]
        labels = [(start + max(start, end - 1)) // 2 for start, end in itertools.pairwise(cuts)]

        def ends(place: int, cuts: list[int] = cuts, labels: list[int] = labels) -> Ends:
            first = next((cut for cut, label in zip(cuts, labels, strict=False) if label >= place), cuts[-1])
            (p, q), (beyond, _) = tails(STEP * first), tails(STEP * cuts[-1])
            return p - beyond, q

        law = Law(above=above)
        found = composition._cells(units_of(seed, rough), 0, (law, law, 1), 0, cuts)
        held(found, shown, ends, Fraction(1, 10**10 if rough else 10**16))


def test_cells_are_as_many_steps_of_the_grid_as_there_may_be_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(composition, "MOST_ENTRIES", 7)
    assert composition._cuts(-2, [["3", "1"], ["2", "2"]], "") == [-2, 1, 3, 5]
    with pytest.raises(RuleViolation, match="too many"):
        composition._cuts(-2, [["3", "1"], ["5", "1"]], "")
