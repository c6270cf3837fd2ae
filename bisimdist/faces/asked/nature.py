"""What answers say of nature, where the model is only known roughly."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from bisimdist.faces.asked.question import Question

if TYPE_CHECKING:
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.kinds import AnyModel

A = TypeVar("A")
SAID = {
    "each-step": "in every step nature picks probabilities from the intervals, in each world on its own",
    "fixed": "nature has picked probabilities from the intervals for good, the same in both worlds",
}


def nature_data(model: AnyModel, nature: str) -> dict[str, object]:
    """Return what a JSON answer says of nature; nothing, where the model is known."""
    from bisimdist.exact.rational import format_rational
    from bisimdist.models.intervals import IntervalChain

    if not isinstance(model, IntervalChain):
        return {}
    learned = {} if model.confidence is None else {"confidence": format_rational(model.confidence)}
    return {"nature": nature, **learned}


def with_nature(report: Report, model: AnyModel, nature: str) -> Report:
    """Return a report that says what nature may do, and how sure it is that the true chain is inside."""
    from bisimdist.exact.rational import shorten_rational
    from bisimdist.models.intervals import IntervalChain

    if not isinstance(model, IntervalChain):
        return report
    remarks = [f"The worst case: {SAID[nature]}."]
    if nature == "fixed":
        remarks.append("A lower bound is that of one chain in the intervals, which the certificate names.")
    if model.confidence is not None:
        sure = shorten_rational(model.confidence)
        remarks.append(f"The intervals were learned: with confidence {sure} the true chain is within them.")
    if model.relaxed() is not model:
        remarks.append(
            "Rows have too many vertices: the upper bounds are those of wider intervals, which are in the "
            "certificate."
        )
    return replace(report, remarks=(*report.remarks, *remarks))


class AboutNature(Question[A]):
    """A question about a model that may be known only roughly."""

    __slots__ = ()
    nature: Any

    def frame(self) -> dict[str, object]:
        return {**super().frame(), **nature_data(self.model, self.nature)}

    def report(self, answer: A) -> Report:
        report: Report = super().report(answer)  # type: ignore[assignment]
        return with_nature(report, self.model, self.nature)
