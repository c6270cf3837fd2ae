"""Pairs of states of an automaton, in classes: tables about them, claims, challenges and answers."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.partition import Classes, refinements
from bisimdist.checker.core.reading import RuleViolation, item, shown
from bisimdist.checker.core.shape import Reader, Shape, key, listed, row

Row = dict[str, Fraction]
Pair = tuple[int, int]
Seen = Callable[[Mapping[str, Fraction], Classes], Mapping[Any, Any]]
"""What counts of a row when states are put into classes."""


class Paired(Shape):
    """An entry of a table about pairs."""

    pair: tuple[str, str] = key(row(item, item))


Entry = TypeVar("Entry", bound=Paired)


@dataclass(frozen=True)
class Place:
    """An entry of a table: where it stands, its states and their classes."""

    where: str
    states: tuple[str, str]
    pair: Pair


class Arena:
    """The automaton with its states in classes, and the challenges of a pair of them."""

    def __init__(self, automaton: Automaton, seen: Seen, rule: str) -> None:
        self.automaton = automaton
        self.rule = rule  # that of names
        self.steps: dict[str, list[int]] = {state: [] for state in counted(automaton.states)}
        self._by_action: dict[tuple[str, str], list[int]] = {}
        for number, (source, action, _) in counted(enumerate(automaton.transitions)):
            self.steps[source].append(number)
            self._by_action.setdefault((source, action), []).append(number)
        self.classes = self.stable(seen)

    def stable(self, seen: Seen) -> Classes:
        """Return the coarsest partition in which equal classes have equal transitions, as they are seen."""
        *_, last = refinements(
            self.automaton.states,
            lambda state: (self.automaton.transitions[n][1:] for n in counted(self.steps[state])),
            seen,
        )
        return last

    def class_of(self, name: str, where: str) -> int:
        if name not in self.classes:
            raise RuleViolation(f"{self.rule}: {where} names {shown(name)}, which is no state")
        return self.classes[name]

    def place(self, entry: Paired) -> Place:
        first, second = entry.pair
        pair = self.class_of(first, entry.where), self.class_of(second, entry.where)
        return Place(f"{entry.where}, [{shown(first)}, {shown(second)}]", entry.pair, pair)

    def table(
        self,
        read: Reader[Entry],
        value: object,
        name: str,
        rule: str,
        by: Callable[[Place, Entry], Hashable] = lambda place, _: place.pair,
    ) -> list[tuple[Place, Entry]]:
        """Read a table, no two entries of which are about the same pair, or what `by` makes of an entry."""
        result, seen = [], set()
        for entry in counted(listed(read)(value, name)):
            place = self.place(entry)
            if by(place, entry) in seen:
                raise RuleViolation(f"{rule}: {place.where} is listed twice")
            seen.add(by(place, entry))
            result.append((place, entry))
        return result

    def challenge(self, place: Place, side: int, challenge: int, rule: str) -> int:
        """Return the transition that a side moves by, which is written by its number from 1."""
        n = challenge - 1
        if side > 1 or not 0 <= n < len(self.automaton.transitions):
            raise RuleViolation(f"{rule}: {place.where}: there is no such challenge")
        if self.classes[self.automaton.transitions[n][0]] != place.pair[side]:
            raise RuleViolation(f"{rule}: {place.where}: the challenge is no transition of that side")
        return n

    def answers(self, mine: int, other: str) -> list[int]:
        """Return the transitions of a state that have the action of a transition."""
        return self._by_action.get((other, self.action(mine)), [])

    def answered_by(self, mine: int, number: int, other: str) -> bool:
        """Tell whether a transition of a state has the action of another one."""
        steps = self.automaton.transitions
        return 0 <= number < len(steps) and steps[number][:2] == (other, self.action(mine))

    def action(self, transition: int) -> str:
        return self.automaton.transitions[transition][1]
