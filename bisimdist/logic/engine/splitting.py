"""When a sub-distribution splits into parts of given masses on given sets: a flow with exact capacities.

Sets of states are integers, bit s standing for state s.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import lcm

from flint import fmpq

from bisimdist.lp.flows import perfect_flow
from bisimdist.models.lmc import Row

Parts = Sequence[tuple[fmpq, int]]  # weights, each with the set of states that its part may lie on


def bits(members: int) -> Iterator[int]:
    """Yield the members of a set, ascending.

    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while members:
        lowest = members & -members
        yield lowest.bit_length() - 1
        members ^= lowest


def splits(row: Row, parts: Parts) -> bool:
    """Tell whether a row is a sum of rows of the given masses, each on its set.

    On the support of the row, sets are often disjoint or one inside the other. For such a family a flow
    exists if and only if no set is asked for more than its mass, counted with all that must lie inside it (by
    Hall's theorem: any union of its sets is a disjoint union of sets of the family).

    ``row``: successors with positive probabilities.
    ``parts``: positive weights and sets; the sets may overlap.

    >>> half, third = fmpq(1, 2), fmpq(1, 3)
    >>> row = ((0, half), (1, half))
    >>> splits(row, [(third, 0b01), (1 - third, 0b11)]), splits(row, [(third, 0b01), (1 - third, 0b10)])
    (True, False)
    """
    support = 0
    for state, _ in row:
        support |= 1 << state
    weights: dict[int, fmpq] = {}
    covered = 0
    for weight, members in parts:
        here = members & support
        weights[here] = weights[here] + weight if here in weights else weight
        covered |= here
    if covered != support or sum(weights.values(), fmpq(0)) != sum((p for _, p in row), fmpq(0)):
        return False
    sets = list(weights)
    for position, first in enumerate(sets):
        for second in sets[:position]:
            both = first & second
            if both not in (0, first, second):
                return _flow(row, list(weights.items())) is not None
    return all(
        sum((weight for other, weight in weights.items() if other & members == other), fmpq(0))
        <= sum((p for state, p in row if members >> state & 1), fmpq(0))
        for members in sets
    )


def splitting(row: Row, parts: Parts) -> tuple[Mapping[int, fmpq], ...] | None:
    """Return for each part the mass that it takes from each state, or None if the row does not split.

    >>> half, third = fmpq(1, 2), fmpq(1, 3)
    >>> splitting(((0, half), (1, half)), [(third, 0b01), (1 - third, 0b11)])
    ({0: 1/3}, {0: 1/6, 1: 1/2})
    """
    found = _flow(row, [(members, weight) for weight, members in parts])
    if found is None:
        return None
    result: list[dict[int, fmpq]] = [{} for _ in parts]
    for (part, position), amount in found.items():
        result[part][row[position][0]] = amount
    return tuple(result)


def _flow(row: Row, parts: Sequence[tuple[int, fmpq]]) -> dict[tuple[int, int], fmpq] | None:
    unit = lcm(*(int(p.q) for _, p in row), *(int(weight.q) for _, weight in parts))
    left = [int((weight * unit).p) for _, weight in parts]
    right = [int((p * unit).p) for _, p in row]
    edges = [
        (part, position)
        for part, (members, _) in enumerate(parts)
        for position, (state, _) in enumerate(row)
        if members >> state & 1
    ]
    found = perfect_flow(left, right, edges)
    return None if found is None else {edge: fmpq(amount, unit) for edge, amount in found.items()}
