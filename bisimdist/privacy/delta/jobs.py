"""Parts of questions about delta that do not need one another: an alpha of a curve, a pair of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.faces.shown.answer import Status, common_status
from bisimdist.models.interactive import System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.kinds import AnyModel
from bisimdist.models.worlds import EACH_STEP
from bisimdist.parallel import Pool
from bisimdist.privacy.delta.answer import DeltaAnswer, DeltaBound, WitnessEvent
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(frozen=True, slots=True)
class DeltaTask:
    """What is the same at all alphas: the chain, its pairs, and the limits."""

    # model and pairs: the chain, and pairs of names of states of which the worst counts
    model: System | IntervalChain
    pairs: tuple[tuple[str, str], ...]
    memory: int | None  # how many bytes each process may hold
    rounds: int | None = None  # how many actions may be asked of an interactive model
    nature: str = EACH_STEP  # what it may do where probabilities lie in intervals


@dataclass(frozen=True, slots=True)
class DeltaAt:
    """Bounds on the delta of the worst pair at one alpha, and whether a limit ended the work."""

    alpha: fmpq
    lower: fmpq
    upper: fmpq
    limited: bool


def delta_at(task: DeltaTask, point: tuple[fmpq, fmpq | None], deadline: Deadline) -> DeltaAt:
    """Bound the delta of the worst pair at one alpha, up to a gap.

    Raises LimitError if the deadline has passed before the work began.
    """
    alpha, gap = point
    deadline.check()
    answer = delta(
        task.model,
        alpha,
        pairs=task.pairs,
        gap=gap,
        worst=True,
        rounds=task.rounds,
        nature=task.nature,
        deadline=deadline,
        memory=task.memory,
    )
    return DeltaAt(alpha, answer.lower, answer.upper, answer.status is Status.LIMIT)


@dataclass(frozen=True, slots=True)
class _Apart:
    """Stands for the work of many answers, of which each bound has its own."""

    model: System | IntervalChain

    def witness(self, bound: DeltaBound) -> WitnessEvent:
        return bound.witness

    def directions(self, bound: DeltaBound) -> tuple[tuple[fmpq, fmpq], tuple[fmpq, fmpq]]:
        return bound.directions

    def certificate(self, answer: DeltaAnswer) -> dict[str, object]:  # noqa: ARG002
        raise UsageError("pairs that workers looked at have a proof each; expected one pair, or no cluster")


def delta_of_each(  # noqa: PLR0913
    model: AnyModel,
    pairs: Sequence[tuple[str, str]],
    *,
    cluster: str,
    asked: Mapping[str, Any],
    memory: int | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> DeltaAnswer:
    """Ask `delta` about every pair by itself, on the workers of a cluster; `asked` are its other options.

    Each pair gets the bounds that it gets where nothing else is asked, wherever the work is done.
    """
    shared = model, {**asked, "memory": memory}
    with Pool(_of_pair, shared, cluster=cluster, deadline=deadline, progress=progress) as pool:
        found = list(pool.map(list(dict.fromkeys(pairs))))
    first = found[0]
    if len(found) == 1:
        return first
    return replace(
        first,
        pairs=tuple(bound for answer in found for bound in answer.pairs),
        status=common_status([answer.status for answer in found]),
        statistics={},
        _work=_Apart(first.model),
    )


def _of_pair(
    shared: tuple[AnyModel, Mapping[str, Any]], pair: tuple[str, str], deadline: Deadline
) -> DeltaAnswer:
    model, asked = shared
    return delta(model, pairs=[pair], deadline=deadline, **asked)
