"""Bounds by a smaller chain that is nearly the same: what merging loses is allowed for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from bisimdist.distances.bound.answer import DistanceAnswer
from bisimdist.distances.bound.ask import BoundProblem, bound
from bisimdist.distances.bound.returned import returned as returned_bounds
from bisimdist.distances.minimise.ask import minimise
from bisimdist.errors import UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.models.lmc import LMC
from bisimdist.privacy.delta.answer import DeltaAnswer
from bisimdist.privacy.delta.ask import DeltaProblem, delta
from bisimdist.privacy.delta.returned import returned
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import straight
from bisimdist.reductions.merge import Merged

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

    The proof is in ``docs/theory/quotient.md``.

    loss: how much may be lost (`bisimdist.minimise`).
    alpha, epsilon, gap, worst, threshold, deadline, memory, progress: as for `bisimdist.delta`.
    """
    limits: dict[str, Any] = {"deadline": deadline, "memory": memory, "progress": progress}
    step = _smaller(model, pairs, loss, limits)
    asked: dict[str, Any] = {"gap": gap, "worst": worst, "threshold": threshold}
    found = delta(step.model, alpha, epsilon=epsilon, pairs=_inside(step, pairs), **asked, **limits)
    alphas = {"alpha_lower": found.alpha_lower, "alpha_upper": found.alpha_upper}
    return returned(DeltaProblem(pairs=tuple(pairs), **alphas), found, step)


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
    step = _smaller(model, pairs, loss, limits)
    found = bound(step.model, pairs=_inside(step, pairs), jobs=jobs, **question, **limits)
    asked = BoundProblem(pairs=tuple(pairs), alpha=found.alpha, distance=found.distance)
    states = f"{len(step.before)} states became {len(step.model)}"
    return replace(returned_bounds(asked, found, step), method=f"{found.method}; {states}")


def _inside(step: Merged, pairs: Pairs) -> Pairs:
    return [(step.classes[s], step.classes[t]) for s, t in pairs]


def _smaller(model: object, pairs: Pairs, loss: ExactNumber, limits: dict[str, Any]) -> Merged:
    """Return the step to a smaller chain."""
    if not isinstance(model, LMC) or any(not step.trivial for step in straight(model)[1]):
        raise UsageError("--minimise: states of Markov chains are merged, all of whose runs are whole")
    small = minimise(model, loss, pairs=pairs, **limits)
    return Merged(small.model, small.smaller, small.classes, small.loss, small.certificate)
