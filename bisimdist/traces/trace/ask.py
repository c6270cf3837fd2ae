"""The trace metric of fully probabilistic automata, multiplicative and additive: question and answer.

Source: CCP18 Definition 4, CCP18 Proposition 2, CCP18 Example 3, CCP18 Definition 10.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from flint import fmpq

from bisimdist.errors import Interruption, UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.exact.scale import Scale
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.combination import combined_system
from bisimdist.traces.engine.difference import TraceDifference, largest_difference
from bisimdist.traces.engine.graph import Effort
from bisimdist.traces.engine.paths import LoopTrace
from bisimdist.traces.engine.pump import Repeated
from bisimdist.traces.engine.ratio import TraceRatio, largest_ratio, unexamined_ratio
from bisimdist.traces.engine.system import WordSystem
from bisimdist.traces.trace.answer import (
    RepeatedTrace,
    TraceBound,
    TraceKind,
    TraceMetricAnswer,
    WeakAnonymityAnswer,
)
from bisimdist.traces.trace.certificate import trace_metric_certificate
from bisimdist.traces.trace.events import SETS, SINGLE, Of, checked_of, rest_of

Word = tuple[str, ...]
ONE = fmpq(1)


@interruptible
def trace_metric(  # noqa: PLR0913
    model: PA | LMC,
    kind: TraceKind | str = TraceKind.MULTIPLICATIVE,
    *,
    of: Of = SINGLE,
    pairs: Sequence[tuple[str, str]] | None = None,
    length: int | None = None,
    threshold: ExactNumber | None = None,
    ends: Ends | str = Ends.VISIBLE,
    limits: Effort | None = None,
    enough: Callable[[TraceBound], bool] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> TraceMetricAnswer:
    """Compute how far apart the probabilities of a trace, or of a set of traces, can be from two states.

    Source: CCP18 (trace metric, multiplicative total variation).

    Parameters
    ----------
    model
        A fully probabilistic automaton; a labelled Markov chain is taken with its labels as actions.
    kind
        ``"multiplicative"`` (the supremum of ``|ln Pr(s, w) - ln Pr(t, w)|``, as a ratio) or
        ``"additive"`` (the supremum of ``|Pr(s, w) - Pr(t, w)|``).
    of
        ``"traces"`` compares single traces. ``"sets"``, for the additive metric, compares sets of traces:
        that is the total variation distance, which is delta at alpha 1.
    pairs
        Pairs of names of states; by default those of the model.
    length
        The longest trace that counts; None for all.
    threshold
        An epsilon of at least 0: the answer says whether the distances are at most that. For the additive
        metric it says so of single traces and of sets of traces (weak anonymity).
    ends
        ``"visible"``: an observer sees that a run has ended, as an action after the others. ``"hidden"``: an
        observer sees only actions. Either way the probability of a trace is that of performing it.
    limits
        How far to look for each pair.
    enough
        Called with each pair when it is done. If it returns true, the function does not look at the others.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress, on_interrupt
        As for `bisimdist.bound`.

    Returns
    -------
    TraceMetricAnswer
        For each pair the metric, with the trace that attains it.

    Raises
    ------
    UsageError
        If there is no such kind, no such way to see ends, no pair, or the length is negative; if sets are
        compared multiplicatively, up to a length or without ends.
    ModelError
        If a pair names no state, or a state has several transitions.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> model = randomised_response()
    >>> trace_metric(model).pairs[0].ratio, trace_metric(model, "additive").pairs[0].upper
    (3, 1/2)
    >>> trace_metric(model, "additive", of="sets").pairs[0].upper
    1/2
    """
    kind = Scale.called(kind, "trace metric")
    of = checked_of(of, kind, length, ends)
    if length is not None and length < 0:
        raise UsageError(f"the length is {length}; expected at least 0")
    epsilon = None if threshold is None else to_fmpq(threshold)
    if epsilon is not None and epsilon < 0:
        raise UsageError(f"epsilon is {epsilon}; expected at least 0")
    automaton = automaton_of(model)
    asked = asked_states(automaton, pairs)
    within = Limits(deadline=deadline, progress=progress)

    def single() -> TraceMetricAnswer:
        return _of_single_traces(automaton, kind, asked, length, epsilon, ends, limits, enough, within)

    def sets() -> TraceMetricAnswer:
        from bisimdist.traces.trace.sets import metric_of_sets  # noqa: PLC0415 (others need no delta)

        return metric_of_sets(automaton, asked, epsilon, within)

    answer = sets() if of == SETS else single()
    if epsilon is None or kind is TraceKind.MULTIPLICATIVE or answer.verdict_of(rest_of(of)) is not None:
        return answer
    if length is not None or Ends(ends) is Ends.HIDDEN:  # sets are compared otherwise
        return answer
    return replace(answer, other=single() if of == SETS else sets())


def _of_single_traces(  # noqa: PLR0913, PLR0917
    automaton: PA,
    kind: TraceKind,
    asked: Sequence[tuple[int, int]],
    length: int | None,
    epsilon: fmpq | None,
    ends: Ends | str,
    effort: Effort | None,
    enough: Callable[[TraceBound], bool] | None,
    limits: Limits,
) -> TraceMetricAnswer:
    starts = dict.fromkeys(state for pair in asked for state in pair)
    completed = Completed.of(automaton, ends, starts)
    system = combined_system(completed.automaton, starts, deadline=limits.deadline)
    work = _Work(system, kind, length, effort, limits)
    found: list[Found] = []
    bounds: list[TraceBound] = []
    for pair in asked:
        entry, examined = work.found(pair)
        found.append(entry)
        bounds.append(_bound(automaton, pair, entry, examined=examined))
        if enough is not None and enough(bounds[-1]):
            work.stop()
    return TraceMetricAnswer(
        model=automaton,
        kind=kind,
        length=length,
        pairs=tuple(bounds),
        threshold=epsilon,
        status=Status.EXACT if all(bound.exact for bound in bounds) else Status.LIMIT,
        statistics={"states": len(automaton), "classes": len(system.rows), "nodes": work.nodes},
        completed=completed,
        make_certificate=lambda: trace_metric_certificate(completed, system, asked, found, length),
    )


Found = TraceRatio | TraceDifference


@dataclass(slots=True)
class _Work:
    """The bounds of pairs, each pair of classes computed once."""

    system: WordSystem
    kind: TraceKind
    length: int | None
    effort: Effort | None
    limits: Limits
    nodes: int = 0
    _known: dict[tuple[int, int], Found] = field(default_factory=dict)
    _stopped: bool = False

    def stop(self) -> None:
        """Look at no more pairs."""
        self._stopped = True

    def found(self, pair: tuple[int, int]) -> tuple[Found, bool]:
        """Return what is known of a pair of states, and whether the pair was looked at."""
        classes = self.system.class_of[pair[0]], self.system.class_of[pair[1]]
        if classes not in self._known and not self._stopped and not self.limits.deadline.passed():
            try:
                self._known[classes] = self._search(*classes)
            except Interruption:  # in between
                self.stop()
        if classes in self._known:
            return self._known[classes], True
        rest = self._unexamined(*classes)
        return rest, rest.exact

    def _search(self, first: int, second: int) -> Found:
        search = largest_ratio if self.kind is TraceKind.MULTIPLICATIVE else largest_difference
        result = search(
            self.system, first, second, length=self.length, effort=self.effort, limits=self.limits
        )
        self.nodes += result.nodes
        if result.interrupted:
            self.stop()
        return result

    def _unexamined(self, first: int, second: int) -> Found:
        if self.kind is TraceKind.MULTIPLICATIVE:
            return unexamined_ratio(self.system, first, second)
        over = Limits(deadline=Deadline.after(0))
        return largest_difference(self.system, first, second, length=self.length, limits=over)


def _bound(automaton: PA, pair: tuple[int, int], found: Found, *, examined: bool) -> TraceBound:
    kind = TraceKind.MULTIPLICATIVE if isinstance(found, TraceRatio) else TraceKind.ADDITIVE
    return TraceBound(
        source=automaton.states[pair[0]],
        target=automaton.states[pair[1]],
        kind=kind,
        lower=found.lower,
        upper=found.upper,
        witness=found.word,
        probabilities=found.probabilities,
        repeated=_repeated(found.infinite) if isinstance(found, TraceRatio) else None,
        examined=examined,
    )


def _repeated(infinite: LoopTrace | Repeated | None) -> RepeatedTrace | None:
    if isinstance(infinite, LoopTrace):
        return RepeatedTrace(infinite.prefix, infinite.cycle, (), max(infinite.factor, 1 / infinite.factor))
    if infinite is None:
        return None
    factor, degree = fmpq(1), infinite.degree
    if len(infinite.below) == 1:
        ((slow, _),) = infinite.above
        factor, degree = infinite.factor / slow if slow else infinite.factor + 1, 0
    return RepeatedTrace(infinite.prefix, infinite.cycle, infinite.suffix, factor, degree)


@interruptible
def weak_anonymity(  # noqa: PLR0913
    model: PA | LMC,
    eps: ExactNumber,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    length: int | None = None,
    ends: Ends | str = Ends.VISIBLE,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> WeakAnonymityAnswer:
    """Decide whether ``|Pr(s, W) - Pr(t, W)| <= eps`` for every set W of traces and every pair of states.

    The function first looks for a single trace that exceeds eps. Then sets of traces decide: delta at alpha
    1.

    Source: CCP18, Definition 10.

    Parameters
    ----------
    eps
        An exact number of at least 0.
    model, pairs, length, ends, deadline, progress, on_interrupt
        As in `trace_metric`. With a length, or with hidden ends, only a single trace can decide.

    Returns
    -------
    WeakAnonymityAnswer
        The verdict, with the pairs above the threshold.

    Raises
    ------
    UsageError
        If eps is negative, and as in `trace_metric`.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> weak_anonymity(randomised_response(), "1/2").verdict
    'holds'
    >>> weak_anonymity(randomised_response(), "0.49").violated[0].witness
    ('start', 'answer0')
    """
    value = to_fmpq(eps)
    answer = trace_metric(
        model,
        TraceKind.ADDITIVE,
        pairs=pairs,
        length=length,
        threshold=value,
        ends=ends,
        deadline=deadline,
        progress=progress,
    )
    return WeakAnonymityAnswer(
        epsilon=value,
        holds=answer.verdict_of(SETS),
        violated=tuple(pair for pair in (answer.other or answer).pairs if pair.at_most(value) is False),
        answer=answer,
    )
