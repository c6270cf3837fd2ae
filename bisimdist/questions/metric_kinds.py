"""What else ``metric`` answers: generalised metrics, and whether a relation is a bisimulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.question import Plain, Question, Settled, identity, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.generalised import GeneralisedAnswer
    from bisimdist.bisimulation.relation import Relation, RelationVerdict
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.report.tables import Report

__all__ = ["GENERALISED", "KINDS", "GeneralisedMetric", "RelationCheck"]

KINDS = ("accumulative", "amortised")
GENERALISED = ("additive", "multiplicative")


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralisedMetric(Question["GeneralisedAnswer"]):
    """A generalised bisimilarity metric of an automaton."""

    model: PA
    kind: str
    pairs: tuple[tuple[str, str], ...]
    discount: fmpq
    precision: fmpq | None

    @classmethod
    def of(cls, given: Given, model: PA, kind: str, pairs: tuple[tuple[str, str], ...]) -> GeneralisedMetric:
        """Make the question once the model is known."""
        if given[options.QUOTIENT]:
            given.note("--quotient changes nothing: bisimilar states are at distance 0, and merged anyway")
        return cls(
            model=model,
            kind=kind,
            pairs=pairs,
            discount=given[options.DISCOUNT],
            precision=given[options.PRECISION],
        )

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        model = given.automaton()
        return cls.of(given, model, str(given[options.METRIC_KIND]), given.pairs(model))

    def ask(self, limits: Limits) -> GeneralisedAnswer:
        from bisimdist.analysis.generalised import generalised_metric

        return generalised_metric(
            self.model,
            self.kind,
            discount=self.discount,
            pairs=self.pairs,
            precision=self.precision,
            deadline=limits.deadline,
            progress=limits.progress,
        )

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        from bisimdist.exact.rational import format_rational

        return {
            "command": "metric",
            "model": identity(self.model),
            "kind": self.kind,
            "discount": format_rational(self.discount),
        }

    def unknown(self, reason: str) -> Plain:
        del reason
        if self.kind == "additive":
            known: dict[str, object] = {"distance": "1", "exact": False, "lower": "0", "upper": "1"}
        else:
            known = {"ratio": "inf", "epsilon": ["0", "inf"], "exact": False, "lower": "1", "upper": "inf"}
        return nothing_known(self.frame(), self.pairs, known)

    def data(self, answer: GeneralisedAnswer) -> dict[str, object]:
        from bisimdist.report.generalised import generalised_data

        return {
            **self.frame(),
            "pairs": [
                generalised_data(bound, name) for bound, name in zip(answer.pairs, self.pairs, strict=True)
            ],
            "status": answer.status.value,
        }

    def report(self, answer: GeneralisedAnswer) -> Report:
        from bisimdist.report.generalised import generalised_report

        return generalised_report(answer, self.pairs)


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationCheck(Question["RelationVerdict"]):
    """Whether a relation is an accumulative or an amortised bisimulation."""

    model: PA
    kind: str
    relation: Relation

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        return cls.of(given, given.automaton(), str(given[options.METRIC_KIND]))

    @classmethod
    def of(cls, given: Given, model: PA, kind: str) -> RelationCheck:
        """Make the question once the model is known."""
        from bisimdist.bisimulation.relation import load_relation

        return cls(model=model, kind=kind, relation=load_relation(str(given[options.RELATION]), model))

    def ask(self, limits: Limits) -> RelationVerdict:
        del limits
        from bisimdist.bisimulation.relation import check_relation

        return check_relation(self.model, self.kind, self.relation)

    def data(self, answer: RelationVerdict) -> dict[str, object]:
        from bisimdist.report.metric import relation_data

        return relation_data(self.model, self.kind, self.relation, answer)

    def report(self, answer: RelationVerdict) -> Report:
        from bisimdist.report.metric import relation_report

        return relation_report(self.model, self.kind, self.relation, answer)

    def settled(self, answer: RelationVerdict) -> Settled:
        return answer.holds
