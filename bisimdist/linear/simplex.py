"""Small linear programs in nonnegative variables, solved exactly: a dense simplex over rationals.

For cones of a few dozen dimensions. Among the columns that would lower the cost the best one enters, and the
first one (Bland's rule, which cannot cycle) as soon as a pivot made no progress.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.progress import NEVER, Deadline

__all__ = ["LinearSolution", "minimise", "nonnegative_combination"]

Vector = Sequence[fmpq]

_ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class LinearSolution:
    """An optimal solution: the value, and the variables that are not zero."""

    value: fmpq
    variables: dict[int, fmpq]


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

    def run(self, reduced: list[fmpq]) -> bool:
        """Pivot until no column would lower the cost; False if the cost falls without bound."""
        cautious = False
        while True:
            candidates = [k for k in range(self.count) if reduced[k] < 0]
            if not candidates:
                return True
            column = candidates[0] if cautious else min(candidates, key=lambda k: reduced[k])
            best: tuple[fmpq, int, int] | None = None
            for place, row in enumerate(self.rows):
                if row[column] > 0:
                    found = (row[-1] / row[column], self.basis[place], place)
                    best = found if best is None or found < best else best
            if best is None:
                return False
            cautious = best[0] == 0
            self.pivot(best[2], column, reduced)

    def solution(self) -> dict[int, fmpq]:
        return {
            column: row[-1]
            for column, row in zip(self.basis, self.rows, strict=True)
            if column >= 0 and row[-1] != 0
        }


def minimise(
    costs: Vector, columns: Sequence[Vector], target: Vector, *, deadline: Deadline = NEVER
) -> LinearSolution | None:
    """Minimise ``costs . x`` subject to ``sum x_j columns_j = target`` and ``x >= 0``, exactly.

    Returns
    -------
    LinearSolution or None
        None where no x serves, or where the cost falls without bound.

    Raises
    ------
    LimitError
        If the deadline passes.

    Examples
    --------
    >>> one, two = fmpq(1), fmpq(2)
    >>> minimise([one, two], [[one, fmpq(0)], [one, one]], [two, one]).value
    3
    """
    tableau = _Tableau(columns, target, deadline)
    width = len(columns) + 1
    reduced = [-sum((row[k] for row in tableau.rows), _ZERO) for k in range(width)]
    tableau.run(reduced)
    if reduced[-1] != 0:
        return None
    for place, column in enumerate(tableau.basis):  # artificial variables leave where they can
        if column < 0:
            entering = next((k for k in range(len(columns)) if tableau.rows[place][k]), None)
            if entering is not None:
                tableau.pivot(place, entering, reduced)
    kept = [place for place, column in enumerate(tableau.basis) if column >= 0]
    tableau.rows = [tableau.rows[place] for place in kept]
    tableau.basis = [tableau.basis[place] for place in kept]
    reduced = [*costs, _ZERO]
    for place, column in enumerate(tableau.basis):
        amount = reduced[column]
        if amount:
            reduced = [a - amount * b for a, b in zip(reduced, tableau.rows[place], strict=True)]
    if not tableau.run(reduced):
        return None
    return LinearSolution(-reduced[-1], tableau.solution())


def nonnegative_combination(
    columns: Sequence[Vector], target: Vector, *, deadline: Deadline = NEVER
) -> dict[int, fmpq] | None:
    """Write a vector as a nonnegative combination of others, or tell (None) that it is none."""
    found = minimise([_ZERO] * len(columns), columns, target, deadline=deadline)
    return None if found is None else found.variables
