"""Sets of pairs of credits that are closed upwards, as the staircase of their least elements.

A pair (p, q) says how far a running product may rise (to p times what it is) and fall (to a q-th of it); both
are at least one. If a strategy needs (p, q), it can do with more of each, so all that matters are the least
pairs, sorted by ascending p and hence descending q.
"""

from __future__ import annotations

from collections.abc import Iterable

from flint import fmpq

ONE = fmpq(1)

Corner = tuple[fmpq, fmpq]  # how far the running product has to be able to rise, and to fall

Staircase = tuple[Corner, ...]

EVERYTHING: Staircase = ((ONE, ONE),)  # no credit is needed


def least_pairs(corners: Iterable[Corner]) -> Staircase:
    """Return the least elements among some pairs.

    >>> one, two, three = fmpq(1), fmpq(2), fmpq(3)
    >>> least_pairs([(three, one), (one, three), (three, two), (two, two)])
    ((1, 3), (2, 2), (3, 1))
    """
    result: list[Corner] = []
    for corner in sorted(corners):
        if not result or corner[1] < result[-1][1]:
            result.append(corner)
    return tuple(result)


def covers(stairs: Staircase, up: fmpq, down: fmpq) -> bool:
    """Tell whether a pair of credits is in the set."""
    return any(p <= up and q <= down for p, q in stairs)


def either(first: Staircase, second: Staircase) -> Staircase:
    """Return the union of two sets."""
    if not first or not second or first == second:
        return first or second
    return least_pairs((*first, *second))


def common(first: Staircase, second: Staircase) -> Staircase:
    """Return the intersection of two sets."""
    if second in (first, EVERYTHING):
        return first
    if first == EVERYTHING:
        return second
    result: list[Corner] = []
    i = j = 0
    # Walk along ascending p; what each set asks of q there is its last corner so far.
    for p in sorted([corner[0] for corner in (*first, *second)]):
        while i < len(first) and first[i][0] <= p:
            i += 1
        while j < len(second) and second[j][0] <= p:
            j += 1
        if i and j:
            q = max(first[i - 1][1], second[j - 1][1])
            if not result or q < result[-1][1]:
                result.append((p, q))
    return tuple(result)


def shifted(stairs: Staircase, ratio: fmpq, widest: fmpq | None = None) -> Staircase:
    """Return the credits that suffice before a step that multiplies the running product by `ratio`.

    ``widest``: pairs whose product exceeds this are dropped: the product of a pair never changes in a play,
        so dropping them loses nothing about narrower windows.
    """
    moved = [(max(ONE, p * ratio), max(ONE, q / ratio)) for p, q in stairs]
    if widest is not None:
        moved = [(p, q) for p, q in moved if p * q <= widest]
    return least_pairs(moved)
