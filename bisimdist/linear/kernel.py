"""Kernels of small matrices over the rationals, exactly."""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpq, fmpq_mat


def kernel(matrix: fmpq_mat) -> list[list[fmpq]]:
    """Return a basis of the columns that a square matrix makes zero.

    >>> kernel(fmpq_mat([[1, 2], [2, 4]]))
    [[-2, 1]]
    """
    reduced, rank = matrix.rref()
    size = matrix.ncols()
    pivots = [next(n for n in range(size) if reduced[row, n] != 0) for row in range(rank)]
    result = []
    for free in (n for n in range(size) if n not in pivots):
        column = [fmpq(0)] * size
        column[free] = fmpq(1)
        for row, pivot in enumerate(pivots):
            column[pivot] = -reduced[row, free]
        result.append(column)
    return result


def positive_eigenvector(rows: Sequence[Sequence[fmpq]], factor: fmpq) -> list[fmpq] | None:
    """Return the row vector x with ``x M = factor x``, if there is one alone and it can be taken positive.

    >>> half = fmpq(1, 2)
    >>> positive_eigenvector([[half, half], [half, half]], fmpq(1))
    [1, 1]
    """
    size = range(len(rows))
    found = kernel(fmpq_mat([[rows[s][t] - (factor if s == t else 0) for s in size] for t in size]))
    if len(found) != 1:
        return None
    vector = found[0] if found[0][0] > 0 else [-value for value in found[0]]
    return vector if min(vector) > 0 else None
