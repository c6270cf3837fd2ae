r"""From text to formulae of the trace logic, with errors at their column.

::

    text   = [number] {"<" action ">"} "T"          3/4 <tau><tau><yes>T
    action = word | quoted                          <"go, home">, with the escapes of JSON

The signs of the paper are read as well: angle brackets, and the sign of truth.
"""

from __future__ import annotations

import json
import re
from typing import NoReturn

from bisimdist.errors import NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.logic.engine.formula_printer import PLAIN_ACTION
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula, TraceFormula
from bisimdist.models.ccs.lexer import Positions

_BLANK = re.compile(r"\s*")
_NUMBER = re.compile("[^<⟨T\u22a4\\s][^<⟨T\u22a4]*")
_WORD = re.compile(PLAIN_ACTION)
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)

TRUTH = ("T", "\u22a4")
CLOSING = {"<": ">", "⟨": "⟩"}
NEXT = "an action such as <a>, or T at the end"
ACTION = 'an action, such as <a> or <"an action">'


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 0
        self.skip()

    def skip(self) -> None:
        match = _BLANK.match(self.text, self.place)
        self.place = self.place if match is None else match.end()

    def refuse(self, message: str, place: int | None = None) -> NoReturn:
        raise Positions(self.text).error(message, self.place if place is None else place)

    def found(self) -> str:
        """Return how an error speaks of what comes next."""
        rest = self.text[self.place : self.place + 21]
        if not rest:
            return "the end of the text"
        return repr(rest if len(rest) <= 20 else rest[:17] + "...")

    def number(self) -> tuple[str, int] | None:
        """Take what stands before the first action, and its place."""
        place = self.place
        match = _NUMBER.match(self.text, place)
        if match is None:
            return None
        self.place = match.end()
        return match[0], place

    def linear(self) -> LinearFormula:
        actions: list[str] = []
        while True:
            sign = self.text[self.place : self.place + 1]
            if sign in TRUTH:
                self.place += 1
                self.skip()
                if self.place < len(self.text):
                    self.refuse(f"found {self.found()} after T; expected the end of the text")
                return LinearFormula(tuple(actions))
            if sign not in CLOSING or not sign:
                self.refuse(f"found {self.found()}; expected {NEXT}")
            self.place += 1
            self.skip()
            actions.append(self.action())
            self.skip()
            if self.text[self.place : self.place + 1] != CLOSING[sign]:
                self.refuse(
                    f"found {self.found()}; expected {CLOSING[sign]!r} after an action "
                    "(in quotes where it is no plain word)"
                )
            self.place += 1
            self.skip()

    def action(self) -> str:
        match = _WORD.match(self.text, self.place)
        if match is not None:
            self.place = match.end()
            return match[0]
        match = _QUOTED.match(self.text, self.place)
        if match is None:
            self.refuse(f"found {self.found()}; expected {ACTION}")
        try:
            name = str(json.loads(match[0], strict=False))
            name.encode("utf-8")
        except (json.JSONDecodeError, UnicodeEncodeError):
            self.refuse(f"found {self.found()}, which is no quoted text; expected {ACTION}")
        self.place = match.end()
        return name


def parse_trace_formula(text: str) -> TraceFormula:
    """Read a formula of either sort: with a number in front it is a probabilistic one.

    Parameters
    ----------
    text
        Such as ``3/4 <tau><tau><yes>T``; the number is exact (``3/4``, ``0.75``, ``75e-2``).

    Returns
    -------
    LinearFormula or ProbabilisticFormula
        The formula.

    Raises
    ------
    ModelError
        With line and column, where the text is no formula.

    Examples
    --------
    >>> print(parse_trace_formula("0.75 <tau> <'quoted'>T"))
    3/4 <tau><'quoted'>T
    >>> print(parse_trace_formula("<tau>T"))
    <tau>T
    >>> parse_trace_formula("3/4 <tau>")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    bisimdist.errors.ModelError: line 1: column 10: found the end of the text; expected ...
    """
    reader = _Reader(text)
    number = reader.number()
    if number is None:
        return reader.linear()
    try:
        probability = parse_rational(number[0])
        if not 0 <= probability <= 1:
            raise NumberError(f"the number is {number[0].strip()[:40]}; expected one from 0 to 1")
    except NumberError as error:
        reader.refuse(str(error), number[1])
    return ProbabilisticFormula(probability, reader.linear())


def parse_probabilistic_formula(text: str) -> ProbabilisticFormula:
    """Read a probabilistic formula.

    >>> parse_probabilistic_formula("1/2 <a>T").probability
    1/2
    """
    formula = parse_trace_formula(text)
    if isinstance(formula, LinearFormula):
        raise Positions(text).error("no number stands before the formula; expected one, such as 1/2", 0)
    return formula
