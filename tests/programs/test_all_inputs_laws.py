"""Budgets for all inputs, held against laws of outputs that are known exactly, for four to six answers.

`budget` of a size does not enumerate sums of several noises, nor numbers that are told beside a choice. Here
the laws come from the definition of each mechanism: a linear map of independent noises, the largest of
several numbers, and answers that are independent if the threshold is given.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import comb, prod
from typing import Any

import pytest

from bisimdist.models.library.programs import any_length
from tests.programs.test_all_inputs import budget_of
from tests.programs.test_all_inputs_enumerated import outputs

SIZES = [4, 5, 6]
HALF, QUARTER = Fraction(1, 2), Fraction(1, 4)


def proved(name: str, neighbours: str, **given: int) -> Fraction:
    """Return the budget that is proved for any length."""
    return Fraction(str(budget_of(name, neighbours).ratio_at(given)))


class Sum:
    """A number plus noises, each times a factor. It can only be added, so no branch depends on it."""

    def __init__(self, constant: int, factors: dict[int, int]) -> None:
        self.constant, self.factors = constant, factors

    def __add__(self, other: int | Sum) -> Sum:
        more = other if isinstance(other, Sum) else Sum(other, {})
        names = self.factors.keys() | more.factors.keys()
        factors = {n: self.factors.get(n, 0) + more.factors.get(n, 0) for n in names}
        return Sum(self.constant + more.constant, factors)

    __radd__ = __add__
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        raise TypeError


class Symbols:
    """Noise that stays a symbol; all of it has the ratio 1/2."""

    def __init__(self) -> None:
        self.drawn = 0

    def two_sided_geometric(self, ratio: str) -> Sum:
        assert ratio == "1/2"
        self.drawn += 1
        return Sum(0, {self.drawn - 1: 1})


def sums(function: Callable[..., Any], data: Sequence[int], **given: int) -> list[Sum]:
    made = function(list(data), Symbols(), **given)
    return list(made) if isinstance(made, list) else [made]


def shifts(function: Callable[..., Any], one: Sequence[int], two: Sequence[int], **given: int) -> list[int]:
    """Return how much more each noise of the second input has to be for the same output.

    Each number that is released has a noise of its own, with factor 1, so noise and output are as many.
    """
    made: list[int] = []
    for place, (first, second) in enumerate(
        zip(sums(function, one, **given), sums(function, two, **given), strict=True)
    ):
        assert first.factors == second.factors
        assert first.factors.keys() <= set(range(place + 1))
        assert first.factors[place] == 1
        before = sum(factor * made[n] for n, factor in first.factors.items() if n < place)
        made.append(first.constant - second.constant - before)
    return made


def least_of_linear(function: Callable[..., Any], length: int, **given: int) -> Fraction:
    """Return the least budget: the ratio is the product of 2 to the change of each noise's size.

    It is attained where each noise has the sign of its shift. Shifts are linear in the difference of the
    inputs, so it is enough to let each element of one input differ.
    """
    none = [0] * length
    ones = [[int(n == place) for n in range(length)] for place in range(length)]
    return max(1 / HALF ** sum(map(abs, shifts(function, none, one, **given))) for one in ones)


@pytest.mark.parametrize("size", SIZES)
def test_released_sums_have_exactly_this_least_budget(size: int) -> None:
    assert least_of_linear(any_length.prefix_sum, size) == proved("prefix_sum", "one") == 2
    for block in range(1, size + 2):
        least = least_of_linear(any_length.smart_sum, size, size=block)
        assert least == (4 if 2 <= block <= size else 2)  # 2 if no block ends, or each answer is one
        assert least <= proved("smart_sum", "one")


def test_the_law_of_released_sums_is_that_of_all_noise() -> None:
    for data, block in product([[0, 1, 0], [1, 1, 2]], [1, 2, 3]):
        law = outputs(any_length.smart_sum, data, 2, size=block)
        assert len(law) == 5**3
        for noise in product(range(-2, 3), repeat=3):
            made = [
                row.constant + sum(factor * noise[n] for n, factor in row.factors.items())
                for row in sums(any_length.smart_sum, data, size=block)
            ]
            assert law[repr(made)] == prod(HALF ** abs(z) / 3 for z in noise)


def sum_of_noises(count: int, value: int) -> Fraction:
    """Return how likely noises of ratio 1/2 add up to a number: the difference of two negative binomials.

    The series over j of a polynomial times 1/4 to the j is that of its differences at 0.
    """

    def term(j: int) -> int:
        return comb(count - 1 + j + abs(value), count - 1) * comb(count - 1 + j, count - 1)

    row, total = [term(j) for j in range(2 * count - 1)], Fraction(0)
    for order in range(2 * count - 1):
        total += row[0] * QUARTER**order / (1 - QUARTER) ** (order + 1)
        row = [after - before for before, after in pairwise(row)]
    return HALF ** (2 * count + abs(value)) * total


def test_sums_of_noises_have_the_law_of_all_noise() -> None:
    law = outputs(any_length.partial_sum, [0, 0], 9)
    left = 1 - sum(law.values())
    for value in range(-4, 5):
        assert 0 <= sum_of_noises(2, value) - law[str(value)] <= left
    assert 0 < 1 - sum(sum_of_noises(4, value) for value in range(-60, 61)) < HALF**40


@pytest.mark.parametrize("size", SIZES)
def test_one_sum_comes_as_near_as_one_likes_to_its_budget(size: int) -> None:
    (total,) = sums(any_length.partial_sum, [1] + [0] * (size - 1))
    assert (total.constant, total.factors) == (1, dict.fromkeys(range(size), 1))
    most = proved("partial_sum", "one")
    masses = [sum_of_noises(size, value) for value in range(41)]
    ratios = [one / two for one, two in pairwise(masses)]
    assert ratios == sorted(ratios)
    assert ratios[-1] < most == 2
    assert sum_of_noises(size, 5_000) / sum_of_noises(size, 5_001) > most * Fraction(998, 1000)


Bracket = tuple[Fraction, Fraction]
FAR, GAPS = 64, (0, 1, 2, 3, 7, 20)
UNIT = 3 << (FAR + 2)


def at_most(value: int) -> int:
    """Return how likely noise of ratio 1/2 is at most a number, in parts of UNIT."""
    return UNIT - (UNIT >> value) // 3 if value >= 0 else 2 * (UNIT >> -value) // 3


def gaps(size: int, winner: int, own: int, before: int, behind: int) -> list[Bracket]:
    """Return how likely an answer wins by each gap, from below and from above.

    `own` is the answer that wins; so many of those before and behind are 1, all others 0. It wins by g if
    it is g more than the least number with which it would win.
    """

    def enough(value: int) -> int:
        smaller = [at_most(value - 2)] * before + [at_most(value - 1)] * (winner - before)
        no_larger = [at_most(value - 1)] * behind + [at_most(value)] * (size - 1 - winner - behind)
        return prod(smaller + no_larger)

    needed = [enough(value) for value in range(-FAR - 1, FAR + 1)]
    whole = UNIT ** (size - 1)
    left = Fraction(whole - (needed[-1] - needed[0]), whole)
    exactly = [after - one for one, after in pairwise(needed)]
    made = []
    for gap in GAPS:
        places = enumerate(exactly, start=-FAR)
        total = sum(mass << (2 * FAR - abs(value + gap - own)) for value, mass in places)
        low = Fraction(total, (3 * whole) << (2 * FAR))
        made.append((low, low + left))
    return made


def test_gaps_have_the_law_of_all_noise() -> None:
    for data in product((0, 1), repeat=3):
        law = outputs(any_length.noisy_max_gap, list(data), 3)
        left = 1 - sum(law.values())
        for winner in range(3):
            own, before, behind = data[winner], sum(data[:winner]), sum(data[winner + 1 :])
            for gap, (low, high) in zip(GAPS, gaps(3, winner, own, before, behind), strict=True):
                seen = law.get(repr((winner, gap)), Fraction(0))
                assert seen <= high
                assert low <= seen + left


@pytest.mark.parametrize("size", SIZES)
def test_noisy_max_with_gap_comes_near_its_budgets_and_stays_within(size: int) -> None:
    worst = {"all": Fraction(0), "one": Fraction(0)}
    for winner in range(size):
        kinds = product((0, 1), range(winner + 1), range(size - winner))
        laws = {kind: gaps(size, winner, *kind) for kind in kinds}
        for (first, law), (second, other) in product(laws.items(), repeat=2):
            apart = sum(abs(x - y) for x, y in zip(first, second, strict=True))
            ratio = max(p / q for (p, _), (_, q) in zip(law, other, strict=True))
            worst["all"] = max(worst["all"], ratio)
            if apart == 1:
                worst["one"] = max(worst["one"], ratio)
    for neighbours, most in (
        ("all", proved("noisy_max_gap", "all")),
        ("one", 2),
    ):  # the latter is slow to prove
        assert most * (1 - HALF**20) < worst[neighbours] <= most


NOISES = 40  # of the threshold; beyond are 2 * 4**-41 / (1 - 1/4) of its mass


def mass(ratio: Fraction, value: int) -> Fraction:
    return (1 - ratio) / (1 + ratio) * ratio ** abs(value)


def below(ratio: Fraction, value: int) -> Fraction:
    """Return how likely two-sided noise is less than a number."""
    return ratio ** (1 - value) / (1 + ratio) if value <= 0 else 1 - ratio**value / (1 + ratio)


class Adaptive:
    """The law of the adaptive sparse vector with threshold 0, answer by answer where the level is given."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.levels = [(level, mass(QUARTER, level)) for level in range(-NOISES, NOISES + 1)]
        self.known: dict[tuple[int, object, int], tuple[Fraction, Fraction]] = {}

    def told(self, answer: int, part: object, level: int) -> tuple[Fraction, Fraction]:
        """Return how likely an answer is told so, after one noise and after two."""
        key = answer, part, level
        if key not in self.known:
            near = below(HALF, 8 + level - answer)
            if part is False:
                self.known[key] = Fraction(0), near * below(QUARTER, level - answer)
            else:
                assert isinstance(part, int)
                noise = part + level - answer
                self.known[key] = (
                    (mass(HALF, noise) if part >= 8 else Fraction(0)),
                    near * mass(QUARTER, noise),
                )
        return self.known[key]

    def chance(self, data: Sequence[int], parts: Sequence[object]) -> Bracket:
        """Return how likely an output is, from below and from above."""
        total, left = Fraction(0), 1 - sum(p for _, p in self.levels)
        for level, likely in self.levels:
            spent = {0: likely}
            for answer, part in zip(data, parts, strict=False):
                coarse, fine = self.told(answer, part, level)
                after: dict[int, Fraction] = {}
                for paid, p in spent.items():
                    if paid <= self.budget:
                        for cost, q in ((2, coarse), (0 if part is False else 4, fine)):
                            after[paid + cost] = after.get(paid + cost, Fraction(0)) + p * q
                spent = after
            total += sum(p for paid, p in spent.items() if paid > self.budget or len(parts) == len(data))
        return total, total + left


@pytest.mark.parametrize(("size", "budget"), [(1, 0), (2, 2)])
def test_the_adaptive_sparse_vector_has_the_law_of_all_noise(size: int, budget: int) -> None:
    law = outputs(any_length.adaptive_sparse_vector, [1, 0][:size], 5 - size, threshold=0, budget=budget)
    left = 1 - sum(law.values())
    for output, seen in law.items():
        low, high = Adaptive(budget).chance([1, 0][:size], eval(output))
        assert seen <= high
        assert low <= seen + left


@pytest.mark.parametrize(
    ("size", "budget"),
    [(4, 0), (5, 0), (6, 0), (4, 2), *(pytest.param(n, 2, marks=pytest.mark.slow) for n in (5, 6))],
)
def test_the_adaptive_sparse_vector_comes_near_its_budget_and_stays_within(size: int, budget: int) -> None:
    """An answer that is not told is as likely before and behind others, so those come first."""
    most = proved("adaptive_sparse_vector", "all", budget=budget)
    law, worst = Adaptive(budget), Fraction(0)
    far = [0, 1, 4, 8, 9, 14]
    ends: list[list[int]] = [[], *([v] for v in far)]
    ends += [[v, w] for v in (8, 9, 14) for w in far] if budget else []
    for end in ends:
        for behind in range(size - len(end) + 1) if end else [size]:
            parts = [False] * behind + end
            inputs = [
                [1] * ones + [0] * (behind - ones) + list(last) + [0] * (size - len(parts))
                for ones in range(behind + 1)
                for last in product((0, 1), repeat=len(end))
            ]
            found = [law.chance(data, parts) for data in inputs]
            if max(p for p, _ in found):
                worst = max(worst, max(p for p, _ in found) / min(p for _, p in found))
    assert most * (Fraction(2, 5) if size < 6 and budget else Fraction(9, 10)) < worst < most
