"""Questions in the trace logic: the formulae of a state, and whether it satisfies one.

Source: CCP18 Example 1, CCP18 Example 2, CCP18 Definition 9, CCP18 Example 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bisimdist.errors import ENDINGS, UsageError
from bisimdist.faces.shown.answer import Status
from bisimdist.interruption import OnInterrupt, interruptible
from bisimdist.logic.engine.linear import LinearFormula, TraceFormula
from bisimdist.logic.engine.linear_parser import parse_trace_formula
from bisimdist.logic.engine.linear_semantics import FormulaScale, LogicalDistances, TraceSemantics
from bisimdist.logic.traces.answer import TraceFormulaeAnswer, TraceSatisfaction, TraceSatisfactionsAnswer
from bisimdist.models.ends import Completed, Ends
from bisimdist.models.lmc import LMC
from bisimdist.models.pa import PA, automaton_of
from bisimdist.progress import NEVER, Deadline

LIMIT = 1000  # how many formulae are listed unless somebody asks for more


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
        The largest number of actions; by default any number.
    limit
        How many formulae to list at most.
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``. If mass is missing,
        formulae show a visible end by the action ``(end)``.
    deadline
        When to give up; the formulae found by then are returned with ``Status.LIMIT``.
    writing
        How many seconds to reserve for writing each action of the answer before the deadline.
    on_interrupt
        What Ctrl-C does: ``"raise"`` ``KeyboardInterrupt``, or ``"return"`` what is known by then.

    Returns
    -------
    TraceFormulaeAnswer
        The formulae, and how many there are.

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
    return TraceFormulaeAnswer(
        completed=completed,
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
    formula
        The formula, or its text.
    model, state, ends
        As in `trace_formulae`.

    Returns
    -------
    TraceSatisfaction
        The verdict, with the probability.

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

    Parameters
    ----------
    model
        The automaton, or a chain, without choices.
    state
        The state.
    formulae
        Formulae, or their texts.
    ends
        Whether an observer sees that a run has ended: ``"visible"`` or ``"hidden"``.

    Returns
    -------
    TraceSatisfactionsAnswer
        A verdict for each formula.

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
    return TraceSatisfactionsAnswer(model=automaton, state=state, formulae=found, completed=completed)


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
    pair
        The names of the states.
    scale
        ``additive``, or ``multiplicative``: then distances are given by their ratio, e to the distance, None
        for infinity.
    model, depth, ends, deadline
        As in `trace_formulae`.

    Returns
    -------
    LogicalDistances
        The distances.

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
    scale = FormulaScale.called(scale, "scale")
    automaton = automaton_of(model)
    first, second = (automaton.index(name) for name in pair)
    completed = _completed(automaton, ends, (first, second))
    semantics = TraceSemantics(completed.automaton, (first, second))
    return semantics.distances(first, second, depth, scale, deadline=deadline)
