"""Upper bounds of a generalised metric certificate: a table that the functional does not exceed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.arena import Arena, Paired, Place
from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.partition import lumped
from bisimdist.checker.core.reading import (
    Mass,
    RuleViolation,
    Skew,
    fraction_work,
    item,
    mapping,
    natural,
    spend,
)
from bisimdist.checker.core.shape import (
    BetweenBounds,
    Bound,
    Finite,
    Shape,
    at_most,
    key,
    listed,
    one_of,
    raw,
    row,
)

ZERO = Fraction(0)
Move = tuple[int, int, Mass]


class _Coupling(Shape):
    direction: str = key(one_of("forward", "backward"))
    moves: list[tuple[str, str, Mass]] = key(listed(row(item, item, Mass.by("Q7"))))
    given_up: list[tuple[str, Mass]] = key(listed(row(item, Mass.by("Q7"))))


class _Answer(Shape):
    """An answer to a challenge."""

    side: int = key(natural)
    challenge: int = key(natural)
    answer: int = key(natural)
    couplings: list[_Coupling] = key(listed(_Coupling.read))


class _Entry(Paired):
    value: Any = key(raw)
    answers: list[_Answer] = key(listed(_Answer.read))


def check_upper(arena: GeneralisedArena, table: object) -> Table:
    """Check the table of upper bounds and return it."""
    entries = arena.table(_Entry.read, table, "the upper table", "Q7", lambda place, _: unordered(place))
    values = {
        unordered(place): arena.metric.value(entry.value, f"the value of {place.where}", "Q7")
        for place, entry in counted(entries)
    }
    costs = arena.costs(values, arena.metric.top)
    for place, entry in counted(entries):
        _check_entry(arena, place, entry.answers, values[unordered(place)], costs)
    return values


def _check_entry(
    arena: GeneralisedArena, place: Place, answers: list[_Answer], bound: Bound, costs: Costs
) -> None:
    answered = set()
    for answer in counted(answers):
        side, number = answer.side, answer.answer - 1
        challenge = arena.challenge(place, side, answer.challenge, "Q7")
        if not arena.answered_by(challenge, number, place.states[1 - side]):
            raise RuleViolation(f"Q7: {place.where}: transition {number + 1} is no answer to the challenge")
        rows = arena.row(challenge), arena.row(number)
        if rows[0] != rows[1]:
            _check_couplings(arena, place, rows, answer.couplings, bound, costs)
        answered.add((side, arena.action(challenge), frozenset(all_of(rows[0].items()))))
    for side, state in counted(enumerate(place.states)):
        for n in counted(arena.steps[state]):
            if (side, arena.action(n), frozenset(all_of(arena.row(n).items()))) not in answered:
                raise RuleViolation(f"Q7: {place.where}: transition {n + 1} has no answer")


def _moves(arena: GeneralisedArena, coupling: _Coupling) -> list[Move]:
    name, where = arena.class_of, coupling.where
    return [
        *((name(i, where), name(j, where), mass) for i, j, mass in counted(coupling.moves)),
        *((name(i, where), NOWHERE, mass) for i, mass in counted(coupling.given_up)),
    ]


def _check_couplings(  # noqa: PLR0913, PLR0917
    arena: GeneralisedArena,
    place: Place,
    rows: tuple[Masses, Masses],
    couplings: list[_Coupling],
    bound: Bound,
    costs: Costs,
) -> None:
    additive = arena.metric.additive
    proved = set()
    for coupling in counted(couplings):
        here, there = rows if coupling.direction == "forward" else rows[::-1]
        cost = _cost(arena, place, here, there, _moves(arena, coupling), costs)
        if not at_most(*arena.metric.sides(cost, bound)):
            raise RuleViolation(f"Q7: {place.where}: a coupling costs more than the value")
        if not additive or sum(all_of(here.values())) >= sum(all_of(there.values())):
            proved.add(coupling.direction)
    if len(proved) < (1 if additive else 2):
        raise RuleViolation(f"Q7: {place.where}: a direction has no coupling")


def _cost(  # noqa: PLR0913, PLR0917
    arena: GeneralisedArena, place: Place, here: Masses, there: Masses, moves: list[Move], costs: Costs
) -> Fraction:
    sources, room = arena.metric.compared(here, there)
    left = dict(all_of(sources))
    taken, paid = dict.fromkeys(room, ZERO), dict.fromkeys(room, ZERO)
    for i, j, mass in counted(moves):
        each = costs(i, j)
        if j not in room or each is None:
            raise RuleViolation(f"Q7: {place.where}: a move ends where it may not")
        left[i] = left.get(i, ZERO) - mass
        taken[j] += mass
        paid[j] += mass * each
    if any(rest > 0 for rest in counted(left.values())):
        raise RuleViolation(f"Q7: {place.where}: a coupling leaves mass where it is")
    if not arena.metric.additive:
        return max((full / room[j] for j, full in counted(paid.items())), default=ZERO)
    if any(full > room[j] for j, full in counted(taken.items())):
        raise RuleViolation(f"Q7: {place.where}: a coupling moves more to a state than it takes")
    return sum(all_of(paid.values()), ZERO)


Unordered = frozenset[int]  # a pair of classes
Table = Mapping[Unordered, Bound]
Masses = dict[int, Fraction]
Costs = Callable[[int, int], Bound]

ZERO = Fraction(0)
ONE = Fraction(1)
NOWHERE = -1  # the class of what is given up: no state is in it, and it is at the diameter from all that are


def unordered(place: Place) -> Unordered:
    """Return the pair of an entry: distances are symmetric."""
    return frozenset(all_of(place.pair))


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
    more = {i: mass - there.get(i, ZERO) for i, mass in counted(here.items())}
    return {i: mass for i, mass in counted(more.items()) if mass > 0}


class GeneralisedArena(Arena):
    """The automaton seen by classes of bisimilar states."""

    def __init__(self, automaton: Automaton, metric: Metric) -> None:
        super().__init__(automaton, lumped, "Q4")
        self.metric = metric
        self._actions = {
            number: {self.action(n) for n in counted(self.steps[state])}
            for state, number in counted(self.classes.items())
        }

    def row(self, transition: int) -> Masses:
        return lumped(self.automaton.transitions[transition][2], self.classes)

    def masses(self, value: object, where: str, rule: str) -> Masses:
        """Read an object that gives states a number each that is not negative."""
        return {
            self.class_of(name, where): Mass.by(rule)(number, f"a number of {where}")
            for name, number in counted(mapping(value, where).items())
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
