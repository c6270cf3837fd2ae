"""Why a fixed point is the least one: in every group of equal distances, mass gets away sooner or later.

If the least fixed point u were below the fixed point d, then among the pairs with the least ratio u/d those
with the largest d would keep all their mass among pairs of the same d, in the directions that d takes. A rank
for every pair, such that no coupling keeps all mass among the pairs of the same distance and no smaller
rank, excludes that. See the note on leastness in docs/theory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.detours import solve_block
from bisimdist.distances.engine.free_detours import potential_gain, spread
from bisimdist.distances.engine.iteration import Stage
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.programs import ranges
from bisimdist.lp.transport import solve_program
from bisimdist.progress import NEVER, Deadline


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


class Ranks(Mapping[int, Ranked]):
    """The ranks of pairs, in arrays by pair; a rank of 0 is none.

    ``direction``: by pair, to begin with, what is taken.
    """

    def __init__(self, direction: Int64Array) -> None:
        self.rank = np.zeros_like(direction)
        self.direction = direction.copy()
        self.stuck = np.full_like(direction, -1)
        self.potential: dict[int, Mapping[int, fmpq]] = {}

    def __getitem__(self, pair: int) -> Ranked:
        if not self.rank[pair]:
            raise KeyError(pair)
        stuck = int(self.stuck[pair])
        progress = Progress(None if stuck < 0 else stuck, self.potential.get(pair, {}))
        return Ranked(int(self.rank[pair]), int(self.direction[pair]), progress)

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(self.rank).tolist())

    def __len__(self) -> int:
        return int(np.count_nonzero(self.rank))

    def take(self, pair: int, found: Ranked) -> None:
        self.rank[pair], self.direction[pair] = found.rank, found.direction
        if found.progress.stuck is None:
            self.potential[pair] = found.progress.potential
        else:
            self.stuck[pair] = found.progress.stuck


def rank_pairs(
    strategy: Strategy,
    values: Values,
    stages: Sequence[Stage],
    tied: Callable[[int], Iterable[int]],
    *,
    deadline: Deadline = NEVER,
) -> Ranks:
    """Rank the positive pairs; pairs that get no rank are missing from the result.

    ``strategy``, ``values``: a fixed point and optimal strategies for it.
    ``stages``: the components of classes, successors first.
    ``tied``: yields the other sides of a pair that are worth exactly as much, with optimal couplings: one of
        them may be taken where that helps.
    """
    result = Ranks(strategy.direction)
    group = np.full(len(strategy.zero), -1, dtype=np.int64)
    known: dict[tuple[int, fmpz], int] = {}
    positive = [stage.pairs[~strategy.zero[stage.pairs]] for stage in stages]
    for number, pairs in enumerate(positive):
        wanted = ((number, values.numerators[pair]) for pair in pairs.tolist())
        group[pairs] = [known.setdefault(name, len(known)) for name in wanted]
    _peel(strategy, group, result, deadline)
    left: dict[int, list[int]] = defaultdict(list)
    for pair in np.flatnonzero((group >= 0) & (result.rank == 0)).tolist():
        left[int(group[pair])].append(pair)
    for number, members in left.items():
        below = int(result.rank[group == number].max())
        for pair, found in _Group(strategy, members, tied).rank(below, deadline).items():
            result.take(pair, found)
    base = 0
    for pairs in positive:
        ranks = result.rank[pairs]
        result.rank[pairs] = np.where(ranks > 0, ranks + base, 0)
        base += int(ranks.max(initial=0))
    return result


def _peel(strategy: Strategy, group: Int64Array, result: Ranks, deadline: Deadline) -> None:
    """Rank pairs, round by round, as long as a source is in none of the pairs of their group that are left.

    ``group``: by pair; -1 for those that have none.
    """
    functional, size = strategy.functional, len(strategy.functional.model)
    pairs, programs = np.flatnonzero(group >= 0), functional.batch.programs
    states = np.array(functional.space.pairs, dtype=np.int64).reshape(-1, 2)[pairs]
    names, places = np.unique(group[pairs, None] * size + states, return_inverse=True)
    places = places.reshape(-1, 2)  # by pair those of its states in its group
    count = np.bincount(places.ravel(), minlength=len(names))  # of pairs that are left
    sides = functional.width * pairs + strategy.direction[pairs]
    owner, program = ranges(functional.side_start[sides], np.diff(functional.side_start)[sides])
    which, source = ranges(programs.source_start[program], np.diff(programs.source_start)[program])
    owner, state = owner[which], programs.sources[source]
    wanted = group[pairs[owner]] * size + state
    place = np.searchsorted(names, wanted)
    absent = np.append(names, -1)[place] != wanted
    order = np.argsort(np.where(absent, len(names), place), kind="stable")
    begin = np.searchsorted(place[order][: int((~absent).sum())], np.arange(len(names) + 1))
    free, round_ = np.flatnonzero(absent), 0
    while len(free):
        deadline.check()
        round_ += 1
        found, which = np.unique(owner[free], return_index=True)
        result.rank[pairs[found]], result.stuck[pairs[found]] = round_, state[free[which]]
        touched = places[found].ravel()
        np.subtract.at(count, touched, 1)
        empty = np.unique(touched[count[touched] == 0])
        _, entry = ranges(begin[empty], begin[empty + 1] - begin[empty])
        free = order[entry]
        free = free[result.rank[pairs[owner[free]]] == 0]


class _Group:
    """The pairs of one distance in one component that are not ranked yet."""

    def __init__(self, strategy: Strategy, members: list[int], tied: Callable[[int], Iterable[int]]) -> None:
        self.strategy = strategy
        self.functional = strategy.functional
        self.members = members
        self.tied = tied
        self.open = set(members)
        self.incident: Counter[int] = Counter(
            state for pair in members for state in self.functional.space.pairs[pair]
        )

    def rank(self, below: int, deadline: Deadline) -> dict[int, Ranked]:
        """Rank round by round, higher than `below`, until nothing more can be ranked."""
        result: dict[int, Ranked] = {}
        pending = self.members
        round_ = below
        while pending:
            round_ += 1
            found = self._found(pending, round_, self._stuck, deadline)
            if not found:  # potentials are dear, and wanted only where nothing is stuck
                found = self._found(pending, round_, self._leaving, deadline)
            if not found:
                break
            for pair in found:
                self.open.discard(pair)
                self.incident.subtract(self.functional.space.pairs[pair])
            result.update(found)
            pending = [p for p in pending if p not in found]
        return result

    def _found(
        self,
        pending: list[int],
        rank: int,
        look: Callable[[int], tuple[int, Progress] | None],
        deadline: Deadline,
    ) -> dict[int, Ranked]:
        found: dict[int, Ranked] = {}
        for pair in pending:
            deadline.check()
            reason = look(pair)
            if reason is not None:
                side, progress = reason
                found[pair] = Ranked(rank, side % self.functional.width, progress)
        return found

    def _stuck(self, pair: int) -> tuple[int, Progress] | None:
        """Return the side that is taken and its first state that is in no open pair."""
        side = self.strategy.side(pair)
        progress = self._stuck_at(side)
        return None if progress is None else (side, progress)

    def _leaving(self, pair: int) -> tuple[int, Progress] | None:
        """Return a side, taken or tied, that cannot keep all mass in open pairs, and why."""
        for side in chain((self.strategy.side(pair),), self.tied(pair)):
            progress = self._stuck_at(side)
            if progress is not None:
                return side, progress
            for index in self.functional.programs_of(side):
                potential = self._potential(index, side)
                if potential:
                    return side, Progress(None, potential)
        return None

    def _stuck_at(self, side: int) -> Progress | None:
        functional = self.functional
        for index in functional.programs_of(side):
            for state in functional.batch.programs[index].sources:
                if self.incident[state] == 0:
                    return Progress(state, {})
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
            functional, side, nodes, lambda i, j: zero if space.numbers.get((i, j)) in self.open else one
        )
        if optimum.value <= 0:
            return None
        return {i: y for i, y in zip(nodes, optimum.potential, strict=True) if y > 0}
