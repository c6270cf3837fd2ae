"""The rational of the smallest denominator in an interval."""

from __future__ import annotations

from flint import fmpq, fmpz

from bisimdist.errors import NumberError


def simplest_between(low: fmpq, high: fmpq) -> fmpq:
    """Return the simplest rational in ``[low, high]``, for ``0 <= low <= high``.

    It has the smallest denominator of all rationals in the interval and, among those, the smallest
    numerator: the highest one in the Stern-Brocot tree. An interval of length at least ``2**-b`` has one
    whose denominator is at most ``2**b``.

    Raises NumberError if the interval is empty or reaches below zero.

    >>> simplest_between(fmpq(314, 100), fmpq(315, 100))
    22/7
    """
    if not 0 <= low <= high:
        raise NumberError(f"[{low}, {high}] is no interval of non-negative numbers")
    # Both ends share their first terms as continued fractions; where they part, the smaller term decides.
    terms: list[fmpz] = []
    while True:
        whole = low.floor()
        if low == whole:
            terms.append(whole)
            break
        if whole + 1 <= high:
            terms.append(whole + 1)
            break
        terms.append(whole)
        low, high = 1 / (high - whole), 1 / (low - whole)
    value = fmpq(terms.pop())
    while terms:
        value = terms.pop() + 1 / value
    return value
