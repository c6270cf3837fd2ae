"""Relations on the states of a probabilistic automaton by partition refinement, and the quotient.

Three equivalences, from the finest to the coarsest of the first two, and one that ignores probabilities:

`matching_classes`
    transitions are answered with a bijection that keeps every probability: distance 0, for both distances;
`bisimilarity_classes`
    strong probabilistic bisimilarity, transitions are answered with equal masses on classes;
`shape_classes`
    transitions are answered with a bijection, whatever the probabilities: the distance of states of different
    classes is infinite, for both distances.

Source: XCL14 Definition 6, XCL14 Proposition 3, CCP18 Definition 12, CCP18 Definition 13.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence

from bisimdist.models.bisimilarity import lumped, mass_of_blocks
from bisimdist.models.lmc import Row
from bisimdist.models.pa import PA, Transition, outgoing
from bisimdist.models.partition import canonical_numbering, refined_blocks

RowKey = Callable[[Row, Sequence[int]], Hashable]


def _classes(automaton: PA, key: RowKey) -> tuple[int, ...]:
    steps = outgoing(automaton)

    def signature(state: int, block_of: Sequence[int]) -> Hashable:
        return frozenset((step.action, key(step.row, block_of)) for step in steps[state])

    successors = [{target for step in leaving for target, _ in step.row} for leaving in steps]
    return canonical_numbering(refined_blocks([0] * len(automaton), successors, signature))


def _probabilities(row: Row, block_of: Sequence[int]) -> Hashable:
    return frozenset(Counter((block_of[target], p.p, p.q) for target, p in row).items())


def _counts(row: Row, block_of: Sequence[int]) -> Hashable:
    return frozenset(Counter(block_of[target] for target, _ in row).items())


def bisimilarity_classes(automaton: PA) -> tuple[int, ...]:
    """Return the class of each state under strong probabilistic bisimilarity.

    The coarsest equivalence such that every ``s --a--> mu`` is answered by some ``t --a--> mu'`` that gives
    every class the same mass (the lifting of the relation to distributions; no bijection of supports).

    Source: Segala, Lynch, "Probabilistic simulations for probabilistic processes", CONCUR 1994.

    Returns
    -------
    tuple of int
        A class number for each state; classes are numbered by their first states.

    Examples
    --------
    >>> from flint import fmpq
    >>> half = fmpq(1, 2)
    >>> steps = (Transition(0, "a", ((2, half), (3, half))), Transition(1, "a", ((2, fmpq(1)),)))
    >>> bisimilarity_classes(PA(("s", "t", "u", "v"), steps))
    (0, 0, 1, 1)
    """
    return _classes(automaton, lumped)


def matching_classes(automaton: PA) -> tuple[int, ...]:
    """Return the classes of states at accumulative distance 0, which are those at amortised distance 0.

    Every transition is answered with a bijection of the supports that keeps the probability and the class.
    This is finer than bisimilarity: there, one successor may be answered by two.
    """
    return _classes(automaton, _probabilities)


def shape_classes(automaton: PA) -> tuple[int, ...]:
    """Return the classes of states between which some bijections always exist, whatever the probabilities.

    States of different classes are at infinite distance.
    """
    return _classes(automaton, _counts)


def bisimilarity_quotient(automaton: PA) -> tuple[PA, tuple[int, ...]]:
    """Merge bisimilar states.

    Bisimilar states have the same probability for every trace, for every choice that an admissible scheduler
    can make (docs/theory/metric.md), so a bound on the privacy loss of the quotient holds for the automaton.
    The metrics themselves change: supports that differed in size may agree once states are merged, and the
    reverse.

    ``quotient``: one state for each class, with the name of its first state; transitions that have become
        equal are kept once, pairs are carried over.
    ``classes``: for each state its state in the quotient.
    """
    classes = bisimilarity_classes(automaton)
    first: dict[int, int] = {}
    for state, block in enumerate(classes):
        first.setdefault(block, state)
    steps: dict[Transition, None] = {}
    for state, leaving in enumerate(outgoing(automaton)):
        if first[classes[state]] != state:
            continue
        for step in leaving:
            row = tuple(sorted(mass_of_blocks(step.row, classes).items()))
            steps.setdefault(Transition(classes[state], step.action, row))
    merged = PA(
        tuple(automaton.states[state] for state in first.values()),
        tuple(steps),
        tuple(dict.fromkeys((classes[s], classes[t]) for s, t in automaton.pairs)),
    )
    return merged, classes
