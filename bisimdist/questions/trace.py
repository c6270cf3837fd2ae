"""How far apart the probabilities of one trace can be, by quotient or by difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.questions import options
from bisimdist.questions.given import Given
from bisimdist.questions.options import ENDS, LONGEST, THRESHOLD, TRACE_KIND
from bisimdist.questions.question import Group, Plain, Question, Settled, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.analysis.trace_metric_answer import TraceMetricAnswer
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits

__all__ = ["Trace"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Question["TraceMetricAnswer"]):
    """Compute the trace metric: how far apart the probabilities of one trace can be from two states.

    Multiplicative: the largest difference of ln Pr(s, w) and ln Pr(t, w) over all traces w; additive: that of
    Pr(s, w) and Pr(t, w).
    MODEL, fully probabilistic, is a file, '-' for standard input, or example:NAME[,key=value...].
    """

    command = "trace"
    tabled = "measured"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (
        TRACE_KIND,
        options.PAIR,
        LONGEST,
        THRESHOLD,
        ENDS,
        options.STATE_LIMIT,
        options.TIMEOUT,
        options.SVG,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 9", "CCP18 Proposition 2", "CCP18 Definition 10")
    shown = ("kind", "length")

    model: PA
    pairs: tuple[tuple[str, str], ...]
    kind: str
    length: int | None
    threshold: fmpq | None
    ends: str

    @classmethod
    def read(cls, given: Given) -> Trace:
        said = given.fields(cls)
        model = given.automaton(fully_probabilistic=True)
        return cls(model=model, pairs=given.pairs(model), **said)

    def ask(self, limits: Limits) -> TraceMetricAnswer:
        from bisimdist.analysis.trace_metric import trace_metric

        return self.put(trace_metric, limits)

    def unknown(self, reason: str) -> Plain:
        del reason
        least, greatest = ("0", "1") if self.kind == "additive" else ("1", "inf")
        known = {"lower": least, "upper": greatest, "exact": False}
        asked = {} if self.threshold is None else {"threshold": str(self.threshold), "verdict": "unknown"}
        return nothing_known({**self.frame(), **asked}, self.pairs, known)

    def settled(self, answer: TraceMetricAnswer) -> Settled:
        if self.threshold is not None:
            return answer.at_most(self.threshold)
        return True if all(pair.exact for pair in answer.pairs) else None
