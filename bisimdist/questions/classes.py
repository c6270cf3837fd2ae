"""Which states no observer tells apart, grouped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bisimdist.questions.options import CERTIFICATE, JSON, STATE_LIMIT, TIMEOUT
from bisimdist.questions.question import Group, Plain, Question, nothing_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bisimdist.analysis.answer import Status
    from bisimdist.analysis.apart import Apart
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.questions.given import Given
    from bisimdist.report.tables import Report

__all__ = ["Classes"]


@dataclass(frozen=True, slots=True)
class Grouped:
    """The classes, each by the names of its states, and what tells each two of them apart."""

    classes: tuple[tuple[str, ...], ...]
    apart: Apart

    @property
    def status(self) -> Status:
        """How the work on the traces ended."""
        return self.apart.status

    def data(self) -> dict[str, object]:
        """Return the classes, the traces between them, and the status."""
        return {"classes": list(map(list, self.classes)), "apart": self.apart, "status": _Afterwards(self)}

    def report(self) -> Report:
        """Return the classes, each with the trace that tells it from the one before."""
        from bisimdist.report.tables import Report

        before = (("", "", ""), *(verdict.row[3:] for verdict in self.apart.neighbours()))
        count = f"{len(self.classes)} class{'es' * (len(self.classes) > 1)}"
        rows = [(", ".join(members), *row) for members, row in zip(self.classes, before, strict=True)]
        return Report(
            heading=f"{count} of states that no observer of actions tells apart",
            columns=("states", "told from the class before by", "probability there", "here"),
            rows=tuple(rows),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof: no class can be parted, no two of them joined."""
        return self.apart.certificate()


@dataclass(frozen=True, slots=True)
class _Afterwards:
    """The status as it is when all before it has been written."""

    of: Grouped

    def json(self) -> Iterator[str]:
        """Yield its text."""
        yield f'"{self.of.status.value}"'


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
        from bisimdist.analysis.apart import told_apart
        from bisimdist.analysis.trace_equivalence import trace_classes

        classes = self.put(trace_classes, limits)
        return Grouped(classes, self.put(told_apart, limits, classes=classes))
