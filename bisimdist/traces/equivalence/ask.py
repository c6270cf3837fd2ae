"""Trace equivalence: the question, its answer, and the proof (docs/certificates/trace-equivalence.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from flint import fmpq

from bisimdist.errors import ENDINGS, LimitError
from bisimdist.exact.number import Exact, Numbers
from bisimdist.faces.shown.answer import Status
from bisimdist.faces.shown.asked_pairs import asked_states
from bisimdist.faces.shown.ends import ends_remarks
from bisimdist.faces.shown.numbers import short_rational
from bisimdist.faces.shown.plain import said
from bisimdist.faces.shown.proved import AboutTraces, no_certificate
from bisimdist.faces.shown.tables import Report
from bisimdist.faces.written.frame import Document, document
from bisimdist.faces.written.numbers import rational_text
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.logic.engine.linear import short_formula
from bisimdist.logic.engine.linear_semantics import TraceSemantics
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.traces.engine.equivalence import TraceComparison, trace_equivalence_classes
from bisimdist.traces.engine.rational_basis import BasisFunction, RationalBasis
from bisimdist.verdicts import joint, verdict_word

MAX_VALUES = 5_000_000  # how many numbers a proof may have


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceVerdict(Numbers):
    """Whether two states are trace equivalent."""

    source: str
    target: str
    # whether every trace has the same probability from both; None where that is not decided
    equivalent: bool | None
    # a trace with different probabilities; None where there is none or none is known
    trace: tuple[str, ...] | None = None
    probabilities: tuple[Exact, Exact] | None = None
    # whether the trace is proved to be of least length and, of these, the alphabetically first
    least: bool = False

    def data(self) -> dict[str, object]:
        least = "" if self.trace is None else " least"
        return said(self, f"source target equivalent trace probabilities{least}")

    @property
    def row(self) -> tuple[str, ...]:
        """The pair, the verdict and the trace, for a person."""
        verdict = {True: "yes", False: "no", None: "not decided"}[self.equivalent]
        if self.trace is None or self.probabilities is None:
            return self.source, self.target, verdict, "", "", ""
        first, second = (short_rational(p) for p in self.probabilities)
        return self.source, self.target, verdict, short_formula(self.trace), first, second

    def claim(self) -> Document:
        """Return what a certificate claims: equivalence, or a trace with two probabilities."""
        claim: Document = said(self, "source target equivalent")
        if self.trace is not None and self.probabilities is not None:
            claim["trace"] = list(self.trace)
            claim["probabilities"] = [rational_text(p) for p in self.probabilities]
        return claim


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceEquivalenceAnswer(AboutTraces):
    """Verdicts on pairs of states, with their proof.

    Source: Schutzenberger61, Tzeng92.

    Parameters
    ----------
    model
        The automaton.
    pairs
        The verdicts, in the order in which the pairs were asked.
    status
        ``EXACT``, or ``LIMIT`` where not everything is decided, or a trace is not proved to be the least one.
    statistics
        Counts of what was done, without any timing.
    make_certificate
        Writes the proof when it is asked for.

    Examples
    --------
    >>> import bisimdist
    >>> survey = bisimdist.build_any_example("randomised-response-pa")
    >>> bisimdist.traces.trace_equivalence(survey).pairs[0].equivalent
    False
    """

    command = "equivalence"

    model: PA
    pairs: tuple[TraceVerdict, ...]
    status: Status
    statistics: Mapping[str, int] = field(default_factory=dict, compare=False)

    def picture(self) -> str:
        from bisimdist.faces.shown.witness_pictures import first_trace  # noqa: PLC0415 (most answers are not drawn)

        return first_trace((pair.source, pair.target, pair.trace, pair.probabilities) for pair in self.pairs)

    @property
    def equivalent(self) -> bool | None:
        """Whether every pair is equivalent; None where that is not known."""
        return joint(pair.equivalent for pair in self.pairs)

    def data(self) -> dict[str, object]:
        return {"verdict": verdict_word(self.equivalent), **AboutTraces.data(self)}

    def report(self) -> Report:
        remarks = []
        if any(pair.trace is not None for pair in self.pairs):
            if all(pair.least for pair in self.pairs if pair.trace is not None):
                remarks.append("No shorter trace tells the states apart.")
            else:
                remarks.append("Time ran out; shorter traces may tell the states apart as well.")
        return Report(
            heading="Trace equivalence: has every trace the same probability from both states?",
            columns=("from", "to", "equivalent", "trace", "from the first", "from the second"),
            rows=tuple(pair.row for pair in self.pairs),
            remarks=(*remarks, *ends_remarks(self.completed)),
        )


def trace_classes(model: PA | LMC, *, deadline: Deadline = NEVER) -> tuple[tuple[str, ...], ...]:
    """Return the classes of trace equivalence of all states, each by the names of its states.

    Whether an observer sees that a run has ended makes no difference to them. Errors are those of
    `trace_equivalence`; a passing deadline is one too.

    Parameters
    ----------
    model
        The automaton, or a chain, without choices.
    deadline
        When to give up.

    Returns
    -------
    tuple of tuple of str
        The classes, each in the order of the states.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> step = (Transition(0, "a", ((1, fmpq(1)),)),)
    >>> trace_classes(PA(("s", "t", "u"), step))
    (('s',), ('t', 'u'))
    """
    automaton = automaton_of(model)
    members: dict[int, list[str]] = {}
    for name, number in zip(
        automaton.states, trace_equivalence_classes(automaton, deadline=deadline), strict=True
    ):
        members.setdefault(number, []).append(name)
    return tuple(map(tuple, members.values()))


@interruptible
def trace_equivalence(  # noqa: PLR0913
    model: PA | LMC,
    pairs: Sequence[tuple[str, str]] | None = None,
    *,
    ends: Ends | str = Ends.VISIBLE,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> TraceEquivalenceAnswer:
    """Decide which pairs of states give every trace the same probability, exactly and with a proof.

    Parameters
    ----------
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``. It makes no difference
        to the verdict, and the traces are made of actions alone.
    model, pairs, deadline, progress, on_interrupt
        As in `bisimdist.trace_metric`.

    Returns
    -------
    TraceEquivalenceAnswer
        For each pair whether it is equivalent, and a shortest trace where it is not.

    Raises
    ------
    UsageError
        If there is no pair, or no such way to see ends.
    ModelError
        If a pair names no state, or a state has several transitions.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> steps = [Transition(s, "a", ((2, p),)) for s, p in enumerate((half, one))]
    >>> answer = trace_equivalence(PA(("s", "t", "u"), (*steps, Transition(2, "b", ()))), [("s", "t")])
    >>> answer.pairs[0].trace, answer.pairs[0].probabilities
    (('a', 'b'), (1/2, 1))
    """
    automaton = automaton_of(model)
    asked = asked_states(automaton, pairs)
    starts = tuple({state for pair in asked for state in pair})
    completed = Completed.of(automaton, ends, starts).without_symbol()
    comparison = TraceComparison.of(completed.automaton, asked)
    status = Status.EXACT
    try:
        comparison.run(limits=Limits(deadline=deadline, progress=progress))
    except ENDINGS:
        status = Status.LIMIT
    semantics = TraceSemantics(completed.automaton, starts)
    verdicts = tuple(
        _verdict(semantics, pair, word, decided)
        for pair, word, decided in zip(asked, comparison.words, comparison.decided, strict=True)
    )
    decided = [verdict for verdict in verdicts if verdict.equivalent is not None]
    equal = [(s, t) for (s, t), verdict in zip(asked, verdicts, strict=True) if verdict.equivalent and s != t]
    return TraceEquivalenceAnswer(
        model=automaton,
        pairs=verdicts,
        status=status,
        statistics={
            "states": len(automaton),
            "classes": len(comparison.chain),
            "primes": comparison.primes_used,
        },
        completed=completed,
        make_certificate=partial(_certificate, completed, decided, equal, deadline)
        if decided
        else no_certificate,
    )


def _verdict(
    semantics: TraceSemantics, pair: tuple[int, int], word: tuple[str, ...] | None, decided: bool
) -> TraceVerdict:
    source, target = (semantics.automaton.states[state] for state in pair)
    if word is None:
        return TraceVerdict(source=source, target=target, equivalent=True if decided else None)
    first, second = (semantics.probability(state, word) for state in pair)
    return TraceVerdict(
        source=source,
        target=target,
        equivalent=False,
        trace=word,
        probabilities=(first, second),
        least=decided,
    )


def _certificate(
    completed: Completed,
    decided: Sequence[TraceVerdict],
    equal: Sequence[tuple[int, int]],
    deadline: Deadline,
) -> Document:
    return equivalence_certificate(completed, [verdict.claim() for verdict in decided], equal, deadline)


def equivalence_certificate(
    completed: Completed, claims: object, equal: Sequence[tuple[int, int]], deadline: Deadline
) -> Document:
    """Return the certificate: traces for pairs that differ, one space of functions for those that do not."""
    return document(
        "trace-equivalence",
        completed.original,
        ends=completed.shown.value,
        claims=claims,
        basis=_basis(completed.automaton, equal, deadline) if equal else [],
    )


def _basis(automaton: PA, pairs: Sequence[tuple[int, int]], deadline: Deadline) -> list[Document]:
    """Return functions that agree on all pairs and whose span no action leaves."""
    comparison = TraceComparison.of(automaton, pairs)
    chain = comparison.chain
    if all(s == t for s, t in comparison.pairs):
        # Bisimilar pairs: the classes themselves will do, whatever the functions of the traces are.
        functions: Sequence[BasisFunction] = [
            BasisFunction(block, {block: fmpq(1)})
            for block, step in enumerate(chain.steps)
            if step is not None
        ]
    else:
        functions = RationalBasis.of(chain, deadline).functions
    if sum(len(chain.members[block]) for f in functions for block in f.values) > MAX_VALUES:
        raise LimitError("the proof would be too long")
    names = automaton.states
    return [
        {
            "pivot": names[chain.members[f.pivot][0]],
            "values": {
                names[state]: rational_text(value)
                for block, value in sorted(f.values.items())
                for state in chain.members[block]
            },
        }
        for f in functions
    ]
