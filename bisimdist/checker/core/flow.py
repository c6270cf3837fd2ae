"""Flows in bipartite graphs: whether all that is on the left finds a place on the right."""

from __future__ import annotations

from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import LOOK, spend


def place(start: int, need: int, ways: list[list[int]], used: list[dict[int, int]], room: list[int]) -> bool:
    """Find places on the right for so many members of a left group; tell whether there are any.

    `ways` are the right groups by left group, `used` says by right group how many of which left group it has
    taken, `room` for how many more it has room; the last two change.
    """
    while need:
        spend(LOOK)
        found = _search(start, ways, used, room)
        if found is None:
            return False
        came, before, end = found
        amount, j = min(need, room[end]), end
        while before[came[j]] != -1:
            spend(LOOK)
            amount = min(amount, used[before[came[j]]][came[j]])
            j = before[came[j]]
        room[end] -= amount
        need -= amount
        j = end
        while j != -1:
            spend(LOOK)
            i = came[j]
            used[j][i] = used[j].get(i, 0) + amount
            j = before[i]
            if j != -1:
                used[j][i] -= amount
                if not used[j][i]:
                    del used[j][i]
    return True


def _search(
    start: int, ways: list[list[int]], used: list[dict[int, int]], room: list[int]
) -> tuple[dict[int, int], dict[int, int], int] | None:
    """Return how right and left groups were reached, and a right group with room, if there is one."""
    came: dict[int, int] = {}
    before = {start: -1}
    waiting = [start]
    for i in counted(waiting):
        spend(LOOK * (1 + len(ways[i])))
        for j in counted(ways[i]):
            if j in came:
                continue
            came[j] = i
            if room[j]:
                return came, before, j
            spend(LOOK * len(used[j]))
            for k in counted(used[j]):
                if k not in before:
                    before[k] = j
                    waiting.append(k)
    return None
