"""The accumulative and the amortised bisimulation metric of a probabilistic automaton."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from bisimdist.automata.generalised.command import GENERALISED, KINDS, GeneralisedMetric, RelationCheck
from bisimdist.errors import UsageError
from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import DISCOUNT, METRIC_KIND, PRECISION, RELATION, THRESHOLD
from bisimdist.faces.asked.question import Group, Plain, Question, identity, nothing_known
from bisimdist.faces.asked.threshold import AtMost

if TYPE_CHECKING:
    from bisimdist.automata.metric.answer import MetricAnswer
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits

Pairs = tuple[tuple[str, str], ...]
SIZES = "supports of different sizes"
ALIKE = "alike in bisimilar states"
ABOUT_SCHEDULERS = (
    "Bisimilar states were merged: this is about admissible schedulers that choose alike in bisimilar "
    "states. A scheduler that tells such states apart may reach a larger ratio."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric(Question["MetricAnswer"]):
    """Compute a bisimulation metric of a probabilistic automaton: accumulative, amortised or generalised.

    The answer ln C for a pair means: the model is (ln C)-differentially private for it, under admissible
    schedulers. Kind additive compares probabilities by differences instead.
    """

    command = "metric"
    tabled = "measured"
    group = Group.METRICS
    example = "example:pin-checking --kind amortised"
    options = (
        METRIC_KIND,
        DISCOUNT,
        PRECISION.but(help="Accept bounds at most P apart, for kinds additive and multiplicative."),
        options.PAIR,
        RELATION,
        THRESHOLD.but(help="Decide whether the distance is at most EPS."),
        options.QUOTIENT,
        options.TIMEOUT,
        options.SVG,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = (
        "XCL14 Definition 3",
        "XCL14 Theorem 1",
        "XCL14 Definition 5",
        "XCL14 Theorem 2",
        "CCP18 Definition 16",
    )

    model: PA
    original: PA
    kind: str
    asked: Pairs
    pairs: Pairs

    @classmethod
    def read(cls, given: Given) -> Question[Any]:
        threshold = given[THRESHOLD]
        asked = cls._unthresholded(given)
        if threshold is None:
            return asked
        if isinstance(asked, RelationCheck):
            raise UsageError("--relation is checked by itself; --threshold does not apply")
        return AtMost(asked=asked, threshold=threshold, logarithmic=given[METRIC_KIND] != "additive")

    @classmethod
    def _unthresholded(cls, given: Given) -> Question[Any]:
        kind = _checked_kind(given)
        model = given.automaton()
        if given[RELATION] is not None:
            return _relation(given, model, kind)
        asked = given.pairs(model)
        if kind in GENERALISED:
            return GeneralisedMetric.of(given, model, kind, asked)
        if not given[options.QUOTIENT]:
            return cls(model=model, original=model, kind=kind, asked=asked, pairs=asked)
        merged, pairs = _merged(given, model, asked)
        return cls(model=merged, original=model, kind=kind, asked=asked, pairs=pairs)

    def ask(self, limits: Limits) -> MetricAnswer:
        from bisimdist.automata.metric.ask import metric

        return self.put(metric, limits)

    def notes(self, answer: MetricAnswer) -> list[str]:
        if self.model is not self.original:
            return []
        if not any(bound.play and SIZES in bound.play.obstacle for bound in answer.pairs):
            return []
        return [
            "supports differ in size: --quotient merges bisimilar states first, which may help, and is sound "
            "since they give every trace the same probability"
        ]

    def frame(self) -> dict[str, object]:
        """Return what the JSON answer begins with."""
        data: dict[str, object] = {"command": self.command, "model": identity(self.model)}
        if self.model is not self.original:
            data |= {"quotient_of": identity(self.original), "schedulers": ALIKE}
        return {**data, "kind": self.kind}

    def unknown(self, reason: str) -> Plain:
        known = {"ratio": "inf", "epsilon": ["0", "inf"], "exact": False, "lower": "1"}
        return nothing_known(self.frame(), self.asked, known)

    def data(self, answer: MetricAnswer) -> dict[str, object]:
        return {**self.frame(), **answer.data(self.asked)}

    def report(self, answer: MetricAnswer) -> Report:
        report = answer.report(self.asked)
        if self.model is self.original:
            return report
        return replace(report, remarks=(*report.remarks, ABOUT_SCHEDULERS))


def _checked_kind(given: Given) -> str:
    kind = given[METRIC_KIND]
    if kind not in (*KINDS, *GENERALISED):
        shown = "was not given" if kind is None else f"{kind}: there is no such metric"
        raise UsageError(f"--kind {shown}; expected {', '.join(KINDS)}, {' or '.join(GENERALISED)}")
    if kind in KINDS:
        for option in (DISCOUNT, PRECISION):
            if given.values.get(option.name) is not None:
                raise UsageError(
                    f"{option.flag} is for the kinds {' and '.join(GENERALISED)}, not for {kind}"
                )
    return kind


def _relation(given: Given, model: PA, kind: str) -> RelationCheck:
    if kind in GENERALISED:
        raise UsageError(f"--relation is for the kinds {' and '.join(KINDS)}, not for {kind}")
    if given[options.PAIR] or bool(given[options.QUOTIENT]):
        raise UsageError("--relation is checked by itself; --pair and --quotient do not apply")
    return RelationCheck.of(given, model, kind)


def _merged(given: Given, model: PA, names: Pairs) -> tuple[PA, Pairs]:
    from bisimdist.automata.engine.strong import bisimilarity_quotient

    merged, classes = bisimilarity_quotient(model)
    given.note(f"bisimilar states are merged: {len(model)} states, {len(merged)} classes")
    if given.wants_proof:
        given.note("the certificate is about the merged automaton, each class named by its first state")

    def representative(name: str) -> str:
        return merged.states[classes[model.index(name)]]

    return merged, tuple((representative(s), representative(t)) for s, t in names)
