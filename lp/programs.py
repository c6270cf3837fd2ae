"""Many transportation programs in flat arrays: none is an object before somebody looks at it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, overload

import numpy as np

from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.program import Program

BITS = 62  # integers whose sum has no more bits stand in arrays of 64 bits


def starts(length: Int64Array) -> Int64Array:
    """Return where parts of some lengths begin, one after the other, and where the last one ends."""
    return np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(length)))


def ranges(start: Int64Array, length: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the numbers of ranges, one range after the other, and before them which range each is of.

    >>> [found.tolist() for found in ranges(np.array([7, 2]), np.array([2, 3]))]
    [[0, 0, 1, 1, 1], [7, 8, 2, 3, 4]]
    """
    owner = np.repeat(np.arange(len(length)), length)
    return owner, np.arange(len(owner)) + (start - np.cumsum(length) + length)[owner]


def _exact(numbers: list[int]) -> Any:
    """Return integers as an array, of 64 bits if they and all sums of them fit."""
    return np.array(numbers, dtype=np.int64 if sum(numbers) >> BITS == 0 else object)


@dataclass(frozen=True, slots=True)
class Programs(Sequence[Program]):
    """Many programs in flat arrays."""

    # source_start, sink_start and cell_start: the sources of program b stand at source_start[b] …
    # source_start[b + 1] - 1; its sinks and cells likewise
    source_start: Int64Array
    sink_start: Int64Array
    cell_start: Int64Array
    # sources, sinks, supply, capacity and cells: as of `Program`, one program after the other. Amounts are
    # numbers of 64 bits or Python's.
    sources: Int64Array
    sinks: Int64Array
    supply: Any
    capacity: Any
    cells: Int64Array
    whole: Any  # by program what stands for mass 1
    made: dict[int, Program] = field(default_factory=dict, compare=False, repr=False)
    """Those that were looked at."""

    @classmethod
    def of(cls, programs: Sequence[Program]) -> Programs:
        """Put programs into arrays."""
        if isinstance(programs, Programs):
            return programs
        rows = [(p.sources, p.sinks, p.cells, p.supply, p.capacity) for p in programs]
        sources, sinks, cells, supply, capacity = zip(*rows, strict=True) if rows else ((),) * 5
        begins = (starts(np.array([*map(len, parts)], dtype=np.int64)) for parts in (sources, sinks, cells))
        flat = (
            _exact(list(chain.from_iterable(parts))) for parts in (sources, sinks, supply, capacity, cells)
        )
        return cls(*chain(begins, flat, [_exact([program.whole for program in programs])]))

    @classmethod
    def joined(cls, parts: Sequence[Programs]) -> Programs:
        """Put programs one after the other."""
        if len(parts) == 1:
            return parts[0]
        if not parts:
            return cls.of(())

        def begins(of: str) -> Int64Array:
            return starts(np.concatenate([np.diff(getattr(part, of)) for part in parts]))

        def flat(of: str) -> Any:
            return np.concatenate([getattr(part, of) for part in parts])

        names = [of.name for of in fields(cls) if of.compare]
        arrays: dict[str, Any] = {
            name: begins(name) if name.endswith("_start") else flat(name) for name in names
        }
        return cls(**arrays)

    def __len__(self) -> int:
        return len(self.source_start) - 1

    @overload
    def __getitem__(self, index: int) -> Program: ...

    @overload
    def __getitem__(self, index: slice) -> list[Program]: ...

    def __getitem__(self, index: int | slice) -> Program | list[Program]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"there are {len(self)} programs, none of them {index}")
        index %= len(self)
        if index not in self.made:
            self.made[index] = self._make(index)
        return self.made[index]

    def _make(self, index: int) -> Program:
        source, sink, cell = (
            slice(start[index], start[index + 1])
            for start in (self.source_start, self.sink_start, self.cell_start)
        )
        return Program(
            tuple(self.sources[source].tolist()),
            tuple(self.sinks[sink].tolist()),
            tuple(self.supply[source].tolist()),
            tuple(self.capacity[sink].tolist()),
            tuple(self.cells[cell].tolist()),
            int(self.whole[index]),
        )
