"""Laws of what programs make of uniform doubles, slowly: by bisection of monotone functions."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from fractions import Fraction
from typing import Any


def by_bisection(f: Callable[[int], Hashable], first: int = 0, last: int = 2**53 - 1) -> dict[Any, Fraction]:
    """Return the law of a monotone function of an integer, which is uniform between two bounds."""
    found: dict[Any, int] = {}
    stack = [(first, f(first), last, f(last))]
    while stack:
        low, at_low, high, at_high = stack.pop()
        if at_low == at_high:
            found[at_low] = found.get(at_low, 0) + high - low + 1
            continue
        if high == low + 1:
            for value in (at_low, at_high):
                found[value] = found.get(value, 0) + 1
            continue
        middle = (low + high) // 2
        stack.append((low, at_low, middle, f(middle)))
        stack.append((middle + 1, f(middle + 1), high, at_high))
    return {value: Fraction(count, last - first + 1) for value, count in found.items()}


def convolved(
    one: Mapping[Any, Fraction], two: Mapping[Any, Fraction], combine: Callable[[Any, Any], Hashable]
) -> dict[Any, Fraction]:
    """Return the law of what two independent values combine to."""
    found: dict[Any, Fraction] = {}
    for a, p in one.items():
        for b, q in two.items():
            value = combine(a, b)
            found[value] = found.get(value, Fraction(0)) + p * q
    return found


def delta_of(one: Mapping[Any, Fraction], two: Mapping[Any, Fraction], alpha: Fraction) -> Fraction:
    """Return the sum of what one law has beyond alpha times the other."""
    return sum((max(Fraction(0), p - alpha * two.get(value, 0)) for value, p in one.items()), Fraction(0))
