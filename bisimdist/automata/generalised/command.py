"""What else ``metric`` answers: generalised metrics, and whether a relation is a bisimulation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.question import Plain, Question, Settled, identity, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.automata.engine.relation import Relation, RelationVerdict
    from bisimdist.automata.generalised.ask import GeneralisedAnswer
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits

KINDS = ("accumulative", "amortised")
GENERALISED = ("additive", "multiplicative")

VIOLATIONS_SHOWN = 10
SUPPLIED_SHOWN = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralisedMetric(Question["GeneralisedAnswer"]):
    """A generalised bisimilarity metric of an automaton."""

    command = "metric"
    tabled = "measured"
    shown = ("kind", "discount")

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
        return cls(model=model, pairs=pairs, **{**given.fields(cls), "kind": kind})

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        model = given.automaton()
        return cls.of(given, model, str(given[options.METRIC_KIND]), given.pairs(model))

    def ask(self, limits: Limits) -> GeneralisedAnswer:
        from bisimdist.automata.generalised.ask import generalised_metric

        return self.put(generalised_metric, limits)

    def unknown(self, reason: str) -> Plain:
        if self.kind == "additive":
            known: dict[str, object] = {"distance": "1", "exact": False, "lower": "0", "upper": "1"}
        else:
            known = {"ratio": "inf", "epsilon": ["0", "inf"], "exact": False, "lower": "1", "upper": "inf"}
        return nothing_known(self.frame(), self.pairs, known)


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
        from bisimdist.automata.engine.relation import load_relation

        return cls(model=model, kind=kind, relation=load_relation(str(given[options.RELATION]), model))

    def ask(self, limits: Limits) -> RelationVerdict:
        from bisimdist.automata.engine.relation import check_relation

        return check_relation(self.model, self.kind, self.relation, identity=True)

    def data(self, answer: RelationVerdict) -> dict[str, object]:
        from bisimdist.exact.logarithm import log_enclosure
        from bisimdist.exact.rational import format_rational

        names = self.model.states
        return {
            "command": "metric",
            "model": identity(self.model),
            "kind": self.kind,
            "verdict": "holds" if answer.holds else "violated",
            "ratio": format_rational(answer.ratio),
            "epsilon": list(log_enclosure(answer.ratio)),
            "triples": len(self.relation.triples),
            "supplied": [[names[s], names[t], format_rational(c)] for s, t, c in answer.supplied],
            "violations": [
                {
                    "triple": [
                        names[violation.triple[0]],
                        names[violation.triple[1]],
                        format_rational(violation.triple[2]),
                    ],
                    "clause": violation.clause,
                    "text": violation.text,
                }
                for violation in answer.violations
            ],
            "pairs": [
                {"from": names[s], "to": names[t], "ratio": format_rational(answer.ratio), "exact": False}
                for s, t in answer.proved
            ]
            if answer.holds
            else [],
        }

    def report(self, answer: RelationVerdict) -> Report:
        from bisimdist.exact.logarithm import log_enclosure
        from bisimdist.exact.rational import format_rational
        from bisimdist.faces.shown.numbers import short_rational
        from bisimdist.faces.shown.tables import Report

        names = self.model.states
        low, high = log_enclosure(answer.ratio)
        epsilon = f"ln({short_rational(answer.ratio)})" + (f", in [{low}, {high}]" if low != high else ", 0")
        what = f"an epsilon-{self.kind} bisimulation, epsilon = {epsilon}"
        if answer.holds:
            remarks = [f"The relation ({len(self.relation.triples)} triples) is {what}."]
            if answer.supplied:
                shown = [f"({names[s]}, {names[t]}, {format_rational(c)})" for s, t, c in answer.supplied]
                more = f" and {len(shown) - SUPPLIED_SHOWN} more" if len(shown) > SUPPLIED_SHOWN else ""
                listed = ", ".join(shown[:SUPPLIED_SHOWN])
                remarks.append(f"Supplied, since a state always answers itself: {listed}{more}.")
            for s, t in answer.proved:
                remarks.append(f"The {self.kind} distance of ({names[s]}, {names[t]}) is at most epsilon.")
            return Report(remarks=tuple(remarks))
        remarks = [f"The relation is NOT {what}:"]
        for violation in answer.violations[:VIOLATIONS_SHOWN]:
            s, t, credit = violation.triple
            remarks.append(f"({names[s]}, {names[t]}, {format_rational(credit)}): {violation.text}")
        if len(answer.violations) > VIOLATIONS_SHOWN:
            remarks.append(f"and {len(answer.violations) - VIOLATIONS_SHOWN} more clauses fail")
        return Report(remarks=tuple(remarks))

    def settled(self, answer: RelationVerdict) -> Settled:
        return answer.holds

    def certificate(self, answer: RelationVerdict) -> dict[str, object]:
        from bisimdist.automata.metric.certificate import relation_certificate

        return relation_certificate(self.model, self.kind, self.relation, answer)
