"""The distance of two formulae, of the full logic or of the trace logic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from bisimdist.errors import Located, UsageError
from bisimdist.faces.asked.options import DISCOUNT, JSON, TIMEOUT, TRACE_KIND
from bisimdist.faces.asked.question import Group, Question

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.faces.asked.given import Given
    from bisimdist.faces.shown.tables import Report
    from bisimdist.logic.engine.formula import StateFormula
    from bisimdist.logic.engine.linear import ProbabilisticFormula
    from bisimdist.progress import Limits


@dataclass(frozen=True, slots=True)
class FormulaDistanceAnswer:
    """Bounds on the distance of two formulae; multiplicative ones are e to it, None is infinity."""

    first: str
    second: str
    lower: fmpq | None
    upper: fmpq | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Distance(Question["FormulaDistanceAnswer"]):
    """Compute the distance of two formulae, such as '<a>(1/2 <b>T + 1/2 <c>T)' and '<a><b>T'.

    A formula that begins with a number, such as '3/4 <a><b>T', belongs to the trace logic. A multiplicative
    distance is the logarithm of the ratio that the command prints.
    """

    command = "logic distance"
    group = Group.LOGICS
    example = "'<a>(1/2 <b>T + 1/2 <c>T)' '<a><b>T'"
    argument = "FIRST... SECOND"
    options = (TRACE_KIND.but(default="additive"), DISCOUNT, TIMEOUT, JSON)
    sources: ClassVar = ("CCP18 Definition 8", "CCP18 Definition 22")

    first: StateFormula | ProbabilisticFormula
    second: StateFormula | ProbabilisticFormula
    kind: str
    discount: fmpq

    @classmethod
    def read(cls, given: Given) -> Distance:
        texts = (*given.before, given.argument)
        if len(texts) != 2:
            raise UsageError(f"expected two formulae, each in quotes; found {len(texts)}")
        kind, discount = given[TRACE_KIND], given[DISCOUNT]
        of_traces = [text.lstrip()[:1].isdigit() for text in texts]
        if of_traces[0] is not of_traces[1]:
            raise UsageError(
                "one formula begins with a number, the other does not; expected two of one logic"
            )
        if of_traces[0] and discount != 1:
            raise UsageError("formulae of the trace logic have no --discount")
        first, second = (_read(text, of_traces[0], f"formula {n}") for n, text in enumerate(texts, start=1))
        return cls(first=first, second=second, kind=kind, discount=discount)

    def frame(self) -> dict[str, object]:
        from bisimdist.exact.rational import format_rational

        return {"command": self.command, "kind": self.kind, "discount": format_rational(self.discount)}

    def ask(self, limits: Limits) -> FormulaDistanceAnswer:
        from bisimdist.logic.engine.linear import ProbabilisticFormula
        from bisimdist.logic.engine.linear_semantics import formula_distance as distance_of_traces
        from bisimdist.logic.formula.ask import formula_distance

        names = str(self.first), str(self.second)
        if isinstance(self.first, ProbabilisticFormula) and isinstance(self.second, ProbabilisticFormula):
            value = distance_of_traces(self.first, self.second, self.kind)
            return FormulaDistanceAnswer(*names, value, value)
        found = formula_distance(
            self.first,  # type: ignore[arg-type]
            self.second,  # type: ignore[arg-type]
            self.kind,
            discount=self.discount,
            deadline=limits.deadline,
        )
        return FormulaDistanceAnswer(*names, found.lower, found.upper)

    def data(self, answer: FormulaDistanceAnswer) -> dict[str, object]:
        from bisimdist.faces.shown.numbers import exact_value

        return {
            **self.frame(),
            "first": answer.first,
            "second": answer.second,
            "distance" if self.kind == "additive" else "ratio": exact_value(answer.upper),
            "exact": answer.lower == answer.upper,
            "lower": exact_value(answer.lower),
            "upper": exact_value(answer.upper),
            "status": "exact" if answer.lower == answer.upper else "bracket",
        }

    def report(self, answer: FormulaDistanceAnswer) -> Report:
        from bisimdist.faces.shown.numbers import exact_value, interval
        from bisimdist.faces.shown.tables import Report

        exact = answer.lower == answer.upper
        shown = exact_value(answer.upper) if exact else interval(answer.lower, answer.upper)
        what = "distance" if self.kind == "additive" else "ratio, e to the distance"
        return Report(
            heading=f"{self.kind} distance of two formulae, discount {self.frame()['discount']}",
            columns=("formula", "and", what),
            rows=((answer.first, answer.second, shown),),
        )


def _read(text: str, of_traces: bool, place: str) -> StateFormula | ProbabilisticFormula:
    from bisimdist.logic.engine.formula_parser import parse_formula
    from bisimdist.logic.engine.linear_parser import parse_probabilistic_formula

    with Located(source=place):
        return parse_probabilistic_formula(text) if of_traces else parse_formula(text)
