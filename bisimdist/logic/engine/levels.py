"""What k steps tell apart: the rounds of partition refinement, all of them remembered."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Hashable, Sequence

from bisimdist.models.bisimilarity import lumped
from bisimdist.models.pa import PA, outgoing
from bisimdist.models.partition import refined_blocks
from bisimdist.progress import NEVER, Deadline


class Levels:
    """For every k the classes of states that k steps do not tell apart.

    At level 0 all states are in one class; at level k states are if they have, for every action, transitions
    with the same masses on the classes of level k - 1. The classes of the last level are those of
    bisimilarity.

    >>> from flint import fmpq
    >>> from bisimdist.models.pa import Transition
    >>> one = fmpq(1)
    >>> steps = (Transition(0, "a", ((1, one),)), Transition(1, "a", ((2, one),)))
    >>> levels = Levels(PA(("s", "t", "u"), steps))
    >>> levels.last, [levels.blocks(k) for k in range(3)], levels.separating(0, 1)
    (2, [[0, 0, 0], [0, 0, 1], [0, 2, 1]], 2)
    """

    def __init__(self, automaton: PA, deadline: Deadline = NEVER) -> None:
        self.automaton = automaton
        self.steps = outgoing(automaton)
        self.last = 0
        self._history: list[list[tuple[int, int]]] = [[(0, 0)] for _ in automaton.states]

        def signature(state: int, block_of: Sequence[int]) -> Hashable:
            return frozenset((step.action, lumped(step.row, block_of)) for step in self.steps[state])

        rounds = 0

        def after_round(moved: Sequence[int], block_of: Sequence[int]) -> None:
            nonlocal rounds
            deadline.check()
            rounds += 1
            for state in moved:
                self._history[state].append((rounds, block_of[state]))
            if moved:
                self.last = rounds

        successors = [{target for step in steps for target, _ in step.row} for steps in self.steps]
        refined_blocks([0] * len(automaton), successors, signature, after_round=after_round)

    def block(self, state: int, level: int) -> int:
        history = self._history[state]
        return history[bisect_right(history, level, key=_round) - 1][1]

    def blocks(self, level: int) -> list[int]:
        """Return the class of every state at a level."""
        return [self.block(state, level) for state in range(len(self._history))]

    def separating(self, first: int, second: int) -> int | None:
        """Return the first level at which two states are in different classes, None if they are bisimilar."""
        if self._history[first][-1][1] == self._history[second][-1][1]:
            return None
        # Once they are in different classes they stay so, and only rounds in which one moves matter.
        rounds = sorted({entry[0] for state in (first, second) for entry in self._history[state]})
        apart = bisect_left(rounds, True, key=lambda n: self.block(first, n) != self.block(second, n))
        return rounds[apart]


def _round(entry: tuple[int, int]) -> int:
    return entry[0]
