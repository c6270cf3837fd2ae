"""An engine that answers from a table, for tests of the command line alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.pair_bounds import PairBound
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline, Progress

__all__ = ["FakeEngine"]


def _nothing() -> None:
    """Do nothing."""


@dataclass
class FakeEngine:
    """Stands in for the engine: bounds for a pair from `known`, else 1/2500 exactly."""

    known: dict[tuple[str, str], tuple[str, str]] = field(default_factory=dict)
    status: Status | None = None
    raises: BaseException | None = None
    proof_raises: BaseException | None = None
    at_alpha: Callable[[fmpq], tuple[str, str]] | None = None
    calls: list[Mapping[str, object]] = field(default_factory=list)
    during: Callable[[], None] = _nothing

    def _bound(self, alpha: fmpq, source: str, target: str) -> PairBound:
        lower, upper = self.known.get((source, target), ("1/2500", "1/2500"))
        if self.at_alpha is not None:
            lower, upper = self.at_alpha(alpha)
        low, high = (fmpq(*(int(part) for part in text.split("/"))) for text in (lower, upper))
        return PairBound(source, target, upper=high, lower=low, exact=bool(low == high))

    def _certificate(self) -> dict[str, object]:
        if self.proof_raises is not None:
            raise self.proof_raises
        return {"format": "bisimdist-certificate", "version": 1}

    def bound(
        self,
        model: LMC,
        alpha: fmpq,
        *,
        distance: str = "bd",
        pairs: Sequence[tuple[str, str]] | None = None,
        precision: fmpq | None = None,
        threshold: fmpq | None = None,
        nature: str = "each-step",
        backend: str | None = None,
        deadline: Deadline,
        memory: int | None = None,
        jobs: int = 1,
        cluster: str | None = None,
        progress: Progress,
    ) -> DistanceAnswer:
        self.calls.append(
            {
                "alpha": alpha,
                "pairs": pairs,
                "precision": precision,
                "threshold": threshold,
                "jobs": jobs,
                "model": model,
            }
        )
        progress("solving", 1, 2)
        self.during()
        if self.raises is not None:
            raise self.raises
        bounds = tuple(self._bound(alpha, s, t) for s, t in pairs or ())
        found = Status.EXACT if all(bound.exact for bound in bounds) else Status.BRACKET
        return DistanceAnswer(
            model=model,
            alpha=alpha,
            distance=distance,
            pairs=bounds,
            status=self.status or (Status.LIMIT if deadline.passed() else found),
            make_certificate=self._certificate,
        )
