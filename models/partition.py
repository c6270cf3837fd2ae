"""Partition refinement by signatures, whatever the signature of a state is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence

from flint import fmpq, fmpz

from bisimdist.models.labelled import Row

ALONE = {-1}
"""The members of every block of one state: it is never split, and a million sets would take 200 MB."""

Signature = Callable[[int, Sequence[int]], Hashable]
"""Called with a state and the block of every state; says what the state shows of the blocks it leads to."""


def canonical_numbering(classes: Iterable[Hashable]) -> tuple[int, ...]:
    """Return classes renumbered 0, 1, … in the order in which their first states come.

    >>> canonical_numbering([7, 3, 7, 0])
    (0, 1, 0, 2)
    """
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in classes)


class Masses:
    """What rows give to blocks. Probabilities are numbered, so a rational is hashed and added only once.

    >>> half = fmpq(1, 2)
    >>> masses = Masses([((0, half), (1, half)), ((2, fmpq(1)),)])
    >>> masses.of(0, [7, 7, 7]) == masses.of(1, [7, 7, 7])
    True
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._values: list[fmpq] = []
        self._numbers: dict[tuple[fmpz, fmpz], int] = {}  # a hash of a rational takes ten times as long
        self._sums: dict[tuple[int, ...], int] = {}
        # many entries are one object, which the rows keep alive
        different = {id(p): p for row in rows for _, p in row}
        self._of_object = {key: self._number(p) for key, p in different.items()}

    def _number(self, p: fmpq) -> int:
        number = self._numbers.setdefault((p.p, p.q), len(self._values))
        if number == len(self._values):
            self._values.append(p)
        return number

    def of(self, state: int, block_of: Sequence[int]) -> Hashable:
        """Return what a row gives to each block; equal for two rows exactly if they give the same."""
        row, number_of = self._rows[state], self._of_object
        if len(row) == 1:
            ((target, p),) = row
            return block_of[target], number_of[id(p)]
        if len(row) == 2:
            (target, p), (other, q) = row
            one, two = block_of[target], block_of[other]
            if one != two:
                left, right = (one, number_of[id(p)]), (two, number_of[id(q)])
                return (left, right) if one < two else (right, left)
            return one, self._sum(number_of[id(p)], number_of[id(q)])
        parts: dict[int, list[int]] = {}
        for target, p in row:
            parts.setdefault(block_of[target], []).append(number_of[id(p)])
        mass = [(block, some[0] if len(some) == 1 else self._sum(*some)) for block, some in parts.items()]
        if len(mass) > 2:
            return frozenset(mass)
        return mass[0] if len(mass) == 1 else tuple(sorted(mass))

    def _sum(self, *numbers: int) -> int:
        parts = tuple(sorted(numbers))  # many rows give the same in another order
        total = self._sums.get(parts)
        if total is None:
            total = self._sums[parts] = self._number(sum(map(self._values.__getitem__, parts), fmpq(0)))
        return total


def refined_blocks(
    blocks: Sequence[int],
    successors: Iterable[Iterable[int]],
    signature: Signature,
    *,
    after_round: Callable[[Sequence[int], Sequence[int]], None] | None = None,
) -> list[int]:
    """Split blocks until all states of a block have the same signature.

    Only states with a successor in another block than before are looked at again, and the largest part of a
    block that splits keeps its name, so every state is renumbered O(log n) times.

    ``blocks``: the block of each state to begin with, numbered from zero without gaps.
    ``signature``: must depend on the blocks of the successors of the state alone, and name each of those
        blocks.
    ``after_round``: called after each round with the states that have got another block in it, and the block
        of every state. After k rounds states share a block if k steps do not tell them apart.
    returns: the block of each state in the coarsest partition that is stable and refines the given one.
    """
    partition = _Partition(blocks, successors, signature)
    partition.refine(after_round)
    return partition.block_of


def settled_blocks(
    blocks: Sequence[int], successors: Sequence[Sequence[int]], signature: Signature
) -> list[int]:
    """Return the blocks of `refined_blocks` for the states whose every path ends in a state that stays.

    One pass from the ends is enough for them. All other states get -1, though some may belong to such a
    block.

    >>> rows = [((1, fmpq(1)),), ((1, fmpq(1)),), ((2, fmpq(1, 2)), (1, fmpq(1, 2)))]
    >>> settled_blocks([0, 0, 0], [[1], [1], [2, 1]], Masses(rows).of)
    [0, 0, -1]
    """
    found = [-1] * len(blocks)
    numbers: dict[Hashable, int] = {}
    predecessors: list[list[int]] = [[] for _ in blocks]
    waiting = [0] * len(blocks)
    for state, targets in enumerate(successors):
        for target in targets:
            predecessors[target].append(state)
        if any(target != state for target in targets):
            waiting[state] = len(targets)
    ready = [state for state, left in enumerate(waiting) if not left]
    stay = len(ready)
    for place, state in enumerate(ready):  # which grows
        number = numbers.setdefault((blocks[state], signature(state, found)), len(numbers))
        found[state] = number
        if place < stay:  # it named itself -1; what leads to it for sure is no different
            numbers.setdefault((blocks[state], signature(state, found)), number)
        for source in predecessors[state]:
            waiting[source] -= 1
            if not waiting[source]:
                ready.append(source)
    return found


class _Partition:
    """Blocks of states, with the predecessors that must be looked at again when a block splits."""

    def __init__(
        self, blocks: Sequence[int], successors: Iterable[Iterable[int]], signature: Signature
    ) -> None:
        self.signature = signature
        self.block_of = list(blocks)
        self.members: list[set[int]] = [set() for _ in range(max(self.block_of) + 1)]
        for state, block in enumerate(self.block_of):
            self.members[block].add(state)
        self.predecessors: list[list[int]] = [[] for _ in blocks]
        for state, targets in enumerate(successors):
            for target in targets:
                self.predecessors[target].append(state)

    def refine(self, after_round: Callable[[Sequence[int], Sequence[int]], None] | None) -> None:
        """Split until all states of a block have the same signature."""
        stale: Iterable[int] = range(len(self.block_of))
        while stale:
            # Every signature of a round is taken before the first split, hence under one numbering.
            parts: dict[int, dict[Hashable, list[int]]] = {}
            for state in sorted(stale):
                number = self.block_of[state]
                if len(self.members[number]) > 1:
                    block = parts.setdefault(number, {})
                    block.setdefault(self.signature(state, self.block_of), []).append(state)
            moved = [
                state
                for number, block in parts.items()
                for state in self._split(number, list(block.values()))
            ]
            if after_round is not None:
                after_round(moved, self.block_of)
            stale = {source for state in moved for source in self.predecessors[state]}

    def _split(self, number: int, parts: list[list[int]]) -> list[int]:
        """Split a block into `parts` and the untouched rest; return the states that are in another block now.

        The rest is a part of its own: its states had equal signatures before, still do, and have no successor
        in the blocks made last, while every state of `parts` has one. The largest part keeps the number of
        the block, so a state gets a new number at most log2(n) times.
        """
        largest = max(parts, key=len)
        rest = len(self.members[number]) - sum(map(len, parts))
        if rest >= len(largest):
            largest = []
        elif rest:
            parts.append(list(self.members[number].difference(*parts)))
        moved: list[int] = []
        for part in parts:
            if part is not largest:
                self.members[number].difference_update(part)
                for state in part:
                    self.block_of[state] = len(self.members)
                self.members.append(set(part) if len(part) > 1 else ALONE)
                moved += part
        return moved
