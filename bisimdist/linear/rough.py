"""Solutions in double precision: guesses, never answers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bisimdist.linear.system import SingularSystemError, SparseSystem

_FEW = 40  # so few unknowns are solved for by numpy: scipy takes longer to load


def solve_float(system: SparseSystem) -> NDArray[np.float64]:
    """Solve a system in double precision.

    returns: an approximation whose residual is about the rounding error of its largest entry. No bound is
        implied.

    >>> solve_float(SparseSystem(((2, 1, ((1, 1),)), (4, 0, ((0, 2),))))).round(12).tolist()
    [0.666666666667, 0.333333333333]
    """
    if system.size == 0:
        return np.zeros(0)
    try:
        solution = _solve_few(system) if system.size <= _FEW else _solve_sparse(system)
    except (ArithmeticError, np.linalg.LinAlgError):
        raise SingularSystemError("the linear system is singular in double precision") from None
    if not np.isfinite(solution).all():
        raise SingularSystemError("the linear system is singular in double precision")
    return solution


def _solve_few(system: SparseSystem) -> NDArray[np.float64]:
    matrix = np.eye(system.size)
    for index, (scale, _, entries) in enumerate(system.rows):
        for column, weight in entries:
            matrix[index, column] -= weight / scale
    constants = [constant / scale for scale, constant, _ in system.rows]
    return np.asarray(np.linalg.solve(matrix, constants), dtype=np.float64)


def _solve_sparse(system: SparseSystem) -> NDArray[np.float64]:
    from scipy.sparse import csr_array, eye_array  # noqa: PLC0415

    from bisimdist.linear.floats import solve_matrix  # noqa: PLC0415

    size = system.size
    constants = np.array([constant / scale for scale, constant, _ in system.rows])
    rows = [index for index, (_, _, entries) in enumerate(system.rows) for _ in entries]
    columns = [column for _, _, entries in system.rows for column, _ in entries]
    weights = [weight / scale for scale, _, entries in system.rows for _, weight in entries]
    onward = csr_array((weights, (rows, columns)), shape=(size, size))
    return solve_matrix(eye_array(size, format="csr") - onward, constants)
