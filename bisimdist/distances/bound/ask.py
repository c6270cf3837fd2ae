"""Bounds on delta by bisimilarity distances: the questions, and how far the engines carry each of them.

Source: CMP18 Definition 12, CMP18 Figure 3, CMP18 Theorem 2.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from functools import partial

from flint import fmpq

from bisimdist.cluster import checked_cluster
from bisimdist.distances.bound.answer import DISTANCES, DistanceAnswer, ThresholdAnswer
from bisimdist.distances.bound.compact import Asked
from bisimdist.distances.bound.returned import claim_of, joined, lower_entries, returned
from bisimdist.distances.bound.work import Work
from bisimdist.distances.engine.exact_engine import prove_above, prove_exactly
from bisimdist.distances.engine.iteration import Approximation
from bisimdist.distances.engine.proposed import usable_backend
from bisimdist.distances.engine.question import Question, checked_skew
from bisimdist.errors import ENDINGS, LimitError, UsageError
from bisimdist.exact.rational import ExactNumber, format_rational, to_fmpq
from bisimdist.faces.shown.answer import Status, common_status
from bisimdist.faces.shown.asked_pairs import indexed, named_pairs
from bisimdist.faces.shown.pair_bounds import PairBound
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.linear import SingularSystemError
from bisimdist.lp.backends.base import Backend
from bisimdist.models.all_pairs import AllPairs
from bisimdist.models.interactive import System
from bisimdist.models.kinds import StateModel
from bisimdist.models.worlds import EACH_STEP, known_or_rough
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.reductions.chain import solved
from bisimdist.reductions.claim import Claim
from bisimdist.reductions.step import Kind, Problem, Step

SAFETY_NET = fmpq(1, 10**6)
"""The width of the bracket that is kept in hand while exact work of unknown length is under way."""

QUICK = 2_000  # questions of up to so many pairs are answered exactly before anybody would interrupt them

Engine = Callable[[Work, Question, Approximation], Status]

REFINEMENTS = (fmpq(1, 10**3), fmpq(1, 10**6), fmpq(1, 10**10))
"""The brackets that a threshold is tried on before exact arithmetic has to decide."""


@interruptible
def bound(  # noqa: PLR0913
    model: StateModel,
    alpha: ExactNumber | None = None,
    *,
    epsilon: ExactNumber | None = None,
    distance: str = "bd",
    pairs: Sequence[tuple[str, str]] | None = None,
    precision: ExactNumber | None = None,
    threshold: ExactNumber | None = None,
    nature: str = EACH_STEP,
    backend: str | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    jobs: int = 1,
    cluster: str | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> DistanceAnswer:
    """Bound delta by the skewed bisimilarity distance bd_alpha, exactly and with a proof.

    For the pair (s, t) the chain is (ln alpha, bd_alpha(s, t))-differentially private.

    Source: CMP18, Definition 12 and Lemma 2; CMP19.

    Parameters
    ----------
    model
        The chain, or an interactive model: then the distance is the least fixed point of the largest lifting
        of all actions, and bounds the gain of any analyst. For a chain in intervals nature is the analyst,
        and the distance bounds those of all chains in the intervals.
    alpha, epsilon
        One of the two: the skew, a rational of at least 1, or epsilon for alpha = e^epsilon, which is rounded
        down, so the upper bounds are also bounds on delta at e^epsilon.
    distance
        ``"bd"``; or ``"lbd"``, the asymmetric distance. Its value for a pair is the larger of both
        directions, and never more than bd_alpha. `PairBound.directions` has both.
    pairs
        Pairs of names of states; by default those of the model.
    precision
        None for the distance itself; otherwise certified bounds at most this far apart, in short rationals.
        On large cyclic chains they take a fraction of the time.
    threshold
        Look at every pair by itself, and stop as soon as its bounds tell whether the distance is at most
        this; a tie is decided by the exact distance. The certificate is about one pair.
    nature
        For a chain in intervals: ``"each-step"``, where nature picks a member at every step, in each world on
        its own, or ``"fixed"``, where it has picked one for good, the same in both worlds.
    backend
        The name of a solver that proposes the couplings, such as ``"pulp:HiGHS"`` or ``"scipy"``
        (`bisimdist.lp.backends.base.get_backend`); they are repaired and proved exactly, as are the engine's
        own, so the answer does not depend on it.
    deadline
        When to give up. What is proved by then is returned with ``Status.LIMIT``.
    memory
        How many bytes the bounds of many pairs may take; the need is estimated before the work begins.
    jobs
        How many threads share the linear programs of a round; the answer does not depend on it.
    cluster
        The workers that share the work on bounds of many pairs: ``"local:N"`` or the address of a Dask
        scheduler, such as ``"tcp://host:8786"``. The answer does not depend on it.
    progress
        Told what is being done.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    DistanceAnswer
        Bounds for every pair. Every upper bound is a pre-fixed point that was checked exactly, every
        lower bound a post-fixed point proved to lie below the least fixed point.

    Raises
    ------
    UsageError
        If alpha is less than 1, the precision is not positive, the threshold is not in [0, 1] or given
        together with a precision, there is no such distance, no pair, or no such back-end.
    ModelError
        If a pair names no state.
    NumberTypeError
        If a number is a ``float``.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> [(str(pair.upper), pair.exact) for pair in bound(figure1(), 1).pairs]
    [('1/5', True)]
    """
    _check_distance(distance)
    skew = checked_skew(alpha, epsilon)
    system = known_or_rough(model)
    if threshold is not None and precision is not None:
        raise UsageError("precision and threshold were both given; a threshold is decided exactly")
    if cluster is not None:
        checked_cluster(cluster)
    asked = BoundProblem(
        pairs=named_pairs(system, pairs),
        nature=nature,
        deadline=deadline,
        alpha=skew,
        distance=distance,
        width=None if precision is None else _checked_precision(precision),
        threshold=None if threshold is None else _checked_threshold(threshold),
        backend=backend,
        solver=None if backend is None else usable_backend(backend),
        memory=memory,
        jobs=max(1, jobs),
        cluster=cluster,
        progress=progress,
    )
    return solved(asked, system)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundProblem(Problem[DistanceAnswer]):
    """What is asked of a distance; see `bound`."""

    kinds = frozenset({Kind.CHAIN, Kind.INTERACTIVE, Kind.WORLDS})

    alpha: fmpq
    distance: str
    width: fmpq | None = None
    threshold: fmpq | None = None
    allowed: Sequence[fmpq] | None = None
    """By pair how much less the threshold is about the simpler model; None for nothing."""
    backend: str | None = None
    solver: Backend | None = None
    memory: int | None = None
    jobs: int = 1
    cluster: str | None = None
    progress: Progress = silent

    @property
    def merges(self) -> bool:
        return bool(self.alpha == 1)

    def engine(self, model: System) -> DistanceAnswer:
        asked = indexed(model, self.pairs)
        rest = self.deadline, self.jobs, self.progress, self.memory, self.solver, self.cluster
        groups = (asked,) if self.threshold is None else tuple((pair,) for pair in asked)
        works = [Work(model, self.distance, self.alpha, group, *rest) for group in groups]
        statuses = []
        for number, work in enumerate(works):
            engine: Engine = _exact
            if self.width is not None:
                engine = partial(_bracket, width=self.width)
            elif self.threshold is not None:
                less = fmpq(0) if self.allowed is None else self.allowed[number]
                engine = partial(_decide, threshold=max(fmpq(0), self.threshold - less))
            statuses.append(work.run(engine, width=self.width, exactly=engine is _exact))
        bounds: Sequence[PairBound] = works[0].bounds()
        if len(works) > 1:
            bounds = tuple(pair for work in works for pair in work.bounds())
        return DistanceAnswer(
            model=model,
            alpha=self.alpha,
            distance=self.distance,
            pairs=bounds,
            status=common_status(statuses),
            method="; ".join(dict.fromkeys(work.method for work in works)) + _proposed_by(self.backend),
            statistics=works[0].statistics() if len(works) == 1 else {},
            reason="; ".join(dict.fromkeys(work.reason for work in works if work.reason)),
            make_certificate=partial(_certificate, works),
            make_parts=partial(_parts, works),
        )

    back = returned
    joined = staticmethod(joined)

    def picked(self, found: DistanceAnswer, number: int) -> Sequence[str | None]:  # noqa: ARG002
        """Return what is asked in the proof of all lower bounds, where it can be had."""
        with suppress(UsageError, *ENDINGS):
            return [entry["action"] for entry in lower_entries(found.certificate()) if "action" in entry]
        return []

    def sides(self, found: DistanceAnswer, number: int) -> Claim:
        pair = found.pairs[number]
        return claim_of(self, self.pairs[number], (pair.lower, pair.upper))

    def enough(self, most: Claim, best: Claim) -> bool:
        if super(BoundProblem, self).enough(most, best):
            return True
        below = None if best.below is None else best.below.value
        return self.threshold is not None and below is not None and below > self.threshold

    def moved(self, step: Step) -> BoundProblem:
        if step.trivial:
            return self  # there may be millions of pairs
        if isinstance(self.pairs, AllPairs) and step.moves is not None:
            return replace(self, pairs=AllPairs(list(dict.fromkeys(step.place(tuple(self.pairs.of))))))
        pairs = tuple(map(step.place, self.pairs))
        once = step.moves is not None and self.threshold is None
        return replace(self, pairs=tuple(dict.fromkeys(pairs)) if once else pairs)

    def tighter(self, lost: Sequence[Sequence[fmpq]]) -> BoundProblem:
        return replace(self, allowed=tuple(max(masses) for masses in lost))


@interruptible
def bd_threshold(  # noqa: PLR0913
    model: StateModel,
    alpha: ExactNumber | None,
    source: str,
    target: str,
    theta: ExactNumber,
    *,
    epsilon: ExactNumber | None = None,
    distance: str = "bd",
    nature: str = EACH_STEP,
    deadline: Deadline = NEVER,
    jobs: int = 1,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> ThresholdAnswer:
    """Decide BD-THRESHOLD: whether bd_alpha(source, target) is at most theta.

    Brackets of growing precision come first, and the work ends with the first that decides. A tie is
    decided by the exact distance: equality holds.

    Source: CMP18, Section 6.

    Parameters
    ----------
    model, alpha, epsilon, distance, nature, deadline, jobs, progress
        As for `bound`; with epsilon, alpha is None.
    source, target
        The pair.
    theta
        The threshold, a rational in [0, 1].
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    ThresholdAnswer
        The verdict with the bounds that decide it.

    Raises
    ------
    UsageError
        If alpha is less than 1 or theta is not in [0, 1].
    ModelError
        If a name is no state.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> bd_threshold(figure1(), 1, "s0", "s1", "1/5").verdict
    'holds'
    """
    found = bound(
        model,
        alpha,
        epsilon=epsilon,
        distance=distance,
        pairs=[(source, target)],
        threshold=theta,
        nature=nature,
        deadline=deadline,
        jobs=jobs,
        progress=progress,
    )
    known = {part.name: getattr(found, part.name) for part in fields(found)}
    return ThresholdAnswer(**known, threshold=to_fmpq(theta))


def _certificate(works: Sequence[Work], about: Sequence[tuple[str, str]] | None = None) -> dict[str, object]:
    if len(works) > 1:
        raise UsageError("a certificate about a threshold takes one pair")
    return works[0].certificate(about)


def _proposed_by(backend: str | None) -> str:
    return "" if backend is None else f"; couplings proposed by {backend}"


def _parts(works: Sequence[Work], asked: Asked | None = None) -> Iterator[bytes]:
    if len(works) > 1:
        raise UsageError("compact tables are about one question")
    return works[0].parts(asked)


def _check_distance(distance: str) -> None:
    if distance not in DISTANCES:
        raise UsageError(f"there is no distance {distance!r}; expected one of {', '.join(DISTANCES)}")


def _checked_threshold(theta: ExactNumber) -> fmpq:
    threshold = to_fmpq(theta)
    if not 0 <= threshold <= 1:
        raise UsageError(f"theta is {format_rational(threshold)}; expected a number in [0, 1]")
    return threshold


def _checked_precision(precision: ExactNumber) -> fmpq:
    width = to_fmpq(precision)
    if width <= 0:
        raise UsageError(f"the precision is {format_rational(width)}; expected a positive number")
    return width


def _exact(work: Work, question: Question, guess: Approximation) -> Status:
    """Prove the distance itself; with a bracket in hand where that may take long."""
    long = question.functional.size > QUICK or work.deadline.moment is not None
    if long and work.proof is None:
        try:
            work.bracket(question, guess, SAFETY_NET)
        except (LimitError, SingularSystemError):
            work.deadline.check()
    if not question.sharp:
        proof = prove_above(question, guess, deadline=work.deadline, progress=work.tell)
        work.keep(proof, "least pre-fixed point of direct couplings")
        return _reached(work, question)
    try:
        proof = prove_exactly(question, guess, deadline=work.deadline, progress=work.tell)
    except (LimitError, SingularSystemError):
        work.deadline.check()
        if work.proof is None:
            work.bracket(question, guess, SAFETY_NET)
        raise
    work.keep(proof, "strategy iteration, made exact and proved least")
    return Status.EXACT


def _bracket(work: Work, question: Question, guess: Approximation, *, width: fmpq) -> Status:
    """Prove bounds of a width; where none are found, the distance itself."""
    try:
        work.bracket(question, guess, width)
    except (LimitError, SingularSystemError):
        work.deadline.check()
        return _exact(work, question, guess)
    return _reached(work, question)


def _reached(work: Work, question: Question) -> Status:
    """Return what the bounds that are proved come to."""
    if work.bounds().exact:
        return Status.EXACT
    if question.sharp:
        return Status.BRACKET
    work.method += "; there are too many pairs for the distance itself"
    return Status.UPPER


def _decide(work: Work, question: Question, guess: Approximation, *, threshold: fmpq) -> Status:
    """Prove ever narrower bounds until they decide the threshold."""

    def decided() -> Status | None:
        (pair,) = work.bounds()
        if pair.bracket.at_most(threshold) is None:
            return None
        return Status.EXACT if pair.exact else Status.BRACKET

    for width in REFINEMENTS:
        if work.proof is not None and (status := decided()) is not None:
            return status
        try:
            work.bracket(question, guess, width)
        except (LimitError, SingularSystemError):
            work.deadline.check()
            break
    if work.proof is None or (status := decided()) is None:
        _exact(work, question, guess)
        status = decided()
    return status or Status.LIMIT
