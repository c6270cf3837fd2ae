"""Probabilistic bisimilarity of labelled Markov chains, exactly, by partition refinement.

Source: CMP18 Definition 8, CMP18 Lemma 1.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import itemgetter
from typing import TypeVar

from flint import fmpq

from bisimdist.models.interactive import Interactive
from bisimdist.models.lmc import LMC, Row
from bisimdist.models.partition import Masses, Signature, canonical_numbering, refined_blocks, settled_blocks
from bisimdist.progress import NEVER, Deadline

M = TypeVar("M", LMC, Interactive, LMC | Interactive)


def mass_of_blocks(row: Row, block_of: Sequence[int]) -> dict[int, fmpq]:
    """Return by block what a row gives to it."""
    mass: dict[int, fmpq] = {}
    for target, probability in row:
        block = block_of[target]
        mass[block] = mass[block] + probability if block in mass else probability
    return mass


def lumped(row: Row, block_of: Sequence[int]) -> Hashable:
    """Return what a row gives to each block, as a signature."""
    return frozenset((block, p.p, p.q) for block, p in mass_of_blocks(row, block_of).items())


def bisimilarity_classes(lmc: LMC | Interactive, *, deadline: Deadline = NEVER) -> tuple[int, ...]:
    """Return the class of each state under probabilistic bisimilarity.

    Two states are bisimilar if they have the same label and give every class of bisimilar states the same
    probability (in an interactive model by every action), for the coarsest such partition.

    Source: LS91, VF10.

    Parameters
    ----------
    lmc
        The chain, or the interactive model.
    deadline
        When to give up.

    Returns
    -------
    tuple of int
        A class number for each state; classes are numbered by their first states.

    Notes
    -----
    States whose every path ends in a state that stays are settled in one pass from the ends. For the rest:
    partition refinement by signatures. A state's signature is the mass that it gives to each block. Only
    states with a successor in another block than before are looked at again, and the largest part of a block
    that splits keeps its name, so every state is renumbered O(log n) times.

    Examples
    --------
    >>> chain = LMC.from_mappings({"s": "a", "t": "a", "u": "a", "v": "b"},
    ...     {"s": {"v": 1}, "t": {"v": 1}, "u": {"u": 1}, "v": {"v": 1}})
    >>> bisimilarity_classes(chain)
    (0, 0, 1, 2)
    """
    arms, labels = lmc.arms, lmc.labels
    graph = _graph(arms)
    ends = settled_blocks(canonical_numbering(labels), *graph)
    deadline.check()
    if min(ends) >= 0:
        return canonical_numbering(ends)
    place = canonical_numbering(end if end >= 0 else ~state for state, end in enumerate(ends))
    kept = _first(place)
    if len(kept) < len(place):  # one state for each class that is known
        arms = tuple(
            tuple(tuple((place[target], p) for target, p in rows[state]) for state in kept) for rows in arms
        )
        graph, labels = _graph(arms), tuple(labels[state] for state in kept)
    blocks = refined_blocks(canonical_numbering(labels), *graph, after_round=lambda *_: deadline.check())
    return canonical_numbering(map(blocks.__getitem__, place))


def _graph(arms: Sequence[Sequence[Row]]) -> tuple[list[list[int]], Signature]:
    """Return the successors of each state, and what it gives to blocks by each action."""
    successors = [[target for row in rows for target, _ in row] for rows in zip(*arms, strict=True)]
    masses = [Masses(rows) for rows in arms]
    return successors, masses[0].of if len(masses) == 1 else lambda s, of: tuple(m.of(s, of) for m in masses)


def _first(classes: Sequence[int]) -> list[int]:
    """Return the first state of each class."""
    found: dict[int, int] = {}
    for state, block in enumerate(classes):
        found.setdefault(block, state)
    return list(found.values())


def quotient(lmc: M, *, cut: bool = False, deadline: Deadline = NEVER) -> tuple[M, tuple[int, ...]]:
    """Merge bisimilar states.

    Parameters
    ----------
    lmc
        The chain, or the interactive model.
    cut
        Whether it may be the chain of a program in which runs are cut off: the quotient does not know of it.
    deadline
        When to give up.

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

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("dining-cryptographers")
    >>> merged, classes = bisimdist.models.quotient(chain)
    >>> len(chain), len(merged)
    (40, 18)
    """
    classes = bisimilarity_classes(lmc if cut else lmc.whole(), deadline=deadline)
    return of_classes(lmc, classes, _first(classes)), classes


def of_classes(lmc: M, classes: Sequence[int], members: Sequence[int]) -> M:
    """Return the model of some classes, by the class of each state, and by class a state of it."""

    def row_of(row: Row) -> Row:
        return tuple(sorted(mass_of_blocks(row, classes).items(), key=itemgetter(0)))

    names = tuple(lmc.states[state] for state in members)
    labels = tuple(lmc.labels[state] for state in members)
    pairs = tuple(dict.fromkeys((classes[s], classes[t]) for s, t in lmc.pairs))
    if isinstance(lmc, LMC):
        return LMC(names, labels, tuple(row_of(lmc.rows[state]) for state in members), pairs)
    moves = (lmc.moves[state] for state in members)
    kept = tuple(tuple((action, row_of(row)) for action, row in offered) for offered in moves)
    return Interactive(names, labels, kept, pairs)
