"""Laws of noise: sums of powers of the distance from the lowest, or the highest, value that is possible."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from math import inf

from flint import fmpq

from bisimdist.programs.control import Outside

MOST_DISTANCE = 1 << 16  # so far from where noise begins it is looked at, at most: its powers get as long

Terms = dict[fmpq, fmpq]


@dataclass(frozen=True, slots=True)
class Law:
    """How likely each value is: at distance k from its end as much as the sum of ``weight * ratio**k``."""

    # ratios between 0 and 1, in ascending order, with their weights, some of which may be negative
    terms: tuple[tuple[fmpq, fmpq], ...]
    upward: bool  # whether the end is the lowest value; otherwise it is the highest
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = [number for term in self.terms for part in term for number in (int(part.p), int(part.q))]
        object.__setattr__(self, "_hash", hash((*parts, self.upward)))

    def __hash__(self) -> int:
        """Known from the beginning: laws are looked up again and again."""
        return self._hash

    def part(self, begin: int, length: float) -> Part:
        """Return how likely the distance is from `begin` on for so many values, and the law if it is."""
        if begin > MOST_DISTANCE or MOST_DISTANCE < length < inf:
            raise Outside(
                "noise is compared with numbers far from each other",
                f"at most {MOST_DISTANCE} apart is looked at",
            )
        moved = {ratio: weight * ratio**begin for ratio, weight in self.terms}
        return _part(moved, self.upward, length)


Part = tuple[fmpq, Law]  # a probability, and the law of what is left


def geometric_law(ratio: fmpq, *, upward: bool) -> Law:
    """Return the law of ``(1 - a) a**k``."""
    return Law(((ratio, 1 - ratio),), upward)


def _part(terms: Terms, upward: bool, length: float = inf) -> Part:
    """Return the sum of all weights, and the terms with the sum 1."""
    kept = sorted((ratio, weight) for ratio, weight in terms.items() if weight)
    ends = [1 if length == inf else 1 - ratio ** int(length) for ratio, _ in kept]
    mass = sum((w * end / (1 - r) for (r, w), end in zip(kept, ends, strict=True)), fmpq(0))
    if not mass:
        return mass, Law((), upward)
    return mass, Law(tuple((ratio, weight / mass) for ratio, weight in kept), upward)


def _times(one: Iterable[tuple[fmpq, fmpq]], other: Iterable[tuple[fmpq, fmpq]]) -> Terms:
    made: Terms = {}
    factors = list(other)
    for r, v in one:
        for s, w in factors:
            made[r * s] = made.get(r * s, fmpq(0)) + v * w
    return made


def _without(law: Law, part: Terms) -> Terms:
    made = dict(law.terms)
    for ratio, weight in part.items():
        made[ratio] = made.get(ratio, fmpq(0)) - weight
    return made


@lru_cache(4096)
def order(one: Law, other: Law) -> tuple[tuple[Part, Part], tuple[Part, Part]]:
    """Return the parts of two independent values with the same end where the first is less, and where not."""
    if not one.upward:  # the smaller value is the more distant one
        farther = {ratio: weight * ratio / (1 - ratio) for ratio, weight in one.terms}
        as_far = {ratio: weight / (1 - ratio) for ratio, weight in other.terms}
        second = _times(other.terms, farther.items())
        not_first = _times(one.terms, as_far.items())
        return _both(one, other, _without(one, not_first), second, not_first)
    farther = {ratio: weight * ratio / (1 - ratio) for ratio, weight in other.terms}
    as_far = {ratio: weight / (1 - ratio) for ratio, weight in one.terms}
    first = _times(one.terms, farther.items())
    not_second = _times(other.terms, as_far.items())
    return _both(one, other, first, _without(other, not_second), _without(one, first))


def _both(
    one: Law, other: Law, first: Terms, second: Terms, not_first: Terms
) -> tuple[tuple[Part, Part], tuple[Part, Part]]:
    up = one.upward
    return (
        (_part(first, up), _part(second, up)),
        (_part(not_first, up), _part(_without(other, second), up)),
    )


@lru_cache(4096)
def same(one: Law, other: Law) -> tuple[tuple[Part, Part], tuple[Part, Part]]:
    """Return the parts of two independent values with the same end where they are the same, and where not."""
    both, up = _times(one.terms, other.terms), one.upward
    return (
        (_part(both, up), _part(both, up)),
        (_part(_without(one, both), up), _part(_without(other, both), up)),
    )
