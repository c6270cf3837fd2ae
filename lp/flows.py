"""Bijections between groups as flows: members that are alike are counted, not tried one by one.

Source: XCL14 Definition 2, XCL14 Definition 4.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Flow = dict[tuple[int, int], int]  # how many members of a left group go to a right group


def perfect_flow(left: Sequence[int], right: Sequence[int], edges: Iterable[tuple[int, int]]) -> Flow | None:
    """Match all members of the left groups with all members of the right groups, one to one, along edges.

    Augmenting paths on the groups. Since the counts are integers, a flow of full value is a bijection of
    members, and the other way round. The cost depends on the number of groups, not of their members.

    ``left``, ``right``: how many members each group has.
    ``edges``: the pairs (left group, right group) whose members may be matched.
    returns: how many members go from where to where (positive numbers); None where no bijection exists.

    >>> perfect_flow([2, 1], [1, 2], [(0, 0), (0, 1), (1, 1)])
    {(0, 0): 1, (0, 1): 1, (1, 1): 1}
    >>> perfect_flow([2, 1], [1, 2], [(0, 0), (1, 1)]) is None
    True
    """
    if sum(left) != sum(right):
        return None
    ways: list[list[int]] = [[] for _ in left]
    back: list[list[int]] = [[] for _ in right]
    for i, j in edges:
        ways[i].append(j)
        back[j].append(i)
    if not all(ways) or not all(back):
        return None
    need, room = list(left), list(right)
    flow: Flow = {}
    for i, targets in enumerate(ways):
        for j in targets:
            amount = min(need[i], room[j])
            if amount:
                flow[i, j] = amount
                need[i] -= amount
                room[j] -= amount
    for i in range(len(left)):
        while need[i]:
            amount = _augment(i, need[i], room, ways, back, flow)
            if not amount:
                return None
            need[i] -= amount
    return {pair: amount for pair, amount in flow.items() if amount}


def _augment(  # noqa: PLR0913, PLR0917
    start: int, most: int, room: list[int], ways: list[list[int]], back: list[list[int]], flow: Flow
) -> int:
    """Send up to `most` more members of a left group; return how many found a place."""
    came_to_right: dict[int, int] = {}
    came_to_left: dict[int, int] = {start: -1}
    waiting = [start]
    for i in waiting:
        for j in ways[i]:
            if j in came_to_right:
                continue
            came_to_right[j] = i
            if room[j]:
                return _send(j, most, room, came_to_right, came_to_left, flow)
            for k in back[j]:
                if k not in came_to_left and flow.get((k, j)):
                    came_to_left[k] = j
                    waiting.append(k)
    return 0


def _send(  # noqa: PLR0913, PLR0917
    end: int,
    most: int,
    room: list[int],
    came_to_right: dict[int, int],
    came_to_left: dict[int, int],
    flow: Flow,
) -> int:
    amount = min(most, room[end])
    path = []
    j = end
    while j != -1:
        i = came_to_right[j]
        previous = came_to_left[i]
        path.append((i, j, previous))
        if previous != -1:
            amount = min(amount, flow[i, previous])
        j = previous
    for i, j, previous in path:
        flow[i, j] = flow.get((i, j), 0) + amount
        if previous != -1:
            flow[i, previous] -= amount
    room[end] -= amount
    return amount
