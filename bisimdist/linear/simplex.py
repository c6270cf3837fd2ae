"""Nonnegative combinations of vectors, found exactly: the first phase of a dense simplex over rationals.

For cones of a few dozen dimensions. Among the columns that would lower the cost the best one enters, and the
first one (Bland's rule, which cannot cycle) as soon as a pivot made no progress.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq

from bisimdist.progress import NEVER, Deadline

Vector = Sequence[fmpq]

_ZERO = fmpq(0)


class _Tableau:
    """Rows of the tableau in its current basis; the last entry of a row is its right hand side."""

    def __init__(self, columns: Sequence[Vector], target: Vector, deadline: Deadline) -> None:
        self.deadline = deadline
        self.count = len(columns)
        self.rows: list[list[fmpq]] = []
        for place, wanted in enumerate(target):
            sign = -1 if wanted < 0 else 1
            self.rows.append([sign * column[place] for column in columns] + [sign * wanted])
        # basis entries below zero stand for the artificial variables of their rows
        self.basis = [-1 - place for place in range(len(self.rows))]

    def pivot(self, row: int, column: int, reduced: list[fmpq]) -> None:
        self.deadline.check()
        chosen = self.rows[row]
        factor = chosen[column]
        support = [(k, value / factor) for k, value in enumerate(chosen) if value]
        self.rows[row] = [_ZERO] * len(chosen)
        for k, value in support:
            self.rows[row][k] = value
        for other in (*(r for k, r in enumerate(self.rows) if k != row), reduced):
            amount = other[column]
            if amount:
                for k, value in support:
                    other[k] -= amount * value
        self.basis[row] = column

    def run(self, reduced: list[fmpq]) -> None:
        """Pivot until no column would lower the cost, which artificial variables bound from below."""
        cautious = False
        while True:
            candidates = [k for k in range(self.count) if reduced[k] < 0]
            if not candidates:
                return
            column = candidates[0] if cautious else min(candidates, key=lambda k: reduced[k])
            best = min(
                (row[-1] / row[column], self.basis[place], place)
                for place, row in enumerate(self.rows)
                if row[column] > 0
            )
            cautious = best[0] == 0
            self.pivot(best[2], column, reduced)

    def solution(self) -> dict[int, fmpq]:
        return {
            column: row[-1]
            for column, row in zip(self.basis, self.rows, strict=True)
            if column >= 0 and row[-1] != 0
        }


def nonnegative_combination(
    columns: Sequence[Vector], target: Vector, *, deadline: Deadline = NEVER
) -> dict[int, fmpq] | None:
    """Write a vector as a nonnegative combination of others; None tells that it is none.

    >>> one, two = fmpq(1), fmpq(2)
    >>> nonnegative_combination([[one, fmpq(0)], [one, one]], [two, one])
    {0: 1, 1: 1}
    """
    tableau = _Tableau(columns, target, deadline)
    reduced = [-sum((row[k] for row in tableau.rows), _ZERO) for k in range(len(columns) + 1)]
    tableau.run(reduced)
    return None if reduced[-1] != 0 else tableau.solution()
