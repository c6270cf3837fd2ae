"""The automaton of a generalised metric certificate: rows by class of bisimilar states, and distances."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.arena import Arena, Place
from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.claims import BetweenBounds, Finite
from bisimdist.checker.core.effort import fraction_work, spend
from bisimdist.checker.core.quantities import Mass, Skew
from bisimdist.checker.core.reading import mapping
from bisimdist.checker.core.shape import Bound
from bisimdist.checker.core.steps import lumped

__all__ = ["NOWHERE", "Costs", "GeneralisedArena", "Masses", "Metric", "Table", "Unordered", "unordered"]

Unordered = frozenset[int]
"""A pair of classes."""
Table = Mapping[Unordered, Bound]
Masses = dict[int, Fraction]
Costs = Callable[[int, int], Bound]

ZERO = Fraction(0)
ONE = Fraction(1)
NOWHERE = -1
"""The class of what is given up: no state is in it, and it is at the diameter from all that are."""


def unordered(place: Place) -> Unordered:
    """Return the pair of an entry: distances are symmetric."""
    return frozenset(place.pair)


@dataclass(frozen=True)
class Metric:
    """Which metric: by differences, with values from 0 to 1, or by ratios, with values from 1 to infinity."""

    additive: bool
    discount: Fraction

    @property
    def zero(self) -> Fraction:
        """The value of distance 0."""
        return ZERO if self.additive else ONE

    @property
    def top(self) -> Bound:
        """The value of the diameter."""
        return ONE if self.additive else None

    @property
    def claim(self) -> type[BetweenBounds]:
        """The shape of a claim; only ratios may be infinite."""
        return Finite if self.additive else BetweenBounds

    def value(self, value: object, where: str, rule: str) -> Mass | Skew | None:
        """Read a value of a table, which is not below distance 0."""
        if self.additive:
            return Mass.by(rule)(value, where)
        return None if value == "inf" else Skew.by(rule)(value, where)

    def sides(self, raw: Bound, bound: Bound) -> tuple[Bound, Bound]:
        """Return two numbers that are to each other as the discounted value is to the bound."""
        p, q = self.discount.numerator, self.discount.denominator
        return self._weighed(raw, p), self._weighed(bound, q)

    def _weighed(self, number: Bound, weight: int) -> Bound:
        if number is None:
            return None
        if self.additive:
            return number * weight
        spend(fraction_work(max(number.numerator.bit_length(), number.denominator.bit_length()) * weight))
        return number**weight

    def compared(self, here: Masses, there: Masses) -> tuple[Masses, Masses]:
        """Return the masses that are compared, of differences only what each has more than the other.

        Of these, what is here may also go nowhere.
        """
        if not self.additive:
            return here, there
        return _excess(here, there), {**_excess(there, here), NOWHERE: ONE}


def _excess(here: Masses, there: Masses) -> Masses:
    more = {i: mass - there.get(i, ZERO) for i, mass in here.items()}
    return {i: mass for i, mass in more.items() if mass > 0}


class GeneralisedArena(Arena):
    """The automaton seen by classes of bisimilar states."""

    def __init__(self, automaton: Automaton, metric: Metric) -> None:
        super().__init__(automaton, lumped, "Q4")
        self.metric = metric
        self._actions = {
            number: {self.action(n) for n in self.steps[state]} for state, number in self.classes.items()
        }

    def row(self, transition: int) -> Masses:
        """Return the masses of a transition by class."""
        return lumped(self.automaton.transitions[transition][2], self.classes)

    def masses(self, value: object, where: str, rule: str) -> Masses:
        """Read an object that gives states a number each that is not negative."""
        return {
            self.class_of(name, where): Mass.by(rule)(number, f"a number of {where}")
            for name, number in mapping(value, where).items()
        }

    def distance(self, a: int, b: int, table: Table, other: Bound) -> Bound:
        """Return the value of two classes in a table; `other` where it lists none."""
        if a == b:
            return self.metric.zero
        if self._actions.get(a) != self._actions.get(b):
            return self.metric.top
        return table.get(frozenset((a, b)), other)

    def costs(self, table: Table, other: Bound) -> Costs:
        """Return the distance of classes that belongs to a table."""
        return lambda a, b: self.distance(a, b, table, other)
