"""States whose futures are linear combinations of the futures of others, found modulo primes, proved exactly.

The future of a state is the function that gives each trace its probability from there. Let the futures of
some states be independent and span all futures; then a vector of masses has the same future as its
combination on these states, and two vectors have equal futures if and only if their combinations are equal
(Schützenberger 1961, Tzeng 1992).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt, lcm

from flint import fmpq, fmpz, fmpz_mod_ctx, fmpz_mod_mat, nmod_mat

from bisimdist.progress import NEVER, Deadline

__all__ = ["Combination", "dependent_states"]

MAX_STATES = 300
SMALL_PRIMES_BELOW = 2**61
EXPONENTS = (521, 2203, 9689)
"""Exponents of primes 2^e - 1, in which combinations are sought; a combination is then proved exactly."""

Rows = Sequence[Sequence[tuple[int, int]]]
Columns = list[list[int]]


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


def dependent_states(
    states: Sequence[int],
    actions: Sequence[str | None],
    rows: Rows,
    denominators: Sequence[int],
    *,
    deadline: Deadline = NEVER,
) -> Combination | None:
    """Return the combinations of the futures of some states, None where these are independent or too many.

    Parameters
    ----------
    states
        The states in question, closed under successors.
    actions, rows, denominators
        The automaton, as in `bisimdist.words.system.WordSystem`.
    deadline
        When to give up.

    Raises
    ------
    LimitError
        If the deadline passes.
    """
    if not 1 < len(states) <= MAX_STATES:
        return None
    place = {state: n for n, state in enumerate(states)}
    local = [[(place[t], weight) for t, weight in rows[s]] for s in states]
    part = _Part(local, _groups(states, actions), [denominators[s] for s in states])
    words, pivots = _independent(part, deadline)
    if len(words) == len(states):
        return None
    for prime in (2**exponent - 1 for exponent in EXPONENTS):
        deadline.check()
        if any(d % prime == 0 for d in part.denominators):
            continue
        found = _combination(part, words, pivots, prime)
        if found is not None and _proved(found, part):
            return _spelled(found, states, pivots)
    return None


@dataclass(frozen=True, slots=True)
class _Part:
    """The automaton on the states in question, numbered anew; states in groups by their actions."""

    rows: Rows
    groups: list[list[int]]
    denominators: Sequence[int]


def _groups(states: Sequence[int], actions: Sequence[str | None]) -> list[list[int]]:
    found: dict[str, list[int]] = {}
    for n, state in enumerate(states):
        action = actions[state]
        if action is not None:
            found.setdefault(action, []).append(n)
    return list(found.values())


def _independent(part: _Part, deadline: Deadline) -> tuple[list[tuple[int, ...]], list[int]]:
    """Return words whose columns are independent and span those of all words, and states to tell them apart.

    Modulo a prime; a word is a sequence of groups, the last one first.
    """
    rows, groups, denominators = part.rows, part.groups, part.denominators
    prime = _small_prime(denominators)
    inverse = [pow(d, -1, prime) for d in denominators]
    size = len(rows)
    columns: Columns = [[1] * size]
    words: list[tuple[int, ...]] = [()]
    fresh = [0]
    while fresh:
        deadline.check()
        offered: Columns = []
        named: list[tuple[int, ...]] = []
        for n in fresh:
            for number, group in enumerate(groups):
                column = [0] * size
                for s in group:
                    column[s] = sum(w * columns[n][t] for t, w in rows[s]) * inverse[s] % prime
                offered.append(column)
                named.append((*words[n], number))
        matrix = nmod_mat([list(row) for row in zip(*columns, *offered, strict=True)], prime)
        chosen = _pivot_columns(matrix)
        fresh = []
        for n in chosen:
            if n >= len(columns):
                fresh.append(n)
        old = len(columns)
        columns += [offered[n - old] for n in fresh]
        words += [named[n - old] for n in fresh]
        fresh = list(range(old, len(columns)))
    pivots = _pivot_columns(nmod_mat(columns, prime))
    return words, pivots


def _small_prime(denominators: Sequence[int]) -> int:
    """Return the largest prime of a word that divides no denominator."""
    candidate = SMALL_PRIMES_BELOW - 1
    while not fmpz(candidate).is_prime() or any(d % candidate == 0 for d in denominators):
        candidate -= 2
    return candidate


def _pivot_columns(matrix: nmod_mat) -> list[int]:
    reduced, rank = matrix.rref()
    result, column = [], 0
    for row in range(rank):
        while int(reduced[row, column]) == 0:
            column += 1
        result.append(column)
    return result


def _combination(
    part: _Part, words: Sequence[tuple[int, ...]], pivots: Sequence[int], prime: int
) -> list[list[fmpq]] | None:
    """Return the combination of each state as rationals that agree with it modulo a prime, unproved."""
    rows, groups, denominators = part.rows, part.groups, part.denominators
    context = fmpz_mod_ctx(prime)
    inverse = [pow(d, -1, prime) for d in denominators]
    by_word: dict[tuple[int, ...], list[int]] = {(): [1] * len(rows)}
    for word in words[1:]:
        before = by_word[word[:-1]]
        column = [0] * len(rows)
        for s in groups[word[-1]]:
            column[s] = sum(w * before[t] for t, w in rows[s]) * inverse[s] % prime
        by_word[word] = column
    columns = [by_word[word] for word in words]
    square = fmpz_mod_mat([[column[s] for s in pivots] for column in columns], context)
    everything = fmpz_mod_mat([list(column) for column in columns], context)
    try:
        solved = square.solve(everything)
    except ZeroDivisionError:
        return None
    result = []
    for s in range(len(rows)):
        values = [_reconstructed(int(solved[n, s]), prime) for n in range(len(pivots))]
        known = [value for value in values if value is not None]
        if len(known) < len(values):
            return None
        result.append(known)
    return result


def _reconstructed(residue: int, prime: int) -> fmpq | None:
    """Return the short rational that is congruent to a residue, if there is one."""
    bound = isqrt(prime // 2)
    above, below = (prime, 0), (residue, 1)
    while below[0] > bound:
        quotient = above[0] // below[0]
        above, below = below, (above[0] - quotient * below[0], above[1] - quotient * below[1])
    if below[1] == 0 or abs(below[1]) > bound:
        return None
    return fmpq(below[0], below[1])


def _proved(combination: list[list[fmpq]], part: _Part) -> bool:
    """Tell whether stepping and combining may be exchanged, and combinations keep the mass."""
    rows, groups, denominators = part.rows, part.groups, part.denominators
    sparse = [{n: value for n, value in enumerate(row) if value != 0} for row in combination]
    if any(sum(row.values(), fmpq(0)) != 1 for row in sparse):
        return False
    size = len(combination[0])
    basis: list[int] = [-1] * size
    for s, row in enumerate(sparse):
        if len(row) == 1:
            ((n, value),) = row.items()
            if value == 1 and basis[n] < 0:
                basis[n] = s
    if min(basis) < 0:
        return False
    moved = [_moved(sparse, rows[s], denominators[s]) for s in range(len(rows))]
    group_of = {s: number for number, group in enumerate(groups) for s in group}
    for s, row in enumerate(sparse):
        for number in range(len(groups)):
            left = moved[s] if group_of.get(s) == number else {}
            right: dict[int, fmpq] = {}
            for n, value in row.items():
                if group_of.get(basis[n]) == number:
                    for m, entry in moved[basis[n]].items():
                        right[m] = right.get(m, fmpq(0)) + value * entry
            if left != {m: entry for m, entry in right.items() if entry != 0}:
                return False
    return True


def _moved(
    sparse: list[dict[int, fmpq]], row: Sequence[tuple[int, int]], denominator: int
) -> dict[int, fmpq]:
    result: dict[int, fmpq] = {}
    for target, weight in row:
        for n, value in sparse[target].items():
            result[n] = result.get(n, fmpq(0)) + value * fmpq(weight, denominator)
    return {n: value for n, value in result.items() if value != 0}


def _spelled(combination: list[list[fmpq]], states: Sequence[int], pivots: Sequence[int]) -> Combination:
    factor = lcm(*(int(value.q) for row in combination for value in row))
    rows = {
        state: tuple(
            (states[pivots[n]], int((value * factor).p))
            for n, value in enumerate(combination[at])
            if value != 0
        )
        for at, state in enumerate(states)
    }
    return Combination(tuple(states[p] for p in pivots), rows, factor)
