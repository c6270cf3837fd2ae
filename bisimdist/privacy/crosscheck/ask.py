"""All bounds of the project on one pair of states, held against each other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.engine.question import checked_alpha
from bisimdist.errors import BisimdistError, Interruption, StoppedError, UsageError
from bisimdist.exact.rational import ExactNumber
from bisimdist.faces.shown.asked_pairs import asked_distributions, asked_states
from bisimdist.faces.shown.standing import Measure
from bisimdist.interruption import OnInterrupt, asked_to_stop, interruptible
from bisimdist.models.ends import Ends
from bisimdist.models.hmm import HMM
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.kinds import AnyModel, KnownModel
from bisimdist.models.parametric import ParametricChain
from bisimdist.privacy.crosscheck.answer import FAILED, CheckedPair, CrosscheckAnswer
from bisimdist.privacy.crosscheck.measures import SOURCES, Source, Task
from bisimdist.privacy.crosscheck.names import MEASURES
from bisimdist.privacy.crosscheck.subject import Fact, Subject, subject_of
from bisimdist.progress import NEVER, Deadline, Progress, silent

DEFAULT_ALPHA = fmpq(11, 10)
DEFAULT_LENGTH = 4
MAX_LENGTH = 100
INTERRUPTED = "interrupted"
NOTHING = "nothing was proved within its share of the time"


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
    """Compute every measure that applies to pairs of states, each by its own engine, and compare them.

    Parameters
    ----------
    model
        A chain, an automaton, an interactive model, or a hidden Markov model without parameters.
    pairs
        Pairs of names (of distributions for a hidden Markov model); by default those of the model.
    alpha
        The skew of delta and of the distances, at least 1.
    length
        The largest length of sequences, and the number of rounds of an analyst.
    seconds
        The time for each pair, shared by the measures. A measure passes on the time that it does not use.
    sources
        The ways to compute measures.
    stop
        Asked between measures whether to stop.
    deadline, progress
        As everywhere; pairs share the time. If a limit comes first, measures are left out or have wider
        bounds.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    CrosscheckAnswer
        For each pair all measures, and whether some contradict each other.

    Raises
    ------
    UsageError
        If alpha or the length is out of range, there is no pair, or the model has parameters.
    ModelError
        If a pair names no state or distribution of the model.

    Examples
    --------
    >>> from bisimdist.models.library.figure1 import figure1
    >>> (pair,) = crosscheck(figure1(), alpha=1).pairs
    >>> pair.violated
    False
    >>> [str(measure.upper) for measure in pair.measures if measure.name in {"delta", "bd", "m_D"}]
    ['3/2', '1/5', '1/5']
    """
    if isinstance(model, IntervalChain):
        raise UsageError("a cross-check takes no intervals")
    if isinstance(model, ParametricChain):
        raise model.unset()
    skew = checked_alpha(alpha)
    if not 1 <= length <= MAX_LENGTH:
        raise UsageError(f"the length is {length}; expected 1 to {MAX_LENGTH}")
    subjects = [subject_of(model, source, target) for source, target in _asked(model, pairs)]
    checked = []
    halted = False
    for number, subject in enumerate(subjects):
        work = _Pair(subject, skew, length, stop, progress)
        work.halted = halted
        work.run(sources, deadline.part(1 / (len(subjects) - number)).within(seconds))
        halted = work.halted
        checked.append(work.answer())
    return CrosscheckAnswer(model=model, alpha=skew, length=length, pairs=tuple(checked), interrupted=halted)


def _asked(model: KnownModel, pairs: Sequence[tuple[str, str]] | None) -> Sequence[tuple[str, str]]:
    if isinstance(model, HMM):
        return asked_distributions(model, pairs)
    return [(model.states[s], model.states[t]) for s, t in asked_states(model, pairs)]


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
        asked = Fact.ASKED in self.subject.facts
        for source in sources:
            if source.asked and not asked:
                continue
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
            self.measure(source, deadline.part(source.weight / left))
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
        return CheckedPair(
            source=self.subject.source,
            target=self.subject.target,
            facts=self.subject.facts,
            aliases=self.aliases(),
            measures=tuple(self.known[name] for name in MEASURES if name in self.known),
            left_out=tuple((name, self.left_out[name]) for name in MEASURES if name in self.left_out),
            alpha=self.alpha,
        )
