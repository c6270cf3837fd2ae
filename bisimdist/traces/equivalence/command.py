"""Which states give every trace the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from bisimdist.faces.asked.options import CERTIFICATE, ENDS, JSON, PAIR, SVG, TIMEOUT
from bisimdist.faces.asked.question import Group, Plain, Question, Settled, nothing_known

if TYPE_CHECKING:
    from bisimdist.faces.asked.given import Given
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.traces.equivalence.ask import TraceEquivalenceAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence(Question["TraceEquivalenceAnswer"]):
    """Decide whether every trace has the same probability from both states of a pair.

    If not, print a shortest trace that tells them apart, with exit code 1. MODEL must be fully probabilistic:
    a file, '-' for standard input, or example:NAME[,key=value...].
    """

    command = "equivalence"
    tabled = "listed"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (PAIR, ENDS, TIMEOUT, CERTIFICATE, SVG, JSON)
    sources = ("CCP18 Definition 2",)

    model: PA
    pairs: tuple[tuple[str, str], ...]
    ends: str

    @classmethod
    def read(cls, given: Given) -> Equivalence:
        model = given.automaton(fully_probabilistic=True)
        return cls(model=model, pairs=given.pairs(model), **given.fields(cls))

    def ask(self, limits: Limits) -> TraceEquivalenceAnswer:
        from bisimdist.traces.equivalence.ask import trace_equivalence

        return self.put(trace_equivalence, limits)

    def unknown(self, reason: str) -> Plain:
        known = {"equivalent": None, "trace": None, "probabilities": None}
        return nothing_known({**self.frame(), "verdict": "unknown"}, self.pairs, known)

    def settled(self, answer: TraceEquivalenceAnswer) -> Settled:
        return answer.equivalent
