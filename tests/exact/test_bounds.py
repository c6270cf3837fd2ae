"""Bounds of different directions do not mix."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from flint import fmpq

from bisimdist.errors import BisimdistError, UsageError
from bisimdist.exact.bounds import Bracket, DirectionError, LowerBound, UpperBound

HALF, THIRD = fmpq(1, 2), fmpq(1, 3)


@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge, min, max])
def test_comparing_bounds_of_different_directions_raises(compare: Callable[[object, object], object]) -> None:
    with pytest.raises(DirectionError, match="do not mix"):
        compare(LowerBound(HALF), UpperBound(HALF))
    with pytest.raises(DirectionError, match="bare"):
        compare(UpperBound(HALF), HALF)


def test_bounds_of_different_directions_are_never_equal() -> None:
    bounds: list[object] = [LowerBound(HALF), UpperBound(HALF)]
    assert bounds[0] != bounds[1]
    assert UpperBound(HALF) == UpperBound(fmpq(2, 4))


def test_bounds_of_one_direction_compare() -> None:
    assert UpperBound(THIRD) < UpperBound(HALF)
    assert min(UpperBound(HALF), UpperBound(THIRD)) == UpperBound(THIRD)


def test_bounds_are_frozen_and_exact() -> None:
    with pytest.raises(AttributeError):
        UpperBound(HALF).value = THIRD  # type: ignore[misc]
    with pytest.raises(DirectionError, match="float"):
        UpperBound(0.5)
    assert issubclass(DirectionError, BisimdistError)


def test_brackets() -> None:
    bracket = Bracket(LowerBound(THIRD), UpperBound(HALF))
    assert not bracket.exact
    assert bracket.width == fmpq(1, 6)
    with pytest.raises(DirectionError):
        Bracket(UpperBound(THIRD), LowerBound(HALF))  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="exceeds"):
        Bracket(LowerBound(HALF), UpperBound(THIRD))


def test_a_threshold_is_decided_exactly_at_a_tie() -> None:
    tiny = fmpq(1, 10**30)
    bracket = Bracket(LowerBound(THIRD), UpperBound(HALF))
    assert bracket.at_most(HALF) is True
    assert bracket.at_most(HALF - tiny) is None
    assert bracket.at_most(THIRD) is None
    assert bracket.at_most(THIRD - tiny) is False
