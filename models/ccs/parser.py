"""From the text of a `.ccsp` file to a specification, with errors at line and column.

Recursive descent would end at the limit of the interpreter: the parser keeps a stack of open parentheses.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import ModelError
from bisimdist.models.ccs.lexer import Kind, Positions, Token, tokenize
from bisimdist.models.ccs.specification import (
    Definition,
    Specification,
    arity_message,
    undefined_message,
    unguarded_circle,
    unguarded_message,
)
from bisimdist.models.ccs.syntax import (
    KEYWORDS,
    NIL,
    TAU,
    Action,
    Call,
    Parallel,
    Prefix,
    Probabilistic,
    Restriction,
    Sum,
    Term,
)
from bisimdist.models.io.expect import ProbabilityReader

MAX_DEPTH = 1000  # how deep parentheses may be nested

_PROCESS = "a process, such as 0, a.0, X or (nu a) P"


def parse_specification(text: str) -> Specification:
    """Read the text of a `.ccsp` file.

    ``text``: definitions, and optionally ``main``, ``pairs``, ``limit`` and ``rules``.

    >>> specification = parse_specification("X = 1/2: a.X (+) 1/2: b.0; main X;")
    >>> str(specification.definitions[0].body)
    '1/2: a.X (+) 1/2: b.0'
    """
    return _Parser(text).specification()


def parse_term(text: str) -> Term:
    """Read one process; the names that it calls need not be defined.

    >>> parse_term("a.(b.0 | ~b.0)").children()[0].children()
    (<Prefix b.0>, <Prefix ~b.0>)
    """
    parser = _Parser(text)
    return parser.process((), "an operator or the end of the text")


def statement_positions(text: str) -> dict[str, tuple[int, int]]:
    r"""Return line and column of each definition of a text, by name, and under ``""`` those of its start.

    The start is the first of ``main`` and ``pairs``, or the first definition where there are none.

    >>> statement_positions("X = a.0;\n  main X;")
    {'': (2, 3), 'X': (1, 1)}
    """
    positions = Positions(text)
    found: dict[str, tuple[int, int]] = {}
    begins = True
    for token in tokenize(text, positions):
        if begins and token.kind in {Kind.PROCESS, Kind.ACTION}:
            found.setdefault(token.text, positions.of(token.offset))
        begins = token.text == ";"
    starts = [found.pop(word) for word in ("main", "pairs") if word in found]
    for word in ("limit", "rules"):
        found.pop(word, None)
    return {"": min(starts or found.values(), default=(1, 1)), **found}


@dataclass(slots=True)
class _Frame:
    """What is known of a process whose parenthesis is still open."""

    opening: Token
    outer: list[Action | tuple[str, ...]] = field(default_factory=list)
    """The prefixes and restrictions in front of the parenthesis."""
    probability: fmpq | None = None
    """The probability of the branch that is being read; None where the process is no probabilistic sum."""
    first_branch: Token | None = None
    branches: list[tuple[fmpq, Term]] = field(default_factory=list)
    summands: list[Term] = field(default_factory=list)
    components: list[Term] = field(default_factory=list)

    def close_component(self) -> None:
        """Let what has been composed in parallel be a summand."""
        self.summands.append(
            self.components[0] if len(self.components) == 1 else Parallel(tuple(self.components))
        )
        self.components = []

    def close_branch(self) -> Term:
        """Return the sum that has been read, and begin anew."""
        self.close_component()
        term = self.summands[0] if len(self.summands) == 1 else Sum(tuple(self.summands))
        self.summands = []
        return term


def _wrap(outer: list[Action | tuple[str, ...]], term: Term) -> Term:
    for part in reversed(outer):
        term = Prefix(part, term) if isinstance(part, Action) else Restriction(part, term)
    return term


class _Parser:
    def __init__(self, text: str) -> None:
        self.positions = Positions(text)
        self.tokens = tokenize(text, self.positions)
        self.at = 0
        self.numbers = ProbabilityReader()
        self.calls: list[tuple[Call, Token]] = []

    @property
    def current(self) -> Token:
        return self.tokens[self.at]

    def error(self, message: str, token: Token) -> ModelError:
        return self.positions.error(message, token.offset)

    def expected(self, what: str) -> ModelError:
        if self.current.kind is Kind.STRANGE:
            return self.error(
                f"the character {self.current.text!r} has no meaning here; "
                "expected a name, a number, or one of ( ) = ; , . : ~ + | (+) and # for a comment",
                self.current,
            )
        return self.error(f"found {self.current.describe()}; expected {what}", self.current)

    def is_symbol(self, text: str, ahead: int = 0) -> bool:
        if self.at + ahead >= len(self.tokens):
            return False
        token = self.tokens[self.at + ahead]
        return token.kind is Kind.SYMBOL and token.text == text

    def accept(self, text: str) -> bool:
        if self.is_symbol(text):
            self.at += 1
            return True
        return False

    def require(self, text: str, what: str) -> None:
        if not self.accept(text):
            raise self.expected(what)

    # --- a whole text

    def specification(self) -> Specification:
        definitions: list[tuple[Definition, Token]] = []
        main: list[Term] = []
        pairs: list[tuple[Term, Term]] = []
        limit: int | None = None
        literal = False
        while self.current.kind is not Kind.END:
            token = self.current
            word = token.text if token.kind is Kind.ACTION else ""
            if token.kind is Kind.PROCESS:
                definitions.append((self.definition(), token))
            elif word == "main":
                self.at += 1
                main += self.processes()
            elif word == "pairs":
                self.at += 1
                pairs += self.pairs()
            elif word == "limit":
                if limit is not None:
                    raise self.error("limit is given twice; expected it once", token)
                self.at += 1
                limit = self.limit()
            elif word == "rules":
                self.at += 1
                if self.current.text != "literal":
                    raise self.expected("literal, as in: rules literal;")
                self.at += 1
                self.require(";", "';'")
                literal = True
            else:
                raise self.expected("a definition such as X = a.0; or main, pairs, limit or rules")
        self.check_definitions(definitions)
        self.check_calls({definition.name: definition for definition, _ in definitions})
        circle = unguarded_circle(definition for definition, _ in definitions)
        if circle:
            where = next(token for definition, token in definitions if definition.name == circle[0])
            raise self.error(unguarded_message(circle), where)
        try:
            return Specification(tuple(d for d, _ in definitions), tuple(main), tuple(pairs), limit, literal)
        except ModelError as error:
            raise self.error(str(error), self.current) from None

    def check_definitions(self, definitions: list[tuple[Definition, Token]]) -> None:
        seen: dict[str, Token] = {}
        for definition, token in definitions:
            if definition.name in seen:
                line, _ = self.positions.of(seen[definition.name].offset)
                raise self.error(
                    f"{definition.name} is defined twice, first in line {line}; "
                    "expected one definition of each name",
                    token,
                )
            seen[definition.name] = token

    def check_calls(self, known: dict[str, Definition]) -> None:
        for call, token in self.calls:
            definition = known.get(call.name)
            if definition is None:
                raise self.error(undefined_message(call.name), token)
            if len(call.arguments) != len(definition.parameters):
                message = arity_message(call.name, len(call.arguments), len(definition.parameters))
                raise self.error(message, token)

    def definition(self) -> Definition:
        token = self.current
        self.at += 1
        parameters = self.names("the name of a parameter") if self.accept("(") else ()
        self.require("=", f"'=' and what {token.text[:40]} stands for")
        body = self.process((";",), "an operator or ';' after the process")
        self.at += 1
        try:
            return Definition(token.text, parameters, body)
        except ModelError as error:
            raise self.error(str(error), token) from None

    def processes(self) -> list[Term]:
        what = "an operator, ',' and another process, or ';'"
        found = [self.process((",", ";"), what)]
        while not self.accept(";"):
            self.require(",", what)
            found.append(self.process((",", ";"), what))
        return found

    def pairs(self) -> list[tuple[Term, Term]]:
        found = []
        while True:
            first = self.process((",",), "an operator, or ',' and the second process of the pair")
            self.at += 1
            found.append((first, self.process((",", ";"), "an operator, ',' and another pair, or ';'")))
            if self.accept(";"):
                return found
            self.at += 1

    def limit(self) -> int:
        token = self.current
        if token.kind is not Kind.NUMBER or not token.text.isdecimal() or not 0 < len(token.text) <= 12:
            raise self.expected("how many states there may be, such as 200000")
        if int(token.text) == 0:
            raise self.expected("at least one state")
        self.at += 1
        self.require(";", "';'")
        return int(token.text)

    def names(self, what: str) -> tuple[str, ...]:
        """Read names of actions, separated by commas, and the parenthesis that ends them."""
        found: list[str] = []
        while True:
            token = self.current
            if token.kind is not Kind.ACTION or token.text in KEYWORDS:
                raise self.expected(what)
            found.append(token.text)
            self.at += 1
            if self.accept(")"):
                return tuple(found)
            self.require(",", "',' and another name, or ')'")

    # --- processes

    def process(self, ends: tuple[str, ...], what: str) -> Term:
        """Read a process, and see that one of `ends` follows (the end of the text where there are none)."""
        frames = [_Frame(self.current)]
        self.begin_branch(frames[0], first=True)
        while True:
            # An operand begins here.
            outer = self.prefixes()
            if self.is_symbol("("):
                if len(frames) > MAX_DEPTH:
                    raise self.error(
                        f"the parentheses are nested deeper than the {MAX_DEPTH} allowed", self.current
                    )
                frames.append(_Frame(self.current, outer))
                self.at += 1
                self.begin_branch(frames[-1], first=True)
                continue
            operand = _wrap(outer, self.atom())
            # An operand has ended here.
            while True:
                frame = frames[-1]
                frame.components.append(operand)
                if self.accept("|"):
                    break
                if self.accept("+"):
                    frame.close_component()
                    break
                if self.accept("(+)"):
                    self.end_branch(frame)
                    self.begin_branch(frame, first=False)
                    break
                if len(frames) == 1:
                    if not (any(map(self.is_symbol, ends)) if ends else self.current.kind is Kind.END):
                        raise self.expected(what)
                    return self.close(frame)
                if not self.accept(")"):
                    line, column = self.positions.of(frame.opening.offset)
                    raise self.expected(f"an operator, or ')' for the '(' in line {line}, column {column}")
                operand = self.close(frames.pop())

    def begin_branch(self, frame: _Frame, *, first: bool) -> None:
        """Read the probability of a branch, if one is written."""
        token = self.current
        if token.kind is Kind.NUMBER and self.is_symbol(":", 1):
            line, column = self.positions.of(token.offset)
            frame.probability = self.numbers.from_text(token.text, f"column {column}", line)
            if first:
                frame.first_branch = token
            self.at += 2
        elif not first:
            raise self.expected("the probability of a branch, such as 1/2: P")

    def end_branch(self, frame: _Frame) -> None:
        if frame.probability is None:
            raise self.error(
                "the branch before this has no probability; expected a form such as 1/2: P (+) 1/2: Q",
                self.tokens[self.at - 1],
            )
        frame.branches.append((frame.probability, frame.close_branch()))
        frame.probability = None

    def close(self, frame: _Frame) -> Term:
        """Return the process of a frame that has ended."""
        if frame.first_branch is None:
            return _wrap(frame.outer, frame.close_branch())
        self.end_branch(frame)
        try:
            return _wrap(frame.outer, Probabilistic(tuple(frame.branches)))
        except ModelError as error:
            raise self.error(error.message, frame.first_branch) from None

    def prefixes(self) -> list[Action | tuple[str, ...]]:
        """Read prefixes and restrictions, as many as there are."""
        found: list[Action | tuple[str, ...]] = []
        while True:
            token = self.current
            if token.kind is Kind.ACTION or self.is_symbol("~"):
                found.append(self.prefix())
            elif self.is_symbol("(") and self.tokens[self.at + 1].text == "nu":
                self.at += 2
                found.append(self.names("the name of an action to restrict"))
            else:
                return found

    def prefix(self) -> Action:
        co = self.accept("~")
        token = self.current
        if token.kind is not Kind.ACTION:
            raise self.expected("the name of an action after '~'")
        if token.text == "tau":
            if co:
                raise self.error("tau has no co-action; expected tau or the name of an action", token)
            action = TAU
        elif token.text in KEYWORDS:
            raise self.expected(_PROCESS)
        else:
            action = Action(token.text, co)
        self.at += 1
        self.require(".", f"'.' and what follows the action (an action that ends the process is {action}.0)")
        return action

    def atom(self) -> Term:
        token = self.current
        if token.kind is Kind.PROCESS:
            self.at += 1
            arguments = self.names("the name of an action as argument") if self.accept("(") else ()
            call = Call(token.text, arguments)
            self.calls.append((call, token))
            return call
        if token.kind is Kind.NUMBER:
            if self.is_symbol(":", 1):
                raise self.error(
                    "a probabilistic sum begins here without its parenthesis; "
                    "expected a form such as a.(1/2: P (+) 1/2: Q)",
                    token,
                )
            if token.text == "0":
                self.at += 1
                return NIL
        raise self.expected(_PROCESS)
