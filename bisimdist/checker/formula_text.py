"""Reads a formula and says at once which states satisfy it.

A set of states is an integer, bit s standing for the state of number s. There is no tree: what has been read
is kept as the set of the states that satisfy it, with its modal depth. Nothing recurses.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from bisimdist.checker.metric_arena import Automaton, place
from bisimdist.checker.reading import MalformedCertificate, model_number, shown

__all__ = ["FormulaReader", "splits"]

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
    (?P<number>[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?:/[0-9]+)?)
    |<(?:(?P<quoted>"(?:[^"\\\n]|\\.)*")|(?P<plain>[\w.~'-]+))>
    |(?P<name>[^\W\d]\w*'*)
    |(?P<sign>[()!&+;=])
    )""",
    re.VERBOSE,
)
_BLANK = re.compile(r"[ \t\r\n]*")
_WORDS = ("let", "in", "T")


@dataclass(frozen=True)
class States:
    """What is known of a state formula: who satisfies it, and how deep it is."""

    members: int
    depth: int


@dataclass(frozen=True)
class Parts:
    """What is known of a distribution formula; no parts at all (None) for ``T``."""

    parts: tuple[tuple[Fraction, int], ...] | None
    depth: int


@dataclass
class Frame:
    """Something that is open: ``all``, ``(``, ``!``, ``<``, a weight, or a list of weighted parts."""

    kind: str
    action: str = ""
    weight: Fraction = Fraction(0)
    members: int = 0
    depth: int = 0
    parts: list[tuple[Fraction, int]] = field(default_factory=list)


Token = tuple[str, str]


class FormulaReader:
    """Reads formulae over the states of an automaton."""

    def __init__(self, automaton: Automaton) -> None:
        self.number = {state: n for n, state in enumerate(automaton.states)}
        self.every = (1 << len(automaton.states)) - 1
        self.steps: dict[str, list[tuple[int, Fraction, list[tuple[int, Fraction]], int]]] = {}
        for source, action, row in automaton.transitions:
            entries = [(self.number[target], p) for target, p in row.items()]
            support = sum(1 << target for target, _ in entries)
            step = (self.number[source], sum(row.values(), Fraction(0)), entries, support)
            self.steps.setdefault(action, []).append(step)

    def read(self, text: str) -> States:
        """Return which states satisfy the formula that is written, and its modal depth.

        Raises
        ------
        MalformedCertificate
            If the text is no formula.
        """
        return _Reading(self, text).whole()

    def diamond(self, action: str, target: Parts) -> States:
        """Return which states have a transition of an action whose row satisfies a distribution formula."""
        members = 0
        mass = sum((weight for weight, _ in target.parts), Fraction(0)) if target.parts is not None else None
        for source, total, row, support in self.steps.get(action, ()):
            if members >> source & 1:
                continue
            if target.parts is None or (total == mass and splits(row, support, target.parts)):
                members |= 1 << source
        return States(members, target.depth + 1)


def splits(row: list[tuple[int, Fraction]], support: int, parts: tuple[tuple[Fraction, int], ...]) -> bool:
    """Tell whether a row is a sum of parts of these masses, each on its set; the masses add up already."""
    covered = 0
    for _, members in parts:
        if not members & support:
            return False
        covered |= members
    if support & ~covered:
        return False
    if len(parts) == 1:
        return True
    unit = lcm(*(p.denominator for _, p in row), *(weight.denominator for weight, _ in parts))
    room = [int(p * unit) for _, p in row]
    flow: list[dict[int, int]] = [{} for _ in row]  # by successor: from which part how much
    ways = [[k for k, (state, _) in enumerate(row) if members >> state & 1] for _, members in parts]
    return all(place(part, int(weight * unit), ways, flow, room) for part, (weight, _) in enumerate(parts))


class _Reading:
    """One text."""

    def __init__(self, reader: FormulaReader, text: str) -> None:
        self.reader = reader
        self.tokens = list(_tokens(text))
        self.tokens += [("end", ""), ("end", "")]
        self.position = 0
        self.known: dict[str, States | Parts] = {}

    def fail(self, expected: str) -> MalformedCertificate:
        kind, text = self.tokens[self.position]
        found = "its end" if kind == "end" else shown(text)
        return MalformedCertificate(f"the formula has {found} where {expected} was expected")

    def at(self, *texts: str) -> bool:
        kind, text = self.tokens[self.position]
        return kind == "sign" and text in texts

    def take(self, text: str) -> None:
        if not self.at(text):
            raise self.fail(repr(text))
        self.position += 1

    def whole(self) -> States:
        if self.at("let"):
            self.position += 1
            while True:
                kind, name = self.tokens[self.position]
                if kind != "name" or name in self.known:
                    raise self.fail("a new name")
                self.position += 1
                self.take("=")
                self.known[name] = self.formula()
                if self.at(";"):
                    self.position += 1
                    continue
                self.take("in")
                break
        result = self.formula()
        if self.tokens[self.position][0] != "end" or not isinstance(result, States):
            raise self.fail("the end of a formula about states")
        return result

    def formula(self) -> States | Parts:
        """Read one formula of either sort."""
        stack: list[Frame] = []
        if self.at("(") and self.weighted(1):
            self.position += 1
            stack.append(Frame("parts"))
            value: States | Parts | None = self.weight(stack)
        else:
            stack.append(Frame("all", members=self.reader.every))
            value = None
        while stack:
            value = self.literal(stack) if value is None else self.reduce(stack, value)
        assert value is not None
        return value

    def weighted(self, ahead: int) -> bool:
        kind, text = self.tokens[self.position + ahead]
        return kind == "number" or (kind, text) == ("sign", ")")

    def weight(self, stack: list[Frame]) -> Parts | None:
        """Take a weight, or the end of an empty list of parts, which is then returned."""
        kind, text = self.tokens[self.position]
        if self.at(")") and not stack[-1].parts:
            self.position += 1
            stack.pop()
            return Parts((), 0)
        if kind != "number":
            raise self.fail("a weight")
        self.position += 1
        number = model_number(text, "a weight")
        if number <= 0:
            raise MalformedCertificate(f"the weight {shown(text)} is not positive")
        stack.append(Frame("weight", weight=number))
        return None

    def literal(self, stack: list[Frame]) -> States | Parts | None:
        """Take the first token of what must follow; return its value if that is all of it."""
        kind, text = self.tokens[self.position]
        if stack[-1].kind == "<" and self.at("(") and self.weighted(1):
            self.position += 1
            stack.append(Frame("parts"))
            return self.weight(stack)
        if stack[-1].kind == "<" and self.at("T"):
            self.position += 1
            return Parts(None, 0)
        self.position += 1
        if kind == "action":
            stack.append(Frame("<", action=text))
        elif kind == "name" and text in self.known:
            return self.known[text]
        elif (kind, text) == ("sign", "T"):
            return States(self.reader.every, 0)
        elif (kind, text) in {("sign", "!"), ("sign", "(")}:
            stack.append(Frame(text, members=self.reader.every))
        else:
            self.position -= 1
            raise self.fail("a formula")
        return None

    def reduce(self, stack: list[Frame], value: States | Parts) -> States | Parts | None:
        """Give a value to what is open; return what that completes, or None where more must follow."""
        frame = stack[-1]
        if frame.kind == "<":
            stack.pop()
            if isinstance(value, States):
                value = Parts(((Fraction(1), value.members),), value.depth)
            return self.reader.diamond(frame.action, value)
        if not isinstance(value, States):
            raise self.fail("a formula about states before this")
        if frame.kind == "!":
            stack.pop()
            return States(self.reader.every & ~value.members, value.depth)
        if frame.kind == "weight":
            return self.part(stack, value)
        frame.members &= value.members
        frame.depth = max(frame.depth, value.depth)
        if self.at("&"):
            self.position += 1
            return None
        if frame.kind == "(":
            self.take(")")
        stack.pop()
        return States(frame.members, frame.depth)

    def part(self, stack: list[Frame], value: States) -> Parts | None:
        """Add a weighted part to the open list; return the list where it ends."""
        weight = stack.pop().weight
        frame = stack[-1]
        frame.parts.append((weight, value.members))
        frame.depth = max(frame.depth, value.depth)
        if self.at("+"):
            self.position += 1
            self.weight(stack)
            return None
        self.take(")")
        stack.pop()
        return Parts(tuple(frame.parts), frame.depth)


def _tokens(text: str) -> Iterator[Token]:
    offset = 0
    while match := _TOKEN.match(text, offset):
        offset = match.end()
        if match["number"] is not None:
            yield "number", match["number"]
        elif match["plain"] is not None:
            yield "action", match["plain"]
        elif match["quoted"] is not None:
            yield "action", _unquoted(match["quoted"])
        elif match["name"] is not None:
            yield ("sign" if match["name"] in _WORDS else "name"), match["name"]
        else:
            yield "sign", match["sign"]
    blank = _BLANK.match(text, offset)
    if blank is None or blank.end() != len(text):
        raise MalformedCertificate(f"the formula is not readable from {shown(text[offset : offset + 20])} on")


def _unquoted(text: str) -> str:
    try:
        result = json.loads(text)
    except json.JSONDecodeError as error:
        raise MalformedCertificate(f"the action {shown(text)} is no quoted text") from error
    assert isinstance(result, str)
    return result
