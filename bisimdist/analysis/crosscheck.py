"""All bounds of the project on one pair of states, held against each other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.analysis.crosscheck_measures import MEASURES, SOURCES, Source, Task
from bisimdist.analysis.crosscheck_orders import order_list, standings_of
from bisimdist.analysis.crosscheck_subject import Fact, Subject, subject_of
from bisimdist.analysis.standing import Measure, Relation, Scale, Standing
from bisimdist.errors import BisimdistError, Interruption, StoppedError, UsageError
from bisimdist.exact.rational import ExactNumber, shorten_rational
from bisimdist.fixpoint.question import checked_alpha
from bisimdist.interruption import OnInterrupt, asked_to_stop, interruptible
from bisimdist.models.ends import Ends
from bisimdist.models.hmm import HMM
from bisimdist.models.interactive import Interactive
from bisimdist.models.kinds import AnyModel
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline, Progress, silent
from bisimdist.report.tables import html_table

__all__ = ["DEFAULT_ALPHA", "DEFAULT_LENGTH", "CheckedPair", "CrosscheckAnswer", "crosscheck", "shown_value"]

DEFAULT_ALPHA = fmpq(11, 10)
DEFAULT_LENGTH = 4
MAX_LENGTH = 100
INTERRUPTED = "interrupted"
FAILED = "internal error"
NOTHING = "nothing was proved within its share of the time"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckedPair:
    """All measures of a pair, and how they stand.

    Parameters
    ----------
    source, target
        The names that were asked for.
    facts
        What holds of the pair; see `bisimdist.analysis.crosscheck_subject.Fact`.
    aliases
        Names of measures that are another measure of this pair under a second name.
    measures
        The measures, smaller ones first.
    left_out
        Measures that were not computed, and why.
    alpha
        The skew.
    """

    source: str
    target: str
    facts: frozenset[str]
    aliases: Mapping[str, str]
    measures: tuple[Measure, ...]
    left_out: tuple[tuple[str, str], ...]
    alpha: fmpq

    def standings(self) -> tuple[Standing, ...]:
        """Return how the measures stand, wherever theory says how they have to."""
        known = {measure.name: measure for measure in self.measures}
        return standings_of(known, order_list(self.facts, self.aliases), self.alpha)

    def upward(self, name: str) -> tuple[Standing, ...]:
        """Return how a measure stands to the next larger ones of its scale, every equality told once."""
        direct = [standing for standing in self.standings() if standing.direct]
        both = {(standing.smaller, standing.larger) for standing in direct}
        place = {measure.name: number for number, measure in enumerate(self.measures)}
        return tuple(
            standing
            for standing in direct
            if standing.smaller == name
            and not (
                (standing.larger, name) in both
                and place[standing.larger] < place[name]
                and standing.relation is not Relation.VIOLATED
            )
        )

    @property
    def errors(self) -> tuple[str, ...]:
        """What is violated, in words: every one is an error of this program."""
        found = [
            f"{standing.below or standing.smaller} is above {standing.above or standing.larger}, "
            f"and must not be: {standing.reason}"
            for standing in self.standings()
            if standing.relation is Relation.VIOLATED
        ]
        found += [
            f"the bounds of {measure.name} contradict each other or its scale"
            for measure in self.measures
            if not measure.possible
        ]
        return tuple(found)

    @property
    def failed(self) -> bool:
        """Whether an engine failed by an error of this program."""
        return any(reason.startswith(FAILED) for _, reason in self.left_out)

    @property
    def violated(self) -> bool:
        """Whether some order is violated, which no model can bring about."""
        return bool(self.errors)


@dataclass(frozen=True, slots=True, kw_only=True)
class CrosscheckAnswer:
    """All measures of all pairs.

    Parameters
    ----------
    model
        The model.
    alpha, length
        The skew, and up to which length sequences are enumerated.
    pairs
        The answers, in the order in which the pairs were asked.
    interrupted
        Whether somebody stopped the work.
    """

    model: LMC | PA | HMM
    alpha: fmpq
    length: int
    pairs: tuple[CheckedPair, ...]
    interrupted: bool = field(default=False, compare=False)

    @property
    def violated(self) -> bool:
        """Whether some order is violated."""
        return any(pair.violated for pair in self.pairs)

    def symbol(self, name: str) -> str:
        """Return the short name of a measure, with the length and the skew in it."""
        info = MEASURES.get(name)
        return name if info is None else info.symbol.format(K=self.length, alpha=shorten_rational(self.alpha))

    def _repr_html_(self) -> str:
        rows: list[tuple[str, ...]] = []
        orders = violated = 0
        for pair in self.pairs:
            standings = pair.standings()
            orders += len(standings)
            violated += sum(standing.relation is Relation.VIOLATED for standing in standings)
            for measure in pair.measures:
                stands = "; ".join(
                    f"{s.relation.value} {self.symbol(s.larger)}" for s in pair.upward(measure.name)
                )
                where = f"{pair.source}, {pair.target}"
                rows.append((where, self.symbol(measure.name), shown_value(measure), stands))
            rows += [(f"{pair.source}, {pair.target}", "ERROR", text, "") for text in pair.errors]
        verdict = "VIOLATED" if self.violated else f"{orders - violated} of {orders} orders hold"
        caption = f"crosscheck at alpha = {shorten_rational(self.alpha)}, K = {self.length}: {verdict}"
        return html_table(caption, ("pair", "measure", "value", "stands"), rows)


def shown_value(measure: Measure) -> str:
    """Return the bounds of a measure for a person, long ones shortened.

    Examples
    --------
    >>> from bisimdist.analysis.standing import Scale
    >>> shown_value(Measure("m_D", fmpq(2), None, scale=Scale.RATIO))
    '2 .. inf'
    """
    if measure.scale is Scale.KERNEL and measure.exact:
        return "yes" if measure.upper == 1 else "no"
    texts = ["inf" if value is None else shorten_rational(value) for value in measure.bounds]
    return texts[0] if measure.exact else " .. ".join(texts)


@interruptible
def crosscheck(  # noqa: PLR0913
    model: AnyModel,
    *,
    pairs: Sequence[tuple[str, str]] | None = None,
    alpha: ExactNumber = DEFAULT_ALPHA,
    length: int = DEFAULT_LENGTH,
    seconds: float | None = None,
    sources: Sequence[Source] = SOURCES,
    stop: Callable[[], bool] = lambda: False,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> CrosscheckAnswer:
    """Compute everything that applies to pairs of states, each by its own engine, and how it stands.

    Parameters
    ----------
    model
        A chain, an automaton, or a hidden Markov model without parameters.
    pairs
        Pairs of names (of distributions for a hidden Markov model); by default those of the model.
    alpha
        The skew of delta and of the distances, at least 1.
    length
        Up to which length sequences are enumerated.
    seconds
        The time for each pair, shared by the measures; what one leaves the others have.
    sources
        The ways to compute measures.
    stop
        Asked between measures whether to stop.
    deadline, progress
        As everywhere. What is not known when a limit comes is left out, or has wider bounds.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Raises
    ------
    UsageError
        If alpha or the length is out of range, there is no pair, or the model has parameters.
    ModelError
        If a pair names what is not there.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> (pair,) = crosscheck(figure1(), alpha=1).pairs
    >>> pair.violated
    False
    >>> [shown_value(measure) for measure in pair.measures if measure.name in {"delta", "bd", "m_D"}]
    ['3/2', '1/5', '1/5']
    """
    if isinstance(model, Interactive):
        raise UsageError("cross-checks of interactive models are not there")
    skew = checked_alpha(alpha)
    if not 1 <= length <= MAX_LENGTH:
        raise UsageError(f"the length is {length}; expected 1 to {MAX_LENGTH}")
    subjects = [subject_of(model, source, target) for source, target in _asked(model, pairs)]
    checked = []
    halted = False
    for subject in subjects:
        work = _Pair(subject, skew, length, stop, progress)
        work.halted = halted
        work.run(sources, _sooner(deadline, seconds))
        halted = work.halted
        checked.append(work.answer())
    return CrosscheckAnswer(model=model, alpha=skew, length=length, pairs=tuple(checked), interrupted=halted)


def _asked(model: LMC | PA | HMM, pairs: Sequence[tuple[str, str]] | None) -> Sequence[tuple[str, str]]:
    if pairs is not None:
        chosen = tuple(pairs)
    elif isinstance(model, HMM):
        chosen = model.pairs
    else:
        chosen = tuple((model.states[s], model.states[t]) for s, t in model.pairs)
    if not chosen:
        raise UsageError("the model has no pairs of its own; say which states to compare")
    return chosen


def _sooner(deadline: Deadline, seconds: float | None) -> Deadline:
    own = Deadline.after(seconds)
    moments = [limit.moment for limit in (own, deadline) if limit.moment is not None]
    return Deadline(min(moments)) if moments else NEVER


@dataclass(slots=True)
class _Pair:
    """The work on one pair: what is known so far, whatever happens."""

    subject: Subject
    alpha: fmpq
    length: int
    stop: Callable[[], bool]
    progress: Progress
    known: dict[str, Measure] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    halted: bool = False

    def aliases(self) -> dict[str, str]:
        """Return which names mean another measure here."""
        result = {}
        if self.alpha == 1:
            result = {"delta_1": "delta", "lbd_1": "lbd", "bd_1": "bd"}
        endless = Fact.ENDLESS in self.subject.facts
        if endless:
            result["tv_x_hidden"] = "tv_x"
        ends = self.subject.same_sequences
        if ends is not None:
            result["sequences"] = "tv_x_hidden" if ends is Ends.HIDDEN and not endless else "tv_x"
        return result

    def run(self, sources: Sequence[Source], deadline: Deadline) -> None:
        """Run all sources that apply, each with its share of the time."""
        aliases = self.aliases()
        waiting = []
        for source in sources:
            reason = source.applies(self.subject)
            same = next((aliases[name] for name in source.names if name in aliases), "")
            if reason or same:
                self.left_out |= dict.fromkeys(source.names, reason or f"it is {same}")
            else:
                waiting.append(source)
        left = sum(source.weight for source in waiting)
        for number, source in enumerate(waiting):
            self.halted = self.halted or self.stop() or asked_to_stop()
            if self.halted:
                self.left_out |= dict.fromkeys(source.names, INTERRUPTED)
                continue
            self.progress(
                f"({self.subject.source}, {self.subject.target}) {source.names[0]}", number, len(waiting)
            )
            self.measure(source, _share(deadline, source.weight, left))
            left -= source.weight

    def measure(self, source: Source, deadline: Deadline) -> None:
        """Run one source; whatever ends it, what it has yielded stays."""
        reason = NOTHING
        task = Task(self.subject, self.alpha, self.length, self.known, deadline, self.progress)
        try:
            for measure in source.run(task):
                if measure.bounds != (measure.scale.least, measure.scale.greatest):
                    self.known[measure.name] = measure
        except (StoppedError, Interruption):
            self.halted = True
            reason = INTERRUPTED
        except MemoryError:
            reason = "the memory was exhausted"
        except BisimdistError as error:
            reason = str(error)
        except Exception as error:  # an engine that fails must not take the others with it
            reason = f"{FAILED}: {type(error).__name__}: {error}"
        self.left_out |= {name: reason for name in source.names if name not in self.known}

    def answer(self) -> CheckedPair:
        """Return what is known."""
        return CheckedPair(
            source=self.subject.source,
            target=self.subject.target,
            facts=self.subject.facts,
            aliases=self.aliases(),
            measures=tuple(self.known[name] for name in MEASURES if name in self.known),
            left_out=tuple((name, self.left_out[name]) for name in MEASURES if name in self.left_out),
            alpha=self.alpha,
        )


def _share(deadline: Deadline, weight: int, left: int) -> Deadline:
    """Return the end of a share of what is left of the time."""
    if deadline.moment is None:
        return deadline
    now = time.monotonic()
    return Deadline(now + max(0.0, deadline.moment - now) * weight / left)
