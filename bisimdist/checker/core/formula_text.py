"""Reads the text of a formula into a graph. Nothing recurses: a text may be nested as deep as it likes."""

from __future__ import annotations

import json
import re
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import LOOK, MalformedCertificate, model_number, shown, spend

MAX_WEIGHT_BITS = 200_000  # the same limit that the rows of a model have

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
_WORDS = ("let", "rec", "in", "T")
Token = tuple[str, str]


@dataclass(frozen=True)
class Text:
    """What is read: a formula, and the equations of its variables in their order."""

    root: int
    equations: dict[str, int]


@dataclass
class Frame:
    """Something that is open: ``all``, ``(``, ``!``, ``<``, a weight, or a list of weighted parts."""

    kind: str
    action: str = ""
    weight: Fraction = Fraction(0)
    operands: list[int] = field(default_factory=list)
    parts: list[tuple[Fraction, int]] = field(default_factory=list)


def read_text(graph: FormulaGraph, text: str, *, distributions: bool = False) -> Text:
    """Read a formula about states, or one about distributions."""
    return _Reading(graph, text).whole(distributions=distributions)


def read_linear(text: str) -> tuple[Fraction | None, tuple[str, ...]]:
    """Read a formula of the trace logic: its number if it has one, and its actions."""
    tokens = list(all_of(_tokens(text)))
    number = model_number(tokens.pop(0)[1], "the number") if tokens and tokens[0][0] == "number" else None
    if not tokens or tokens.pop() != ("sign", "T") or any(kind != "action" for kind, _ in counted(tokens)):
        raise MalformedCertificate(f"{shown(text)} is no formula of the trace logic")
    return number, tuple(action for _, action in counted(tokens))


class _Reading:
    """One text."""

    def __init__(self, graph: FormulaGraph, text: str) -> None:
        self.graph = graph
        self.tokens = list(all_of(_tokens(text)))
        self.tokens += [("end", ""), ("end", "")]
        self.position = 0
        self.known: dict[str, int] = {}
        self.used: dict[str, None] = {}

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

    def whole(self, *, distributions: bool) -> Text:
        equations: dict[str, int] = {}
        if self.at("let"):
            self.definitions(self.known)
        if self.at("rec"):
            self.definitions(equations)
        if distributions and self.at("T"):
            self.position += 1
            root = ANYTHING
        else:
            root = self.formula()
        if self.tokens[self.position][0] != "end":
            raise self.fail("the end")
        about = self.graph.about_distributions
        if about(root) != distributions or any(all_of(map(about, equations.values()))):
            expected = "distributions" if distributions else "states"
            raise MalformedCertificate(f"the formula or an equation of it is not about {expected}")
        if distributions and equations:
            raise MalformedCertificate("a formula about distributions has equations")
        for name in counted(self.used):
            if name not in equations:
                raise MalformedCertificate(f"the name {shown(name)} of the formula has no definition")
        return Text(root, equations)

    def definitions(self, into: dict[str, int]) -> None:
        self.position += 1
        while True:
            spend(LOOK)
            kind, name = self.tokens[self.position]
            if kind != "name" or name in self.known or name in into:
                raise self.fail("a new name")
            self.position += 1
            self.take("=")
            into[name] = self.formula()
            if not self.at(";"):
                self.take("in")
                return
            self.position += 1

    def formula(self) -> int:
        """Read one formula of either sort."""
        stack: list[Frame] = []
        value: int | None = None
        if self.at("(") and self.weighted(1):
            self.position += 1
            stack.append(Frame("parts"))
            value = self.weight(stack)
        elif self.known_distribution():
            value = self.known[self.tokens[self.position][1]]
            self.position += 1
        else:
            stack.append(Frame("all"))
        while stack:
            spend(LOOK)
            value = self.literal(stack) if value is None else self.reduce(stack, value)
        assert value is not None
        return value

    def known_distribution(self) -> bool:
        kind, name = self.tokens[self.position]
        return kind == "name" and name in self.known and self.graph.about_distributions(self.known[name])

    def weighted(self, ahead: int) -> bool:
        kind, text = self.tokens[self.position + ahead]
        return kind == "number" or (kind, text) == ("sign", ")")

    def weight(self, stack: list[Frame]) -> int | None:
        """Take a weight, or the end of an empty list of parts, which is then returned."""
        kind, text = self.tokens[self.position]
        if self.at(")") and not stack[-1].parts:
            self.position += 1
            stack.pop()
            return self.graph.mixture(())
        if kind != "number":
            raise self.fail("a weight")
        self.position += 1
        number = model_number(text, "a weight")
        if number <= 0:
            raise MalformedCertificate(f"the weight {shown(text)} is not positive")
        stack.append(Frame("weight", weight=number))
        return None

    def literal(self, stack: list[Frame]) -> int | None:
        """Take the first token of what must follow; return its value if that is all of it."""
        kind, text = self.tokens[self.position]
        if self.at("(") and self.weighted(1):
            self.position += 1
            stack.append(Frame("parts"))
            return self.weight(stack)
        if stack[-1].kind == "<" and self.at("T"):
            self.position += 1
            return ANYTHING
        failure = self.fail("a formula")
        self.position += 1
        if kind == "action":
            stack.append(Frame("<", action=text))
        elif text in self.known:
            return self.known[text]
        elif kind == "name":
            self.used[text] = None
            return self.graph.variable(text)
        elif (kind, text) == ("sign", "T"):
            return TOP
        elif (kind, text) in {("sign", "!"), ("sign", "(")}:
            stack.append(Frame(text))
        else:
            raise failure
        return None

    def reduce(self, stack: list[Frame], value: int) -> int | None:
        """Give a value to what is open; return what that completes, or None where more must follow."""
        frame = stack[-1]
        if frame.kind == "<":
            stack.pop()
            if not self.graph.about_distributions(value):
                value = self.graph.mixture([(Fraction(1), value)])
            return self.graph.diamond(frame.action, value)
        if self.graph.about_distributions(value):
            raise self.fail("a formula about states before this")
        if frame.kind == "!":
            stack.pop()
            return self.graph.negation(value)
        if frame.kind == "weight":
            return self.part(stack, value)
        frame.operands.append(value)
        if self.at("&"):
            self.position += 1
            return None
        if frame.kind == "(":
            self.take(")")
        stack.pop()
        return self.graph.conjunction(frame.operands)

    def part(self, stack: list[Frame], value: int) -> int | None:
        """Add a weighted part to the open list; return the list where it ends."""
        weight = stack.pop().weight
        frame = stack[-1]
        frame.parts.append((weight, value))
        if self.at("+"):
            self.position += 1
            self.weight(stack)
            return None
        self.take(")")
        stack.pop()
        common = 1
        for denominator in {weight.denominator for weight, _ in counted(frame.parts)}:
            common = lcm(common, denominator)
            if common.bit_length() > MAX_WEIGHT_BITS:
                raise MalformedCertificate(
                    f"the weights have a common denominator of more than {MAX_WEIGHT_BITS} bits"
                )
        return self.graph.mixture(frame.parts)


def _tokens(text: str) -> Iterator[Token]:
    offset = 0
    while match := _TOKEN.match(text, offset):
        spend(LOOK)
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


TOP = 0  # ``T``, which every state satisfies

ANYTHING = 1  # ``T`` as a formula about distributions


class FormulaGraph:
    """Formulae by number.

    ``nodes[n]`` is one of ``("T",)``, ``("*",)`` (anything), ``("X", name)``, ``("!", n)``,
    ``("&", (n, ...))``, ``("<", action, n)`` and ``("+", ((n, weight), ...))``. ``depth[n]`` is how deep
    modalities are nested in it, ``open[n]`` says whether a variable occurs in it.
    """

    def __init__(self) -> None:
        self.nodes: list[tuple[Any, ...]] = []
        self.depth: list[int] = []
        self.open: list[bool] = []
        self._numbers: dict[Hashable, int] = {}
        self._number(("T",), ())
        self._number(("*",), ())

    def _number(self, node: tuple[Any, ...], inside: Iterable[int]) -> int:
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self.nodes)
            parts = list(all_of(inside))
            self.nodes.append(node)
            self.depth.append(max((self.depth[n] for n in counted(parts)), default=0) + (node[0] == "<"))
            self.open.append(node[0] == "X" or any(self.open[n] for n in counted(parts)))
        return found

    def inside(self, number: int) -> tuple[int, ...]:
        node = self.nodes[number]
        match node[0]:
            case "!":
                return (node[1],)
            case "<":
                return (node[2],)
            case "&":
                return tuple(all_of(node[1]))
            case "+":
                return tuple(part for part, _ in counted(node[1]))
            case _:
                return ()

    def about_distributions(self, number: int) -> bool:
        return self.nodes[number][0] in "*+"

    def variable(self, name: str) -> int:
        return self._number(("X", name), ())

    def negation(self, operand: int) -> int:
        node = self.nodes[operand]
        if node[0] == "!":
            return int(node[1])
        return self._number(("!", operand), (operand,))

    def conjunction(self, operands: Iterable[int]) -> int:
        """Return the conjunction of formulae, ``T`` if there is none."""
        members = set(all_of(operands))
        members.discard(TOP)
        if len(members) < 2:
            return members.pop() if members else TOP
        ordered = tuple(all_of(sorted(all_of(members))))
        return self._number(("&", ordered), ordered)

    def diamond(self, action: str, target: int) -> int:
        """Return ``<action>`` before a formula about distributions."""
        return self._number(("<", action, target), (target,))

    def mixture(self, parts: Iterable[tuple[Fraction, int]]) -> int:
        """Return the formula about distributions that has these parts."""
        weights: dict[int, Fraction] = {}
        for weight, part in counted(parts):
            weights[part] = weights[part] + weight if part in weights else weight
        return self._number(("+", tuple(all_of(sorted(all_of(weights.items()))))), weights)
