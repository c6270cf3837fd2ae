"""The first trace that tells two classes apart, without linear algebra, where few steps suffice to see it.

After k rounds of partition refinement two classes share a block if k steps do not tell them apart. Then all
traces of at most k + 1 actions have the same probability from both. So a signed vector whose entries cancel
block by block has no trace of that length, and the first action after which they do not cancel leads on.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

from bisimdist.models.partition import Masses, canonical_numbering, refined_blocks
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.system import Vector, WordSystem, mass_of

DETOURS = 1000  # so many vectors more than a trace is long are followed before linear algebra takes over


@dataclass(slots=True)
class FirstWords:
    """The rounds of partition refinement, and the traces that they lead to.

    >>> from flint import fmpq
    >>> from bisimdist.models.pa import PA, Transition
    >>> half, one = fmpq(1, 2), fmpq(1)
    >>> steps = (Transition(0, "a", ((2, half),)), Transition(1, "a", ((2, one),)))
    >>> automaton = PA(("s", "t", "u"), (*steps, Transition(2, "b", ((2, one),))))
    >>> FirstWords.of(WordSystem.of(automaton)).word(0, 1)
    ('a', 'b')
    """

    chain: WordSystem  # the classes
    # rounds and blocks: for each class the rounds after which it got another block, and these blocks
    rounds: list[list[int]]
    blocks: list[list[int]]

    @classmethod
    def of(cls, chain: WordSystem, deadline: Deadline = NEVER) -> FirstWords:
        """Refine the partition by actions, and keep what each round changes."""
        first = canonical_numbering(chain.actions)
        rounds = [[0] for _ in first]
        blocks = [[block] for block in first]
        done = 0

        def after_round(moved: Sequence[int], block_of: Sequence[int]) -> None:
            nonlocal done
            deadline.check()
            done += 1
            for state in moved:
                rounds[state].append(done)
                blocks[state].append(block_of[state])

        rows = [() if step is None else step[1] for step in chain.steps]
        successors = [[target for target, _ in row] for row in rows]
        refined_blocks(first, successors, Masses(rows).of, after_round=after_round)
        return cls(chain, rounds, blocks)

    def block(self, state: int, steps: int) -> int:
        """Return the block of a class after so many rounds."""
        return self.blocks[state][bisect_right(self.rounds[state], steps) - 1]

    def word(self, s: int, t: int, deadline: Deadline = NEVER) -> tuple[str, ...] | None:
        """Return the least trace, shortest and then alphabetically first, that tells two classes apart.

        None where that is not found; it does not mean that there is none.
        """
        apart = (
            k for k in sorted({*self.rounds[s], *self.rounds[t]}) if self.block(s, k) != self.block(t, k)
        )
        steps = next(apart, None)
        if steps is None:
            return None
        todo: list[tuple[Vector, tuple[str, ...]]] = [(tuple(sorted(((s, 1), (t, -1)))), ())]
        for _ in range(steps + DETOURS):
            if not todo:
                return None
            deadline.check()
            vector, word = todo.pop()
            if len(word) > steps:
                return word
            left = steps - len(word)  # how many actions come after the next one
            after = self.chain.after(vector)
            for action in sorted(after, reverse=True):
                ahead = self._lumped(after[action][0], left)
                if ahead:
                    todo.append((ahead, (*word, action)))
        return None

    def _lumped(self, vector: Vector, length: int) -> Vector:
        """Return a vector up to what traces of a length can tell; empty where they have no probability."""
        if not length:
            return vector if mass_of(vector) else ()
        place: dict[int, int] = {}
        mass: dict[int, int] = {}
        for state, value in vector:
            leader = place.setdefault(self.block(state, length - 1), state)
            mass[leader] = mass.get(leader, 0) + value
        return tuple((state, value) for state, value in sorted(mass.items()) if value)
