"""The automaton of a metric certificate: its states merged at distance 0, and the bijections of two rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.reading import (
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    item,
    items,
    model_number,
    record,
    shown,
)

__all__ = ["Automaton", "Board", "Match", "perfect", "place", "read_automaton"]

Row = dict[str, Fraction]
Group = tuple[Fraction, int]


@dataclass(frozen=True)
class Automaton:
    """A probabilistic automaton by names; rows hold positive probabilities only."""

    states: list[str]
    transitions: list[tuple[str, str, Row]]

    def digest(self) -> str:
        """Return the SHA-256 of the canonical form with its lists sorted."""
        states = json.dumps(sorted(self.states), separators=(",", ":"))
        steps = sorted(
            json.dumps(
                [source, action, {target: decimal_rational(p) for target, p in row.items()}],
                sort_keys=True,
                separators=(",", ":"),
            )
            for source, action, row in self.transitions
        )
        text = f'{{"kind":"pa","states":{states},"transitions":[{",".join(steps)}]}}'
        return "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()


def read_automaton(value: object) -> Automaton:
    """Make the automaton from plain data.

    Raises
    ------
    MalformedCertificate
        If the data do not have the shape of an automaton.
    RuleViolation
        If they have, but make no automaton.
    """
    document = record(value, "the model", ("kind", "states", "transitions"), ("pairs",))
    if document["kind"] != "pa":
        raise MalformedCertificate(f"the model's kind is {shown(document['kind'])}; expected 'pa'")
    states = [item(name, "a state") for name in items(document["states"], "the states")]
    known = set(states)
    if not states or len(known) != len(states):
        raise RuleViolation("M1: the model has no state, or one twice")
    transitions = []
    for number, entry in enumerate(items(document["transitions"], "the transitions"), 1):
        where = f"transition {number}"
        step = record(entry, where, ("from", "action", "to"))
        source, action = item(step["from"], where), item(step["action"], where)
        if not isinstance(step["to"], dict):
            raise MalformedCertificate(f"{where}: 'to' is not an object")
        row = {target: model_number(p, where) for target, p in step["to"].items()}
        if not known.issuperset((source, *row)):
            raise RuleViolation(f"M1: {where} names something that is no state")
        if min(row.values(), default=0) < 0 or sum(row.values()) > 1:
            raise RuleViolation(f"M1: {where}: a probability is negative, or they sum to more than 1")
        transitions.append((source, action, {target: p for target, p in row.items() if p}))
    return Automaton(states, transitions)


@dataclass(frozen=True)
class Match:
    """A group of successors on the left, one on the right, and what matching them multiplies by.

    `classes` are the classes of the two successors.
    """

    left: int
    right: int
    ratio: Fraction
    classes: tuple[int, int]

    @property
    def size(self) -> Fraction:
        """The larger one of the ratio and its inverse."""
        return max(self.ratio, 1 / self.ratio)


@dataclass(frozen=True)
class Pairing:
    """Two rows in groups of equal successors, and all ways to match a group with a group."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    matches: tuple[Match, ...]


class Board:
    """The automaton with its classes: states at distance 0, and shapes (infinitely far if different)."""

    def __init__(self, automaton: Automaton) -> None:
        self.automaton = automaton
        self.steps: dict[str, list[int]] = {state: [] for state in automaton.states}
        for number, (source, _, _) in enumerate(automaton.transitions):
            self.steps[source].append(number)
        self.classes = self._stable(lambda row, of: Counter((of[t], p) for t, p in row.items()))
        self.shapes = self._stable(lambda row, of: Counter(of[t] for t in row))
        self.shape_of = {self.classes[state]: shape for state, shape in self.shapes.items()}
        self._pairings: dict[tuple[int, int], Pairing] = {}

    def _stable(self, key: Callable[[Row, dict[str, int]], Counter[Any]]) -> dict[str, int]:
        """Return the coarsest partition in which equal classes have equal transitions, as `key` sees them."""
        of = dict.fromkeys(self.automaton.states, 0)
        count = 1
        while True:
            numbers: dict[Hashable, int] = {}
            refined = {}
            for state in self.automaton.states:
                kinds = frozenset(
                    (
                        self.automaton.transitions[n][1],
                        frozenset(key(self.automaton.transitions[n][2], of).items()),
                    )
                    for n in self.steps[state]
                )
                refined[state] = numbers.setdefault((of[state], kinds), len(numbers))
            of = refined
            if len(numbers) == count:
                return of
            count = len(numbers)

    def answers(self, mine: int, other: str) -> list[int]:
        """Return the transitions of a state that have the action of a transition."""
        action = self.automaton.transitions[mine][1]
        return [n for n in self.steps[other] if self.automaton.transitions[n][1] == action]

    def pairing(self, left: int, right: int) -> Pairing:
        """Return the ways to match the rows of two transitions."""
        if (left, right) not in self._pairings:
            ours, theirs = self._groups(left), self._groups(right)
            matches = tuple(
                Match(i, j, p / q, (block, other))
                for i, (p, block) in enumerate(ours)
                for j, (q, other) in enumerate(theirs)
                if self.shape_of[block] == self.shape_of[other]
            )
            self._pairings[left, right] = Pairing(tuple(ours.values()), tuple(theirs.values()), matches)
        return self._pairings[left, right]

    def _groups(self, transition: int) -> dict[Group, int]:
        row = self.automaton.transitions[transition][2]
        return dict(Counter((p, self.classes[target]) for target, p in row.items()))


def perfect(pairing: Pairing, matches: Iterable[Match]) -> bool:
    """Tell whether the successors can be matched one to one along some of the matches."""
    if sum(pairing.left) != sum(pairing.right):
        return False
    ways: list[list[int]] = [[] for _ in pairing.left]
    for match in matches:
        ways[match.left].append(match.right)
    used: list[dict[int, int]] = [{} for _ in pairing.right]  # right: {left: how many}
    room = list(pairing.right)
    return all(place(i, need, ways, used, room) for i, need in enumerate(pairing.left))


def place(start: int, need: int, ways: list[list[int]], used: list[dict[int, int]], room: list[int]) -> bool:
    """Find places on the right for so many members of a left group; tell whether there are any.

    `ways` are the right groups by left group, `used` says by right group how many of which left group it has
    taken, `room` for how many more it has room; the last two change.
    """
    while need:
        came, before, end = _search(start, ways, used, room)
        if end < 0:
            return False
        amount, j = min(need, room[end]), end
        while before[came[j]] != -1:
            amount = min(amount, used[before[came[j]]][came[j]])
            j = before[came[j]]
        room[end] -= amount
        need -= amount
        j = end
        while j != -1:
            i = came[j]
            used[j][i] = used[j].get(i, 0) + amount
            j = before[i]
            if j != -1:
                used[j][i] -= amount
                if not used[j][i]:
                    del used[j][i]
    return True


def _search(
    start: int, ways: list[list[int]], used: list[dict[int, int]], room: list[int]
) -> tuple[dict[int, int], dict[int, int], int]:
    """Return how right and left groups were reached, and a right group with room (-1 where there is none)."""
    came: dict[int, int] = {}
    before = {start: -1}
    waiting = [start]
    for i in waiting:
        for j in ways[i]:
            if j in came:
                continue
            came[j] = i
            if room[j]:
                return came, before, j
            for k in used[j]:
                if k not in before:
                    before[k] = j
                    waiting.append(k)
    return came, before, -1
