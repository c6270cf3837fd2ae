"""Which states no observer tells apart, grouped."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bisimdist.errors import LimitError
from bisimdist.faces.asked.options import CERTIFICATE, JSON, TIMEOUT
from bisimdist.faces.asked.question import Group, Plain, Question, nothing_known

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bisimdist.faces.asked.given import Given
    from bisimdist.faces.shown.answer import Status
    from bisimdist.faces.shown.tables import Report
    from bisimdist.models.pa import PA
    from bisimdist.progress import Limits
    from bisimdist.traces.classes.apart import Apart


@dataclass(frozen=True, slots=True)
class Grouped:
    """The classes, each by the names of its states, and what tells each two of them apart."""

    classes: tuple[tuple[str, ...], ...]
    apart: Apart | None  # None where there are too many classes to say it of each two

    @property
    def status(self) -> Status:
        """How the work on the traces ended."""
        from bisimdist.faces.shown.answer import Status

        return Status.EXACT if self.apart is None else self.apart.status

    def data(self) -> dict[str, object]:
        """Return the classes, the traces between them, and the status."""
        apart: object = [] if self.apart is None else self.apart
        return {"classes": list(map(list, self.classes)), "apart": apart, "status": _Afterwards(self)}

    def report(self) -> Report:
        """Return the classes, each with the trace that tells it from the one before."""
        from bisimdist.faces.shown.tables import Report

        count = f"{len(self.classes)} class{'es' * (len(self.classes) > 1)}"
        heading = f"{count} of states that no observer of actions tells apart"
        members = [", ".join(names) for names in self.classes]
        if self.apart is None:
            remark = "So many classes are listed without traces: 'equivalence' tells two states apart."
            return Report(
                heading=heading, columns=("states",), rows=tuple(zip(members, strict=True)), remarks=(remark,)
            )
        before = (("", "", ""), *(verdict.row[3:] for verdict in self.apart.neighbours()))
        return Report(
            heading=heading,
            columns=("states", "told from the class before by", "probability there", "here"),
            rows=tuple((names, *row) for names, row in zip(members, before, strict=True)),
        )

    def certificate(self) -> dict[str, object]:
        """Return the proof: no class can be parted, no two of them joined."""
        if self.apart is None:
            raise LimitError("the proof would be too long")
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
    """Group the states of a model into classes that no observer can tell apart, and say why classes differ.

    Every trace has the same probability from all states of a class. MODEL must be fully probabilistic: a
    file, '-' for standard input, or example:NAME[,key=value...].
    """

    command = "classes"
    group = Group.TRACES
    example = "example:randomised-response-pa"
    options = (TIMEOUT, CERTIFICATE, JSON)
    sources = ("CCP18 Definition 2",)

    model: PA

    @classmethod
    def read(cls, given: Given) -> Classes:
        return cls(model=given.automaton(fully_probabilistic=True))

    def unknown(self, reason: str) -> Plain:
        known = nothing_known(self.frame(), (), {})
        return replace(known, data={**self.frame(), "classes": [], "apart": [], "status": "limit"})

    def ask(self, limits: Limits) -> Grouped:
        from bisimdist.traces.classes.apart import told_apart, too_many
        from bisimdist.traces.equivalence.ask import trace_classes

        classes = self.put(trace_classes, limits)
        if too_many(classes):
            return Grouped(classes, None)
        return Grouped(classes, self.put(told_apart, limits, classes=classes))
