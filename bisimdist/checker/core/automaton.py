"""The automaton of a metric certificate: its states in classes, and the bijections of two rows."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import read_chain
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    decimal_rational,
    item,
    items,
    mapping,
    model_number,
    natural,
    record,
    shown,
    strings,
)
from bisimdist.checker.core.steps import Classes, refinements

__all__ = [
    "Arena",
    "Automaton",
    "Board",
    "Match",
    "Pair",
    "Place",
    "given_automaton",
    "perfect",
    "place",
    "read_automaton",
]

Row = dict[str, Fraction]
Pair = tuple[int, int]
Seen = Callable[[Row, Classes], Mapping[Any, Any]]
"""What counts of a row when states are put into classes."""
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
    choice(document["kind"], "the model's kind", ("pa",))
    states = [item(name, "a state") for name in items(document["states"], "the states")]
    known = set(states)
    if not states or len(known) != len(states):
        raise RuleViolation("M1: the model has no state, or one twice")
    transitions = []
    for number, entry in enumerate(items(document["transitions"], "the transitions"), 1):
        where = f"transition {number}"
        step = record(entry, where, ("from", "action", "to"))
        source, action = item(step["from"], where), item(step["action"], where)
        row = {
            target: model_number(p, where) for target, p in mapping(step["to"], f"'to' of {where}").items()
        }
        if not known.issuperset((source, *row)):
            raise RuleViolation(f"M1: {where} names something that is no state")
        if any(p < 0 for p in row.values()) or sum(row.values()) > 1:
            raise RuleViolation(f"M1: {where}: a probability is negative, or they sum to more than 1")
        transitions.append((source, action, {target: p for target, p in row.items() if p}))
    return Automaton(states, transitions)


def given_automaton(model: object) -> Automaton:
    """Return the automaton of a model file; of a chain the one whose actions are its labels.

    Raises
    ------
    MalformedCertificate
        If the data make no automaton.
    """
    try:
        if isinstance(model, dict) and model.get("kind") == "lmc":
            chain = read_chain(model)
            rows = [(state, label, dict(chain.rows[state])) for state, label in chain.labels.items()]
            return Automaton(list(chain.labels), rows)
        return read_automaton(model)
    except RuleViolation as violation:
        raise MalformedCertificate(f"the model that is given: {violation}") from violation


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
        self.steps: dict[str, list[int]] = {state: [] for state in automaton.states}
        for number, (source, _, _) in enumerate(automaton.transitions):
            self.steps[source].append(number)
        self.classes = self.stable(seen)

    def stable(self, seen: Seen) -> Classes:
        """Return the coarsest partition in which equal classes have equal transitions, as they are seen."""

        def look(state: str, of: Classes) -> Hashable:
            rows = (self.automaton.transitions[n] for n in self.steps[state])
            return frozenset((action, frozenset(seen(row, of).items())) for _, action, row in rows)

        *_, last = refinements(self.automaton.states, look)
        return last

    def class_of(self, name: str, where: str) -> int:
        """Return the class of a state that is named."""
        if name not in self.classes:
            raise RuleViolation(f"{self.rule}: {where} names {shown(name)}, which is no state")
        return self.classes[name]

    def place(self, entry: Mapping[str, Any], where: str) -> Place:
        """Read the pair of an entry."""
        first, second = strings(entry["pair"], f"the pair of {where}", 2)
        pair = self.class_of(first, where), self.class_of(second, where)
        return Place(f"{where}, [{shown(first)}, {shown(second)}]", (first, second), pair)

    def challenge(self, place: Place, entry: Mapping[str, Any], rule: str) -> tuple[int, int]:
        """Read a challenge: return the side that moves, and its transition."""
        side = natural(entry["side"], f"the side of {place.where}")
        n = natural(entry["challenge"], f"the challenge of {place.where}") - 1
        if side > 1 or not 0 <= n < len(self.automaton.transitions):
            raise RuleViolation(f"{rule}: {place.where}: there is no such challenge")
        if self.classes[self.automaton.transitions[n][0]] != place.pair[side]:
            raise RuleViolation(f"{rule}: {place.where}: the challenge is no transition of that side")
        return side, n

    def answers(self, mine: int, other: str) -> list[int]:
        """Return the transitions of a state that have the action of a transition."""
        return [n for n in self.steps[other] if self.action(n) == self.action(mine)]

    def action(self, transition: int) -> str:
        """Return the action of a transition."""
        return self.automaton.transitions[transition][1]


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


class Board(Arena):
    """The arena of bijections: classes are at distance 0, and shapes infinitely far if different."""

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(automaton, lambda row, of: Counter((of[t], p) for t, p in row.items()), "M4")
        shapes = self.stable(lambda row, of: Counter(of[t] for t in row))
        self.shape_of = {self.classes[state]: shape for state, shape in shapes.items()}
        self._pairings: dict[tuple[int, int], Pairing] = {}

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

    def answered(self, place: Place, side: int, challenge: int) -> Iterator[tuple[int, Pairing]]:
        """Yield the answers to a challenge, each with the ways to match first and second state."""
        for m in self.answers(challenge, place.states[1 - side]):
            yield m, self.pairing(challenge, m) if side == 0 else self.pairing(m, challenge)

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
        found = _search(start, ways, used, room)
        if found is None:
            return False
        came, before, end = found
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
) -> tuple[dict[int, int], dict[int, int], int] | None:
    """Return how right and left groups were reached, and a right group with room, if there is one."""
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
    return None
