from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from flint import fmpq
from hypothesis import given

from bisimdist.errors import LinearProgramError, NumberTypeError
from bisimdist.lp.problem import SkewedProblem, blocks_of, skewed_difference
from bisimdist.models.lmc import LMC
from tests.backends.problems import make_problem, problems

HALF = fmpq(1, 2)


def test_skewed_difference_of_the_definition() -> None:
    two = fmpq(2)
    assert skewed_difference(two, fmpq(9), fmpq(3)) == 3
    assert skewed_difference(two, fmpq(9), fmpq(6)) == 0
    assert skewed_difference(two, fmpq(6), fmpq(3)) == 0
    assert skewed_difference(two, fmpq(3), fmpq(9)) == 3


def parts(**changed: Any) -> dict[str, Any]:
    zero, one = fmpq(0), fmpq(1)
    valid = {
        "alpha": one,
        "left": (HALF, HALF),
        "right": (one, zero),
        "distance": ((zero, HALF), (one, zero)),
    }
    return valid | changed


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"alpha": fmpq(999, 1000)}, "alpha is 999/1000; expected at least 1"),
        ({"left": (HALF,)}, "1 left masses, 2 right masses and 2 rows"),
        ({"left": (HALF, fmpq(-1, 10))}, r"left\[1\] is -1/10"),
        ({"right": (fmpq(1), fmpq(1, 10**30))}, "right masses sum to 1000.*01/1000"),
        ({"distance": ((fmpq(0), HALF), (fmpq(0),))}, "row 1 holds 1 distances; expected 2"),
        ({"distance": ((fmpq(0), HALF), (fmpq(3, 2), fmpq(0)))}, r"distance\[1\]\[0\] is 3/2"),
        ({"distance": ((fmpq(0), HALF), (fmpq(-1), fmpq(0)))}, r"distance\[1\]\[0\] is -1"),
        ({"distance": ((HALF, HALF), (HALF, fmpq(0)))}, r"distance\[0\]\[0\] is 1/2; expected 0"),
    ],
)
def test_what_is_no_problem_is_named(changed: dict[str, Any], message: str) -> None:
    SkewedProblem(**parts())
    with pytest.raises(LinearProgramError, match=message):
        SkewedProblem(**parts(**changed))


@pytest.mark.parametrize(
    "changed",
    [
        {"alpha": 1.5},
        {"alpha": 1},
        {"left": (0.5, HALF)},
        {"right": (Fraction(1), fmpq(0))},
        {"distance": ((fmpq(0), 0.5), (HALF, fmpq(0)))},
    ],
)
def test_numbers_of_another_type_are_refused(changed: dict[str, Any]) -> None:
    with pytest.raises(NumberTypeError, match="expected an fmpq"):
        SkewedProblem(**parts(**changed))


@given(problems())
def test_swapping_twice_changes_nothing(problem: SkewedProblem) -> None:
    swapped = problem.swapped()
    assert (swapped.left, swapped.right) == (problem.right, problem.left)
    assert swapped.swapped() == problem


def test_other_distances_are_validated() -> None:
    problem = make_problem(1, [1, 0], [0, 1], "1/2")
    with pytest.raises(LinearProgramError, match="1 rows of distances"):
        replace(problem, distance=((fmpq(0),),))
    with pytest.raises(LinearProgramError, match="is 2; expected"):
        replace(problem, distance=((fmpq(0), fmpq(2)), (HALF, fmpq(0))))


def chain() -> LMC:
    return LMC.from_mappings(
        {"s": "a", "t": "a", "u": "a", "x": "b", "y": "b", "z": "c"},
        {
            "s": {"s": "1/2", "x": "1/2"},
            "t": {"u": "1/4", "y": "3/4"},
            "u": {"u": 1},
            "x": {"x": 1},
            "y": {"y": 1},
            "z": {"z": 1},
        },
    )


def distance(i: int, j: int) -> fmpq:
    return fmpq(i + j, 100)


CLASSES = [0, 0, 0, 1, 1, 2]


def test_blocks_hold_all_states_of_the_classes_that_are_met() -> None:
    blocks = blocks_of(chain(), CLASSES, 0, 1, distance, fmpq(3, 2))
    assert [block.nodes for block in blocks] == [(0, 1, 2), (3, 4)]
    first, second = (block.problem for block in blocks)
    assert first.left == (HALF, 0, 0)
    assert first.right == (0, 0, fmpq(1, 4))
    assert first.distance[0] == (0, fmpq(1, 100), fmpq(2, 100))
    assert second.left == (HALF, 0)
    assert second.right == (0, fmpq(3, 4))


def test_blocks_on_given_nodes_hold_these_and_the_supports() -> None:
    assert [b.nodes for b in blocks_of(chain(), CLASSES, 0, 1, distance, HALF + 1, nodes=())] == [
        (0, 2),
        (3, 4),
    ]
    assert [b.nodes for b in blocks_of(chain(), CLASSES, 0, 1, distance, HALF + 1, nodes=(1, 5))] == [
        (0, 1, 2),
        (3, 4),
    ]
