"""Probabilistic bisimilarity of labelled Markov chains, exactly, by partition refinement."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from flint import fmpq

from bisimdist.models.lmc import LMC, Row

__all__ = ["bisimilarity_classes", "canonical_numbering", "quotient"]


def canonical_numbering(classes: Iterable[Hashable]) -> tuple[int, ...]:
    """Return classes renumbered 0, 1, … in the order in which their first states come.

    Examples
    --------
    >>> canonical_numbering([7, 3, 7, 0])
    (0, 1, 0, 2)
    """
    numbers: dict[Hashable, int] = {}
    return tuple(numbers.setdefault(value, len(numbers)) for value in classes)


def _masses(row: Row, block_of: Sequence[int]) -> frozenset[tuple[int, fmpq]]:
    mass: dict[int, fmpq] = {}
    for target, probability in row:
        block = block_of[target]
        mass[block] = mass[block] + probability if block in mass else probability
    return frozenset(mass.items())


class _Partition:
    """Blocks of states, with the predecessors that must be looked at again when a block splits."""

    def __init__(self, lmc: LMC) -> None:
        self.rows = lmc.rows
        self.block_of = list(canonical_numbering(lmc.labels))
        self.members: list[set[int]] = [set() for _ in range(max(self.block_of) + 1)]
        for state, block in enumerate(self.block_of):
            self.members[block].add(state)
        self.predecessors: list[list[int]] = [[] for _ in lmc.rows]
        for state, row in enumerate(lmc.rows):
            for target, _ in row:
                self.predecessors[target].append(state)

    def refine(self) -> None:
        """Split until all states of a block give every block the same mass."""
        stale = set(range(len(self.rows)))
        while stale:
            # Every mass of a round is taken before the first split, hence under one numbering.
            parts: dict[int, dict[frozenset[tuple[int, fmpq]], list[int]]] = {}
            for state in sorted(stale):
                block = parts.setdefault(self.block_of[state], {})
                block.setdefault(_masses(self.rows[state], self.block_of), []).append(state)
            stale = {
                source
                for number, block in parts.items()
                for state in self._split(number, list(block.values()))
                for source in self.predecessors[state]
            }

    def _split(self, number: int, parts: list[list[int]]) -> list[int]:
        """Split a block into `parts` and the untouched rest; return the states that are in another block now.

        The rest is a part of its own: its states gave equal masses before, still do, and have no successor in
        the blocks made last, while every state of `parts` has one. The largest part keeps the number of the
        block, so a state gets a new number at most log2(n) times.
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
                self.members.append(set(part))
                moved += part
        return moved


def bisimilarity_classes(lmc: LMC) -> tuple[int, ...]:
    """Return the class of each state under probabilistic bisimilarity.

    Two states are bisimilar if they have the same label and give every class of bisimilar states the same
    probability, for the coarsest such partition.

    Parameters
    ----------
    lmc
        The chain.

    Returns
    -------
    tuple of int
        A class number for each state; classes are numbered by their first states.

    Notes
    -----
    Partition refinement by signatures: a state's signature is the mass that it gives to each block. Only
    states with a successor in another block than before are looked at again, and the largest part of a block
    that splits keeps its name, so every state is renumbered O(log n) times.

    References
    ----------
    .. [1] Larsen, Skou, "Bisimulation through probabilistic testing", Information and Computation 94, 1991.
    .. [2] Valmari, Franceschinis, "Simple O(m log n) time Markov chain lumping", TACAS 2010.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "a", "u": "a", "v": "b"},
    ...     {"s": {"v": 1}, "t": {"v": 1}, "u": {"u": 1}, "v": {"v": 1}})
    >>> bisimilarity_classes(chain)
    (0, 0, 1, 2)
    """
    partition = _Partition(lmc)
    partition.refine()
    return canonical_numbering(partition.block_of)


def quotient(lmc: LMC) -> tuple[LMC, tuple[int, ...]]:
    """Merge bisimilar states.

    Parameters
    ----------
    lmc
        The chain.

    Returns
    -------
    quotient : LMC
        One state for each class, with the name of the first state of the class. Pairs are carried over, each
        once, in their order.
    classes : tuple of int
        For each state of `lmc` its state in the quotient.

    Notes
    -----
    A state and its class have the same distribution on traces, so the true delta of a pair is unchanged, for
    every alpha, and so is the classical distance (alpha = 1). The skewed distance for alpha > 1 is NOT
    unchanged: distance 0 between bisimilar states i and k lets f_i and f_k differ by the factor alpha, while
    merging makes them equal, so the distance of the quotient may be smaller. It bounds delta all the same,
    but it is another number: do not merge silently.
    """
    classes = bisimilarity_classes(lmc)
    first: dict[int, int] = {}
    for state, block in enumerate(classes):
        first.setdefault(block, state)
    rows = []
    for state in first.values():
        rows.append(tuple(sorted(_masses(lmc.rows[state], classes), key=lambda entry: entry[0])))
    merged = LMC(
        tuple(lmc.states[state] for state in first.values()),
        tuple(lmc.labels[state] for state in first.values()),
        tuple(rows),
        tuple(dict.fromkeys((classes[s], classes[t]) for s, t in lmc.pairs)),
    )
    return merged, classes
