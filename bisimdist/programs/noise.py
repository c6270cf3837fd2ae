"""Noise without bounds as a value of its own, for as long as it is only compared and added to.

What a comparison needs to know is chosen, with its probability; the law of what is left is exact. Of two
values that were compared with each other, and so are not independent any more, one may be used further.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import inf
from numbers import Integral
from typing import Any

from flint import fmpq

from bisimdist.programs.control import ListValues, Outside
from bisimdist.programs.interval import Compared, Interval
from bisimdist.programs.laws import MOST_DISTANCE, Law, Part, order, same


class Undecided(BaseException):
    """Something has to be chosen before the run can go on.

    chances: how likely each choice is.
    """

    def __init__(self, chances: Sequence[fmpq]) -> None:
        super().__init__(len(chances))
        self.chances = chances


@dataclass(slots=True, eq=False)
class Choices:
    """What is chosen in a run, in this order."""

    made: tuple[int, ...] = ()
    place: int = 0

    def choose(self, chances: Sequence[fmpq]) -> int:
        if self.place >= len(self.made):
            raise Undecided(chances)
        self.place += 1
        return self.made[self.place - 1]


@dataclass(slots=True, eq=False)
class Drawn:
    """What is known of a value that was drawn."""

    low: float  # low and high: it lies between, without `high`; one of them may be infinite
    high: float
    law: Law  # how likely each value is
    choices: Choices  # what is chosen where that has to be known
    others: set[Drawn] = field(default_factory=set)  # what it is not independent of
    spoilt: bool = False  # whether its law is not known any more

    def check(self) -> None:
        """Refuse a value whose law is not known any more."""
        if self.spoilt:
            raise Outside(
                "this noise was compared with other noise, and that other noise was used again since",
                "draw, compare and forget one after another, as in 'if noisy > best: best = noisy'",
            )

    def know(self, low: float, high: float, law: Law) -> None:
        """Narrow the value down; what depends on it has another law then."""
        self.low, self.high, self.law = low, high, law
        for other in self.others:
            other.spoilt = True
            other.others.discard(self)
        self.others = set()

    def parts(self, bound: int) -> tuple[Part, Part]:
        below, above = bound - self.low, self.high - bound
        if self.law.upward:
            return self.law.part(0, below), self.law.part(int(below), above)
        return self.law.part(int(above), below), self.law.part(0, above)

    def below(self, bound: int) -> bool:
        self.check()
        if self.high <= bound or self.low >= bound:
            return self.high <= bound
        lower, upper = self.parts(bound)
        if self.choices.choose((lower[0], upper[0])):
            self.know(bound, self.high, upper[1])
            return False
        self.know(self.low, bound, lower[1])
        return True

    def value(self) -> int:
        """Choose one of finitely many values."""
        self.check()
        if self.high - self.low > MOST_DISTANCE:
            raise Outside(
                "noise without bounds is only for comparisons and for sums with whole numbers",
                "clip it first, as in min(max(noise, -20), 20), or draw it in a loop of rng.flip(a)",
            )
        low, high = int(self.low), int(self.high)
        if high - low > 1:
            chances = [self._at(value) for value in range(low, high)]
            low += self.choices.choose(chances)
            self.know(low, low + 1, Law((), True))
        return low

    def _at(self, value: int) -> fmpq:
        distance = value - self.low if self.law.upward else self.high - 1 - value
        return sum((w * r ** int(distance) for r, w in self.law.terms), fmpq(0))


class Noise(Compared):
    """A whole number added to a value that was drawn."""

    __slots__ = ("drawn", "offset")

    def __init__(self, drawn: Drawn, offset: int = 0) -> None:
        self.drawn = drawn
        self.offset = offset

    @property
    def low(self) -> float:
        """The lowest value that is possible."""
        return self.drawn.low + self.offset

    @property
    def high(self) -> float:
        """One more than the highest."""
        return self.drawn.high + self.offset

    def _below(self, bound: int) -> bool:
        return self.drawn.below(bound - self.offset)

    def _is(self, value: int) -> bool:
        return self.low <= value < self.high and not self._below(value) and self._below(value + 1)

    def __lt__(self, other: object) -> bool:
        return _less(self, other) if type(other) is Noise else super().__lt__(other)

    def __le__(self, other: object) -> bool:
        return not _less(other, self) if type(other) is Noise else super().__le__(other)

    def __gt__(self, other: object) -> bool:
        return _less(other, self) if type(other) is Noise else super().__gt__(other)

    def __ge__(self, other: object) -> bool:
        return not _less(self, other) if type(other) is Noise else super().__ge__(other)

    def __eq__(self, other: object) -> bool:
        return _equal(self, other) if type(other) is Noise else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.value())

    def _number(self, other: object) -> Any:
        if type(other) is Interval:
            raise ListValues(other.index)
        if isinstance(other, int | Fraction):
            return other
        raise TypeError(f"noise is compared with a {type(other).__name__}")

    def value(self) -> int:
        return self.drawn.value() + self.offset

    def __add__(self, other: object) -> Any:
        if isinstance(other, int):
            return Noise(self.drawn, self.offset + other)
        return self.value() + other  # type: ignore[operator]

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return self + -other if isinstance(other, int) else self.value() - other  # type: ignore[operator]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.value(), name)

    @property
    def endless(self) -> bool:
        """Whether there are infinitely many values."""
        return self.high - self.low == inf

    def shown(self) -> str:
        if self.high - self.low == 1:
            return str(int(self.low))
        return f"{int(self.low)} or more" if self.high == inf else f"{int(self.high) - 1} or less"


def _as_number(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: function(self.value(), *others)


def _from_right(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, self.value())


_TWO = ("mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor")
for _name in (*_TWO, "neg", "pos", "abs", "invert", "index"):
    setattr(Noise, f"__{_name.rstrip('_')}__", _as_number(getattr(operator, _name)))
for _name in (*_TWO, "sub"):
    setattr(Noise, f"__r{_name.rstrip('_')}__", _from_right(getattr(operator, _name)))
for _name in ("int", "str", "repr", "format", "round", "divmod"):
    setattr(Noise, f"__{_name}__", _as_number(getattr(builtins, _name)))
Integral.register(Noise)


def moved(noise: Noise, by: int) -> Noise:
    """Return noise with a whole number added."""
    return Noise(noise.drawn, noise.offset + by)


def _less(one: Noise, other: Noise) -> bool:
    """Choose whether one value is less than another."""
    if one.drawn is other.drawn:
        return one.offset < other.offset
    while True:
        if one.high - 1 < other.low or one.low >= other.high - 1:
            return one.high - 1 < other.low
        if not (one.endless and other.endless):
            if one.endless:
                return one._below(other.value())
            return not other._below(one.value() + 1)
        if _aligned(one, other):
            return _decided(one.drawn, other.drawn, order)


def _equal(one: Noise, other: Noise) -> bool:
    """Choose whether two values are the same."""
    if one.drawn is other.drawn:
        return one.offset == other.offset
    while True:
        if one.high <= other.low or one.low >= other.high:
            return False
        if not (one.endless and other.endless):
            return one._is(other.value()) if one.endless else other._is(one.value())
        if _aligned(one, other):
            return _decided(one.drawn, other.drawn, same)


def _aligned(one: Noise, other: Noise) -> bool:
    """Tell whether two endless values begin or end alike; otherwise narrow one of them down."""
    if one.high == other.high == inf:
        if one.low == other.low:
            return True
        low, high = sorted((one, other), key=lambda noise: noise.low)
        low._below(int(high.low))
    elif one.low == other.low == -inf:
        if one.high == other.high:
            return True
        low, high = sorted((one, other), key=lambda noise: noise.high)
        high._below(int(low.high))
    else:
        up, down = (one, other) if one.high == inf else (other, one)
        up._below(int(down.high))
    return False


def _decided(
    first: Drawn, second: Drawn, pairs: Callable[[Law, Law], tuple[tuple[Part, Part], tuple[Part, Part]]]
) -> bool:
    first.check()
    second.check()
    if second in first.others:
        raise Outside(
            "noise is compared with the same noise twice", "keep the outcome of the first comparison"
        )
    found = pairs(first.law, second.law)
    chosen = first.choices.choose([part[0][0] for part in found])
    for drawn, (_, law) in zip((first, second), found[chosen], strict=True):
        drawn.know(drawn.low, drawn.high, law)
    first.others, second.others = {second}, {first}
    return chosen == 0
