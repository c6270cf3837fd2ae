"""Answers in the trace logic, with their proofs (docs/certificates/trace-formulae.md)."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from bisimdist.errors import LimitError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.ends import ends_data, ends_remarks
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import AboutTraces
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.logic.engine.linear import LinearFormula, ProbabilisticFormula, TraceFormula, short_formula
from bisimdist.models.ends import Completed
from bisimdist.models.pa import PA

MAX_BITS = 400_000_000  # how long all the numbers of a proof may be


def _formula_data(formula: ProbabilisticFormula) -> dict[str, object]:
    return {
        "formula": str(formula),
        "trace": list(formula.linear.actions),
        "probability": format_rational(formula.probability),
    }


def _shown(formula: TraceFormula) -> str:
    if isinstance(formula, LinearFormula):
        return short_formula(formula.actions)
    return f"{short_rational(formula.probability)} {short_formula(formula.linear.actions)}"


def _document(completed: Completed, claims: list[Document]) -> Document:
    return document("trace-formulae", completed.original, ends=completed.shown.value, claims=claims)


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceFormulaeAnswer(AboutTraces):
    """The set L(s) of a state, or its beginning, shortest formulae first.

    Source: CCP18.

    Parameters
    ----------
    model
        The automaton.
    state
        The name of the state.
    depth
        The greatest length of the formulae asked for; None for all.
    formulae
        The formulae, ordered by length and then alphabetically.
    following
        The formula that comes next, where there are more than were asked for.
    count
        How many there are up to the depth, whether listed or not; None where that is not known.
    longest
        The length of the longest formula of the state; None where they are of every length.
    status
        ``EXACT``, or ``LIMIT`` where time ran out; the formulae listed are satisfied all the same.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.logic.trace_formulae(survey, "s_y").count
    5
    """

    command = "logic traces"

    model: PA
    state: str
    depth: int | None
    formulae: tuple[ProbabilisticFormula, ...]
    following: ProbabilisticFormula | None
    count: int | None
    longest: int | None
    status: Status

    @property
    def complete(self) -> bool:
        """Whether the formulae are all of them, up to the depth."""
        return self.status is Status.EXACT and self.following is None

    def data(self) -> dict[str, object]:
        return {
            **said(self, "state depth"),
            "formulae": [_formula_data(formula) for formula in self.formulae],
            **said(self, "complete count"),
            "following": None if self.following is None else _formula_data(self.following),
            "longest": self.longest,
            **ends_data(self.completed),
            "status": self.status.value,
        }

    def report(self) -> Report:
        depth = "" if self.depth is None else f", formulae of at most {self.depth} actions"
        remarks = []
        if self.following is not None:
            many = "" if self.count is None else f", {self.count} in all"
            remarks.append(f"There are more{many}; the next one is {_shown(self.following)}")
        elif self.complete:
            count = len(self.formulae)
            remarks.append("This is the only one." if count == 1 else f"These are all {count}.")
        else:
            remarks.append("Time ran out; there may be more.")
        if self.longest is None:
            remarks.append(f"{self.state} has traces of every length.")
        elif self.depth is not None and self.longest > self.depth:
            remarks.append(f"The longest formula of {self.state} has {self.longest} actions.")
        return Report(
            heading=f"L({self.state}){depth}",
            columns=("probability", "formula"),
            rows=tuple(
                (short_rational(f.probability), short_formula(f.linear.actions)) for f in self.formulae
            ),
            remarks=(*remarks, *ends_remarks(self.completed)),
        )

    def certificate(self) -> Document:
        """Return the proof: the formulae as the tree of their traces, each after its beginning.

        Raises
        ------
        LimitError
            If the numbers are too long.
        """
        numbers: dict[tuple[str, ...], int] = {(): 0}
        entries: list[list[object]] = []
        if sum(formula.probability.height_bits() for formula in self.formulae) > MAX_BITS:
            raise LimitError("the proof would take numbers that are too long")
        for formula in self.formulae:
            trace = formula.linear.actions
            if trace:
                entries.append([numbers[trace[:-1]], trace[-1], rational_text(formula.probability)])
                numbers[trace] = len(entries)
        claim: Document = {
            "state": self.state,
            "depth": None if self.depth is None else str(self.depth),
            "traces": entries,
            "complete": self.complete,
        }
        return _document(self.completed, [claim])


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSatisfaction(Numbers):
    """What a formula says of a state.

    Parameters
    ----------
    state
        The name of the state.
    formula
        The formula.
    satisfied
        Whether the state satisfies it.
    probability
        The probability of its trace from the state.
    value
        The real-valued semantics: 1 less the distance of the formula from L(state).
    lenient_value
        The same where L(state) holds the formulae of probability 0, too. It differs only where the trace is
        impossible.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.logic.satisfies_trace_formula(survey, "s_y", "1/2 <tau>T").satisfied
    False
    """

    state: str
    formula: TraceFormula
    satisfied: bool
    probability: Exact
    value: Exact
    lenient_value: Exact

    def __bool__(self) -> bool:
        return self.satisfied

    def _repr_html_(self) -> str:
        verdict = "satisfies" if self.satisfied else "does not satisfy"
        return (
            f"<p>{escape(self.state)} {verdict} <code>{escape(str(self.formula))}</code>: "
            f"its trace has the probability {self.probability}, its value is {self.value}.</p>"
        )

    def data(self) -> dict[str, object]:
        """Return what is found as plain data."""
        return said(self, "formula satisfied probability value lenient_value")


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceSatisfactionsAnswer(AboutTraces):
    """What some formulae say of a state; true exactly if it satisfies all of them.

    Parameters
    ----------
    model
        The automaton.
    state
        The name of the state.
    formulae
        What is found, formula by formula.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.logic.satisfies_trace_formulae(survey, "s_y", ["1/2 <tau>T"]).formulae[0].satisfied
    False
    """

    command = "logic traces"

    model: PA
    state: str
    formulae: tuple[TraceSatisfaction, ...]

    def __bool__(self) -> bool:
        return all(self.formulae)

    def data(self) -> dict[str, object]:
        return {
            "state": self.state,
            "verdict": "holds" if self else "violated",
            **ends_data(self.completed),
            **said(self, "formulae"),
        }

    def report(self) -> Report:
        rows = []
        for found in self.formulae:
            values = short_rational(found.probability), short_rational(found.value)
            rows.append((_shown(found.formula), "yes" if found.satisfied else "no", *values))
        return Report(
            heading=f"Formulae of the trace logic at {self.state}",
            columns=("formula", "satisfied", "probability of the trace", "value"),
            rows=tuple(rows),
            remarks=ends_remarks(self.completed),
        )

    def certificate(self) -> Document:
        """Return the proof of what is found."""
        claims: list[Document] = [
            {**said(found, "state formula satisfied"), "probability": rational_text(found.probability)}
            for found in self.formulae
        ]
        return _document(self.completed, claims)
