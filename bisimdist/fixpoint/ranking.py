"""Why a fixed point is the least one: in every group of equal distances, mass gets away sooner or later.

If the least fixed point u were below the fixed point d, then among the pairs with the least ratio u/d those
with the largest d would keep all their mass among pairs of the same d, in the directions that d takes. A rank
for every pair, such that no coupling keeps all mass among the pairs of the same distance and no smaller
rank, excludes that. See the note on leastness in docs/theory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain

from flint import fmpq

from bisimdist.fixpoint.detours import solve_block
from bisimdist.fixpoint.free_detours import potential_gain, spread
from bisimdist.fixpoint.iteration import Stage
from bisimdist.fixpoint.strategy import Strategy, Values
from bisimdist.lp.transport import solve_program
from bisimdist.progress import NEVER, Deadline

__all__ = ["Progress", "Ranked", "rank_pairs"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Why no coupling of a pair keeps all its mass among equals of no smaller rank.

    Either `stuck` is a state whose mass differs and that takes part in no such pair, or `potential` is a
    function on states (0 where not named) that no such coupling can satisfy.
    """

    stuck: int | None
    potential: Mapping[int, fmpq]


@dataclass(frozen=True, slots=True)
class Ranked:
    """A rank for a pair (by pair), the direction that it is about, and the reason."""

    rank: int
    direction: int
    progress: Progress


def rank_pairs(
    strategy: Strategy,
    values: Values,
    stages: Iterable[Stage],
    tied: Callable[[int], Iterable[int]],
    *,
    deadline: Deadline = NEVER,
) -> dict[int, Ranked]:
    """Rank the positive pairs; pairs that get no rank are missing from the result.

    Parameters
    ----------
    strategy, values
        A fixed point and optimal strategies for it.
    stages
        The components of classes, successors first.
    tied
        Yields the other sides of a pair that are worth exactly as much, with optimal couplings: one of them
        may be taken where that helps.
    """
    result: dict[int, Ranked] = {}
    base = 0
    for stage in stages:
        deadline.check()
        pairs = [int(p) for p in stage.pairs if not strategy.zero[p]]
        if not stage.cyclic:
            for pair in pairs:
                side = strategy.side(pair)
                index = strategy.functional.programs_of(side)[0]
                state = strategy.functional.batch.programs[index].sources[0]
                direction = int(strategy.direction[pair])
                result[pair] = Ranked(base + 1, direction, Progress(state, {}))
            base += 1
            continue
        groups: dict[object, list[int]] = defaultdict(list)
        for pair in pairs:
            groups[values.numerators[pair]].append(pair)
        deepest = 0
        for members in groups.values():
            ranked = _Group(strategy, members, tied).rank(base, deadline)
            result.update(ranked)
            deepest = max([deepest, *(r.rank - base for r in ranked.values())])
        base += deepest
    return result


class _Group:
    """The pairs of one distance in one component, with those that are not ranked yet."""

    def __init__(self, strategy: Strategy, members: list[int], tied: Callable[[int], Iterable[int]]) -> None:
        self.strategy = strategy
        self.functional = strategy.functional
        self.members = members
        self.tied = tied
        self.open = set(members)
        self.incident: Counter[int] = Counter(
            state for pair in members for state in self.functional.space.pairs[pair]
        )

    def rank(self, base: int, deadline: Deadline) -> dict[int, Ranked]:
        """Rank round by round until nothing more can be ranked."""
        result: dict[int, Ranked] = {}
        pending = self.members
        round_ = 0
        while pending:
            deadline.check()
            round_ += 1
            found: dict[int, Ranked] = {}
            for pair in pending:
                for side in chain((self.strategy.side(pair),), self.tied(pair)):
                    progress = self._progress(side)
                    if progress is not None:
                        found[pair] = Ranked(base + round_, side % self.functional.width, progress)
                        break
            if not found:
                break
            for pair in found:
                self.open.discard(pair)
                self.incident.subtract(self.functional.space.pairs[pair])
            result.update(found)
            pending = [p for p in pending if p not in found]
        return result

    def _progress(self, side: int) -> Progress | None:
        functional = self.functional
        programs = functional.programs_of(side)
        for index in programs:
            program = functional.batch.programs[index]
            for state in program.sources:
                if self.incident[state] == 0:
                    return Progress(state, {})
        for index in programs:
            potential = self._potential(index, side)
            if potential:
                return Progress(None, potential)
        return None

    def _potential(self, index: int, side: int) -> dict[int, fmpq] | None:
        """Return a potential of one class that gains although open pairs cost nothing, or None."""
        functional = self.functional
        program = functional.batch.programs[index]
        costs = [0 if cell in self.open else 1 for cell in program.cells]
        basis = solve_program(program, costs, 1)
        if basis.cost(program, costs, 1) == 0:
            return None
        sources = len(program.sources)
        gaining = [state for k, state in enumerate(program.sources) if basis.potential[k] > 0]
        if functional.alpha == 1:
            potential = {state: fmpq(1) for state in gaining}
            for k, state in enumerate(program.sinks):
                if basis.potential[sources + k] > 0:
                    potential[state] = fmpq(1)
            return potential
        potential = spread(functional, gaining, self.open.__contains__)
        if potential_gain(functional, side, potential) > 0:
            return potential
        return self._by_whole_class(index, side)

    def _by_whole_class(self, index: int, side: int) -> dict[int, fmpq] | None:
        functional = self.functional
        space = functional.space
        nodes = space.members[space.classes[functional.batch.programs[index].sources[0]]]
        zero, one = fmpq(0), fmpq(1)
        optimum = solve_block(
            functional, side, nodes, lambda i, j: zero if space.number(i, j) in self.open else one
        )
        if optimum.value <= 0:
            return None
        return {i: y for i, y in zip(nodes, optimum.potential, strict=True) if y > 0}
