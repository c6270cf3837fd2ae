"""The information states of a pair: what a trace makes of the difference of two states, in rationals.

After the trace w the difference e_s - e_t has become (e_s - e_t) M_w, the vector of the differences of the
probabilities to have performed w and to be in each state. The states are trace equivalent if and only if the
span of all of these is orthogonal to the all-one vector.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from flint import fmpq

from bisimdist.logic.lumped_chain import ActionStep, action_steps
from bisimdist.models.ends import Ends, completed
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline

__all__ = ["InformationSpace", "information_space"]

SparseVector = dict[int, fmpq]


@dataclass(frozen=True, slots=True)
class InformationSpace:
    """The span of the differences that traces make of two states, as far as it was needed.

    Parameters
    ----------
    trace
        The first trace of different probabilities, by length and then alphabetically; None if there is none.
    basis
        By pivot a vector that is one there; a vector is zero at the pivots of those before it. Without a
        trace the span is closed under every action and orthogonal to the all-one vector.
    """

    trace: tuple[str, ...] | None
    basis: dict[int, SparseVector]


def information_space(automaton: PA, s: int, t: int, *, deadline: Deadline = NEVER) -> InformationSpace:
    """Follow the difference of two states until it shows, or nothing new comes.

    All arithmetic is exact and nothing is guessed, so this suits small automata and checks of
    `bisimdist.logic.trace_equivalence`, which is faster.

    Parameters
    ----------
    automaton
        A fully probabilistic automaton.
    s, t
        The indices of the states.
    deadline
        When to give up.

    Raises
    ------
    ModelError
        If a state has several transitions.
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> from bisimdist.models.pa import Transition
    >>> steps = (Transition(0, "a", ((2, fmpq(1, 2)),)), Transition(1, "a", ((2, fmpq(1)),)))
    >>> information_space(PA(("s", "t", "u"), (*steps, Transition(2, "b", ()))), 0, 1).trace
    ('a', 'b')
    """
    steps = action_steps(completed(automaton, Ends.HIDDEN))
    basis: dict[int, SparseVector] = {}
    if s == t:
        return InformationSpace(None, basis)
    start = {s: fmpq(1), t: fmpq(-1)}
    _absorb(basis, start)
    waiting: deque[tuple[tuple[str, ...], SparseVector]] = deque([((), start)])
    while waiting:
        word, vector = waiting.popleft()
        for action, after in sorted(_moved(steps, vector).items()):
            deadline.check()
            if _absorb(basis, after):
                if sum(after.values(), fmpq(0)) != 0:
                    return InformationSpace((*word, action), basis)
                waiting.append(((*word, action), after))
    return InformationSpace(None, basis)


def _moved(steps: tuple[ActionStep, ...], vector: SparseVector) -> dict[str, SparseVector]:
    result: dict[str, SparseVector] = {}
    for state, value in vector.items():
        step = steps[state]
        if step is not None:
            after = result.setdefault(step[0], {})
            for target, p in step[1]:
                after[target] = after.get(target, fmpq(0)) + value * p
    return {action: {s: x for s, x in after.items() if x != 0} for action, after in result.items()}


def _absorb(basis: dict[int, SparseVector], vector: SparseVector) -> bool:
    """Add a vector to the basis; tell whether it was independent."""
    rest = dict(vector)
    for pivot, row in basis.items():
        factor = rest.get(pivot, fmpq(0))
        if factor != 0:
            for state, value in row.items():
                rest[state] = rest.get(state, fmpq(0)) - factor * value
    rest = {state: value for state, value in rest.items() if value != 0}
    if not rest:
        return False
    pivot = min(rest)
    basis[pivot] = {state: value / rest[pivot] for state, value in rest.items()}
    return True
