"""Which states no observer tells apart, grouped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from bisimdist.questions.options import CERTIFICATE, JSON, STATE_LIMIT, TIMEOUT
from bisimdist.questions.question import Group, Plain, Question, nothing_known

if TYPE_CHECKING:
    from bisimdist.analysis.answer import Status
    from bisimdist.analysis.trace_equivalence import TraceEquivalenceAnswer, TraceVerdict
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.questions.given import Given
    from bisimdist.report.tables import Report

__all__ = ["Classes"]


@dataclass(frozen=True, slots=True)
class Grouped:
    """The classes, each by the names of its states, and the verdicts that prove them."""

    classes: tuple[tuple[str, ...], ...]
    proof: TraceEquivalenceAnswer

    @property
    def status(self) -> Status:
        """How the work on the traces ended."""
        return self.proof.status

    @property
    def apart(self) -> tuple[TraceVerdict, ...]:
        """What tells the first states of two classes apart."""
        first = {members[0] for members in self.classes}
        return tuple(pair for pair in self.proof.pairs if {pair.source, pair.target} <= first)

    def data(self) -> dict[str, object]:
        """Return the classes, the traces between them, and the status."""
        classes = [list(members) for members in self.classes]
        return {
            "classes": classes,
            "apart": [pair.data() for pair in self.apart],
            "status": self.status.value,
        }

    def report(self) -> Report:
        """Return the classes, each with the trace that tells it from the one before."""
        from bisimdist.report.tables import Report

        known = {(pair.source, pair.target): pair for pair in self.apart}
        before = (("", "", ""), *(known[a[0], b[0]].row[3:] for a, b in pairwise(self.classes)))
        count = f"{len(self.classes)} class{'es' * (len(self.classes) > 1)}"
        rows = [(", ".join(members), *row) for members, row in zip(self.classes, before, strict=True)]
        return Report(
            heading=f"{count} of states that no observer of actions tells apart",
            columns=("states", "told from the class before by", "probability there", "here"),
            rows=tuple(rows),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof: no class can be parted, no two of them joined."""
        return self.proof.certificate()


@dataclass(frozen=True, slots=True, kw_only=True)
class Classes(Question[Grouped]):
    """Group the states of a model into classes that no observer tells apart, and tell what parts two of them.

    Every trace has the same probability from all states of a class. MODEL, fully probabilistic, is a file,
    '-' for standard input, or example:NAME[,key=value...].
    """

    command = "classes"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (STATE_LIMIT, TIMEOUT, CERTIFICATE, JSON)
    sources = ("CCP18 Definition 2",)

    model: PA

    @classmethod
    def read(cls, given: Given) -> Classes:
        return cls(model=given.automaton(fully_probabilistic=True))

    def unknown(self, reason: str) -> Plain:
        del reason
        known = nothing_known(self.frame(), (), {})
        return replace(known, data={**self.frame(), "classes": [], "apart": [], "status": "limit"})

    def ask(self, limits: Limits) -> Grouped:
        from bisimdist.analysis.trace_equivalence import trace_classes, trace_equivalence

        classes = self.put(trace_classes, limits)
        within = [(members[0], other) for members in classes for other in members[1:]]
        between = list(combinations((members[0] for members in classes), 2))
        pairs = [*within, *between] or [(self.model.states[0],) * 2]
        return Grouped(classes, self.put(trace_equivalence, limits, pairs=pairs))
