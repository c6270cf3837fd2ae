"""Sparse systems in double precision: guesses, never answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as spla
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from bisimdist.linear import sweeps
from bisimdist.lp.compiled import machine_code

Floats = NDArray[np.float64]

DIRECT = 600  # up to this size a sparse factorisation costs a few milliseconds at most
TOLERANCE = 2.0**-47  # where the changes of a sweep are as small as this, those of the next are rounding
QUICK = 100  # fewer sweeps than this are faster than a factorisation of a few thousand unknowns (measured)
HUGE = 3000  # so many unknowns that all depend on each other are only factorised where sweeps lead nowhere
PATIENCE = 1000  # how many sweeps such ones are given


def factorised(matrix: Any) -> Callable[[Floats], Floats]:
    """Factorise a sparse, diagonally dominant matrix and return its solver.

    The pivots are taken from the diagonal, which is stable for such matrices and keeps the fill-in of a
    symmetric ordering: two thirds of the non-zeros, a quarter of the time of a general one.

    Raises ArithmeticError if a pivot is zero.
    """
    options = {"SymmetricMode": True}
    try:
        factors = spla.splu(
            sp.csc_array(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options
        )
    except RuntimeError as error:
        raise ArithmeticError("a pivot of the factorisation is zero") from error
    solver: Callable[[Floats], Floats] = factors.solve
    return solver


def solve_matrix(matrix: Any, constants: Floats) -> Floats:
    """Solve ``matrix @ x = constants`` for a matrix whose entries off the diagonal are not positive.

    Small systems are factorised; larger ones are swept first, which needs a few milliseconds where mass is
    lost at a fair rate or the graph is nearly acyclic, while the factors of a random graph fill in cubically.
    """
    solver = swept(matrix) if len(constants) > DIRECT else None
    return (solver or factorised(matrix))(constants)


@cache
def _machine_code() -> Callable[..., int]:
    return machine_code(("sweep",), vars(sweeps), error_model="numpy")["sweep"]  # type: ignore[no-any-return]


def swept(matrix: Any) -> Callable[[Floats], Floats] | None:
    """Return a solver by Gauss-Seidel sweeps, component by component; none where they converge too slowly.

    The solver raises ArithmeticError where a right-hand side takes many more sweeps than that of ones.
    """
    rows = sp.csr_array(matrix)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1.0 / rows.diagonal()
    if not np.isfinite(inverse).all():
        return None
    _, label = connected_components(rows, connection="strong")
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    rows = rows[order][:, order]
    entries = rows.tocoo()
    off = entries.row != entries.col
    inner = sp.csr_array((-entries.data[off], (entries.row[off], entries.col[off])), shape=rows.shape)
    graph = np.append(0, np.cumsum(sizes)), inner.indptr, inner.indices, inner.data, inverse[order]
    place = np.argsort(order)

    def solve(target: Floats, most: int) -> Floats:
        solution = np.zeros_like(target)
        count = _machine_code()(*graph, target[order], solution, TOLERANCE, most)
        if count < 0 or not np.isfinite(solution).all():
            raise ArithmeticError("the sweeps do not converge")
        return solution[place]

    most = QUICK if int(sizes.max()) <= HUGE else PATIENCE
    try:
        solve(np.ones(len(order)), most)
    except ArithmeticError:
        return None
    return lambda target: solve(target, 4 * most)
