"""Entries of rows: exact numbers or expressions over parameters, and the parameters with their intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import Located, ModelError, NumberError
from bisimdist.exact.rational import ExactNumber, format_rational, parse_rational, shorten_rational, to_fmpq
from bisimdist.models.expression import PARAMETER_NAME, parse_expression
from bisimdist.models.polynomial import Entry, RationalFunction, simplified
from bisimdist.models.positivity import Sign, sign_on_box

SparseRow: TypeAlias = tuple[tuple[int, Entry], ...]  # (index, entry that is not zero), by ascending index

EntryText: TypeAlias = ExactNumber | RationalFunction
"""What `HMM.from_mappings` takes as an entry: an exact number, or the text of an expression."""

MAX_ROW_BITS = 200_000


@dataclass(frozen=True, slots=True)
class Parameter:
    """An unknown number of which only an open interval is known.

    Parameters
    ----------
    name
        A name as in a programming language.
    low, high
        The ends, which do not belong to the interval.

    Raises
    ------
    ModelError
        If the name is none, or the interval is empty.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.build_any_example("contagious-disease").parameters[:1]
    ()
    """

    name: str
    low: fmpq
    high: fmpq

    def __post_init__(self) -> None:
        place = f"parameter {self.name!r}"
        if not isinstance(self.name, str) or not PARAMETER_NAME.fullmatch(self.name):
            raise ModelError(
                "the name is not usable; expected letters, digits and _, no digit first", place=place
            )
        if not self.low < self.high:
            raise ModelError(
                f"the open interval from {shorten_rational(self.low)} to {shorten_rational(self.high)} "
                "is empty; expected a lower end below the upper end",
                place=place,
            )


class Parametrised:
    """A model with parameters, in the order of their names."""

    __slots__ = ()

    parameters: tuple[Parameter, ...]

    @property
    def box(self) -> tuple[tuple[fmpq, fmpq], ...]:
        """The intervals of the parameters, in their order."""
        return tuple((parameter.low, parameter.high) for parameter in self.parameters)

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of the parameters, in their order."""
        return tuple(parameter.name for parameter in self.parameters)

    def _canonical_box(self) -> dict[str, list[str]]:
        return {p.name: [format_rational(p.low), format_rational(p.high)] for p in self.parameters}


def entry_at(value: EntryText, place: str, names: Sequence[str]) -> Entry:
    """Return an entry of a row that is given by names."""
    with Located(place=place):
        return read_entry(value, names)


def read_entry(value: EntryText, names: Sequence[str]) -> Entry:
    """Return an entry from a number or from the text of an expression."""
    if isinstance(value, RationalFunction):
        if value.constant is None and value.names != tuple(names):
            raise NumberError(
                f"the expression is over the parameters {', '.join(value.names)}; "
                f"expected {', '.join(names) or 'none'}"
            )
        return simplified(value)
    if not isinstance(value, str):
        return to_fmpq(value)
    try:
        return parse_rational(value)
    except NumberError:
        if not names and value.strip() and not any(c in value for c in "()*+^/") and "-" not in value[1:]:
            raise
    return parse_expression(value, names)


def chosen_values(parameters: Sequence[Parameter], values: Mapping[str, ExactNumber]) -> dict[str, fmpq]:
    """Return values of parameters as exact numbers."""
    known = {parameter.name: parameter for parameter in parameters}
    chosen = {}
    for name, value in values.items():
        place = f"parameter {name!r}"
        if name not in known:
            raise ModelError(
                f"the model has no such parameter; it has {', '.join(known) or 'none'}", place=place
            )
        chosen[name] = to_fmpq(value)
        low, high = known[name].low, known[name].high
        if not low < chosen[name] < high:
            raise ModelError(
                f"the value {shorten_rational(chosen[name])} is outside the open interval from "
                f"{shorten_rational(low)} to {shorten_rational(high)}",
                place=place,
            )
    return chosen


def read_parameter(name: str, ends: tuple[ExactNumber, ExactNumber]) -> Parameter:
    """Return a parameter by the ends of its open interval."""
    place = f"parameter {name!r}"
    try:
        low, high = ends
    except (TypeError, ValueError):
        raise ModelError("expected the two ends of an open interval", place=place) from None
    with Located(place=place):
        return Parameter(name, to_fmpq(low), to_fmpq(high))


class RowChecker:
    """Checks rows against the box of the parameters, each expression once."""

    def __init__(self, parameters: tuple[Parameter, ...]) -> None:
        self.names = tuple(parameter.name for parameter in parameters)
        self.box = tuple((parameter.low, parameter.high) for parameter in parameters)
        self._known: dict[str, str] = {}

    def fault(self, entry: Entry) -> str:
        """Return what is wrong with an entry; empty where nothing is."""
        if not isinstance(entry, RationalFunction):
            return (
                ""
                if entry > 0
                else f"the probability is {shorten_rational(entry)}; expected a positive number"
            )
        if entry.names != self.names:
            return f"the expression {entry} is over other parameters than the model"
        text = str(entry)
        if text not in self._known:
            self._known[text] = self._fault(entry)
        return self._known[text]

    def _fault(self, entry: RationalFunction) -> str:
        if entry.constant is not None:
            return "a constant stands as an expression; expected a rational"
        below = sign_on_box(entry.denominator, self.box)
        if below not in {Sign.POSITIVE, Sign.NEGATIVE}:
            return (
                f"the denominator of {entry} is not shown to have no zero inside the box of the parameters; "
                "expected one that is positive or negative there"
            )
        above = sign_on_box(entry.numerator, self.box)
        fitting = {
            Sign.POSITIVE: {Sign.POSITIVE, Sign.NOT_NEGATIVE},
            Sign.NEGATIVE: {Sign.NEGATIVE, Sign.NOT_POSITIVE},
        }
        if above in fitting[below]:
            return ""
        if above is Sign.UNKNOWN:
            return f"the expression {entry} is not shown to be at least 0 inside the box of the parameters"
        return f"the expression {entry} is negative for some values of the parameters; expected at least 0"

    def check(self, row: SparseRow, names: tuple[str, ...], place: str, kind: str, remark: str) -> None:
        """Refuse a row that is no distribution over the names."""
        previous = -1
        total: Entry = fmpq(0)
        for index, entry in row:
            if not 0 <= index < len(names):
                raise ModelError(
                    f"the row names the {kind} number {index}, which does not exist", place=place
                )
            if index <= previous:
                raise ModelError("the entries are not in ascending order, each once", place=place)
            fault = self.fault(entry)
            if fault:
                raise ModelError(fault, place=f"{place} -> {names[index]}")
            previous = index
            total = total + entry
            if isinstance(total, fmpq) and total.q.bit_length() > MAX_ROW_BITS:
                raise ModelError(
                    f"the common denominator of the row is longer than the {MAX_ROW_BITS} bits allowed",
                    place=place,
                )
        if total != 1:
            text = str(total) if isinstance(total, RationalFunction) else shorten_rational(total)
            raise ModelError(f"the probabilities sum to {text}; expected 1{remark}", place=place)
