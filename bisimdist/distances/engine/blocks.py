"""Many pairs of states as arrays, some at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from bisimdist.lp.compiled import Int64Array
from bisimdist.models.all_pairs import AllPairs

Block = tuple[Int64Array, Int64Array]  # the first and the second states of pairs

SIZE = 1 << 14


def blocks(pairs: Sequence[tuple[int, int]], size: int = SIZE) -> Iterator[Block]:
    """Yield the pairs in their order, about so many at a time."""
    if not isinstance(pairs, AllPairs):
        for low in range(0, len(pairs), size):
            both = np.array(pairs[low : low + size], dtype=np.int64)
            yield both[:, 0], both[:, 1]
        return
    of = np.array(pairs.of, dtype=np.int64)
    low, last = 0, len(of) - 1
    while low < last:
        high = min(last, low + max(1, size // (last - low)))
        rows = np.arange(low, high)
        yield np.repeat(of[rows], last - rows), np.concatenate([of[k + 1 :] for k in rows])
        low = high


def within_classes(classes: Sequence[int] | Int64Array, pairs: Sequence[tuple[int, int]]) -> Iterator[Block]:
    """Yield those pairs of two states whose classes are one: of others the distance is known."""
    kind = np.asarray(classes)
    for first, second in blocks(pairs):
        inside = (first != second) & (kind[first] == kind[second])
        yield first[inside], second[inside]
