"""One strongly connected system M z = beta in integers: the matrix, and small systems solved outright."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq_mat, fmpz, fmpz_mat

from bisimdist.linear.system import SingularSystemError


@dataclass(frozen=True, slots=True)
class IrreducibleSystem:
    """The system diagonal_i z_i - sum of weight z_column = beta_i over the integers."""

    diagonal: tuple[int, ...]  # the diagonal of M, of any sign
    # for each row the pairs (column, positive weight) with column different from the row, each once
    entries: tuple[tuple[tuple[int, int], ...], ...]
    beta: tuple[fmpz, ...]

    @property
    def size(self) -> int:
        """The number of unknowns."""
        return len(self.diagonal)

    def determinant_bits(self, *, dominant: bool) -> int:
        """Return an upper bound of the length of the determinant, by Hadamard's inequality.

        For a diagonally dominant matrix whose other entries are not positive (an M-matrix) the product of
        the diagonal bounds the determinant, else the product of the Euclidean norms of the rows.
        """
        bits = 1.0
        for value, row in zip(self.diagonal, self.entries, strict=True):
            others = 0 if dominant else sum(weight * weight for _, weight in row)
            bits += _log2_above(value * value + others) / 2
        return int(bits) + 1

    def product(self, vector: Sequence[fmpz]) -> list[fmpz]:
        """Return M times a vector."""
        return [
            value * own - sum((weight * vector[column] for column, weight in row), fmpz(0))
            for value, own, row in zip(self.diagonal, vector, self.entries, strict=True)
        ]

    def dense(self) -> fmpz_mat:
        """Return M as a dense matrix."""
        size = self.size
        flat = [0] * (size * size)
        for index, (value, row) in enumerate(zip(self.diagonal, self.entries, strict=True)):
            flat[index * size + index] = value
            for column, weight in row:
                flat[index * size + column] = -weight
        return fmpz_mat(size, size, flat)


def _log2_above(value: int) -> float:
    """Return an upper bound of the binary logarithm of a non-negative integer, or 0 for 0."""
    shift = max(value.bit_length() - 50, 0)
    return shift + math.log2((value >> shift) + 1) + 1e-9


def solve_dense(system: IrreducibleSystem) -> tuple[list[fmpz], fmpz]:
    """Return numerators and the denominator of z by a dense exact method, best for small systems."""
    try:
        solution = system.dense().solve(fmpz_mat(system.size, 1, list(system.beta)))
    except ZeroDivisionError:
        raise SingularSystemError("the matrix of the linear system is singular") from None
    numerators, denominator = fmpq_mat(solution).numer_denom()
    return numerators.entries(), denominator


def solves(system: IrreducibleSystem, numerators: Sequence[fmpz], denominator: fmpz) -> bool:
    """Tell whether a vector of rationals over one denominator is a solution, in integers."""
    return all(
        left == denominator * right
        for left, right in zip(system.product(numerators), system.beta, strict=True)
    )
