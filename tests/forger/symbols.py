"""Numbers that are not known yet: the checker is run on them, and its conditions become constraints for Z3.

A certificate whose numbers are symbols goes through the very code that judges certificates. Wherever that
code compares two numbers, the run splits; a split that Z3 refutes is not followed. What is left at an
acceptance is a condition under which numbers exist that the checker accepts.
"""

from __future__ import annotations

import operator
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from importlib import import_module
from typing import Any

import z3

__all__ = ["Ending", "Explorer", "Outcome", "Symbol", "symbolic_reading"]

MARK = "§"
BEYOND = 10**400
"""Symbols are taken to be smaller than this where the checker asks for the length of a number."""


class Impossible(BaseException):
    """No numbers lead along this way; no handler of the checker is to swallow it."""


class OutOfTime(BaseException):
    """The search has taken too long; no handler of the checker is to swallow it."""


def _value(number: object) -> Any:
    if isinstance(number, Symbol):
        return number.expression
    assert isinstance(number, int | Fraction), number
    return (
        z3.RatVal(number.numerator, number.denominator)
        if number.denominator != 1
        else z3.RealVal(int(number))
    )


def _known(number: object) -> bool:
    return isinstance(number, int | Fraction)


class Symbol(Fraction):
    """A number that Z3 is to find. It counts as a fraction with itself for numerator."""

    expression: Any
    explorer: Explorer

    def __new__(cls, expression: Any, explorer: Explorer) -> Symbol:
        made = object.__new__(cls)
        made.expression = z3.simplify(expression)
        made.explorer = explorer
        return made

    @property
    def numerator(self) -> Any:
        return self

    @property
    def denominator(self) -> int:
        return 1

    def bit_length(self) -> int:
        return 1

    def __str__(self) -> str:
        return f"{MARK}{self.explorer.name(self)}"

    __repr__ = __str__

    def __hash__(self) -> int:  # type: ignore[override]
        return 0

    def __bool__(self) -> bool:
        return self.explorer.decide(self.expression != 0)

    def __abs__(self) -> Symbol:
        return self if self >= 0 else -self

    def __neg__(self) -> Symbol:
        return Symbol(-self.expression, self.explorer)

    def __pos__(self) -> Symbol:
        return self

    def __pow__(self, exponent: int) -> Any:  # type: ignore[override]
        result: Any = Fraction(1)
        for _ in range(exponent):
            result = result * self
        return result

    def _with(self, other: object, work: Callable[[Any, Any], Any], *, swapped: bool = False) -> Any:
        if not _known(other):
            return NotImplemented
        one, two = self.expression, _value(other)
        return Symbol(work(two, one) if swapped else work(one, two), self.explorer)

    def __add__(self, other: object) -> Any:
        return self._with(other, operator.add)

    def __radd__(self, other: object) -> Any:
        return self._with(other, operator.add, swapped=True)

    def __sub__(self, other: object) -> Any:
        return self._with(other, operator.sub)

    def __rsub__(self, other: object) -> Any:
        return self._with(other, operator.sub, swapped=True)

    def __mul__(self, other: object) -> Any:
        return self._with(other, operator.mul)

    def __rmul__(self, other: object) -> Any:
        return self._with(other, operator.mul, swapped=True)

    def __truediv__(self, other: object) -> Any:
        if not _known(other):
            return NotImplemented
        if not other:
            raise ZeroDivisionError
        return self._with(other, operator.truediv)

    def __rtruediv__(self, other: object) -> Any:
        if not self:
            raise ZeroDivisionError
        return self._with(other, operator.truediv, swapped=True)

    # The checker divides integers only where nothing is left over.
    __floordiv__ = __truediv__
    __rfloordiv__ = __rtruediv__

    def _compared(self, other: object, work: Callable[[Any, Any], Any]) -> Any:
        if not _known(other):
            return NotImplemented
        if isinstance(other, int) and other > BEYOND:
            return bool(work(0, 1))
        return self.explorer.decide(work(self.expression, _value(other)))

    def __lt__(self, other: object) -> Any:
        return self._compared(other, operator.lt)

    def __le__(self, other: object) -> Any:
        return self._compared(other, operator.le)

    def __gt__(self, other: object) -> Any:
        return self._compared(other, operator.gt)

    def __ge__(self, other: object) -> Any:
        return self._compared(other, operator.ge)

    def __eq__(self, other: object) -> Any:
        return self._compared(other, operator.eq)

    def __ne__(self, other: object) -> Any:
        return self._compared(other, operator.ne)


class Ending(Enum):
    """How the search for a forgery ended."""

    UNSAT = "unsat"
    SAT = "sat"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found.

    Parameters
    ----------
    ending
        Whether there are numbers that the checker accepts.
    values
        The numbers by name, where there are.
    paths
        How many ways through the checker were followed.
    reason
        Why it is not known.
    """

    ending: Ending
    values: dict[str, Fraction] = field(default_factory=dict)
    paths: int = 0
    reason: str = ""


class Explorer:
    """Follows every way through a judgement, depth first.

    Parameters
    ----------
    most_paths
        After how many ways to give up.
    seconds
        The same in time of this process.
    work
        How much Z3 may do for one question, in its own units, so that busy machines find the same.
    """

    def __init__(self, *, most_paths: int = 100_000, seconds: float = 5.0, work: int = 1_000_000) -> None:
        self.most_paths = most_paths
        self.deadline = time.process_time() + seconds
        self.work = work
        self.inputs: dict[str, Symbol] = {}
        self.texts: dict[str, Symbol] = {}
        self.path: list[bool] = []
        self.depth = 0
        self.waiting: list[list[bool]] = []
        self.conditions: list[Any] = []
        self.model: Any = None
        self.solved = False

    def input(self, name: str) -> Symbol:
        """Return the symbol of that name."""
        if name not in self.inputs:
            self.inputs[name] = Symbol(z3.Real(name), self)
        return self.inputs[name]

    def name(self, symbol: Symbol) -> str:
        """Return a text that reads back as the symbol."""
        text = (
            str(symbol.expression) if symbol.expression.num_args() == 0 else f"e{symbol.expression.get_id()}"
        )
        self.texts[text] = symbol
        return text

    def read(self, text: str) -> Symbol:
        """Return the symbol that a text stands for."""
        name = text.lstrip("-").removeprefix(MARK)
        found = self.texts[name] if name in self.texts else self.input(name)
        return -found if text[0] == "-" else found

    def decide(self, condition: Any) -> bool:
        """Return which way this run takes; the other one waits for its turn."""
        condition = z3.simplify(condition)
        if z3.is_true(condition) or z3.is_false(condition):
            return bool(z3.is_true(condition))
        if self.depth < len(self.path):
            chosen = self.path[self.depth]
        else:
            self._solve()
            chosen = self.model is None or bool(z3.is_true(self.model.eval(condition, model_completion=True)))
            self.waiting.append([*self.path, not chosen])
            self.path.append(chosen)
        self.depth += 1
        self.conditions.append(condition if chosen else z3.Not(condition))
        return chosen

    def _solve(self) -> None:
        """Find numbers for this run so far, once: they lead the rest of it. Most runs end before."""
        if self.solved:
            return
        self.solved = True
        for solver in (z3.Solver(), z3.SolverFor("QF_NRA")):
            if time.process_time() > self.deadline:
                raise OutOfTime
            solver.set("rlimit", self.work)
            solver.add(*self.conditions)
            result = solver.check()
            if result == z3.unsat:
                raise Impossible
            if result == z3.sat:
                self.model = solver.model()
                return

    def search(self, judge: Callable[[], bool], wanted: Callable[[], Any]) -> Outcome:
        """Look for numbers under which `judge` accepts and `wanted`, a condition of Z3, holds."""
        self.waiting = [[]]
        paths = 0
        reason = ""
        try:
            while self.waiting:
                if paths >= self.most_paths:
                    return Outcome(Ending.UNKNOWN, paths=paths, reason="too many paths")
                paths += 1
                self.path, self.depth = self.waiting.pop(), 0
                self.model, self.solved = None, False
                self.conditions = [wanted()]
                try:
                    if not judge():
                        continue
                    self._solve()
                except Impossible:
                    continue
                values = self._values()
                if values is not None:
                    return Outcome(Ending.SAT, values, paths)
                reason = "no rational numbers for a path that accepts"
        except OutOfTime:
            reason = "out of time"
        return Outcome(Ending.UNKNOWN if reason else Ending.UNSAT, paths=paths, reason=reason)

    def _values(self) -> dict[str, Fraction] | None:
        if self.model is None:
            return None
        found = {}
        for name, symbol in self.inputs.items():
            value = self.model.eval(symbol.expression, model_completion=True)
            if not z3.is_rational_value(value):
                return None
            found[name] = Fraction(value.numerator_as_long(), value.denominator_as_long())
        return found


OPERATORS = ("__add__", "__sub__", "__mul__", "__truediv__", "__lt__", "__le__", "__gt__", "__ge__", "__eq__")


def _left_to_symbols(work: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Let a symbol on the right answer, also where the left side is a kind of fraction of its own."""

    def operated(one: Any, other: Any) -> Any:
        return NotImplemented if isinstance(other, Symbol) else work(one, other)

    return operated


@contextmanager
def symbolic_reading(explorer: Explorer) -> Iterator[None]:
    """Let the checker read texts that begin with the mark as symbols."""
    # That of a checker that a test has changed.
    reading: Any = import_module("bisimdist.checker.core.reading")
    honest_integer, honest_new = reading.integer, Fraction.__new__

    def integer(value: object, where: str) -> Any:
        if isinstance(value, str) and MARK in value:
            return explorer.read(value)
        return honest_integer(value, where)

    def new(cls: type[Fraction], numerator: Any = 0, denominator: Any = None, **options: Any) -> Any:
        if isinstance(numerator, Symbol) or isinstance(denominator, Symbol):
            return numerator if denominator is None else numerator / denominator
        return honest_new(cls, numerator, denominator, **options)

    places = [
        (module, name)
        for title, module in list(sys.modules.items())
        if title.startswith("bisimdist.checker")
        for name, found in vars(module).items()
        if found is honest_integer
    ]
    for module, name in places:
        setattr(module, name, integer)
    numbers: tuple[Any, ...] = (Fraction, reading.Counted)
    honest = [(kind, name, vars(kind)[name]) for kind in numbers for name in OPERATORS if name in vars(kind)]
    Fraction.__new__ = new  # type: ignore[method-assign]
    for kind, name, work in honest:
        setattr(kind, name, _left_to_symbols(work))
    try:
        yield
    finally:
        Fraction.__new__ = honest_new  # type: ignore[method-assign]
        for kind, name, work in honest:
            setattr(kind, name, work)
        for module, name in places:
            setattr(module, name, honest_integer)
