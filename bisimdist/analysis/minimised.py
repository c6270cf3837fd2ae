"""Bounds by a smaller chain that is nearly the same: what merging loses is allowed for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from bisimdist.analysis.delta import delta
from bisimdist.analysis.delta_answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.analysis.distance_answer import DistanceAnswer
from bisimdist.analysis.distances import bound
from bisimdist.analysis.minimisation import MinimiseAnswer, minimise
from bisimdist.analysis.pair_bounds import PairBound
from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.lmc import LMC
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["minimised_bound", "minimised_delta"]

Pairs = Sequence[tuple[str, str]]


def minimised_delta(  # noqa: PLR0913
    model: object,
    pairs: Pairs,
    loss: ExactNumber,
    *,
    alpha: ExactNumber | None = None,
    epsilon: ExactNumber | None = None,
    gap: ExactNumber | None = None,
    worst: bool = False,
    threshold: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
) -> DeltaAnswer:
    """Return bounds on delta by a smaller chain: each is wider by (1 + alpha) times what is lost.

    Parameters
    ----------
    model
        The chain.
    pairs
        Pairs of names of states.
    loss
        How much may be lost (`bisimdist.minimise`).
    alpha, epsilon, gap, worst, threshold, deadline, memory, progress
        As for `bisimdist.delta`.

    Notes
    -----
    The proof is in ``docs/theory/quotient.md``.
    """
    limits: dict[str, Any] = {"deadline": deadline, "memory": memory, "progress": progress}
    small, inside = _smaller(model, pairs, loss, limits)
    asked: dict[str, Any] = {"gap": gap, "worst": worst, "threshold": threshold}
    found = delta(small.smaller, alpha, epsilon=epsilon, pairs=inside, **asked, **limits)
    lost = (1 + max(found.alpha_lower, found.alpha_upper)) * small.loss
    work = _Lossy(small, found, lost)
    return replace(
        found,
        model=small.model,
        status=found.status.of_bounds(exact=not lost),
        pairs=tuple(
            replace(
                pair,
                source=source,
                target=target,
                lower=_less(pair.lower, lost),
                upper=_more(pair.upper, lost),
                _work=work,
                _question=number,
            )
            for number, (pair, (source, target)) in enumerate(zip(found.pairs, pairs, strict=True))
        ),
        _work=work,
    )


def minimised_bound(  # noqa: PLR0913
    model: object,
    pairs: Pairs,
    loss: ExactNumber,
    *,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    jobs: int = 1,
    progress: Progress = silent,
    **question: Any,
) -> DistanceAnswer:
    """Return bounds on delta by the distance of a smaller chain and what is lost; see `minimised_delta`.

    At alpha = 1, where the triangle inequality holds, they are bounds on the distance, too.
    """
    limits: dict[str, Any] = {"deadline": deadline, "memory": memory, "progress": progress}
    small, inside = _smaller(model, pairs, loss, limits)
    found = bound(small.smaller, pairs=inside, jobs=jobs, **question, **limits)
    lost = (1 + found.alpha) * small.loss
    bounds = []
    for pair, names in zip(found.pairs, pairs, strict=True):
        lower = _less(pair.lower, lost) if found.alpha == 1 else fmpq(0)
        upper = _more(pair.upper, lost)
        bounds.append(PairBound(*names, upper, lower, lower == upper))
    return replace(
        found,
        model=small.model,
        pairs=tuple(bounds),
        status=found.status.of_bounds(exact=not lost),
        method=f"{found.method}; {len(small.model)} states became {len(small.smaller)}",
        make_certificate=_refused,
        make_parts=_refused,
    )


def _smaller(
    model: object, pairs: Pairs, loss: ExactNumber, limits: dict[str, Any]
) -> tuple[MinimiseAnswer, Pairs]:
    """Return the smaller chain, and the pairs as states of it."""
    if not isinstance(model, LMC) or getattr(model, "cut", None):
        raise UsageError("--minimise: states of Markov chains are merged, all of whose runs are whole")
    small = minimise(model, loss, pairs=pairs, **limits)
    return small, [(small.classes[s], small.classes[t]) for s, t in pairs]


def _less(lower: fmpq, lost: fmpq) -> fmpq:
    return max(fmpq(0), lower - lost)


def _more(upper: fmpq, lost: fmpq) -> fmpq:
    return min(fmpq(1), upper + lost)


def _refused() -> Any:
    raise UsageError(
        "--minimise: the proof has two parts; write them with 'minimise MODEL --loss X -o SMALLER "
        "--certificate FILE', and this for SMALLER"
    )


@dataclass(frozen=True, slots=True)
class _Lossy:
    """What an answer rests on: bounds of the smaller chain."""

    small: MinimiseAnswer
    found: DeltaAnswer
    lost: fmpq
    """By how much bounds are wider."""

    @property
    def model(self) -> LMC:
        """Return the model that was asked about."""
        return self.small.model

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        """Return the event, with bounds on its probabilities from the states that were asked about."""
        event: WitnessEvent = self.found.pairs[bound._question].witness
        ends = (bound.source, bound.target)
        if event.source != self.found.pairs[bound._question].source:
            ends = ends[::-1]
        return replace(
            event,
            source=ends[0],
            target=ends[1],
            probability_from=_less(event.probability_from, self.small.loss),
            probability_to=_more(event.probability_to, self.small.loss),
        )

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        """Return bounds on what is gained in each direction."""
        one, other = (
            (_less(low, self.lost), _more(high, self.lost))
            for low, high in self.found.pairs[bound._question].directions
        )
        return one, other

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:
        """Refuse: the proof has two parts."""
        del answer
        refused: dict[str, object] = _refused()
        return refused
