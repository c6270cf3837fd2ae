"""Classes of states such that the traces tell apart, for certain, states of different classes."""

from __future__ import annotations

from collections.abc import Iterable

from bisimdist.models.kinds import LMC, Interactive, System
from bisimdist.models.partition import canonical_numbering
from bisimdist.progress import NEVER, Deadline


def distinguishable_classes(lmc: System, *, deadline: Deadline = NEVER) -> tuple[int, ...]:
    """Return a partition such that states of different classes have distance 1, for every alpha.

    Start with the partition into labels. In each round, link two states of one class if some class of the
    present partition contains a successor of both; the new classes are the connected components of the links
    inside the old classes. Stop when nothing changes.

    States of different classes have bd_alpha = 1 and delta = 1. By induction over the rounds: let s and t be
    in one class of the old partition and in different components, and let f be 1 on the old classes that
    contain a successor of a state of the component of s, and 0 elsewhere. No successor of t lies in these
    classes, since t would be linked to the component of s. Between different old classes the distance is 1 by
    the hypothesis, and inside an old class f is constant, where f(v) - alpha f(v) <= 0: so f is admissible.
    It is 1 on all successors of s and 0 on those of t, hence the distance of s and t is 1. (For delta, the
    same induction shows that s and t have no trace in common whose length exceeds the number of rounds.)

    So the classes may stand for labels wherever only the distance matters: constraints between states of
    different classes say nothing, and linear programs fall into one part for each class.

    A round costs nearly linear time in the transitions of the classes that it looks at: those with a
    transition into a class that was split in the round before.

    ``lmc``: the chain. In an interactive model the classes are those of equal labels.
    ``deadline``: when to give up, with LimitError.
    returns: a class number for each state; classes are numbered by their first states.

    >>> chain = LMC.from_mappings({"s": "a", "t": "a", "u": "b", "v": "c"},
    ...     {"s": {"u": 1}, "t": {"v": 1}, "u": {"u": 1}, "v": {"v": 1}})
    >>> distinguishable_classes(chain)
    (0, 1, 2, 3)
    """
    class_of = list(canonical_numbering(lmc.labels))
    if isinstance(lmc, Interactive):
        return tuple(class_of)
    members: dict[int, list[int]] = {}
    for state, number in enumerate(class_of):
        members.setdefault(number, []).append(state)
    predecessors: list[list[int]] = [[] for _ in lmc.rows]
    for state, row in enumerate(lmc.rows):
        for target, _ in row:
            predecessors[target].append(state)

    stale: Iterable[int] = sorted(members)
    while stale:
        deadline.check()
        # The components of a round are all found under the partition of the round before.
        components = [(number, _components(lmc, members[number], class_of)) for number in stale]
        affected: set[int] = set()
        for number, parts in components:
            if len(parts) == 1:
                continue
            affected.update(members[number])
            members[number] = parts[0]
            for part in parts[1:]:
                fresh = len(members)
                members[fresh] = part
                for state in part:
                    class_of[state] = fresh
        stale = sorted({class_of[source] for state in affected for source in predecessors[state]})
    return canonical_numbering(class_of)


def _components(lmc: LMC, states: list[int], class_of: list[int]) -> list[list[int]]:
    """Split states into the components of "has a successor in a common class"; each ascending."""
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        while parent[number] != number:
            parent[number] = parent[parent[number]]
            number = parent[number]
        return number

    # The nodes are the classes of successors: a state joins all the classes that its row touches.
    for state in states:
        targets = [class_of[target] for target, _ in lmc.rows[state]]
        for target in targets:
            parent.setdefault(target, target)
        for target in targets[1:]:
            parent[root(target)] = root(targets[0])
    parts: dict[int, list[int]] = {}
    for state in states:
        parts.setdefault(root(class_of[lmc.rows[state][0][0]]), []).append(state)
    return list(parts.values())
