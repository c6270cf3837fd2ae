"""Bounds on many pairs from tables: texts and numbers of units, never one object for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from bisimdist.distances.engine.blocks import blocks
from bisimdist.distances.engine.flat_engine import FlatTables
from bisimdist.distances.engine.proof import Proof
from bisimdist.exact.rational import format_rational
from bisimdist.faces.shown.pair_bounds import PART, Texts
from bisimdist.lp.compiled import Int64Array

SHORT = 64  # texts of so many letters are kept for pairs that are merged with others


@dataclass(frozen=True, slots=True)
class UnitBounds:
    """The bounds on pairs of states of a model."""

    asked: Sequence[tuple[int, int]]  # the pairs
    # what is proved; None where that is no more than that a state is at distance 0 from itself
    tables: FlatTables | None
    place: Sequence[int] | None  # by state of the model its state in the tables; None where they are the same

    def units(self) -> Iterator[tuple[Int64Array, Int64Array]]:
        """Yield the lower and the upper bounds in units of the tables, many pairs at a time."""
        place = None if self.place is None else np.asarray(self.place)
        for first, second in blocks(self.asked):
            if self.tables is None:
                yield np.zeros(len(first), dtype=np.int64), (first != second).astype(np.int64)
            else:
                yield self.tables.units(
                    *((first, second) if place is None else (place[first], place[second]))
                )

    @property
    def exact(self) -> bool:
        return all(bool((lower == upper).all()) for lower, upper in self.units())

    def texts(self) -> Iterator[Texts]:
        """Yield the lower and the upper bounds as JSON has them, many pairs at a time."""
        one = 1 if self.tables is None else self.tables.layout.one
        for lower, upper in self.units():
            yield unit_texts(lower, one), unit_texts(upper, one)

    def largest(self, most: int) -> list[int]:
        """Return the places of so many pairs with the largest upper bounds, equal ones in their order."""
        upper = np.concatenate([upper for _, upper in self.units()])
        cut = np.partition(upper, -most)[-most] if most < len(upper) else 0
        places = np.flatnonzero(upper >= cut)
        found: list[int] = places[np.argsort(-upper[places], kind="stable")][:most].tolist()
        return found


@dataclass(frozen=True, slots=True)
class ProofBounds:
    """The bounds on pairs of states of a model whose values are over one denominator."""

    asked: Sequence[tuple[int, int]]  # the pairs
    proof: Proof  # what is proved
    place: Sequence[int] | None  # by state of the model its state in the proof; None where they are the same

    @property
    def exact(self) -> bool:
        lower, upper = self.proof.lower_values, self.proof.upper_values
        if lower is upper:
            return True
        numbers = {self.proof.question.number(self._inside(pair)) for pair in self.asked}
        return all(number is None or lower.value(number) == upper.value(number) for number in numbers)

    def _inside(self, pair: tuple[int, int]) -> tuple[int, int]:
        return pair if self.place is None else (self.place[pair[0]], self.place[pair[1]])

    def texts(self) -> Iterator[Texts]:
        """Yield the lower and the upper bounds as JSON has them, many pairs at a time."""
        kept: dict[tuple[int, int], tuple[str, str]] = {}
        pairs = map(self._inside, self.asked)
        while part := list(islice(pairs, PART)):
            both = []
            for pair in part:
                texts = kept.get(pair)
                if texts is None:
                    texts = self._texts(pair)
                    if len(texts[1]) <= SHORT:
                        kept[pair] = texts
                both.append(texts)
            lower, upper = zip(*both, strict=True)
            yield list(lower), list(upper)

    def _texts(self, pair: tuple[int, int]) -> tuple[str, str]:
        lower, upper = self.proof.bounds(pair)
        high = format_rational(upper)
        return high if lower == upper else format_rational(lower), high

    def largest(self, most: int) -> None:
        """Return that each has to be looked at."""
        del most


def unit_texts(units: Int64Array, one: int) -> list[str]:
    """Return numbers of units as rationals in lowest terms, where `one` of them, a power of two, are 1.

    >>> unit_texts(np.array([0, 2, 3, 8]), 8)
    ['0', '1/4', '3/8', '1']
    """
    texts = np.where(units == 0, "0", "1").astype(object)
    between = np.flatnonzero((units != 0) & (units != one))
    units = units[between]
    shift = np.frexp((units & -units).astype(np.float64))[1] - 1
    ends = np.array([f"/{one >> k}" for k in range(one.bit_length())], dtype=object)
    both = zip((units >> shift).tolist(), ends[shift].tolist(), strict=True)
    texts[between] = [f"{top}{end}" for top, end in both]
    found: list[str] = texts.tolist()
    return found
