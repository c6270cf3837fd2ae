"""Bounds on many pairs from flat tables: numbers of units, never one object for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bisimdist.analysis.pair_bounds import Texts
from bisimdist.fixpoint.blocks import blocks
from bisimdist.fixpoint.flat_engine import FlatTables
from bisimdist.lp.compiled import Int64Array

__all__ = ["UnitBounds", "unit_texts"]


@dataclass(frozen=True, slots=True)
class UnitBounds:
    """The bounds on pairs of states of a model.

    Parameters
    ----------
    asked
        The pairs.
    tables
        What is proved.
    place
        By state of the model its state in the tables; None where they are the same.
    """

    asked: Sequence[tuple[int, int]]
    tables: FlatTables
    place: Sequence[int] | None

    def units(self) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Yield the lower and the upper bounds in units of the tables, many pairs at a time."""
        place = None if self.place is None else np.asarray(self.place)
        for first, second in blocks(self.asked):
            yield self.tables.units(*((first, second) if place is None else (place[first], place[second])))

    @property
    def exact(self) -> bool:
        """Whether the bounds of every pair meet."""
        return all(bool((lower == upper).all()) for lower, upper in self.units())

    def texts(self) -> Iterator[Texts]:
        """Yield the lower and the upper bounds as JSON has them, many pairs at a time."""
        one = self.tables.layout.one
        for lower, upper in self.units():
            yield unit_texts(lower, one), unit_texts(upper, one)

    def largest(self, most: int) -> list[int]:
        """Return the places of so many pairs with the largest upper bounds, equal ones in their order."""
        upper = np.concatenate([upper for _, upper in self.units()])
        cut = np.partition(upper, -most)[-most] if most < len(upper) else 0
        places = np.flatnonzero(upper >= cut)
        found: list[int] = places[np.argsort(-upper[places], kind="stable")][:most].tolist()
        return found


def unit_texts(units: Int64Array, one: int) -> list[str]:
    """Return numbers of units as rationals in lowest terms, where `one` of them, a power of two, are 1.

    Examples
    --------
    >>> unit_texts(np.array([0, 2, 3, 8]), 8)
    ['0', '1/4', '3/8', '1']
    """
    bits = one.bit_length() - 1
    low = np.where(units == 0, one, units & -units)
    shift = np.frexp(low.astype(np.float64))[1] - 1
    ends = np.array([*(f"/{one >> k}" for k in range(bits)), ""], dtype=object)
    both = zip((units >> shift).tolist(), ends[shift].tolist(), strict=True)
    return [f"{top}{end}" for top, end in both]
