"""The answers about trace metrics: bounds, witnesses, and how they are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from flint import fmpq

from bisimdist.exact.number import Exact, Numbers
from bisimdist.exact.rational import ExactNumber
from bisimdist.exact.scale import Bounds, Scale
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.bounds import decided, decided_data
from bisimdist.faces.shown.ends import ends_remarks
from bisimdist.faces.shown.numbers import between, exact_value, short_rational, short_value
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import AboutTraces, Shown
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.shown.witness_pictures import trace_svg
from bisimdist.models.pa import PA
from bisimdist.traces.trace.events import SAID, SINGLE, Of, TwoVerdicts
from bisimdist.verdicts import Settled, joint, verdict_word

if TYPE_CHECKING:
    from bisimdist.privacy.delta.answer import WitnessEvent

Word = tuple[str, ...]
ONE = fmpq(1)
ACTIONS_SHOWN = 16


TraceKind = Scale
"""How the probabilities of a trace are compared; bounds of multiplicative distances are ratios."""


def word_text(word: Sequence[str]) -> str:
    """Return a trace in words; a long one is shortened, and says so.

    >>> word_text(["a", "b"]), word_text([])
    ('a b', 'the empty trace')
    """
    if not word:
        return "the empty trace"
    shown = " ".join(word[:ACTIONS_SHOWN])
    more = len(word) - ACTIONS_SHOWN
    return shown if more <= 0 else f"{shown} ... ({more} more actions)"


@dataclass(frozen=True, slots=True)
class RepeatedTrace(Numbers):
    """Traces ``prefix cycle^n suffix`` whose quotients of probabilities grow without bound."""

    prefix: Word
    cycle: Word
    suffix: Word
    factor: Exact  # how much the quotient grows with each round of the cycle, at least
    # where the factor is 1: after n rounds the quotient has grown at least like n to this power
    degree: int = 0

    def data(self) -> dict[str, object]:
        return said(self, "prefix cycle suffix factor degree")

    def __str__(self) -> str:
        parts = [word_text(self.prefix), f"({word_text(self.cycle)})^n"]
        if self.suffix:
            parts.append(word_text(self.suffix))
        if self.degree:
            power = "n" if self.degree == 1 else f"n^{self.degree}"
            return f"{' '.join(parts)}: n rounds multiply by a multiple of {power} at least"
        return f"{' '.join(parts)}: each round multiplies by {short_rational(self.factor)} at least"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceBound(Bounds):
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
    event
        The set of traces behind `lower`, where sets of traces were asked about; `witness` is then empty.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> (pair,) = bisimdist.trace_metric(survey).pairs
    >>> pair.ratio, pair.witness
    (3, ('tau', 'tau', 'yes'))
    """

    source: str
    target: str
    kind: TraceKind
    witness: Word
    probabilities: tuple[Exact, Exact]
    repeated: RepeatedTrace | None = None
    examined: bool = True
    event: WitnessEvent | None = None

    @property
    def scale(self) -> Scale:
        """What the numbers are."""
        return self.kind

    def data(self) -> dict[str, object]:
        """Return the bounds as plain data."""
        data = said(self, "source target")
        if self.kind is TraceKind.MULTIPLICATIVE:
            data |= {"ratio": exact_value(self.upper), "epsilon": list(self.epsilon())}
        data |= {
            "exact": self.exact,
            "lower": exact_value(self.lower),
            "upper": exact_value(self.upper),
            "witness": list(self.witness) if self.event is None else self.event.data(),
            **said(self, "probabilities" + " repeated" * (self.repeated is not None)),
        }
        return data

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the bounds, and whether they meet, for a person."""
        shown = short_value(self.upper)
        if not self.exact:
            shown = f"from {short_value(self.lower)} to {shown}"
        logarithm = (between(*self.epsilon()),) if self.kind is TraceKind.MULTIPLICATIVE else ()
        return self.source, self.target, shown, *logarithm, "yes" if self.exact else "no"

    @property
    def evidence(self) -> str:
        """The traces behind the lower bound, and what they show."""
        if self.repeated is not None:
            return str(self.repeated)
        one, other = (short_rational(p) for p in self.probabilities)
        if self.event is not None:
            count = self.event.event.traces()
            many = "traces" if count is None else "1 trace" if count == 1 else f"{count} traces"
            return f"a set of {many} has the probabilities {one} and {other}"
        return f"{word_text(self.witness)} has the probabilities {one} and {other}"

    @property
    def remark(self) -> str:
        """What is said about the pair."""
        pair = f"({self.source}, {self.target})"
        if not self.examined:
            return f"{pair} was not looked at: the work was stopped"
        if self.lower is None or self.repeated is not None:
            return f"{pair} is infinite: {self.evidence}"
        least = (
            f"ln {short_value(self.lower)}"
            if self.kind is TraceKind.MULTIPLICATIVE
            else short_value(self.lower)
        )
        return f"{pair} is {'' if self.exact else 'at least '}{least}: {self.evidence}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceMetricAnswer(TwoVerdicts, AboutTraces):
    """Bounds on the trace distance for each pair in question, with their proof.

    Source: CCP18.

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
    threshold
        The epsilon that was asked about; None where none was.
    statistics
        Counts of what was done, without any timing.
    completed
        The automaton as the observer sees it; `ends` says whether that includes the end of a run.
    of
        Whether the additive metric compares single traces or sets of traces.
    other
        The answer of the other of these two, where a threshold is given for the additive metric and this
        answer does not decide it.
    make_certificate
        Writes the proof when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.trace_metric(survey).pairs[0].ratio
    3
    """

    command = "trace"

    model: PA
    kind: TraceKind
    length: int | None
    pairs: tuple[TraceBound, ...]
    status: Status
    threshold: Exact | None = None
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)
    of: Of = SINGLE
    other: TraceMetricAnswer | None = field(default=None, repr=False)

    def picture(self) -> str:
        event = next((pair.event for pair in self.pairs if pair.event is not None), None)
        if event is not None:
            from bisimdist.privacy.delta.page import event_svg  # noqa: PLC0415 (most answers are not drawn)

            return event_svg(event)
        shown = next((pair for pair in self.pairs if pair.witness), None)
        if shown is None:
            return ""
        return trace_svg((shown.source, shown.target), shown.witness, shown.probabilities)

    def at_most(self, epsilon: ExactNumber) -> bool | None:
        """Tell whether all distances are at most epsilon; None where the bounds do not decide that."""
        return joint(pair.at_most(epsilon) for pair in self.pairs)

    def against(self) -> list[str]:
        """Say which pairs exceed `threshold`, and what shows it."""
        return [pair.remark for pair in self.pairs if pair.at_most(self.threshold or 0) is False]

    def data(self) -> dict[str, object]:
        data = AboutTraces.data(self)
        if self.verdicts:
            data = {"verdicts": self.verdicts, **data}
        return data if self.threshold is None else decided_data(data, self.threshold, self._verdicts)

    @property
    def _verdicts(self) -> list[Settled]:
        return [] if self.threshold is None else [pair.at_most(self.threshold) for pair in self.pairs]

    def report(self) -> Report:
        multiplicative = self.kind is TraceKind.MULTIPLICATIVE
        length = "" if self.length is None else f", traces of at most {self.length} actions"
        columns = ("ratio", "distance") if multiplicative else ("distance",)
        note = " (the distance is the logarithm of the ratio)" if multiplicative else ""
        of = "" if multiplicative else f" {SAID[self.of]}"
        report = Report(
            heading=f"{self.kind.value} trace metric{of}{note}{length}",
            columns=("from", "to", *columns, "exact"),
            rows=tuple(bound.row for bound in self.pairs),
            remarks=(
                *(bound.remark for bound in self.pairs),
                *self.both_remarks(),
                *ends_remarks(self.completed),
            ),
        )
        return report if self.threshold is None else decided(report, self.threshold, self._verdicts)


@dataclass(frozen=True, slots=True, kw_only=True)
class WeakAnonymityAnswer(Shown):
    """Whether no set of traces tells the states of any pair apart by more than epsilon.

    Source: CCP18, Definition 10 (weak anonymity).

    Parameters
    ----------
    epsilon
        The bound that is asked about.
    holds
        True or False where that is decided, None where it is not.
    violated
        The pairs that show that it does not hold, each with one trace or with a set of traces.
    answer
        The additive trace metric of single traces. Where single traces do not violate the bound, its `other`
        is the metric of sets of traces, which decides.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.traces.weak_anonymity(survey, "1/4").verdict
    'violated'
    """

    command = "trace"

    epsilon: Exact
    holds: bool | None
    violated: tuple[TraceBound, ...]
    answer: TraceMetricAnswer

    @property
    def verdict(self) -> str:
        """The decision as a word: ``holds``, ``violated`` or ``unknown``."""
        return verdict_word(self.holds)

    def certificate(self) -> dict[str, object]:
        """Return the proof of the bounds that decide it."""
        return (self.answer.other or self.answer).certificate()

    def data(self) -> dict[str, object]:
        return self.answer.data()

    def report(self) -> Report:
        return self.answer.report()
