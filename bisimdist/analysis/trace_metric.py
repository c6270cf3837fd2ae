"""The trace metric of fully probabilistic automata, multiplicative and additive: question and answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.proved import AboutTraces, html_table
from bisimdist.analysis.thresholds import below_exponential
from bisimdist.certificates.trace_metric import trace_metric_certificate
from bisimdist.errors import Interruption, UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.words.combination import combined_system
from bisimdist.words.difference import TraceDifference, largest_difference
from bisimdist.words.drift import DriftTrace
from bisimdist.words.graph import Limits
from bisimdist.words.paths import LoopTrace
from bisimdist.words.pump import PumpTrace
from bisimdist.words.ratio import TraceRatio, largest_ratio, unexamined_ratio
from bisimdist.words.system import WordSystem

__all__ = [
    "TRACE_KINDS",
    "RepeatedTrace",
    "TraceBound",
    "TraceKind",
    "TraceMetricAnswer",
    "WeakAnonymityAnswer",
    "trace_metric",
    "weak_anonymity",
]

Word = tuple[str, ...]
ONE = fmpq(1)
SHORT = 40
DIGITS = 12


class TraceKind(Enum):
    """How the probabilities of a trace are compared."""

    MULTIPLICATIVE = "multiplicative"
    """By the difference of their logarithms; bounds are ratios, e to the distance."""
    ADDITIVE = "additive"
    """By their difference; bounds are the distance itself."""


TRACE_KINDS = tuple(kind.value for kind in TraceKind)


@dataclass(frozen=True, slots=True)
class RepeatedTrace:
    """Traces ``prefix cycle^n suffix`` whose quotients of probabilities grow without bound.

    Parameters
    ----------
    prefix, cycle, suffix
        The parts.
    factor
        How much the quotient grows with each round of the cycle, at least.
    degree
        Where the factor is 1: after n rounds the quotient has grown at least like n to this power.
    """

    prefix: Word
    cycle: Word
    suffix: Word
    factor: fmpq
    degree: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBound:
    """Bounds on the trace distance of a pair of states.

    Parameters
    ----------
    source, target
        The names of the two states.
    kind
        What the bounds are: ratios, or differences.
    lower, upper
        Proved bounds; None stands for infinity.
    witness
        The trace behind `lower`: its probabilities have that quotient or difference. Where the distance is
        infinite it is a trace that is possible from one state only, or one of the traces of `repeated`.
    probabilities
        The probabilities of the witness from the two states.
    repeated
        Traces that prove an infinite distance together, where none does so alone.
    examined
        Whether the pair was looked at: not where the time was over, or enough was known, before its turn.
    """

    source: str
    target: str
    kind: TraceKind
    lower: fmpq | None
    upper: fmpq | None
    witness: Word
    probabilities: tuple[fmpq, fmpq]
    repeated: RepeatedTrace | None = None
    examined: bool = True

    def __post_init__(self) -> None:
        if self.lower is None and self.upper is not None:
            raise UsageError("the lower bound is infinite and the upper one is not")
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            raise UsageError(f"bounds {self.lower} and {self.upper}; expected lower <= upper")

    @property
    def exact(self) -> bool:
        """Whether the bounds meet."""
        if self.lower is None or self.upper is None:
            return self.lower is self.upper
        return bool(self.lower == self.upper)

    @property
    def ratio(self) -> fmpq | None:
        """The upper bound of a multiplicative distance, which is e to the distance where `exact`."""
        if self.kind is TraceKind.ADDITIVE:
            raise UsageError("an additive distance has no ratio")
        return self.upper

    def epsilon(self, digits: int = 5) -> tuple[str, str]:
        """Return decimals below and above the distance, ``"inf"`` where it is or may be infinite."""
        if self.kind is TraceKind.MULTIPLICATIVE:
            below = "inf" if self.lower is None else log_enclosure(self.lower, digits)[0]
            above = "inf" if self.upper is None else log_enclosure(self.upper, digits)[1]
            return below, above
        lower, upper = self.lower or fmpq(0), self.upper if self.upper is not None else ONE
        return decimal_below(lower, digits)[0], decimal_above(upper, digits)[0]

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether the distance is at most epsilon; None where the bounds do not decide that."""
        value = to_fmpq(epsilon)
        if self.kind is TraceKind.ADDITIVE:
            if self.upper is not None and self.upper <= value:
                return True
            return False if self.lower is not None and self.lower > value else None
        if self.upper is not None and below_exponential(self.upper, value):
            return True
        return False if self.lower is None or not below_exponential(self.lower, value) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMetricAnswer(AboutTraces):
    """Bounds on the trace distance for each pair that was asked, with their proof.

    Parameters
    ----------
    model
        The automaton.
    kind
        Which of the two metrics.
    length
        The longest trace that counts; None for all.
    pairs
        The bounds, in the order in which the pairs were asked.
    status
        ``EXACT``, or ``LIMIT`` where some bounds do not meet.
    statistics
        Counts of what was done, without any timing.
    completed
        The automaton as the observer sees it; `ends` says whether that includes the end of a run.
    make_certificate
        Writes the proof when it is asked for.

    References
    ----------
    .. [1] Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential Privacy
       via Behavioral Metrics", FACS 2018.
    """

    model: PA
    kind: TraceKind
    length: int | None
    pairs: tuple[TraceBound, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def _repr_html_(self) -> str:
        length = "" if self.length is None else f", traces up to length {self.length}"
        ends = f", ends {self.ends.value}" if self.missing else ""
        caption = f"{self.kind.value} trace metric{length}{ends} ({self.status.value})"
        return _table(self.pairs, caption, self.kind)


def _shown(value: fmpq | None, *, up: bool) -> str:
    if value is None:
        return "inf"
    text = str(value)
    if len(text) <= SHORT:
        return text
    return decimal_above(value, DIGITS)[0] if up else decimal_below(value, DIGITS)[0]


def _table(pairs: Sequence[TraceBound], caption: str, kind: TraceKind) -> str:
    rows = (
        (
            pair.source,
            pair.target,
            _shown(pair.lower, up=False),
            _shown(pair.upper, up=True),
            " .. ".join(pair.epsilon()),
            " ".join(pair.witness[:20]),
        )
        for pair in pairs
    )
    bounds = ("lower ratio", "upper ratio") if kind is TraceKind.MULTIPLICATIVE else ("lower", "upper")
    return html_table(caption, ("from", "to", *bounds, "distance", "trace"), rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakAnonymityAnswer:
    """Whether no trace tells the states of any pair apart by more than epsilon.

    Parameters
    ----------
    epsilon
        The bound that is asked about.
    holds
        True or False where that is decided, None where it is not.
    violated
        The pairs whose trace shows that it does not hold.
    answer
        The additive trace metric behind it.

    References
    ----------
    .. [1] Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential Privacy
       via Behavioral Metrics", FACS 2018 (weak anonymity).
    """

    epsilon: fmpq
    holds: bool | None
    violated: tuple[TraceBound, ...]
    answer: TraceMetricAnswer

    @property
    def verdict(self) -> str:
        """The decision as a word: ``holds``, ``violated`` or ``unknown``."""
        return "unknown" if self.holds is None else "holds" if self.holds else "violated"

    def certificate(self) -> dict[str, object]:
        """Return the proof of the bounds that decide it."""
        return self.answer.certificate()

    def _repr_html_(self) -> str:
        ends = f", ends {self.answer.ends.value}" if self.answer.missing else ""
        caption = f"weak anonymity with epsilon = {_shown(self.epsilon, up=True)}{ends}: {self.verdict}"
        return _table(self.answer.pairs, caption, TraceKind.ADDITIVE)


@interruptible
def trace_metric(  # noqa: PLR0913
    model: PA | LMC,
    kind: TraceKind | str = TraceKind.MULTIPLICATIVE,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    length: int | None = None,
    ends: Ends | str = Ends.VISIBLE,
    limits: Limits | None = None,
    enough: Callable[[TraceBound], bool] | None = None,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> TraceMetricAnswer:
    """Compute how far apart the probabilities of one trace can be from two states, with a proof.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a labelled Markov chain is taken with its labels as actions.
    kind
        ``"multiplicative"`` (the supremum of ``|ln Pr(s, w) - ln Pr(t, w)|``, as a ratio) or
        ``"additive"`` (the supremum of ``|Pr(s, w) - Pr(t, w)|``).
    pairs
        Pairs of names of states; by default those of the model.
    length
        The longest trace that counts; None for all.
    ends
        ``"visible"`` where an observer sees that a run has ended, as an action after the others;
        ``"hidden"`` where only actions are seen. Either way the probability of a trace is that of
        performing it.
    limits
        How far to look for each pair.
    enough
        Told of each pair when it is done; once it says so, the others are not looked at.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress
        Told what is being done.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Raises
    ------
    UsageError
        If there is no such kind, no such way to see ends, no pair, or the length is negative.
    ModelError
        If a pair names no state, or a state has several transitions.

    Examples
    --------
    >>> from bisimdist.models.library.randomised_response import randomised_response
    >>> model = randomised_response()
    >>> trace_metric(model).pairs[0].ratio, trace_metric(model, "additive").pairs[0].upper
    (3, 1/2)

    References
    ----------
    .. [1] Castiglioni, Chatzikokolakis, Palamidessi, "A Logical Characterization of Differential Privacy
       via Behavioral Metrics", FACS 2018 (trace metric, multiplicative total variation).
    """
    kind = _kind(kind)
    if length is not None and length < 0:
        raise UsageError(f"the length is {length}; expected at least 0")
    automaton = automaton_of(model)
    asked = (
        list(automaton.pairs)
        if pairs is None
        else [(automaton.index(s), automaton.index(t)) for s, t in pairs]
    )
    if not asked:
        raise UsageError("the model has no pairs of its own; say which states to compare")
    starts = dict.fromkeys(state for pair in asked for state in pair)
    completed = Completed.of(automaton, ends, starts)
    system = combined_system(completed.automaton, starts, deadline=deadline)
    work = _Work(system, kind, length, limits, deadline, progress)
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
        status=Status.EXACT if all(bound.exact for bound in bounds) else Status.LIMIT,
        statistics={"states": len(automaton), "classes": len(system.rows), "nodes": work.nodes},
        completed=completed,
        make_certificate=lambda: trace_metric_certificate(completed, system, asked, found, length),
    )


def _kind(kind: TraceKind | str) -> TraceKind:
    if isinstance(kind, TraceKind):
        return kind
    if kind not in TRACE_KINDS:
        raise UsageError(f"there is no trace metric {kind!r}; expected {' or '.join(TRACE_KINDS)}")
    return TraceKind(kind)


Found = TraceRatio | TraceDifference


class _Work:
    """The bounds of pairs, each pair of classes computed once."""

    def __init__(  # noqa: PLR0913, PLR0917
        self,
        system: WordSystem,
        kind: TraceKind,
        length: int | None,
        limits: Limits | None,
        deadline: Deadline,
        progress: Progress,
    ) -> None:
        self.system = system
        self.kind = kind
        self.length = length
        self.limits = limits
        self.deadline = deadline
        self.progress = progress
        self.nodes = 0
        self._known: dict[tuple[int, int], Found] = {}
        self._stopped = False

    def stop(self) -> None:
        """Look at no more pairs."""
        self._stopped = True

    def found(self, pair: tuple[int, int]) -> tuple[Found, bool]:
        """Return what is known of a pair of states, and whether the pair was looked at."""
        classes = self.system.class_of[pair[0]], self.system.class_of[pair[1]]
        if classes not in self._known and not self._stopped and not self.deadline.passed():
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
            self.system,
            first,
            second,
            length=self.length,
            limits=self.limits,
            deadline=self.deadline,
            progress=self.progress,
        )
        self.nodes += result.nodes
        if result.interrupted:
            self.stop()
        return result

    def _unexamined(self, first: int, second: int) -> Found:
        if self.kind is TraceKind.MULTIPLICATIVE:
            return unexamined_ratio(self.system, first, second)
        return largest_difference(self.system, first, second, length=self.length, deadline=Deadline.after(0))


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


def _repeated(infinite: LoopTrace | PumpTrace | DriftTrace | None) -> RepeatedTrace | None:
    if isinstance(infinite, LoopTrace):
        return RepeatedTrace(infinite.prefix, infinite.cycle, (), max(infinite.factor, 1 / infinite.factor))
    if isinstance(infinite, PumpTrace):
        slow = infinite.slow
        factor = infinite.fast / slow if slow else infinite.fast + 1
        return RepeatedTrace(infinite.prefix, infinite.cycle, infinite.suffix, factor)
    if isinstance(infinite, DriftTrace):
        return RepeatedTrace(infinite.prefix, infinite.cycle, infinite.suffix, fmpq(1), infinite.degree)
    return None


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
    """Decide whether ``|Pr(s, w) - Pr(t, w)| <= eps`` for every trace w and every pair of states.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a labelled Markov chain is taken with its labels as actions.
    eps
        An exact number of at least 0.
    pairs
        Pairs of names of states; by default those of the model.
    length, ends, deadline, progress
        As in `trace_metric`.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

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
    if value < 0:
        raise UsageError(f"epsilon is {value}; expected at least 0")
    answer = trace_metric(
        model,
        TraceKind.ADDITIVE,
        pairs=pairs,
        length=length,
        ends=ends,
        deadline=deadline,
        progress=progress,
    )
    verdicts = [pair.at_most(value) for pair in answer.pairs]
    return WeakAnonymityAnswer(
        epsilon=value,
        holds=False if False in verdicts else None if None in verdicts else True,
        violated=tuple(
            pair for pair, verdict in zip(answer.pairs, verdicts, strict=True) if verdict is False
        ),
        answer=answer,
    )
