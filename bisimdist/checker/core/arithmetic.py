"""Arithmetic of rationals by numerator and denominator: what is counted of it, `reading` says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import gcd
from operator import ge, gt, le, lt

Terms = tuple[int, int]  # numerator and denominator in lowest terms, this one positive


def _plus(a: int, b: int, c: int, d: int) -> Terms:
    shared = gcd(b, d)
    if shared == 1:
        return a * d + b * c, b * d
    own = b // shared
    above = a * (d // shared) + c * own
    more = gcd(above, shared)
    return above // more, own * (d // more)


def _minus(a: int, b: int, c: int, d: int) -> Terms:
    return _plus(a, b, -c, d)


def _times(a: int, b: int, c: int, d: int) -> Terms:
    one, two = gcd(a, d), gcd(c, b)
    return (a // one) * (c // two), (b // two) * (d // one)


def _over(a: int, b: int, c: int, d: int) -> Terms:
    if not c:
        raise ZeroDivisionError(f"{a}/0")
    return _times(a, b, d, c) if c > 0 else _times(a, b, -d, -c)


OPERATIONS: Mapping[str, Callable[[int, int, int, int], Terms]] = {
    "add": _plus,
    "sub": _minus,
    "mul": _times,
    "truediv": _over,
}
COMPARISONS = {"lt": lt, "le": le, "gt": gt, "ge": ge}
