"""Searching for the least cost at which a bijection of supports exists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

__all__ = ["least_feasible"]

Value = TypeVar("Value")


def least_feasible(values: Sequence[Value], feasible: Callable[[Value], bool]) -> int | None:
    """Return the position of the first of ascending values that is feasible, or None if the last is not.

    Examples
    --------
    >>> least_feasible([1, 2, 4, 8], lambda value: value >= 3)
    2
    """
    if not values or not feasible(values[-1]):
        return None
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if feasible(values[middle]):
            high = middle
        else:
            low = middle + 1
    return low
