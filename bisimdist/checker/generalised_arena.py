"""The automaton of a generalised metric certificate: bisimilar states merged, and rows by class."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.effort import fraction_work, spend
from bisimdist.checker.metric_arena import Automaton
from bisimdist.checker.quantities import Mass, Skew
from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    natural,
    rational,
    shown,
    strings,
)

__all__ = ["Arena", "Bound", "Masses", "Metric", "Pair", "at_most"]

Pair = tuple[int, int]
Bound = Fraction | None
"""None is infinity."""
Masses = dict[int, Fraction]

ZERO = Fraction(0)
MOST_BITS = 1 << 24
ONE = Fraction(1)


def at_most(first: Bound, second: Bound) -> bool:
    """Tell whether a bound is at most another."""
    return second is None or (first is not None and first <= second)


def _compare_powers(first: Fraction, p: int, second: Fraction, q: int) -> int:
    """Return the sign of first^p - second^q for p, q > 0; lengths decide where powers would be long."""
    if first <= 0 or second <= 0:
        return (first > second) - (first < second)
    low, high = _exponents(first)
    other_low, other_high = _exponents(second)
    if low * p >= other_high * q:
        return 1
    if high * p <= other_low * q:
        return -1
    if max(_length(first) * p, _length(second) * q) > MOST_BITS:
        raise MalformedCertificate(
            f"numbers of {max(_length(first), _length(second))} bits are to be raised to the powers {p} and "
            f"{q}; expected shorter ones"
        )
    spend(fraction_work(_length(first) * p) + fraction_work(_length(second) * q))
    left, right = first**p, second**q
    return (left > right) - (left < right)


def _length(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _exponents(number: Fraction) -> tuple[int, int]:
    """Return integers e < f such that 2^e < number < 2^f."""
    size = number.numerator.bit_length() - number.denominator.bit_length()
    return size - 1, size + 1


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

    def bound(self, value: object, where: str) -> Bound:
        """Read a value; only ratios may be infinite."""
        return None if value == "inf" and not self.additive else rational(value, where)

    def value(self, value: object, where: str, rule: str) -> Mass | Skew | None:
        """Read a value of a table, which is not below distance 0."""
        if self.additive:
            return Mass.read(value, where, rule)
        return None if value == "inf" else Skew.read(value, where, rule)

    def compare(self, raw: Bound, bound: Bound) -> int:
        """Return the sign of the discounted value minus a bound, exactly."""
        if raw is None or bound is None:
            return (raw is None) - (bound is None)
        if self.additive:
            left, right = raw * self.discount, bound
        elif self.discount == 1:
            left, right = raw, bound
        else:
            return _compare_powers(raw, self.discount.numerator, bound, self.discount.denominator)
        return (left > right) - (left < right)


@dataclass(frozen=True)
class Entry:
    """Where an entry of a table stands, its states and its pair of classes."""

    where: str
    states: tuple[str, str]
    pair: Pair


class Arena:
    """The automaton seen by classes of bisimilar states."""

    def __init__(self, automaton: Automaton, metric: Metric) -> None:
        self.automaton = automaton
        self.metric = metric
        self.steps: dict[str, list[int]] = {state: [] for state in automaton.states}
        for number, (source, _, _) in enumerate(automaton.transitions):
            self.steps[source].append(number)
        self.classes = self._bisimilarity()
        self._actions: dict[int, frozenset[str]] = {}
        for state, number in self.classes.items():
            self._actions[number] = frozenset(automaton.transitions[n][1] for n in self.steps[state])

    def _bisimilarity(self) -> dict[str, int]:
        """Return the coarsest partition with equal transitions, by masses on classes, in every class."""
        of = dict.fromkeys(self.automaton.states, 0)
        count = 1
        while True:
            numbers: dict[Hashable, int] = {}
            refined = {}
            for state in self.automaton.states:
                kinds = frozenset(
                    (self.automaton.transitions[n][1], frozenset(self._masses(n, of).items()))
                    for n in self.steps[state]
                )
                refined[state] = numbers.setdefault((of[state], kinds), len(numbers))
            of = refined
            if len(numbers) == count:
                return of
            count = len(numbers)

    def _masses(self, transition: int, of: Mapping[str, int]) -> Masses:
        result: Masses = {}
        for target, mass in self.automaton.transitions[transition][2].items():
            result[of[target]] = result.get(of[target], ZERO) + mass
        return result

    def row(self, transition: int) -> Masses:
        """Return the masses of a transition by class."""
        return self._masses(transition, self.classes)

    def pair(self, first: str, second: str) -> Pair:
        """Return the pair of classes of two states, the smaller number first."""
        a, b = self.classes[first], self.classes[second]
        return (a, b) if a < b else (b, a)

    def distance(self, pair: Pair, table: Mapping[Pair, Bound], other: Bound) -> Bound:
        """Return the value of two classes in a table; `other` where it lists none."""
        a, b = pair
        if a == b:
            return self.metric.zero
        if self._actions[a] != self._actions[b]:
            return self.metric.top
        return table.get(pair if a < b else (b, a), other)

    def costs(self, table: Mapping[Pair, Bound], other: Bound) -> Callable[[int, int], Bound]:
        """Return the distance of classes that belongs to a table."""
        return lambda a, b: self.distance((a, b), table, other)

    def entry(self, value: Mapping[str, Any], where: str) -> Entry:
        """Read the pair of an entry: two states that are not bisimilar."""
        first, second = strings(value["pair"], f"the pair of {where}", 2)
        for name in (first, second):
            if name not in self.classes:
                raise RuleViolation(f"Q4: {where} names {shown(name)}, which is no state")
        pair = self.pair(first, second)
        where = f"{where}, [{shown(first)}, {shown(second)}]"
        if pair[0] == pair[1]:
            raise RuleViolation(f"Q4: {where}: the states are bisimilar")
        return Entry(where, (first, second), pair)

    def state(self, name: str, where: str) -> int:
        """Return the class of a state that is named."""
        if name not in self.classes:
            raise RuleViolation(f"Q4: {where} names {shown(name)}, which is no state")
        return self.classes[name]

    def challenge(self, entry: Entry, value: Mapping[str, Any], rule: str) -> tuple[int, list[int]]:
        """Read a challenge: return its transition and all answers to it."""
        side = natural(value["side"], f"the side of {entry.where}")
        number = natural(value["challenge"], f"the challenge of {entry.where}") - 1
        if side > 1 or not 0 <= number < len(self.automaton.transitions):
            raise RuleViolation(f"{rule}: {entry.where}: there is no such challenge")
        source, action, _ = self.automaton.transitions[number]
        if self.classes[source] != self.classes[entry.states[side]]:
            raise RuleViolation(f"{rule}: {entry.where}: the challenge is no transition of that side")
        other = entry.states[1 - side]
        return number, [n for n in self.steps[other] if self.automaton.transitions[n][1] == action]
