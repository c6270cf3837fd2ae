"""The information states of a pair: what a trace makes of the difference of two states, in rationals.

After the trace w the difference e_s - e_t has become (e_s - e_t) M_w, the vector of the differences of the
probabilities to have performed w and to be in each state. The states are trace equivalent if and only if the
span of all of these is orthogonal to the all-one vector.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from flint import fmpq

from bisimdist.models.pa import PA

__all__ = ["InformationSpace", "information_space"]

SparseVector = dict[int, fmpq]
HALTED = -1
"""Where the mass is that is missing in a row; it acts no more."""


@dataclass(frozen=True, slots=True)
class InformationSpace:
    """The span of the differences that traces make of two states, as far as it was needed.

    `trace` is the first trace of different probabilities, by length and then alphabetically; None if there is
    none. `basis` has by pivot a vector that is one there and zero at the pivots of those before it.
    """

    trace: tuple[str, ...] | None
    basis: dict[int, SparseVector]


def information_space(automaton: PA, s: int, t: int) -> InformationSpace:
    """Follow the difference of two states until it shows, or nothing new comes."""
    basis: dict[int, SparseVector] = {}
    if s == t:
        return InformationSpace(None, basis)
    start = {s: fmpq(1), t: fmpq(-1)}
    _absorb(basis, start)
    waiting: deque[tuple[tuple[str, ...], SparseVector]] = deque([((), start)])
    while waiting:
        word, vector = waiting.popleft()
        for action, after in sorted(_moved(automaton, vector).items()):
            if _absorb(basis, after):
                if sum(after.values(), fmpq(0)) != 0:
                    return InformationSpace((*word, action), basis)
                waiting.append(((*word, action), after))
    return InformationSpace(None, basis)


def _moved(automaton: PA, vector: SparseVector) -> dict[str, SparseVector]:
    result: dict[str, SparseVector] = {}
    for step in automaton.transitions:
        value = vector.get(step.source, fmpq(0))
        if value != 0:
            after = result.setdefault(step.action, {})
            missing = fmpq(1) - sum((p for _, p in step.row), fmpq(0))
            for target, p in (*step.row, (HALTED, missing)):
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
