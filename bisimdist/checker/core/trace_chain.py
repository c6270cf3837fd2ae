"""What a certificate of a trace metric is about: an automaton, and vectors of masses along traces."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.partition import lumped, only_steps, refinements, summed
from bisimdist.checker.core.reading import (
    Counted,
    RuleViolation,
    common,
    fraction_work,
    rational,
    shown,
    spend,
)
from bisimdist.checker.core.shape import named
from bisimdist.checker.core.words import Masses as Followed
from bisimdist.checker.core.words import Steps

Masses = dict[int, Fraction]  # entries by class; none is zero

Direction = tuple[tuple[int, int], ...]

_ZERO = Fraction(0)
_ONE = Fraction(1)


def total(masses: Mapping[int, Fraction]) -> Fraction:
    """Return the sum of the entries."""
    return sum(all_of(masses.values()), _ZERO)


def direction(masses: Mapping[int, Fraction]) -> tuple[Direction, Fraction]:
    """Return a vector as integers without common divisor, and the positive factor that they stand with."""
    entries = sorted(all_of(masses.items()))
    unit = common(mass.denominator for _, mass in counted(entries))
    spend(fraction_work(unit.bit_length(), len(entries)))
    values = [mass.numerator * (unit // mass.denominator) for _, mass in counted(entries)]
    divisor = gcd(*values)
    whole = tuple(
        (state, value // divisor) for (state, _), value in counted(zip(entries, values, strict=True))
    )
    return whole, Counted.ratio(divisor, unit)


@dataclass(frozen=True)
class TraceChain:
    """An automaton with at most one transition a state, states of equal behaviour merged."""

    class_of: Mapping[str, int]  # for each state its class
    # for each class its action; None where nothing can be performed and survived
    actions: Mapping[int, str | None]
    rows: Mapping[int, Masses]  # for each class the classes that follow
    # for some classes their futures as combinations of those of others; empty where none are claimed
    combination: Mapping[int, Masses]

    @classmethod
    def of(cls, automaton: Automaton) -> TraceChain:
        """Merge the states."""
        steps = {s: step for s, step in counted(only_steps(automaton.transitions, "T1").items()) if step[1]}
        *_, class_of = refinements(
            automaton.states,
            lambda state: [steps[state]] if state in steps else [],
            lumped,
        )
        actions: dict[int, str | None] = {}
        rows: dict[int, Masses] = {}
        for state, number in counted(class_of.items()):
            actions[number], row = steps.get(state, (None, {}))
            rows[number] = lumped(row, class_of)
        return cls(class_of, actions, rows, {})

    def combined(self, data: object) -> TraceChain:
        """Return the chain with combinations of futures, once they are proved."""
        rows: dict[int, Masses] = {}
        for name, row in counted(named(named(rational))(data, "the combination").items()):
            state = self.state(name, "the combination")
            if state in rows:
                raise RuleViolation(f"T3: the combination of {shown(name)} is given twice")
            where = f"the combination of {shown(name)}"
            rows[state] = summed((self.state(other, where), value) for other, value in counted(row.items()))
        self._check(rows)
        return TraceChain(self.class_of, self.actions, self.rows, rows)

    def _check(self, rows: Mapping[int, Masses]) -> None:
        moved: dict[int, Masses] = {}
        for state, row in counted(rows.items()):
            if total(row) != 1:
                raise RuleViolation("T3: the coefficients of a combination do not sum to 1")
            for other in counted(row):
                if rows.get(other) != {other: _ONE}:
                    raise RuleViolation("T3: a combination is not made of states that stand for themselves")
            if not rows.keys() >= self.rows[state].keys():
                raise RuleViolation("T3: a successor has no combination")
            moved[state] = _spread(self.rows[state], rows)
        for state, row in counted(rows.items()):
            by_action: dict[str | None, Masses] = {self.actions[state]: {}}
            for other, weight in counted(row.items()):
                after = by_action.setdefault(self.actions[other], {})
                for target, mass in counted(moved[other].items()):
                    after[target] = after.get(target, _ZERO) + weight * mass
            for action, after in counted(by_action.items()):
                if _nonzero(after) != (moved[state] if action == self.actions[state] else {}):
                    raise RuleViolation("T3: the future of a state is not the combination")

    def state(self, name: str, where: str) -> int:
        known = self.class_of.get(name)
        if known is None:
            raise RuleViolation(f"T2: {where} names {shown(name)}, which is no state")
        return known

    @cached_property
    def _steps(self) -> Steps[int]:
        return Steps({state: (action, self.rows[state]) for state, action in counted(self.actions.items())})

    def along(self, masses: Mapping[int, Fraction], word: Iterable[str]) -> dict[int, Fraction]:
        return self._steps.along(Followed.of(masses), word).fractions()

    def after(self, masses: Mapping[int, Fraction], action: str) -> dict[int, Fraction]:
        return self.along(masses, (action,))

    def possible(self, masses: Mapping[int, Fraction]) -> list[str]:
        """Return the actions of the states that have mass."""
        return self._steps.possible(masses)

    def key(self, masses: Mapping[int, Fraction]) -> tuple[Direction, Fraction]:
        """Return the direction of the future of a vector: equal for equal futures up to a factor."""
        if not self.combination:
            return direction(masses)
        return direction(self.spread(masses))

    def spread(self, masses: Mapping[int, Fraction]) -> Masses:
        """Return a vector with the same future on the states that stand for themselves."""
        if not self.combination.keys() >= masses.keys():
            raise RuleViolation("T3: a state that is reached has no combination")
        return _spread(masses, self.combination)


def _spread(masses: Mapping[int, Fraction], rows: Mapping[int, Masses]) -> Masses:
    entries = (
        (other, mass * weight)
        for state, mass in counted(masses.items())
        for other, weight in counted(rows[state].items())
    )
    return _nonzero(summed(entries))


def _nonzero(masses: Masses) -> Masses:
    return {state: mass for state, mass in counted(masses.items()) if mass}
