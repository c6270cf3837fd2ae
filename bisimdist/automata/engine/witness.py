"""Strategies written down: the relation behind an upper bound, the challenger's play behind a lower one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import fmpq

from bisimdist.automata.engine.accumulative import Accumulated
from bisimdist.automata.engine.amortised import Amortised, History, lost
from bisimdist.automata.engine.game import SAME, Arena, Challenge, Duel, Edge
from bisimdist.automata.engine.windows import Credits, contains
from bisimdist.errors import LimitError

ONE = fmpq(1)
MAX_POINTS = 5_000
MAX_LOSSES = 200_000

Point = tuple[int, fmpq]  # a position, and the running product there


@dataclass(frozen=True, slots=True)
class Loss:
    """Why a position is lost from a running product: a challenge all answers to which lead to lost points."""

    rank: int  # the points that the answers lead to are out of the window, infinite, or of lower rank
    challenge: Challenge


def amortised_points(
    arena: Arena, held: Mapping[int, Credits], start: int, window: fmpq, *, limit: int = MAX_POINTS
) -> dict[int, Credits] | None:
    """Return finitely many triples that are a bisimulation by themselves, from the running product 1.

    ``held``: the winning running products by position.
    ``window``: V, at least 1: running products stay in [1/V, V], also between states at distance 0.
    returns: for each position its running products (as intervals of one point); None where they are too many.
    """
    full: Credits = ((1 / window, window),)

    def usable(point: Point, edge: Edge) -> bool:
        credits = full if edge.position == SAME else held.get(edge.position, ())
        return contains(credits, point[1] * edge.ratio)

    def answer(point: Point, duel: Duel) -> list[Point] | None:
        edges = {(edge.left, edge.right): edge for edge in duel.edges if usable(point, edge)}
        flow = duel.flow(edges.values())
        if flow is None:
            return None
        return [(edges[pair].position, point[1] * edges[pair].ratio) for pair in flow]

    return _closure(arena, start, answer, limit)


def accumulative_points(
    accumulated: Accumulated, start: int, *, limit: int = MAX_POINTS
) -> dict[int, Credits] | None:
    """Return finitely many triples that are an accumulative bisimulation, from the running product 1.

    The position must have a finite value.
    """
    window = accumulated.values[start]
    if window is None:
        return None

    def answer(point: Point, duel: Duel) -> list[Point] | None:
        for size in duel.sizes() or [ONE]:
            after = point[1] * size
            edges: dict[tuple[int, int], Edge] = {}
            for edge in duel.edges:
                value = accumulated.value(edge.position)
                if edge.size <= size and value is not None and value * after <= window:
                    edges[edge.left, edge.right] = edge
            flow = duel.flow(edges.values())
            if flow is not None:
                return [(edges[pair].position, after) for pair in flow]
        return None

    return _closure(accumulated.arena, start, answer, limit)


def _closure(
    arena: Arena, start: int, answer: Callable[[Point, Duel], list[Point] | None], limit: int
) -> dict[int, Credits] | None:
    found: dict[Point, None] = {(start, ONE): None}
    waiting = [(start, ONE)]
    while waiting:
        point = waiting.pop()
        for challenge in arena.challenges[point[0]]:
            best: list[Point] | None = None
            for number, _ in challenge.answers:
                points = answer(point, arena.duels[number])
                if points is None:
                    continue
                fresh = [other for other in points if other[0] != SAME and other not in found]
                if best is None or len(fresh) < len(best):
                    best = fresh
            if best is None:
                return None
            for other in best:
                if other not in found:
                    found[other] = None
                    waiting.append(other)
        if len(found) > limit:
            return None
    result: dict[int, list[tuple[fmpq, fmpq]]] = {}
    for position, credit in sorted(found):
        result.setdefault(position, []).append((credit, credit))
    return {position: tuple(credits) for position, credits in result.items()}


def losing_play(amortised: Amortised, start: int, window: fmpq) -> dict[Point, Loss]:
    """Return the challenger's strategy that leaves every window [1/V, V] with V less than `window`.

    returns: for each point that the strategy needs the challenge there, with ranks that fall; empty for a
        window of 1, which needs no proof.
    """
    play = _Play(amortised, window)
    if window > 1:
        play.explain((start, ONE))
    return play.losses


class _Play:
    def __init__(self, amortised: Amortised, window: fmpq) -> None:
        self.amortised = amortised
        self.arena = amortised.arena
        self.window = window
        self.losses: dict[Point, Loss] = {}

    def first_loss(self, point: Point) -> int:
        """Return the step of the first staircase by which a point is lost, or -1 where it never is."""
        history: History = self.amortised.history[point[0]]
        first = bisect_left(history, True, key=lambda entry: lost(entry[1], point[1], self.window))
        return history[first][0] if first < len(history) else -1

    def outside(self, position: int, credit: fmpq) -> bool:
        """Tell whether a point needs no challenge any more."""
        if credit >= self.window or credit * self.window <= 1:
            return True
        return position in self.amortised.escapes

    def explain(self, start: Point) -> None:
        waiting = [start]
        while waiting:
            point = waiting.pop()
            if point in self.losses:
                continue
            if len(self.losses) >= MAX_LOSSES:
                raise LimitError(f"the challenger's strategy has more than {MAX_LOSSES} points")
            step = self.first_loss(point)
            if step < 0:
                raise LimitError("the lower bound has no play that proves it")
            challenge, targets = self.challenge_at(point, step)
            self.losses[point] = Loss(step, challenge)
            waiting += targets

    def challenge_at(self, point: Point, step: int) -> tuple[Challenge, list[Point]]:
        position, credit = point
        for challenge in self.arena.challenges[position]:
            targets: list[Point] = []
            for number, _ in challenge.answers:
                duel = self.arena.duels[number]
                safe, bad = [], []
                for edge in duel.edges:
                    after = edge.position, credit * edge.ratio
                    if self.outside(*after):
                        continue
                    if edge.position != SAME and 0 < self.first_loss(after) < step:
                        bad.append(after)
                    else:
                        safe.append(edge)
                if (not duel.left and not duel.right) or duel.holds(safe):
                    break
                targets += bad
            else:
                return challenge, targets
        raise LimitError("the lower bound has no play that proves it")
