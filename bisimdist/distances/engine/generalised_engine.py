"""The least fixed point of the functional of a lifting: component by component, with proofs on both sides.

Source: CCP18 Proposition 5.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.engine.component import Bounds, Component
from bisimdist.distances.engine.evaluation import Evaluation
from bisimdist.distances.engine.hausdorff import SAME, Arena
from bisimdist.distances.engine.lower_proof import Block, Entry, Rule
from bisimdist.errors import ENDINGS
from bisimdist.exact.scale import Value, at_most
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(slots=True)
class Solution:
    """Proved bounds on the least fixed point."""

    arena: Arena
    # lower and upper: by position. The upper bounds are a pre-fixed point of the functional, as a whole.
    lower: list[Value]
    upper: list[Value]
    blocks: list[Block] = field(default_factory=list)  # the proof of the lower bounds
    complete: bool = True  # False where the work was ended by a limit or an interruption

    def bounds(self, s: int, t: int) -> tuple[Value, Value]:
        """Return the lower and the upper bound of a pair of states."""
        return self.arena.distance(self.lower)(s, t), self.arena.distance(self.upper)(s, t)


def least_fixed_point(
    arena: Arena, *, precision: fmpq | None = None, deadline: Deadline = NEVER, progress: Progress = silent
) -> Solution:
    """Find the least fixed point, or bounds where it is irrational, too long or not found in time.

    ``arena``: the positions and the lifting.
    ``precision``: None for exact values wherever they can be had, else how far apart bounds may be where
        there are cycles.
    """
    lifting = arena.lifting
    size = len(arena.positions)
    solution = Solution(arena, [lifting.zero] * size, [lifting.top] * size)
    try:
        if lifting.top is None:
            _infinite(solution, deadline)
        components = arena.components()
        cycles = 1 + sum(cyclic for _, cyclic in components)
        each = None if precision is None else precision / (2 * cycles)
        done = 0
        for members, cyclic in components:
            deadline.check()
            progress("pairs with their distance", done, size)
            done += len(members)
            if cyclic:
                _solve(solution, members, each, deadline, progress)
            elif solution.lower[members[0]] is not None:
                _evaluate(solution, members[0], deadline)
    except ENDINGS:
        solution.complete = False
    return solution


def _solve(
    solution: Solution, members: list[int], precision: fmpq | None, deadline: Deadline, progress: Progress
) -> None:
    """Solve a cyclic component; where some of it is found to be infinite, the rest once more."""
    while open_ := [p for p in members if solution.lower[p] is not None]:
        part = Component(solution.arena, open_, solution.lower, solution.upper, precision, deadline, progress)
        _enter(solution, part.solve())
        if all(solution.lower[p] is not None for p in open_):
            return
        _infinite(solution, deadline)


def _enter(solution: Solution, found: Bounds) -> None:
    for p, value in found.upper.items():
        solution.upper[p] = value
    for p, value in found.lower.items():
        solution.lower[p] = value
    solution.blocks += found.blocks


def _evaluate(solution: Solution, position: int, deadline: Deadline) -> None:
    """Evaluate the functional once, which is enough where a position does not depend on itself."""
    lifting = solution.arena.lifting
    below = Evaluation(solution.arena, solution.lower, deadline)
    raw = below.raw(position)
    value = lifting.discounted(raw, up=False)
    challenge = below.best_challenge(position)
    needed = {q for duel in solution.arena.duels_of(position) for q in solution.arena.needed[duel]}
    if any(solution.lower[q] != solution.upper[q] for q in needed):
        raw = Evaluation(solution.arena, solution.upper, deadline).raw(position)
    upper = lifting.discounted(raw, up=True)
    if not at_most(value, solution.lower[position]):
        solution.blocks.append(Block(Rule.STEP, (Entry(position, value, challenge),)))
        solution.lower[position] = value
    solution.upper[position] = upper


def _infinite(solution: Solution, deadline: Deadline) -> None:
    """Find the positions that are infinite after finitely many steps, whatever the probabilities."""
    arena = solution.arena
    infinite = {p for p, value in enumerate(solution.lower) if value is None}
    users: dict[int, set[int]] = {}
    for p in range(len(arena.positions)):
        for duel in arena.duels_of(p):
            for q in arena.needed[duel]:
                users.setdefault(q, set()).add(p)
    pending = set(range(len(arena.positions)))
    while pending:
        deadline.check()
        lost: dict[int, bool] = {}
        entries = []
        for p in sorted(pending - infinite):
            for challenge in arena.challenges[p]:
                if all(_lost(arena, duel, infinite, lost) for duel, _ in challenge.answers):
                    entries.append(Entry(p, None, challenge))
                    break
        if not entries:
            break
        solution.blocks.append(Block(Rule.STEP, tuple(entries)))
        fresh = {entry.position for entry in entries}
        infinite |= fresh
        pending = set().union(*(users.get(p, set()) for p in fresh))
    for p in infinite:
        solution.lower[p] = None


def _lost(arena: Arena, duel: int, infinite: set[int], known: dict[int, bool]) -> bool:
    """Tell whether a duel is infinite: a state on one side is infinitely far from all on the other."""
    if duel == SAME:
        return False
    if duel not in known:
        first, second = (arena.rows[row] for row in arena.duels[duel])

        def near(i: int, j: int) -> bool:
            position = arena.position(i, j)
            return i == j or (position is not None and position not in infinite)

        known[duel] = any(not any(near(i, j) for j in second) for i in first) or any(
            not any(near(i, j) for i in first) for j in second
        )
    return known[duel]
