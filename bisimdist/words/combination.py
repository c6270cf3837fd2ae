"""States whose futures are linear combinations of the futures of others.

The future of a state is the function that gives each trace its probability from there. Let the futures of
some states be independent and span all futures; then a vector of masses has the same future as its
combination on these states, and two vectors have equal futures if and only if their combinations are equal
(Schützenberger 1961, Tzeng 1992). The combinations can be read off the reduced basis of the functions of all
traces, the empty one too: the future of a state s is the sum, over the functions f of the basis, of f(s) times
the future of the pivot of f.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import lcm

from flint import fmpq

from bisimdist.progress import NEVER, Deadline
from bisimdist.words.functions import primes
from bisimdist.words.lumped_chain import LumpedChain
from bisimdist.words.rational_basis import RationalBasis, ResidueBasis

__all__ = ["Combination", "dependent_states"]

MAX_STATES = 300


@dataclass(frozen=True, slots=True)
class Combination:
    """Futures as combinations of independent ones.

    Parameters
    ----------
    basis
        The states whose futures are independent.
    rows
        For each state its combination of states of the basis, in integers over `factor`.
    factor
        What the integers are to be divided by.
    """

    basis: tuple[int, ...]
    rows: Mapping[int, tuple[tuple[int, int], ...]]
    factor: int


def dependent_states(chain: LumpedChain, *, deadline: Deadline = NEVER) -> Combination | None:
    """Return the combinations of the futures of classes, None where these are independent or too many.

    Raises
    ------
    LimitError
        If the deadline passes, or the combinations take numbers that are too long.
    """
    size = len(chain)
    if not 1 < size <= MAX_STATES:
        return None
    first = ResidueBasis.explored(chain, next(primes(chain)), deadline)
    if first.rank + (not first.holds_one(chain)) == size:
        return None
    functions = {f.pivot: dict(f.values) for f in RationalBasis.of(chain, deadline).functions}
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
