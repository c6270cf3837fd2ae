"""One run of a program: the way of runs before it as far as that goes, and then the most probable one.

What a program may do is a tree. At each place a condition divides regions of draws among the ways that go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import copysign, inf, log2
from typing import Any, Protocol

from bisimdist.programs.control import Outside
from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.region import WHOLE, Factor, Region

AT_ONCE = 64.0
"""A run is left for later when it has cost so many bits more: some runs have no end."""

TRIES = 400
"""So many boxes of several draws are looked at for one with a known outcome; others wait."""

MOST_DRAWS = 20_000

Parts = tuple[list[tuple[Any, Region]], list[Region], int]
"""Regions with their outcomes, regions without one yet, and how many boxes were looked at."""


NEW = object()
"""What a run is told at a place where no run was before."""


class GivenUp(BaseException):
    """A run is not followed further; its mass is cut off."""


class Changed(BaseException):
    """A run did something else than before, although its draws fell in the same way."""


class Condition(Protocol):
    """What a program asks about its draws."""

    def divide(self, laws: Sequence[Law], region: Region, budget: int) -> Parts:
        """Divide a region by outcomes."""


@dataclass(slots=True, eq=False)
class Place:
    """What happens after some outcomes: the next condition, or an end; None before a run was there."""

    before: Place | None = None  # before and outcome: the place before, and the outcome there that leads here
    outcome: Any = None
    condition: Condition | None = None
    released: Any = None
    laws: Sequence[Law] = ()
    drawn: int = 0
    ways: dict[Any, Place] = field(default_factory=dict)

    def way(self, outcome: Any) -> Place:
        """Return the place behind an outcome."""
        key = key_of(outcome)
        found = self.ways.get(key)
        if found is None:
            found = self.ways[key] = Place(self, outcome)
        return found

    def path(self) -> list[Place]:
        """Return the places from the first one to this one."""
        found, place = [], self
        while place.before is not None:
            found.append(place)
            place = place.before
        found.reverse()
        return found


def key_of(outcome: Any) -> Any:
    """Return what tells outcomes apart that Python takes to be equal: 1 and True, 0.0 and -0.0."""
    if type(outcome) is int:
        return outcome
    sign = isinstance(outcome, float) and outcome == 0 and copysign(1.0, outcome)
    return type(outcome), outcome, sign


class Run:
    """A run that goes to a place, and on from there.

    place: where to go.
    region: what the draws may be there.
    most: beyond so many bits the run is left for later.
    """

    concrete = False

    def __init__(self, place: Place, region: Region = WHOLE, most: float = inf) -> None:
        self.script = place.path()
        self.at = 0
        self.place = place if not self.script else self.script[0].before or place
        self.region = region
        self.most = min(most, region.cost + AT_ONCE)
        self.laws: list[Law] = []
        self.seen: list[Any] = []
        self.pending: list[tuple[Place, Region]] = []
        self.rests: dict[Any, Any] = {}
        """Numbers that were drawn in two parts, and the second part."""
        self.work = 0
        self.shows_draws = False

    def draw(self, law: Law) -> int:
        """Draw an integer with a law, and return which draw it is."""
        laws = self.laws
        laws.append(law)
        if len(laws) > MOST_DRAWS:
            raise Outside(f"a run draws more than {MOST_DRAWS} times", "bound the loop")
        if self.shows_draws:
            self.seen.append("draw")
        return len(laws) - 1

    def again(self) -> Any:
        """Return the outcome of the next condition where a run before went this way; else `NEW`."""
        at = self.at
        if at == len(self.script):
            return NEW
        if self.place.drawn != len(self.laws):
            raise Changed
        self.place = place = self.script[at]
        self.at = at + 1
        return place.outcome

    def decided(self, condition: Condition) -> Any:
        """Return the outcome of a condition at which no run was before."""
        place = self.place
        place.condition = condition
        place.laws, place.drawn = self.laws, len(self.laws)
        parts, left, work = condition.divide(self.laws, self.region, TRIES)
        self.work += work
        self.pending += [(place, region) for region in left]
        if not parts:
            raise GivenUp
        best = min(range(len(parts)), key=lambda k: parts[k][1].cost)
        for k, (outcome, region) in enumerate(parts):
            if k != best:
                self.pending.append((place.way(outcome), region))
        outcome, self.region = parts[best]
        self.place = place.way(outcome)
        if self.region.cost > self.most:
            self.pending.append((self.place, self.region))
            raise GivenUp
        return outcome

    def coin(self, options: int) -> int:
        """Draw one of few integers, told apart at once."""
        laws, at = self.laws, self.at
        told = _told(len(laws), options)
        if self.shows_draws or len(laws) >= MOST_DRAWS:
            self.draw(told.law)
        else:
            laws.append(told.law)
        if at == len(self.script):
            new: int = self.decided(told)
            return new
        if self.place.drawn != len(laws):
            raise Changed
        self.place = place = self.script[at]
        self.at = at + 1
        outcome: int = place.outcome
        return outcome


class _Told:
    """The condition that tells each value of a draw apart."""

    __slots__ = ("bits", "factors", "law")

    def __init__(self, draw: int, options: int) -> None:
        self.law = Uniform(options)
        self.factors = [Factor((draw,), [((k,), (k,))], 1 / options) for k in range(options)]
        self.bits = log2(options)

    def divide(self, laws: Sequence[Law], region: Region, budget: int) -> Parts:
        del laws, budget
        before, cost = region.factors, region.cost + self.bits
        return [(k, Region((*before, factor), cost)) for k, factor in enumerate(self.factors)], [], 1


_told = lru_cache(1 << 12)(_Told)


class Played:
    """A run in which every draw is one integer that is given."""

    concrete = True

    def __init__(self, answers: Sequence[int], where: Callable[[], Any] | None = None) -> None:
        self.answers = answers
        self.at = 0
        self.seen: list[Any] = []
        self.where = where
        self.places: list[Any] = []

    def value(self, law: Law) -> int:
        """Return what is drawn."""
        del law
        if self.at >= len(self.answers):
            raise GivenUp
        if self.where is not None:
            self.places.append(self.where())
        self.at += 1
        return self.answers[self.at - 1]

    def coin(self, count: int) -> int:
        """Return what is drawn."""
        return self.value(Uniform(count))


class _Current:
    """The run that is under way."""

    __slots__ = ("run",)

    def __init__(self) -> None:
        self.run: Any = None


current = _Current()
