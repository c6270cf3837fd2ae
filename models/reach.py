"""What can be reached."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def all_reached(starts: Iterable[Node], successors: Callable[[Node], Iterable[Node]]) -> list[Node]:
    """Return what some nodes lead to, themselves included, nearest first.

    >>> all_reached([1], {1: [2, 3], 2: [1], 3: [4], 4: []}.__getitem__)
    [1, 2, 3, 4]
    """
    found = dict.fromkeys(starts)
    waiting = list(found)
    for node in waiting:  # grows
        for target in successors(node):
            if target not in found:
                found[target] = None
                waiting.append(target)
    return waiting
