"""What all answers share: they show themselves, and prove themselves on demand."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from bisimdist.errors import UsageError
from bisimdist.exact.number import Numbers
from bisimdist.models.ends import Completed, Ends
from bisimdist.report.tables import Report

__all__ = ["AboutTraces", "CertificateMaker", "Proved", "Shown", "no_certificate"]

CertificateMaker = Callable[[], dict[str, object]]


def no_certificate() -> dict[str, object]:
    """Raise UsageError: what stands in place of a proof where there is none."""
    raise UsageError("this answer carries no certificate: nothing was decided")


class Shown(Numbers, ABC):
    """An answer that shows itself, as plain data and to a person."""

    __slots__ = ()

    def data(self) -> dict[str, object]:
        """Return what the JSON object says beside the question: what each pair does, and the status."""
        pairs: tuple[Any, ...] = self.pairs  # type: ignore[attr-defined]
        status = getattr(self, "status", None)
        return {"pairs": [pair.data() for pair in pairs], **({"status": status.value} if status else {})}

    @abstractmethod
    def report(self) -> Report:
        """Return the answer for a person."""

    def _repr_html_(self) -> str:
        return self.report().html()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proved(Numbers):
    """An answer that can prove itself.

    Parameters
    ----------
    make_certificate
        Writes the proof when it is asked for; most askers never do.
    """

    make_certificate: CertificateMaker = field(default=no_certificate, repr=False, compare=False)

    def certificate(self) -> dict[str, object]:
        """Return the proof of the answer, as plain data that ``json.dumps`` writes.

        Raises
        ------
        UsageError
            If the answer was made without one.
        LimitError
            If the proof would be too long.
        """
        return self.make_certificate()


@dataclass(frozen=True, slots=True, kw_only=True)
class AboutTraces(Shown, Proved):
    """An answer that rests on probabilities of traces.

    Parameters
    ----------
    completed
        The automaton as the observer sees it.
    """

    completed: Completed = field(repr=False, compare=False)

    @property
    def ends(self) -> Ends:
        """Whether the observer sees that a run has ended."""
        return self.completed.ends

    @property
    def missing(self) -> bool:
        """Whether mass is missing in what the states that were asked about reach."""
        return self.completed.missing
