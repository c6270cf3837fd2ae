"""Certified bounds on measures of different scales, and how two measures stand that have a fixed order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from flint import fmpq

from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.number import Exact
from bisimdist.exact.scale import Bounded, Value, at_most
from bisimdist.faces.shown.numbers import at_most as at_most_text
from bisimdist.faces.shown.numbers import between, exact_value, interval
from bisimdist.faces.shown.plain import said

Bounds: TypeAlias = tuple[Value, Value]  # certified bounds, the lower one first
Monotone = Callable[[Value], Value]  # a map that keeps the order of values, from one scale to another


class Scale(Enum):
    """What the numbers of a measure are."""

    ADDITIVE = "additive"  # a difference of probabilities, from 0 to 1
    RATIO = "ratio"  # e to a distance: from 1 to infinity, for which None stands
    DIVERGENCE = "divergence"  # a number from 0 to infinity, for which None stands
    KERNEL = "kernel"  # 1 where two states are told apart and 0 where they are not; nothing between

    @property
    def least(self) -> fmpq:
        """What a pair of equal states has."""
        return fmpq(1) if self is Scale.RATIO else fmpq(0)

    @property
    def greatest(self) -> Value:
        """What no measure of the scale exceeds."""
        return None if self in {Scale.RATIO, Scale.DIVERGENCE} else fmpq(1)


class Relation(Enum):
    """What certified bounds say about two measures the first of which must be at most the second."""

    EQUAL = "="
    LESS = "<"
    AT_MOST = "<="  # at most, as it must be; the bounds do not tell whether it is less
    VIOLATED = "violated"


@dataclass(frozen=True, slots=True)
class Measure(Bounded):
    """Bounds on one measure of a pair.

    ``lower``, ``upper``: certified bounds; on the larger of both directions where there are two.
    ``directions``: bounds (lower, upper) of both directions, from the first state and from the second, for
        asymmetric measures.
    ``note``: what shows the lower bound, or how the bounds were found, in words.
    """

    name: str  # which measure, such as ``delta`` or ``bd``
    lower: Exact | None
    upper: Exact | None
    directions: tuple[Bounds, Bounds] | None = None
    scale: Scale = Scale.ADDITIVE
    note: str = field(default="", compare=False)

    @property
    def bounds(self) -> Bounds:
        return self.lower, self.upper

    @property
    def possible(self) -> bool:
        """Whether the bounds are in their order and inside the scale; anything else is an error."""
        least, greatest = self.scale.least, self.scale.greatest
        return (
            at_most(least, self.lower) and at_most(self.lower, self.upper) and at_most(self.upper, greatest)
        )

    @property
    def decimals(self) -> tuple[str, str]:
        """Decimals below and above the logarithm of a ratio.

        >>> Measure("m_D", fmpq(2), None, scale=Scale.RATIO).decimals
        ('0.69314', 'inf')
        """
        below = "inf" if self.lower is None else log_enclosure(self.lower)[0]
        above = "inf" if self.upper is None else log_enclosure(self.upper)[1]
        return below, above

    @property
    def logarithm(self) -> str:
        """The same as one text; empty where the measure is no ratio."""
        return between(*self.decimals) if self.scale is Scale.RATIO else ""

    def __str__(self) -> str:
        if self.scale is Scale.KERNEL and self.exact:
            return "yes" if self.upper == 1 else "no"
        if self.exact:
            return "inf" if self.upper is None else at_most_text(self.upper)
        return interval(self.lower, self.upper)

    def data(self) -> dict[str, object]:
        def sides(low: Value, high: Value) -> dict[str, object]:
            return {"lower": exact_value(low), "upper": exact_value(high)}

        data = {"name": self.name, "scale": self.scale.value, **sides(*self.bounds), "exact": self.exact}
        if self.scale is Scale.RATIO:
            data["epsilon"] = list(self.decimals)
        if self.directions is not None:
            data["directions"] = [sides(*way) for way in self.directions]
        return {**data, "note": self.note} if self.note else data

    def through(self, mapped: Monotone) -> tuple[Bounds, ...]:
        """Return the bounds, and those of the directions, after a map that keeps their order."""
        everything = (self.bounds, *(self.directions or ()))
        return tuple((mapped(low), mapped(high)) for low, high in everything)


@dataclass(frozen=True, slots=True)
class Standing:
    """How two measures stand that have a fixed order."""

    smaller: str  # smaller and larger: the names of the measures
    larger: str
    relation: Relation
    reason: str = field(default="", compare=False)
    # below and above: what is compared, where it is not the measures themselves: texts such as ``"bd > 0"``
    below: str = field(default="", compare=False)
    above: str = field(default="", compare=False)

    @property
    def direct(self) -> bool:
        """Whether the measures themselves are compared, not functions of them."""
        return not self.below and not self.above

    @property
    def compared(self) -> list[str]:
        """The texts of both sides."""
        return [self.below or self.smaller, self.above or self.larger]

    def data(self) -> dict[str, object]:
        data = said(self, "smaller larger relation reason")
        return data if self.direct else {**data, "compared": self.compared}


def relate(pairs: Iterable[tuple[Bounds, Bounds]]) -> Relation:
    """Return how two measures stand, from bounds on the smaller and on the larger one.

    ``pairs``: the bounds on both; further pairs are those of directions, of which none may be violated
        either.

    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> relate([((half, half), (one, None))])
    <Relation.LESS: '<'>
    >>> relate([((None, None), (one, one))])
    <Relation.VIOLATED: 'violated'>
    """
    known = tuple(pairs)
    if any(not at_most(smaller[0], larger[1]) for smaller, larger in known):
        return Relation.VIOLATED
    smaller, larger = known[0]
    if not at_most(larger[0], smaller[1]):
        return Relation.LESS
    if smaller[0] == smaller[1] and larger[0] == larger[1]:
        return Relation.EQUAL
    return Relation.AT_MOST
