"""The answers about trace metrics: bounds, witnesses, and what they say in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.proved import AboutTraces
from bisimdist.analysis.thresholds import below_exponential
from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_above, decimal_below
from bisimdist.exact.logarithm import log_enclosure
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.models.pa import PA
from bisimdist.report.tables import html_table

__all__ = [
    "TRACE_KINDS",
    "RepeatedTrace",
    "TraceBound",
    "TraceKind",
    "TraceMetricAnswer",
    "WeakAnonymityAnswer",
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
