"""How Python makes other draws of uniform ones, so that their number is what a program really uses."""

from __future__ import annotations

from typing import Any


def choice(rng: Any, items: Any) -> Any:
    """Return one of the items."""
    if not len(items):
        raise IndexError("Cannot choose from an empty sequence")
    return items[rng._randbelow(len(items))]


def shuffle(rng: Any, items: Any) -> None:
    """Put the items into a random order."""
    for last in reversed(range(1, len(items))):
        place = rng._randbelow(last + 1)
        items[last], items[place] = items[place], items[last]


def sample(rng: Any, items: Any, k: int) -> list[Any]:
    """Return k of the items: from a shrinking pool, or drawing again where there are many."""
    if isinstance(items, (set, frozenset)):
        raise TypeError("Population must be a sequence.  For dicts or sets, use sorted(d).")
    n = len(items)
    if not 0 <= k <= n:
        raise ValueError("Sample larger than population or is negative")
    few = 21
    if k > 5:
        power = 1
        while power < k * 3:
            power = power * 4
        few = few + power
    found = [None] * k
    if n <= few:
        pool = list(items)
        for place in range(k):
            drawn = rng._randbelow(n - place)
            found[place] = pool[drawn]
            pool[drawn] = pool[n - place - 1]
        return found
    taken = set()
    for place in range(k):
        drawn = rng._randbelow(n)
        while drawn in taken:
            drawn = rng._randbelow(n)
        taken.add(drawn)
        found[place] = items[drawn]
    return found
