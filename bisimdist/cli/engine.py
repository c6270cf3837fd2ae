"""What the command line asks of the engine, which is loaded only once a question is known to be good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from flint import fmpq

from bisimdist.analysis.answer import DistanceAnswer, ThresholdAnswer
from bisimdist.models.lmc import LMC
from bisimdist.progress import Deadline, Progress

__all__ = ["Engine", "load_engine"]


class Engine(Protocol):
    """The two questions about a distance."""

    def bound(
        self,
        model: LMC,
        alpha: fmpq,
        *,
        distance: str,
        pairs: Sequence[tuple[str, str]],
        precision: fmpq | None,
        deadline: Deadline,
        jobs: int,
        progress: Progress,
    ) -> DistanceAnswer:
        """Return bounds for each pair."""
        ...

    def bd_threshold(
        self,
        model: LMC,
        alpha: fmpq,
        source: str,
        target: str,
        theta: fmpq,
        *,
        distance: str,
        deadline: Deadline,
        jobs: int,
        progress: Progress,
    ) -> ThresholdAnswer:
        """Return whether the distance of a pair is at most theta."""
        ...


def load_engine() -> Engine:
    """Import the engine, which takes longer than all else that a refused command does."""
    from bisimdist.analysis import distances  # noqa: PLC0415

    return distances
