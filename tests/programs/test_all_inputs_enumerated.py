"""Budgets for all inputs, held against small inputs: all their noise, and what `budget` enumerates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

import pytest

import bisimdist
from bisimdist.budgets import all_inputs_budget
from bisimdist.models.library.programs import any_length
from tests.programs.test_all_inputs import budget_of


def outputs(function: Callable[..., Any], data: list[int], most: int, **given: int) -> dict[str, Fraction]:
    """Return how likely each output is, by going all noise between -most and most: a slow reference."""

    class Script:
        def __init__(self, drawn: list[int]) -> None:
            self.left = list(drawn)
            self.used: list[tuple[str, int]] = []

        def two_sided_geometric(self, ratio: str) -> int:
            if not self.left:
                raise IndexError
            self.used.append((str(ratio), self.left[0]))
            return self.left.pop(0)

    found: dict[str, Fraction] = {}

    def chance(ratio: str, value: int) -> Fraction:
        a = Fraction(ratio)
        return (1 - a) / (1 + a) * a ** abs(value)

    def run(drawn: list[int]) -> None:
        script = Script(drawn)
        try:
            value = function(data, script, **given)
        except IndexError:
            for more in range(-most, most + 1):
                run([*drawn, more])
            return
        weight = Fraction(1)
        for ratio, noise in script.used:
            weight *= chance(ratio, noise)
        found[repr(value)] = found.get(repr(value), Fraction(0)) + weight

    run([])
    return found


@pytest.mark.parametrize(
    ("name", "neighbours", "given"),
    [
        ("geometric_sum", "one", {}),
        ("noisy_max", "all", {}),
        ("prefix_sum", "one", {}),
        ("sparse_vector_once", "all", {"threshold": 1}),
        ("sparse_vector", "all", {"threshold": 0, "count": 1}),
    ],
)
def test_no_pair_of_small_inputs_beats_the_budget(name: str, neighbours: str, given: dict[str, int]) -> None:
    """Compare with the masses of all noise up to 3, and what is beyond that only small noise leads to."""
    found = budget_of(name, neighbours)
    most = Fraction(1)
    for base, form in found.budget.items():
        exponent = sum(value * (given[n] if n else 1) for n, value in form.items())
        most /= Fraction(base) ** exponent
    function = getattr(any_length, name)
    for one, two in _pairs(2, neighbours):
        first, second = (outputs(function, data, 3, **given) for data in (one, two))
        seen = sum(second.values(), Fraction(0))
        for output, p in first.items():
            assert p <= most * (second.get(output, Fraction(0)) + 1 - seen)


def _pairs(size: int, neighbours: str) -> Iterator[tuple[list[int], list[int]]]:
    inputs = [list(values) for values in product((0, 1), repeat=size)]
    for one, two in product(inputs, repeat=2):
        apart = sum(abs(x - y) for x, y in zip(one, two, strict=True))
        if apart and (neighbours == "all" or apart == 1):
            yield one, two


@pytest.mark.parametrize(
    ("name", "neighbours", "size", "given"),
    [
        ("randomised_response", "one", 3, {}),
        ("geometric_sum", "one", 6, {}),
        ("noisy_max", "all", 3, {}),
        ("sparse_vector", "all", 3, {"threshold": 0, "count": 1}),
    ],
)
def test_the_enumeration_of_a_size_agrees(
    name: str, neighbours: str, size: int, given: dict[str, int]
) -> None:
    _agrees(name, neighbours, size, given)


@pytest.mark.slow
@pytest.mark.parametrize("size", [4, 5, 6])
@pytest.mark.parametrize(
    ("name", "neighbours", "given"),
    [
        ("randomised_response", "one", {}),
        ("geometric_sum", "one", {}),
        ("noisy_max", "all", {}),
        ("noisy_max", "one", {}),
        ("sparse_vector_once", "all", {"threshold": 0}),
        ("sparse_vector", "all", {"threshold": 0, "count": 1}),
        ("sparse_vector", "all", {"threshold": 0, "count": 2}),
        ("sparse_vector_resampled", "all", {"threshold": 0, "count": 1}),
        ("numerical_sparse_vector", "all", {"threshold": 0, "count": 1}),
        ("exponential_noise_max", "all", {}),
        ("histogram", "one", {}),
    ],
)
def test_the_enumeration_of_larger_sizes_agrees(
    name: str, neighbours: str, size: int, given: dict[str, int]
) -> None:
    _agrees(name, neighbours, size, given)


def _agrees(name: str, neighbours: str, size: int, given: dict[str, int]) -> None:
    proved = budget_of(name, neighbours)
    most = Fraction(1)
    for base, form in proved.budget.items():
        exponent = sum(value * (given[n] if n else 1) for n, value in form.items())
        most /= Fraction(base) ** exponent
    pairs = _texts(_pairs(size, neighbours))
    inputs = [list(values) for values in product((0, 1), repeat=size)]
    function = partial(getattr(any_length, name), **given) if given else getattr(any_length, name)
    model = bisimdist.explore(function, inputs, pairs=pairs)
    enumerated = bisimdist.budgets.program_budget(model).ratio
    assert enumerated is not None
    assert enumerated.ratio is not None
    assert Fraction(str(enumerated.ratio)) <= most


def test_the_budget_that_is_attained_says_so() -> None:
    found = all_inputs_budget(any_length.geometric_sum, length=1)
    assert found.data()["exact"] is True
    assert "No smaller budget holds." in found.report().remarks
    blocks = all_inputs_budget(any_length.smart_sum, length=2)
    assert "No smaller budget holds for size = 2." in blocks.report().remarks


def test_runs_that_all_raise_an_exception_say_nothing_about_the_budget() -> None:
    blocks = all_inputs_budget(any_length.smart_sum, length=3)  # only a size of 0 is enumerated, and raises
    assert blocks.interval == (1, 4)
    assert "least budget" not in " ".join(blocks.report().remarks)


def test_a_tight_budget_below_the_proved_one_says_so() -> None:
    between = all_inputs_budget(any_length.noisy_max, neighbours="all", length=2)
    assert between.data()["exact"] is False
    low, high = between.interval or (0, 0)
    assert 1 < low < high == 4
    assert "least budget lies between" in between.report().remarks[-1]
    tight = all_inputs_budget(any_length.noisy_max, neighbours="all", length=2, domain=(0, 1))
    assert tight.interval == (low, low)  # all inputs of the domain were looked at
    assert tight.report().remarks[-1].endswith("lower than the proved one.")
    model = bisimdist.explore(
        any_length.noisy_max, [[x, y] for x in (0, 1) for y in (0, 1)], pairs=_texts(_pairs(2, "all"))
    )
    enumerated = bisimdist.budgets.program_budget(model).ratio
    assert enumerated is not None
    assert enumerated.ratio == low


def _texts(pairs: Iterator[tuple[list[int], list[int]]]) -> list[tuple[str, str]]:
    return [(str(one), str(two)) for one, two in pairs]


@pytest.mark.parametrize(
    ("function", "least"),
    [(any_length.partial_sum_constant, [2, 4, 8, 16]), (any_length.noisy_max_value, [2, 3, 7, 15])],
)
def test_a_budget_that_grows_is_said_to_grow(function: Callable[..., Any], least: list[int]) -> None:
    found = all_inputs_budget(function, neighbours="all")
    assert found.holds is None
    assert found.growth is not None
    assert all(least <= ratio for least, ratio in zip(least, found.growth, strict=True))
    assert "what is needed grows: for 1 to 4 elements" in found.report().remarks[-1]
    assert found.report().remarks[-1].endswith("What longer inputs need is not known.")


def test_the_enumeration_of_each_size_confirms_the_growth() -> None:
    for size in (1, 2, 3):
        inputs = [list(values) for values in product((0, 1), repeat=size)]
        pairs = _texts(_pairs(size, "all"))
        model = bisimdist.explore(any_length.partial_sum_constant, inputs, pairs=pairs)
        ratio = bisimdist.budgets.program_budget(model).ratio
        assert ratio is not None
        assert ratio.ratio == 2**size


def _at_most(noise: int) -> Fraction:
    """Return how likely two-sided noise with ratio 1/2 is at most a number."""
    beyond = Fraction(1, 2) ** (abs(noise) + (noise >= 0)) / Fraction(3, 2)
    return 1 - beyond if noise >= 0 else beyond


def _tied(answers: list[int], winner: int) -> Fraction:
    """Return how likely an answer is the first of several largest ones, up to values of 60."""
    before, behind = answers[:winner], answers[winner + 1 :]
    total = Fraction(0)
    for value in range(-60, 61):
        mass = _at_most(value - answers[winner]) - _at_most(value - 1 - answers[winner])
        below = math.prod((_at_most(value - 1 - x) for x in before), start=Fraction(1))
        none_above, none_there = (math.prod(_at_most(top - x) for x in behind) for top in (value, value - 1))
        total += mass * below * (none_above - none_there)
    return total


def test_the_gap_to_the_second_largest_has_no_budget_of_the_textbook() -> None:
    one, two = _tied([0, 0, 1, 1], 2), _tied([1, 1, 0, 0], 2)
    assert one > 7 * (two + Fraction(1, 2**50))
    found = all_inputs_budget(any_length.noisy_max_gap_ties, neighbours="all", alpha=4)
    assert found.holds is None
    assert "No budget is proved" in " ".join(found.report().remarks)
