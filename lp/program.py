"""A transportation program: what the kernel solves, interpreted or compiled."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Program"]


@dataclass(frozen=True, slots=True)
class Program:
    """One transportation program: exact integer amounts, and where to find its costs.

    Parameters
    ----------
    sources, sinks
        Names (indices of states) of the nodes on either side.
    supply, capacity
        Positive integers, all in the same unit.
    cells
        For every source and sink, row by row, the index of their distance in the distance vector.
    whole
        The integer that stands for mass 1.
    """

    sources: tuple[int, ...]
    sinks: tuple[int, ...]
    supply: tuple[int, ...]
    capacity: tuple[int, ...]
    cells: tuple[int, ...]
    whole: int
