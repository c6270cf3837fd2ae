"""All pairs of two of some things, none of which is made before somebody looks at it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from math import isqrt
from operator import eq
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class AllPairs(Sequence[tuple[T, T]], Generic[T]):
    """All pairs of the given items, in the order of ``itertools.combinations``.

    What it takes is the list of these things, however many pairs they have.

    Parameters
    ----------
    of
        The things, such as the names of all states.

    Examples
    --------
    >>> import bisimdist
    >>> pairs = bisimdist.AllPairs(["s", "t", "u"])
    >>> len(pairs), pairs[2], list(pairs)
    (3, ('t', 'u'), [('s', 't'), ('s', 'u'), ('t', 'u')])
    >>> len(bisimdist.AllPairs(range(10_000)))
    49995000
    """

    __slots__ = ("of",)

    def __init__(self, of: Sequence[T]) -> None:
        self.of = of

    def __len__(self) -> int:
        return len(self.of) * (len(self.of) - 1) // 2

    @overload
    def __getitem__(self, index: int) -> tuple[T, T]: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[tuple[T, T], ...]: ...

    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return tuple(self[k] for k in range(*index.indices(len(self))))
        back = len(self) - 1 - range(len(self))[index]  # rows from the end are 1, 2, 3, ... long
        row = (isqrt(8 * back + 1) - 1) // 2
        first = len(self.of) - 2 - row
        return self.of[first], self.of[len(self.of) - 1 - (back - row * (row + 1) // 2)]

    def __iter__(self) -> Iterator[tuple[T, T]]:
        return combinations(self.of, 2)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, AllPairs):
            return list(self.of) == list(other.of) or (len(self) == len(other) == 0)
        if isinstance(other, list | tuple):
            return len(self) == len(other) and all(map(eq, self, other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"<all {len(self)} pairs of {len(self.of)}>"
