"""Questions in the trace logic: the formulae of a state, whether it satisfies one, and trace equivalence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bisimdist.analysis.answer import Status
from bisimdist.analysis.trace_logic_answer import (
    TraceEquivalenceAnswer,
    TraceFormulaeAnswer,
    TraceSatisfaction,
    TraceSatisfactionsAnswer,
    TraceVerdict,
    no_certificate,
)
from bisimdist.certificates.trace_equivalence import ProvedTraces, trace_equivalence_certificate
from bisimdist.certificates.trace_formulae import (
    ProvedTraceFormula,
    listing_certificate,
    trace_formulae_certificate,
)
from bisimdist.errors import ENDINGS, UsageError
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.logic.linear import LinearFormula, TraceFormula
from bisimdist.logic.linear_parser import parse_trace_formula
from bisimdist.logic.linear_semantics import FormulaScale, LogicalDistances, TraceSemantics
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline, Limits, Progress, silent
from bisimdist.words.equivalence import TraceComparison, trace_equivalence_classes

__all__ = [
    "TraceEquivalenceAnswer",
    "TraceFormulaeAnswer",
    "TraceSatisfaction",
    "TraceSatisfactionsAnswer",
    "TraceVerdict",
    "logical_distances",
    "satisfies_trace_formula",
    "satisfies_trace_formulae",
    "trace_classes",
    "trace_equivalence",
    "trace_formulae",
]

LIMIT = 1000
"""How many formulae are listed unless somebody asks for more."""


@interruptible
def trace_formulae(  # noqa: PLR0913
    model: PA | LMC,
    state: str,
    depth: int | None = None,
    limit: int = LIMIT,
    *,
    ends: Ends | str = Ends.VISIBLE,
    deadline: Deadline = NEVER,
    writing: float = 0.0,
    on_interrupt: OnInterrupt = "raise",  # noqa: ARG001
) -> TraceFormulaeAnswer:
    """List the formulae that a state satisfies, shortest first.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a chain is taken as the automaton with its labels as actions.
    state
        The name of the state.
    depth
        How long formulae may be; by default as long as they are.
    limit
        How many formulae to list at most.
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``. Where mass is missing,
        formulae say that by the action ``(end)``; elsewhere the end of a run follows from the others.
    deadline
        When to give up; what is known by then is returned with ``Status.LIMIT``.
    writing
        How many seconds to keep for writing each action of the answer before the deadline comes.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Raises
    ------
    UsageError
        If the depth or the limit is negative.
    ModelError
        If there is no such state, or a state has several transitions.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> steps = (Transition(0, "a", ((1, fmpq(1, 2)),)), Transition(1, "b", ((1, fmpq(1)),)))
    >>> answer = trace_formulae(PA(("s", "t"), steps), "s", depth=2)
    >>> print(*answer.formulae, sep=", ")
    1 T, 1 <a>T, 1/2 <a><"(end)">T, 1/2 <a><b>T
    >>> answer.complete, answer.longest, answer.missing
    (True, None, True)
    """
    if depth is not None and depth < 0:
        raise UsageError(f"the depth is {depth}; expected at least 0")
    if limit < 0:
        raise UsageError(f"the limit is {limit}; expected at least 0")
    automaton = automaton_of(model)
    start = automaton.index(state)
    completed = _completed(automaton, ends, (start,))
    semantics = TraceSemantics(completed.automaton, (start,))
    longest = semantics.longest(start)
    formulae, following, whole = semantics.first_formulae(
        start, depth, limit, deadline=deadline, writing=writing
    )
    count = len(formulae) if whole and following is None else None
    until = longest if depth is None else depth
    if whole and count is None and until is not None:
        try:
            count = semantics.count(start, until, deadline=deadline)
        except ENDINGS:
            whole = False
    complete = whole and following is None
    return TraceFormulaeAnswer(
        completed=completed,
        make_certificate=lambda: listing_certificate(completed, state, depth, formulae, complete=complete),
        model=automaton,
        state=state,
        depth=depth,
        formulae=formulae,
        following=following,
        count=count,
        longest=longest,
        status=Status.EXACT if whole else Status.LIMIT,
    )


def _completed(automaton: PA, ends: Ends | str, starts: Sequence[int]) -> Completed:
    found = Completed.of(automaton, ends, starts)
    return found if found.missing else found.without_symbol()


def satisfies_trace_formula(
    model: PA | LMC, state: str, formula: TraceFormula | str, *, ends: Ends | str = Ends.VISIBLE
) -> TraceSatisfaction:
    """Tell whether a state satisfies a formula of the trace logic, and by how much it fails to.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a chain is taken as the automaton with its labels as actions.
    state
        The name of the state.
    formula
        The formula, or its text.
    ends
        As in `trace_formulae`.

    Raises
    ------
    ModelError
        If the text is no formula, there is no such state, or a state has several transitions.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> steps = (Transition(0, "a", ((1, fmpq(1, 2)),)), Transition(1, "b", ((1, fmpq(1)),)))
    >>> answer = satisfies_trace_formula(PA(("s", "t"), steps), "s", "1/3 <a><b>T")
    >>> answer.satisfied, answer.probability, answer.value
    (False, 1/2, 5/6)
    """
    return satisfies_trace_formulae(model, state, [formula], ends=ends).formulae[0]


def satisfies_trace_formulae(
    model: PA | LMC, state: str, formulae: Iterable[TraceFormula | str], *, ends: Ends | str = Ends.VISIBLE
) -> TraceSatisfactionsAnswer:
    """Tell which formulae of the trace logic a state satisfies, with a proof; see `satisfies_trace_formula`.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> steps = (Transition(0, "a", ((1, fmpq(1, 2)),)), Transition(1, "b", ((1, fmpq(1)),)))
    >>> answer = satisfies_trace_formulae(PA(("s", "t"), steps), "s", ["1/2 <a><b>T", "<b>T"])
    >>> [found.satisfied for found in answer.formulae], bool(answer)
    ([True, False], False)
    """
    automaton = automaton_of(model)
    wanted = [parse_trace_formula(text) if isinstance(text, str) else text for text in formulae]
    start = automaton.index(state)
    completed = _completed(automaton, ends, (start,))
    semantics = TraceSemantics(completed.automaton, (start,))
    found = tuple(_satisfaction(semantics, start, formula) for formula in wanted)
    proved = [ProvedTraceFormula(one.formula, one.probability, one.satisfied) for one in found]
    return TraceSatisfactionsAnswer(
        model=automaton,
        state=state,
        formulae=found,
        completed=completed,
        make_certificate=lambda: trace_formulae_certificate(completed, state, proved),
    )


def _satisfaction(semantics: TraceSemantics, start: int, formula: TraceFormula) -> TraceSatisfaction:
    linear = formula if isinstance(formula, LinearFormula) else formula.linear
    return TraceSatisfaction(
        state=semantics.automaton.states[start],
        formula=formula,
        satisfied=semantics.satisfies(start, formula),
        probability=semantics.probability(start, linear.actions),
        value=semantics.value(start, formula),
        lenient_value=semantics.value(start, formula, lenient=True),
    )


def logical_distances(  # noqa: PLR0913
    model: PA | LMC,
    pair: tuple[str, str],
    depth: int,
    scale: FormulaScale | str = FormulaScale.ADDITIVE,
    *,
    ends: Ends | str = Ends.VISIBLE,
    deadline: Deadline = NEVER,
) -> LogicalDistances:
    """Return the distances of two states by their formulae up to a depth, with and without probability 0.

    Parameters
    ----------
    model
        A fully probabilistic automaton; a chain is taken as the automaton with its labels as actions.
    pair
        The names of the states.
    depth
        How long formulae may be.
    scale
        ``additive``, or ``multiplicative``: then distances are given by their ratio, e to the distance, None
        for infinity.
    ends
        As in `trace_formulae`.
    deadline
        When to give up.

    Raises
    ------
    UsageError
        If there is no such scale, or the depth is negative.
    ModelError
        If there is no such state, or a state has several transitions.
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> steps = (Transition(0, "a", ((2, fmpq(1, 100)),)), Transition(2, "b", ((2, fmpq(1)),)))
    >>> automaton = PA(("s", "t", "u"), (*steps, Transition(1, "a", ((1, fmpq(1, 50)),))))
    >>> found = logical_distances(automaton, ("s", "t"), 2)
    >>> found.strict, found.total_variation, found.witness
    (1, 1/50, ('a', 'a'))
    """
    if depth < 0:
        raise UsageError(f"the depth is {depth}; expected at least 0")
    names = [kind.value for kind in FormulaScale]
    if not isinstance(scale, FormulaScale) and scale not in names:
        raise UsageError(f"there is no scale {scale!r}; expected {' or '.join(names)}")
    automaton = automaton_of(model)
    first, second = (automaton.index(name) for name in pair)
    completed = _completed(automaton, ends, (first, second))
    semantics = TraceSemantics(completed.automaton, (first, second))
    return semantics.distances(first, second, depth, scale, deadline=deadline)


def trace_classes(model: PA | LMC, *, deadline: Deadline = NEVER) -> tuple[tuple[str, ...], ...]:
    """Return the classes of trace equivalence of all states, each by the names of its states.

    Whether an observer sees that a run has ended makes no difference to them.

    Raises
    ------
    ModelError
        If a state has several transitions.
    LimitError
        If the deadline passes.

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
    model
        A fully probabilistic automaton; a chain is taken as the automaton with its labels as actions.
    pairs
        Pairs of names of states; by default those of the model.
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``. It makes no difference
        to the verdict, and the traces are made of actions alone.
    deadline
        When to give up; what is proved by then is returned with ``Status.LIMIT``.
    progress
        Told what is being done.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

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
    asked = (
        list(automaton.pairs)
        if pairs is None
        else [(automaton.index(s), automaton.index(t)) for s, t in pairs]
    )
    if not asked:
        raise UsageError("the model has no pairs of its own; say which states to compare")
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
    proved = [
        ProvedTraces(s, t, verdict.trace, verdict.probabilities)
        for (s, t), verdict in zip(asked, verdicts, strict=True)
        if verdict.equivalent is not None
    ]
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
        make_certificate=(
            (lambda: trace_equivalence_certificate(completed, proved, deadline=deadline))
            if proved
            else no_certificate
        ),
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
