"""Additive value iteration in fixed-point integers: whole rounds in the compiled transportation kernel."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.hausdorff import SAME, Arena
from bisimdist.distances.engine.lifting_values import excess, transport_program
from bisimdist.exact.scale import Value
from bisimdist.lp.batch import BatchBasis, TransportBatch, pack
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

ROUNDS = 300
STILL = 4  # changes of so many units are rounding


def iterate_in_integers(  # noqa: PLR0913
    arena: Arena,
    members: Sequence[int],
    table: Sequence[Value],
    *,
    rounds: int = ROUNDS,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> list[Value]:
    """Return the table with its members iterated from zero until they stand still: a guess, nothing more."""
    game = _Game(arena, members, table, deadline)
    distance = game.start.copy()
    chosen = np.arange(len(game.batch), dtype=np.int64)
    for round_ in range(rounds):
        deadline.check()
        progress("value iteration", round_, rounds)
        game.basis.solve(game.batch, chosen, distance, one=game.one, guess=True)
        fresh = game.values()
        change = int(np.abs(fresh - distance[: len(members)]).max(initial=0))
        distance[: len(members)] = fresh
        if change <= STILL:
            break
    values = list(table)
    for k, p in enumerate(members):
        values[p] = fmpq(int(distance[k]), game.one)
    return values


class _Game:
    """The duels of some positions as transportation programs, and who chooses among them."""

    batch: TransportBatch
    start: Int64Array

    def __init__(
        self, arena: Arena, members: Sequence[int], table: Sequence[Value], deadline: Deadline
    ) -> None:
        self.discount = float(arena.lifting.discount.p) / float(arena.lifting.discount.q)
        duels = sorted(set().union(*(arena.duels_of(p) for p in members)))
        self.place = {p: k for k, p in enumerate(members)}
        self.known: list[fmpq] = []
        self.index: dict[fmpq, int] = {}
        distance = arena.distance(table)
        programs = []
        for duel in duels:
            deadline.check()
            a, b = arena.duels[duel]
            sources, sinks, _ = excess(arena.rows[a], arena.rows[b])
            cells = [self._cell(arena.position(i, j), distance(i, j)) for i in sources for j in sinks]
            programs.append(transport_program(sources, sinks, cells))
        self.batch = pack(programs, deadline=deadline)
        self.one = min(1 << 48, self.batch.finest)
        self.basis = BatchBasis.start(self.batch)
        floor = [int((value * self.one).floor()) for value in self.known]
        self.start = np.array([0] * len(members) + floor, dtype=np.int64)
        self._choices(arena, members, {duel: k for k, duel in enumerate(duels)})

    def _cell(self, position: int | None, value: Value) -> int:
        if position is not None and position in self.place:
            return self.place[position]
        known = fmpq(1) if value is None else value
        if known not in self.index:
            self.index[known] = len(self.place) + len(self.known)
            self.known.append(known)
        return self.index[known]

    def _choices(self, arena: Arena, members: Sequence[int], number: dict[int, int]) -> None:
        answers: list[int] = []
        challenge_start: list[int] = []
        position_start: list[int] = []
        for p in members:
            position_start.append(len(challenge_start))
            for challenge in arena.challenges[p]:
                challenge_start.append(len(answers))
                answers += [len(number) if duel == SAME else number[duel] for duel, _ in challenge.answers]
        self.answers = np.array(answers, dtype=np.int64)
        self.challenge_start = np.array(challenge_start, dtype=np.int64)
        self.position_start = np.array(position_start, dtype=np.int64)

    def values(self) -> Int64Array:
        """Return the functional at the distances that were solved last, in units of 1 / `one`."""
        worth: Float64Array = np.append(self.basis.value, 0.0)
        answered = np.minimum.reduceat(worth[self.answers], self.challenge_start)
        best = np.maximum.reduceat(answered, self.position_start) * self.discount
        return np.minimum(best, float(self.one)).astype(np.int64)
