"""Mechanisms: their rows against the literature, sums, symmetries, and Above Threshold."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.models.library.hidden_markov import noisy_max_neighbours
from bisimdist.models.library.registry import build_any_example
from bisimdist.models.mechanisms import (
    above_threshold,
    geometric_mechanism,
    noisy_max,
    randomised_response_mechanism,
    truncated_geometric,
)


def test_the_published_rows_at_one_half_and_one_quarter() -> None:
    """Liu, Wang, Zhang, Figure 1."""
    half = truncated_geometric("1/2", 3)
    assert [[str(p) for p in row] for row in half] == [
        ["2/3", "1/6", "1/6"],
        ["1/3", "1/3", "1/3"],
        ["1/6", "1/6", "2/3"],
    ]
    quarter = truncated_geometric("1/4", 3)
    assert [[str(p) for p in row] for row in quarter] == [
        ["4/5", "3/20", "1/20"],
        ["1/5", "3/5", "1/5"],
        ["1/20", "3/20", "4/5"],
    ]


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_geometric_rows_sum_to_one_and_neighbours_differ_by_alpha(levels: int) -> None:
    matrix = truncated_geometric("2/5", levels)
    for row, following in pairwise(matrix):
        assert sum(row) == 1
        ratios = {max(a / b, b / a) for a, b in zip(row, following, strict=True)}
        assert max(ratios) == fmpq(5, 2)


@pytest.mark.parametrize("ties", ["first", "uniform"])
def test_noisy_max_is_what_enumeration_says(ties: str) -> None:
    noise = truncated_geometric("1/2", 3)
    mechanism = noisy_max(3, ties=ties)
    for results in product(range(3), repeat=3):
        expected = [fmpq(0)] * 3
        for noisy in product(range(3), repeat=3):
            chance = fmpq(1)
            for true, seen in zip(results, noisy, strict=True):
                chance *= noise[true][seen]
            winners = [i for i in range(3) if noisy[i] == max(noisy)]
            for i in winners[:1] if ties == "first" else winners:
                expected[i] += chance / (1 if ties == "first" else len(winners))
        found = mechanism.answer(results)
        assert [found.get(str(i), fmpq(0)) for i in (1, 2, 3)] == expected


@pytest.mark.parametrize(("adjacency", "pairs"), [("all", 158), ("one", 54)])
def test_the_neighbours_of_noisy_max(adjacency: str, pairs: int) -> None:
    assert len(noisy_max_neighbours(n=3, adjacency=adjacency).pairs) == pairs


def test_randomised_response() -> None:
    answer = randomised_response_mechanism(4, "3").answer(2)
    assert answer == {"0": fmpq(1, 6), "1": fmpq(1, 6), "2": fmpq(1, 2), "3": fmpq(1, 6)}


def test_above_threshold_is_two_synchronised_copies() -> None:
    model = above_threshold()
    assert set(model.observations) == {
        *("start", "bottom", "top", "00", "01", "10", "11", "12", "21", "22"),
        *("spade", "heart", "diamond", "club"),
    }
    index = model.states.index("first:2:01")
    assert dict(model.rows[index]) == {
        model.states.index("first:2:bottom"): fmpq(5, 6),
        model.states.index("top"): fmpq(1, 6),
    }
    assert len(above_threshold(levels=4).observations) == 3 + 10 + 4


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: truncated_geometric("1", 3), "alpha is 1"),
        (lambda: truncated_geometric("0", 3), "alpha is 0"),
        (lambda: truncated_geometric("1/2", 1), "1 levels"),
        (lambda: geometric_mechanism("1/2", 3).answer(3), "query result is 3"),
        (lambda: geometric_mechanism("1/2", 3).answer("1"), "query result is '1'"),
        (lambda: noisy_max(0), "0 queries"),
        (lambda: noisy_max(2, ties="last"), "ties='last'"),
        (lambda: noisy_max(2).answer((0, 3)), "expected 2 integers"),
        (lambda: randomised_response_mechanism(1, 2), "1 answers"),
        (lambda: randomised_response_mechanism(2, "1/2"), "ratio is 1/2"),
        (lambda: above_threshold(levels=11), "11 levels"),
        (lambda: above_threshold(threshold=3), "threshold is 3"),
        (lambda: build_any_example("contagious-disease,together=2"), "out of range"),
        (lambda: build_any_example("noisy-max,n=7,levels=10"), "makes more than"),
        (lambda: build_any_example("above-threshold,threshold=5"), "threshold is 5"),
    ],
)
def test_what_is_out_of_range_is_refused(make: object, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        make()  # type: ignore[operator]


@pytest.mark.parametrize("name", ["geometric", "independent-disease", "noisy-max", "above-threshold"])
def test_examples_are_hidden_markov_models(name: str) -> None:
    assert isinstance(build_any_example(name), HMM)
