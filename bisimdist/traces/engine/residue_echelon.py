"""Which rows are linearly independent modulo a prime, row by row, for rows of many columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Residues = NDArray[np.int64]  # residues of a prime below `PRIMES_BELOW`: products of two fit into 62 bits

PRIMES_BELOW = 2**31
BLOCK = 64
HALF = 16


class ResidueEchelon:
    """The span of rows modulo a prime, in blocks: each is reduced, and zero at the pivots of earlier ones."""

    def __init__(self, columns: int, prime: int) -> None:
        self.columns = columns
        self.prime = prime
        self.rank = 0
        self._blocks: list[tuple[Residues, Residues, Residues]] = []  # pivots, low and high halves

    @property
    def full(self) -> bool:
        """Whether every row is in the span."""
        return self.rank == self.columns

    def extend(self, rows: Residues) -> list[int]:
        """Add rows in their order; return the places of those that depend on no earlier row.

        ``rows``: a matrix of residues; it is left as it is.
        """
        kept: list[int] = []
        for start in range(0, len(rows), BLOCK):
            if self.full:
                break
            reduced = self._reduced(rows[start : start + BLOCK])
            kept += [start + place for place in self._absorb(reduced)]
        return kept

    def _reduced(self, rows: Residues) -> Residues:
        result = rows % self.prime
        for pivots, low, high in self._blocks:
            factors = result[:, pivots]
            # Halves keep the sums of products below 2^63, so that one reduction at the end is enough.
            product = factors @ low + (((factors @ high) % self.prime) << HALF)
            result = (result - product) % self.prime
        return result

    def _absorb(self, rows: Residues) -> list[int]:
        prime = self.prime
        kept: list[int] = []
        pivots: list[int] = []
        for place in range(len(rows)):
            support = np.flatnonzero(rows[place])
            if not len(support):
                continue
            pivot = int(support[0])
            rows[place] = rows[place] * pow(int(rows[place, pivot]), -1, prime) % prime
            others = np.flatnonzero(rows[:, pivot])
            others = others[others != place]
            rows[others] = (rows[others] - rows[others, pivot, None] * rows[place]) % prime
            kept.append(place)
            pivots.append(pivot)
        if kept:
            self._append(np.array(pivots), rows[kept])
        return kept

    def _append(self, pivots: Residues, block: Residues) -> None:
        """Append reduced rows, which are zero at all pivots so far, to the last block if that has room."""
        self.rank += len(block)
        if self._blocks and len(self._blocks[-1][0]) + len(block) <= BLOCK:
            last, low, high = self._blocks.pop()
            rows = low + (high << HALF)
            for pivot, row in zip(pivots, block, strict=True):
                rows = (rows - rows[:, pivot, None] * row) % self.prime
            pivots, block = np.concatenate([last, pivots]), np.concatenate([rows, block])
        self._blocks.append((pivots, block & ((1 << HALF) - 1), block >> HALF))
