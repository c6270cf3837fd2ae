"""How far apart the probabilities of one trace can be, by quotient or by difference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.faces.asked import options
from bisimdist.faces.asked.given import Given
from bisimdist.faces.asked.options import ENDS, LONGEST, THRESHOLD, TRACE_KIND, TRACES_OR_SETS
from bisimdist.faces.asked.question import Group, Plain, Question, Settled, nothing_known

if TYPE_CHECKING:
    from flint import fmpq

    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.traces.trace.answer import TraceMetricAnswer
    from bisimdist.traces.trace.events import Of


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace(Question["TraceMetricAnswer"]):
    """Compute the trace metric: how far apart the probabilities of one trace can be from two states.

    Kind multiplicative takes the largest difference of ln Pr(s, w) and ln Pr(t, w) over all traces w. Kind
    additive takes that of Pr(s, w) and Pr(t, w), or with --of sets that over all sets of traces (weak
    anonymity). MODEL must be fully probabilistic: a file, '-' for standard input, or
    example:NAME[,key=value...].
    """

    command = "trace"
    tabled = "measured"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (
        TRACE_KIND,
        TRACES_OR_SETS,
        options.PAIR,
        LONGEST,
        THRESHOLD,
        ENDS,
        options.TIMEOUT,
        options.SVG,
        options.CERTIFICATE,
        options.JSON,
    )
    sources = ("CCP18 Definition 9", "CCP18 Proposition 2", "CCP18 Definition 10")
    shown = ("kind", "of", "length")

    model: PA
    pairs: tuple[tuple[str, str], ...]
    kind: str
    of: Of
    length: int | None
    threshold: fmpq | None
    ends: str

    @classmethod
    def read(cls, given: Given) -> Trace:
        said = given.fields(cls)
        model = given.automaton(fully_probabilistic=True)
        return cls(model=model, pairs=given.pairs(model), **said)

    def frame(self) -> dict[str, object]:
        named = super(Trace, self).frame()
        return {name: value for name, value in named.items() if self.kind == "additive" or name != "of"}

    def ask(self, limits: Limits) -> TraceMetricAnswer:
        from bisimdist.traces.trace.ask import trace_metric

        return self.put(trace_metric, limits)

    def unknown(self, reason: str) -> Plain:
        least, greatest = ("0", "1") if self.kind == "additive" else ("1", "inf")
        known = {"lower": least, "upper": greatest, "exact": False}
        asked = {} if self.threshold is None else {"threshold": str(self.threshold), "verdict": "unknown"}
        return nothing_known({**self.frame(), **asked}, self.pairs, known)

    def settled(self, answer: TraceMetricAnswer) -> Settled:
        if self.threshold is not None:
            return answer.at_most(self.threshold)
        return True if all(pair.exact for pair in answer.pairs) else None
