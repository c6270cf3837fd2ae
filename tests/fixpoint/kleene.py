"""The functional of an arena, applied to zero round by round: slow, and a bound from below."""

from __future__ import annotations

from bisimdist.distances.engine.hausdorff import Arena
from bisimdist.exact.scale import Value


def kleene(arena: Arena, rounds: int, *, up: bool = False) -> list[Value]:
    """Apply the functional to zero so many times; fewer where nothing changes any more.

    The result is the iterate itself unless values are irrational, which are then rounded. States that have no
    position, because their actions differ, are at the diameter from the first round on.
    """
    lifting = arena.lifting
    values: list[Value] = [lifting.zero] * len(arena.positions)
    for round_ in range(rounds):
        distance = arena.distance(values, start=round_ == 0)
        known = [
            lifting.discounted(lifting.lift(arena.rows[a], arena.rows[b], distance), up=up)
            for a, b in arena.duels
        ]
        fresh = [arena.hausdorff(p, known.__getitem__) for p in range(len(values))]
        if fresh == values and round_ > 0:
            break
        values = fresh
    return values
