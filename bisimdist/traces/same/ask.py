"""Two models in one answer: whether they are equivalent, the first difference, and how far apart they are.

Nothing is computed here: trace equivalence, the bisimilarity distance and delta have engines of their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.distances.bound.ask import bound
from bisimdist.distances.engine.question import checked_alpha
from bisimdist.errors import LimitError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.numbers import at_least, at_most, short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import Proved, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.logic.engine.linear import short_formula
from bisimdist.models.against import side_by_side
from bisimdist.models.bisimilarity import quotient
from bisimdist.models.conversions import observed_chain
from bisimdist.models.kinds import HMM, LMC, PA
from bisimdist.privacy.delta.ask import delta
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.traces.equivalence.ask import TraceVerdict, trace_equivalence
from bisimdist.verdicts import joint

ZERO = fmpq(0)

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Bounds(Numbers):
    """What is proved of a number: ``lower <= value <= upper``."""

    lower: Exact
    upper: Exact

    @property
    def exact(self) -> bool:
        return self.lower == self.upper

    def data(self) -> dict[str, object]:
        return said(self, "lower upper exact")

    @property
    def shown(self) -> str:
        return at_most(self.upper) if self.exact else f"{at_least(self.lower)}; {at_most(self.upper)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class SamePair(Numbers):
    """What is known of a state of the first model and one of the second.

    Parameters
    ----------
    source, target
        The names of the states.
    equivalent
        Whether every trace has the same probability from both; None if that is not decided.
    bound, delta
        Bounds on the bisimilarity distance in the quotient, where bisimilar states are merged, and on delta.
    difference
        A trace with two different probabilities; None if there is none, or none is known.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> (pair,) = bisimdist.traces.same_models(chain, chain).pairs
    >>> pair.source, pair.target, pair.equivalent, pair.delta.exact
    ('first:s0', 'second:s0', True, True)
    """

    source: str
    target: str
    equivalent: bool | None
    bound: Bounds
    delta: Bounds
    difference: TraceVerdict | None = None

    def answers(self) -> dict[str, object]:
        """Return what is said of the pair, as plain data."""
        found = self.difference
        return {
            **said(self, "equivalent bound delta"),
            "difference": None if found is None else said(found, "trace probabilities least"),
        }

    def data(self) -> dict[str, object]:
        """Return the pair as plain data."""
        return {**said(self, "source target"), **self.answers()}

    @property
    def row(self) -> tuple[str, ...]:
        """The pair for a person."""
        word = {True: "yes", False: "no", None: "not decided"}[self.equivalent]
        found, trace = self.difference, ""
        if found is not None and found.trace is not None and found.probabilities is not None:
            first, second = map(short_rational, found.probabilities)
            trace = f"{short_formula(found.trace)}: {first} and {second}"
        return self.source, self.target, word, self.bound.shown, self.delta.shown, trace


@dataclass(frozen=True, slots=True, kw_only=True)
class SameAnswer(Shown, Proved):
    """What is known of two models, pair by pair of their initial states.

    Parameters
    ----------
    model
        The two models side by side.
    alpha
        The skew of the distance and of delta.
    pairs
        What is known of each pair.
    status
        ``LIMIT`` if a limit ended the work on an answer.

    Examples
    --------
    >>> import bisimdist
    >>> half, third = (bisimdist.build_any_example(f"geometric,alpha={a}") for a in ("1/2", "1/3"))
    >>> answer = bisimdist.traces.same_models(half, third)
    >>> answer.equivalent, answer.pairs[0].delta.upper, answer.pairs[0].difference.probabilities
    (False, 1/12, (2/3, 3/4))
    """

    command = "same"

    model: LMC
    alpha: Exact
    pairs: tuple[SamePair, ...]
    status: Status

    @property
    def equivalent(self) -> bool | None:
        """Whether all pairs are equivalent; None if that is not known."""
        return joint(pair.equivalent for pair in self.pairs)

    def data(self) -> dict[str, object]:
        worst = max(self.pairs, key=lambda pair: (pair.equivalent is False, pair.delta.upper))
        return {**worst.answers(), "equivalent": self.equivalent, **Shown.data(self)}

    def report(self) -> Report:
        heading = {
            True: "The models are equivalent: every trace has the same probability in both.",
            False: "The models are not equivalent.",
            None: "It is not decided whether the models are equivalent.",
        }
        return Report(
            heading=heading[self.equivalent],
            columns=("from", "to", "equivalent", "bd", "delta", "a first difference"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=(
                f"bd and delta are those at alpha = {short_rational(self.alpha)}; bd is that of the "
                "quotient, in which bisimilar states are merged.",
            ),
        )


@interruptible
def same_models(  # noqa: PLR0913
    first: LMC | PA | HMM,
    second: LMC | PA | HMM | None = None,
    *,
    pairs: Sequence[Pair] | None = None,
    alpha: ExactNumber = 1,
    gap: ExactNumber | None = None,
    precision: ExactNumber | None = None,
    deadline: Deadline = NEVER,
    memory: int | None = None,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> SameAnswer:
    """Compare two models: are they equivalent, what is the first difference, and how far apart are they.

    Parameters
    ----------
    first, second
        Two models without choices. Their initial states are compared, in order, as `side_by_side` puts them.
        Without a second one the states of pairs of the first are compared.
    pairs
        Pairs of names of states, as they are called side by side; by default those of the initial states.
    alpha
        The skew of the distance and of delta, at least 1. With 1 delta is the total variation.
    gap
        How far apart the bounds on delta may be, as in `bisimdist.delta`.
    precision
        How far apart the bounds on the distance may be, as in `bisimdist.bound`.
    deadline, memory, progress, on_interrupt
        As in `bisimdist.delta`.

    Returns
    -------
    SameAnswer
        For each pair of initial states the verdict, a difference, and both bounds.

    Raises
    ------
    UsageError
        If the models have nothing in common that an observer could compare, or alpha is less than 1.
    ModelError
        If a model has choices, or parameters without a value.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("leaky-retry")
    >>> bisimdist.traces.same_models(chain, chain).equivalent
    True
    """
    both = first if second is None else side_by_side(first, second)
    model = both if isinstance(both, LMC) else observed_chain(both)
    skew = checked_alpha(alpha)
    traces = trace_equivalence(model, pairs, deadline=deadline.part(1 / 3), progress=progress)
    asked = [(verdict.source, verdict.target) for verdict in traces.pairs]
    merged, inside = _merged(model, asked, deadline.part(1 / 3))
    distance = bound(
        merged,
        skew,
        pairs=[inside[pair] for pair in asked],
        precision=precision,
        deadline=deadline.part(1 / 2),
        memory=memory,
        progress=progress,
    )
    distances, ended = _bounds(distance.pairs), {traces.status, distance.status}
    apart = [pair for pair, verdict in zip(asked, traces.pairs, strict=True) if not verdict.equivalent]
    truths: Mapping[Pair, Bounds] = {}
    if apart:
        found = delta(
            merged,
            skew,
            pairs=[inside[pair] for pair in apart],
            gap=gap,
            deadline=deadline,
            memory=memory,
            progress=progress,
        )
        truths = _bounds(found.pairs)
        ended.add(found.status)
    known = tuple(
        _pair(verdict, distances[inside[pair]], truths.get(inside[pair], Bounds(ZERO, ZERO)), skew)
        for pair, verdict in zip(asked, traces.pairs, strict=True)
    )
    return SameAnswer(
        model=model,
        alpha=skew,
        pairs=known,
        status=Status.LIMIT if Status.LIMIT in ended else Status.EXACT,
        make_certificate=traces.make_certificate,
    )


def _merged(model: LMC, asked: Sequence[Pair], deadline: Deadline) -> tuple[LMC, dict[Pair, Pair]]:
    """Return the model with bisimilar states merged, and by pair where it is then; delta is unchanged.

    Without time for that the model stays as it is, where distances at alpha > 1 may be larger.
    """
    try:
        merged, classes = quotient(model, deadline=deadline)
    except LimitError:
        return model, {pair: pair for pair in asked}
    place = {name: merged.states[block] for name, block in zip(model.states, classes, strict=True)}
    return merged, {(s, t): (place[s], place[t]) for s, t in asked}


def _bounds(pairs: Sequence[object]) -> dict[Pair, Bounds]:
    return {(pair.source, pair.target): Bounds(pair.lower, pair.upper) for pair in pairs}  # type: ignore[attr-defined]


def _pair(verdict: TraceVerdict, distance: Bounds, truth: Bounds, alpha: Exact) -> SamePair:
    """Return what is known of a pair: delta and the distance may decide what the traces have not."""
    equivalent = verdict.equivalent
    upper = min(truth.upper, distance.upper)
    if equivalent is None and truth.lower > 0:
        equivalent = False
    if equivalent is None and alpha == 1 and upper == 0:
        equivalent = True
    return SamePair(
        source=verdict.source,
        target=verdict.target,
        equivalent=equivalent,
        bound=Bounds(max(distance.lower, truth.lower), distance.upper),
        delta=Bounds(truth.lower, upper),
        difference=verdict if verdict.trace is not None else None,
    )
