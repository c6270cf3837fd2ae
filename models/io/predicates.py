"""Expressions over the variables, formulas, constants and labels of a model of another tool.

The operators, their precedence and the form of property files are those of the PRISM manual, "The PRISM
Language: Expressions" and "Property Specification". Values are Booleans, integers, rationals, and roots that
are compared, all exact.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import total_ordering
from itertools import count as naturals
from itertools import islice
from typing import NoReturn, TypeAlias

from flint import fmpq

from bisimdist.errors import ModelError, NumberError
from bisimdist.exact.rational import parse_rational

Value: TypeAlias = "bool | int | fmpq | Root"
_At = Callable[[int], Value]  # the value in a state

_TOKEN = re.compile(
    r"(?P<number>(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?)|(?P<word>[A-Za-z_][\w.]*)|\"(?P<label>[^\"\n]+)\""
    r"|(?P<sign><=>|=>|<=|>=|!=|[=<>&|!+\-*/?:;(),\[\]{}])"
)
_BLANK = re.compile(r"(?:\s|//[^\n]*)*")
LEVELS: tuple[tuple[str, ...], ...] = (
    ("=>",),
    ("<=>",),
    ("|",),
    ("&",),
    ("!",),
    ("=", "!="),
    ("<", "<=", ">", ">="),
    ("+", "-"),
    ("*", "/"),
)  # PRISM's operators, the weakest first
_NOT = LEVELS.index(("!",))
_SUM = LEVELS.index(("+", "-"))
_DEPTH = 40  # how deeply expressions may be nested
_POWER = 10_000  # how large an exponent may be
_BITS = 10_000_000  # about how many bits a power may have
_PROBABILISTIC = re.compile(r"(?:[PR](?:min|max){0,2}|S|E|A)")
_RELEASE = re.compile(r"\s*[{=<>]")  # what follows R where it is the operator of rewards

_EQUAL: dict[str, Callable[[Value, Value], bool]] = {"=": operator.eq, "!=": operator.ne}
_LOGIC: dict[str, Callable[[Value, Value], bool]] = {
    "&": lambda a, b: bool(a and b),
    "|": lambda a, b: bool(a or b),
    "=>": lambda a, b: bool(not a or b),
    "<=>": operator.eq,
}
_NUMERIC: dict[str, Callable[..., Value]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": lambda a, b: fmpq(a) / fmpq(b),
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "mod": lambda a, b: a % b if isinstance(a, int) and isinstance(b, int) else _refuse("mod is of integers"),
    "min": lambda *numbers: min(numbers),
    "max": lambda *numbers: max(numbers),
    "floor": lambda a: int(fmpq(a).floor()),
    "ceil": lambda a: int(fmpq(a).ceil()),
    "pow": lambda a, b: _power(fmpq(a), fmpq(b)),
}
_ORDER = {"<", "<=", ">", ">=", "min", "max"}
_ARGUMENTS = {"mod": (2, 2), "pow": (2, 2), "floor": (1, 1), "ceil": (1, 1), "min": (1, 99), "max": (1, 99)}


def _refuse(message: str) -> NoReturn:
    raise ModelError(message)


@total_ordering
@dataclass(frozen=True, slots=True)
class Root:
    """A root that is not rational: it can be compared, and no more. One number has one base and one degree.

    >>> root = Root(fmpq(2), 2)
    >>> root < fmpq(3, 2), 1 < root, root < Root(fmpq(3), 3)
    (True, True, True)
    """

    base: fmpq
    degree: int

    def __lt__(self, other: int | fmpq | Root) -> bool:
        base, degree = (other.base, other.degree) if isinstance(other, Root) else (fmpq(other), 1)
        return bool(base > 0 and _raised(self.base, degree) < _raised(base, self.degree))

    def __str__(self) -> str:
        return f"pow({self.base}, 1/{self.degree})"


def _power(base: fmpq, exponent: fmpq) -> int | fmpq | Root:
    """Return a power, as an integer if it is one."""
    if abs(exponent) > _POWER or exponent.q > _POWER:
        _refuse(f"the exponent {exponent} is too large")
    degree = int(exponent.q)
    if degree > 1 and base < 0:
        _refuse(f"pow({base}, {exponent}) is not real")
    for part in range(degree, 1, -1):
        if degree % part == 0:
            root = fmpq(base.p.root(part), base.q.root(part))
            if root**part == base:
                base, degree = root, degree // part
                break
    power = _raised(base, int(exponent.p))
    if degree > 1:
        return Root(power, degree)
    return int(power.p) if power.q == 1 else power


def _raised(base: fmpq, exponent: int) -> fmpq:
    if max(abs(base.p), base.q).bit_length() * abs(exponent) > _BITS:
        _refuse("the power is too large")
    return base**exponent


@dataclass(frozen=True, slots=True)
class Node:
    """A part of an expression: its operator, what that is applied to, and its text."""

    op: str
    parts: tuple[Node, ...]
    text: str

    @property
    def timeless(self) -> bool:
        """Whether nothing in it speaks of more than one state."""
        return self.op != "over time" and all(part.timeless for part in self.parts)

    def walk(self) -> Iterator[Node]:
        """Iterate over this part and all parts of it."""
        yield self
        for part in self.parts:
            yield from part.walk()

    def atoms(self) -> Iterator[Node]:
        """Iterate over the largest parts that speak of one state, not of what comes after it."""
        if self.timeless:
            if any(part.op in {"word", "label"} for part in self.walk()):
                yield self
            return
        for part in self.parts:
            yield from part.atoms()


class Parser:
    """Reads expressions, and with ``temporal`` formulas of property files, from a text."""

    def __init__(self, text: str, *, temporal: bool = False) -> None:
        self.text = text
        self.temporal = temporal
        self.place = 0  # behind the last token
        self.depth = 0
        self.kind = self.token = ""
        self.start = self.end = 0
        self.advance()

    def advance(self) -> str:
        """Go to the next token, and return the one before it."""
        last = self.token
        self.place = self.end
        blank = _BLANK.match(self.text, self.end)
        self.start = self.end if blank is None else blank.end()
        found = _TOKEN.match(self.text, self.start)
        if found is None:
            if self.start < len(self.text):
                self.end = self.start + 1
                self.kind, self.token = "stray", self.text[self.start]
                return last
            self.kind, self.token, self.end = "", "", self.start
            return last
        self.kind = str(found.lastgroup)
        self.token = found[self.kind]
        self.end = found.end()
        return last

    def sign(self, *tokens: str) -> bool:
        """Tell whether the next token is one of some signs."""
        return self.kind == "sign" and self.token in tokens

    def take(self, token: str) -> None:
        """Go beyond a sign that has to be here."""
        if not self.sign(token):
            _refuse(f"found {self.token or 'the end'!r}; expected {token!r}")
        self.advance()

    def _node(self, op: str, parts: Sequence[Node], start: int) -> Node:
        return Node(op, tuple(parts), " ".join(self.text[start : self.place].split()))

    def expression(self) -> Node:
        """Return the expression, or formula, that begins here."""
        self.depth += 1
        if self.depth > _DEPTH:
            _refuse("the expression is nested too deeply")
        start = self.start
        left = self._until_unary()
        while self._at_binary():
            self.advance()
            self._bound()
            left = self._node("over time", [left, self._until_unary()], start)
        self.depth -= 1
        return left

    def _at_binary(self) -> bool:
        release = self.token == "R" and not _RELEASE.match(self.text, self.end)
        return self.temporal and self.kind == "word" and (release or self.token in {"U", "W"})

    def _until_unary(self) -> Node:
        start = self.start
        if self.temporal and self.kind == "word" and self.token in {"X", "F", "G"}:
            self.advance()
            self._bound()
            self.depth += 1
            if self.depth > _DEPTH:
                _refuse("the expression is nested too deeply")
            inner = self._until_unary()
            self.depth -= 1
            return self._node("over time", [inner], start)
        condition = self._level(0)
        if not self.sign("?"):
            return condition
        self.advance()
        first = self.expression()
        self.take(":")
        return self._node("?", [condition, first, self.expression()], start)

    def _bound(self) -> None:
        """Go beyond the bound of a temporal operator."""
        while self.sign("{", "["):
            self.skip("}" if self.token == "{" else "]")
        if self.sign("<=", "<", ">=", ">", "="):
            self.advance()
            self._level(_SUM)

    def skip(self, closing: str) -> None:
        """Go beyond a sign."""
        while not self.sign(closing):
            if not self.kind:
                _refuse(f"found the end; expected {closing!r}")
            self.advance()
        self.advance()

    def _level(self, level: int) -> Node:
        if level == len(LEVELS):
            return self._primary()
        start = self.start
        if level == _NOT:
            count = 0
            while self.sign("!"):
                count += 1
                self.advance()
            inner = self._until_unary() if self._at_temporal() else self._level(level + 1)
            return self._node("!", [inner], start) if count % 2 else inner
        left = self._level(level + 1)
        while self.sign(*LEVELS[level]):
            op = self.advance()
            left = self._node(op, [left, self._level(level + 1)], start)
        return left

    def _at_temporal(self) -> bool:
        return self.temporal and self.kind == "word" and self.token in {"X", "F", "G"}

    def _primary(self) -> Node:
        start = self.start
        if self.sign("-"):
            self.advance()
            self.depth += 1
            if self.depth > _DEPTH:
                _refuse("the expression is nested too deeply")
            inner = self._primary()
            self.depth -= 1
            return self._node("negative", [inner], start)
        if self.sign("("):
            self.advance()
            inner = self.expression()
            self.take(")")
            return inner
        if self.kind in {"number", "label"}:
            kind = self.kind
            return Node(kind, (), self.advance())
        if self.kind != "word":
            _refuse(f"found {self.token or 'the end'!r}; expected a variable, a number or a label")
        if self.temporal and _PROBABILISTIC.fullmatch(self.token):
            return self._probabilistic()
        word = self.advance()
        if not self.sign("(") or (
            self.temporal and word not in _ARGUMENTS and word not in {"filter", "multi"}
        ):
            return Node("truth" if word in {"true", "false"} else "word", (), word)
        self.advance()
        if self.temporal and word == "filter":
            self.skip(",")
        parts = [self.expression()]
        while self.sign(","):
            self.advance()
            parts.append(self.expression())
        self.take(")")
        return self._node(
            "over time" if self.temporal and word in {"filter", "multi"} else word, parts, start
        )

    def _probabilistic(self) -> Node:
        """Return what stands in the brackets of ``P=? [ ... ]`` and the like."""
        start = self.start
        self.skip("[")
        parts = []
        if self.kind == "word" and self.token in {"C", "I", "S"}:
            self.advance()
            self._bound()
        else:
            parts.append(self.expression())
        while self.sign("{"):
            self.skip("}")
        self.take("]")
        return self._node("over time", parts, start)


def parse_predicate(text: str) -> Node:
    """Return the expression that a whole text is.

    >>> parse_predicate("s=5 & !(x<y+1)").op
    '&'
    """
    parser = Parser(text)
    node = parser.expression()
    if parser.kind:
        _refuse(f"found {parser.token!r} behind {node.text!r}; expected the end")
    return node


def value_of(text: str) -> Value | None:
    """Return the value that a variable has, as its text says; None if it is no value."""
    if text in {"true", "false"}:
        return text == "true"
    try:
        number = parse_rational(f"0{text}" if text.startswith(".") else text)
    except NumberError:
        return None
    return int(number.p) if text.removeprefix("-").isdecimal() else number


@dataclass(frozen=True, slots=True)
class Scope:
    """What the names in expressions mean."""

    variables: Mapping[str, Sequence[str]]  # by variable its value in every state, as a text
    propositions: Mapping[str, frozenset[int]]  # by label the states that carry it
    # by constant or formula its expression, as a text
    meanings: Mapping[str, str] = field(default_factory=dict)
    # by label the expression that declares it elsewhere
    named: Mapping[str, Node] = field(default_factory=dict)

    def column(self, node: Node, count: int) -> list[Value]:
        """Return the value of an expression in each of `count` states.

        Raises ModelError if a name is unknown, or an operator has no value for what it is applied to.
        """
        reads: list[Iterable[object]] = []
        try:
            at = self._at(node, (), reads)
            if not reads:
                return [at(0)] * count if count else []
            read = reads[0] if len(reads) == 1 else zip(*reads, strict=False)
            keys = list(islice(read, count))
            # states that agree on all that it reads have one value
            known = {key: at(state) for key, state in dict(zip(keys, naturals(), strict=False)).items()}
            return list(map(known.__getitem__, keys))
        except ZeroDivisionError:
            _refuse(f"{node.text!r} divides by zero")
        except RecursionError:
            _refuse(f"{node.text[:60]!r} is nested too deeply")

    def _at(self, node: Node, within: tuple[str, ...], reads: list[Iterable[object]]) -> _At:
        """Return a function of the state; what it reads of a state is added to `reads`, a column each."""
        if node.op in {"number", "truth"}:
            number = value_of(node.text)
            return lambda _: _refuse(f"the number {node.text} is too large") if number is None else number
        if node.op == "label":
            return self._label(node.text, within, reads)
        if node.op == "word":
            return self._word(node.text, within, reads)
        parts = [self._at(part, within, reads) for part in node.parts]
        return _applied(node, parts)

    def _label(self, name: str, within: tuple[str, ...], reads: list[Iterable[object]]) -> _At:
        mark = f'"{name}"'
        if name in self.named and name not in self.propositions and mark not in within:
            return self._at(self.named[name], (*within, mark), reads)
        if name not in self.propositions:
            _refuse(f"the model has no label {name!r}; expected one of {_few(self.propositions)}")
        carried = self.propositions[name]
        reads.append(map(carried.__contains__, naturals()))
        return lambda state: state in carried

    def _word(self, name: str, within: tuple[str, ...], reads: list[Iterable[object]]) -> _At:
        if name in self.variables:
            texts = self.variables[name]
            values = {text: value_of(text) for text in set(texts)}
            strange = next((text for text, value in values.items() if value is None), None)
            if strange is not None:
                _refuse(f"the variable {name} has the value {strange!r}; expected numbers, true or false")
            reads.append(texts)
            return lambda state: values[texts[state]]
        if name in self.meanings and name not in within:
            return self._at(parse_predicate(self.meanings[name]), (*within, name), reads)
        known = {**self.variables, **self.meanings}
        _refuse(f"there is no variable, formula or constant {name!r}; expected one of {_few(known)}")


def _few(names: Mapping[str, object]) -> str:
    return ", ".join(list(names)[:20]) or "none, for it has none"


def _applied(node: Node, parts: Sequence[_At]) -> _At:
    """Return an operator applied to the values of its parts."""
    op = node.op

    def truth(part: _At, state: int) -> bool:
        value = part(state)
        if isinstance(value, bool):
            return value
        shown = value if isinstance(value, Root) else fmpq(value)  # which writes long integers, too
        _refuse(f"{node.text!r}: expected true or false, not {shown}")

    def number(part: _At, state: int) -> int | fmpq | Root:
        value = part(state)
        if isinstance(value, bool):
            _refuse(f"{node.text!r}: expected a number, not a truth value")
        if isinstance(value, Root) and op not in _ORDER:
            _refuse(f"{node.text!r}: {value} is not rational, and can only be compared")
        return value

    if op == "!":
        return lambda state: not truth(parts[0], state)
    if op == "negative":
        return lambda state: -number(parts[0], state)  # type: ignore[operator]  # of a root it refuses
    if op == "?":
        return lambda state: parts[1](state) if truth(parts[0], state) else parts[2](state)
    if op in _LOGIC:
        logic = _LOGIC[op]
        return lambda state: logic(truth(parts[0], state), truth(parts[1], state))
    if op in _EQUAL:
        equal = _EQUAL[op]

        def compared(state: int) -> bool:
            one, two = parts[0](state), parts[1](state)
            if isinstance(one, bool) != isinstance(two, bool):
                _refuse(f"{node.text!r} compares a truth value with a number")
            return equal(one, two)

        return compared
    least, most = _ARGUMENTS.get(op, (2, 2))
    if op not in _NUMERIC or not least <= len(parts) <= most:
        _refuse(f"{node.text!r}: there is no function {op} of {len(parts)} numbers")
    numeric = _NUMERIC[op]
    return lambda state: numeric(*(number(part, state) for part in parts))
