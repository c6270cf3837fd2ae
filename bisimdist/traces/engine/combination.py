"""States whose futures are linear combinations of the futures of others.

The future of a state is the function that gives each trace its probability from there. Let the futures of
some states be independent and span all futures; then a vector of masses has the same future as its
combination on these states, and two vectors have equal futures if and only if their combinations are equal
(Schützenberger 1961, Tzeng 1992). The combinations can be read off the reduced basis of the functions of all
traces, the empty one too: the future of a state s is the sum, over the functions f of the basis, of f(s)
times the future of the pivot of f.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from math import lcm

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.functions import primes
from bisimdist.traces.engine.rational_basis import RationalBasis, ResidueBasis
from bisimdist.traces.engine.system import Combination, WordSystem

MAX_STATES = 300


def combined_system(
    automaton: PA, starts: Iterable[int] | None = None, *, deadline: Deadline = NEVER
) -> WordSystem:
    """Return the system of an automaton with its combinations of futures, if they are found in time."""
    system = WordSystem.of(automaton, starts)
    with suppress(LimitError):  # a help, not a need
        return replace(system, combination=dependent_states(system, deadline=deadline))
    return system


def dependent_states(system: WordSystem, *, deadline: Deadline = NEVER) -> Combination | None:
    """Return the combinations of the futures of classes, None where these are independent or too many."""
    size = len(system)
    if not 1 < size <= MAX_STATES:
        return None
    first = ResidueBasis.explored(system, next(primes(system)), deadline)
    if first.rank + (not first.holds_one(system)) == size:
        return None
    functions = {f.pivot: dict(f.values) for f in RationalBasis.of(system, deadline).functions}
    _add_constant(functions, size)
    if len(functions) == size:
        return None
    factor = lcm(*(int(value.q) for function in functions.values() for value in function.values()))
    rows: dict[int, list[tuple[int, int]]] = {state: [] for state in range(size)}
    for pivot, function in sorted(functions.items()):
        for state, value in function.items():
            rows[state].append((pivot, int((value * factor).p)))
    return Combination(tuple(sorted(functions)), {state: tuple(row) for state, row in rows.items()}, factor)


def _add_constant(functions: dict[int, dict[int, fmpq]], size: int) -> None:
    """Add the function of the empty trace, which is one everywhere, to a reduced basis; keep it reduced."""
    rest = dict.fromkeys(range(size), fmpq(1))
    for function in functions.values():  # each is one at its pivot, where the others are zero
        for state, value in function.items():
            rest[state] -= value
    rest = {state: value for state, value in rest.items() if value != 0}
    if not rest:
        return
    pivot = min(rest)
    rest = {state: value / rest[pivot] for state, value in rest.items()}
    for function in functions.values():
        factor = function.get(pivot, fmpq(0))
        if factor != 0:
            for state, value in rest.items():
                function[state] = function.get(state, fmpq(0)) - factor * value
                if function[state] == 0:
                    del function[state]
    functions[pivot] = rest
