"""Sparse linear systems x = A x + b in integers, and their exact solutions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import starmap

from flint import fmpq, fmpz

from bisimdist.errors import BisimdistError, UsageError

SparseRow = tuple[int, int, tuple[tuple[int, int], ...]]
"""(scale L, constant c, entries (column j, weight w)) for L x_i = c + sum of w x_j."""


class SingularSystemError(BisimdistError, ArithmeticError):
    """A linear system that has no solution, or more than one."""


@dataclass(frozen=True, slots=True)
class SparseSystem:
    """The equations L_i x_i = c_i + sum of w_ij x_j, one row for each unknown.

    ``rows``: for each unknown the triple (scale, constant, entries): a positive integer L_i, an integer c_i,
        and pairs (column, positive weight). A column that is named twice counts with the sum of its weights,
        and an unknown may stand on its own right-hand side.
    Raises UsageError if a scale or weight is not positive or a column is no unknown, naming the row.
    """

    rows: tuple[SparseRow, ...]

    def __post_init__(self) -> None:
        size = len(self.rows)
        for index, (scale, _, entries) in enumerate(self.rows):
            if scale <= 0:
                raise UsageError(f"row {index} has the scale {scale}; expected a positive integer")
            for column, weight in entries:
                if not 0 <= column < size:
                    raise UsageError(f"row {index} names the unknown {column}; expected 0 to {size - 1}")
                if weight <= 0:
                    raise UsageError(f"row {index} has the weight {weight}; expected a positive integer")

    @classmethod
    def from_rationals(cls, rows: Iterable[tuple[fmpq, Iterable[tuple[int, fmpq]]]]) -> SparseSystem:
        """Clear the denominators of rows (constant, entries) of x_i = constant + sum of weight x_column.

        >>> SparseSystem.from_rationals([(fmpq(1, 2), [(0, fmpq(1, 3))])]).rows
        ((6, 3, ((0, 2),)),)
        """
        return cls(tuple(starmap(_integral_row, rows)))

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.rows)


def _integral_row(constant: fmpq, entries: Iterable[tuple[int, fmpq]]) -> SparseRow:
    entries = tuple(entries)
    scale = constant.q
    for _, weight in entries:
        scale = scale.lcm(weight.q)
    return (
        int(scale),
        int(constant.p * (scale // constant.q)),
        tuple((column, int(weight.p * (scale // weight.q))) for column, weight in entries),
    )


@dataclass(frozen=True, slots=True)
class ExactSolution:
    """The unique solution of a system, with one denominator for each strongly connected component."""

    numerators: tuple[fmpz, ...]  # one integer for each unknown
    # for each unknown the number of its component; a component depends on those of smaller number only
    components: tuple[int, ...]
    # a positive integer for each component, without a factor common to it and all its numerators
    denominators: tuple[fmpz, ...]

    def entry(self, index: int) -> fmpq:
        """Return one unknown, in lowest terms."""
        return fmpq(self.numerators[index], self.denominators[self.components[index]])

    def denominator(self, index: int) -> fmpz:
        """Return the denominator over which the numerator of one unknown is written."""
        return self.denominators[self.components[index]]

    def over_common_denominator(self) -> tuple[tuple[fmpz, ...], fmpz]:
        """Return all numerators over one denominator, the least that serves them all."""
        common = fmpz(1)
        for denominator in self.denominators:
            common = common.lcm(denominator)
        factors = [common // denominator for denominator in self.denominators]
        return (
            tuple(
                value * factors[component]
                for value, component in zip(self.numerators, self.components, strict=True)
            ),
            common,
        )
