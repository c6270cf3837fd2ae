"""A transportation program: what the kernel solves, interpreted or compiled."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Program:
    """One transportation program: exact integer amounts, and where to find its costs."""

    sources: tuple[int, ...]  # sources and sinks: names (indices of states) of the nodes on either side
    sinks: tuple[int, ...]
    supply: tuple[int, ...]  # supply and capacity: positive integers, all in the same unit
    capacity: tuple[int, ...]
    # for every source and sink, row by row, the index of their distance in the distance vector
    cells: tuple[int, ...]
    whole: int  # the integer that stands for mass 1
