"""A guess at an optimal tree of the multiplicative transportation problem, in floating point."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from flint import fmpq

from bisimdist.lp.backends.base import remaining_seconds
from bisimdist.progress import NEVER, Deadline

_LARGEST = 10**9
_SMALLEST = 1e-9


def guess_tree(
    supply: Sequence[fmpq],
    demand: Sequence[fmpq],
    ratio: Sequence[Sequence[fmpq]],
    deadline: Deadline = NEVER,
) -> list[tuple[int, int]]:
    """Return arcs that are probably those of an optimal tree, the surest first.

    There are none if numbers are too wide for doubles, or doubles do not tell ratios apart.
    """
    different = {r for row in ratio for r in row}
    if max(different) > _LARGEST or len(set(map(float, different))) < len(different):
        return []
    from scipy.optimize import linprog  # noqa: PLC0415 - slow to load, and small problems need none
    from scipy.sparse import coo_array  # noqa: PLC0415

    a = np.array([float(m) for m in supply])
    b = np.array([float(m) for m in demand])
    if min(a.min(), b.min()) < _SMALLEST * max(a.max(), b.max()):
        return []
    r = np.array([[float(x) for x in row] for row in ratio])
    n, m = r.shape
    arcs = np.arange(n * m)
    # Loads are measured in units of what a sink may take, sources in units of what they have.
    rows = np.concatenate([arcs // m, n + arcs % m, n + np.arange(m)])
    columns = np.concatenate([arcs, arcs, np.full(m, n * m)])
    entries = np.concatenate([np.full(n * m, -1.0), (r / b[None, :] * a[:, None]).ravel(), np.full(m, -1.0)])
    matrix = coo_array((entries, (rows, columns)), shape=(n + m, n * m + 1)).tocsr()
    cost = np.zeros(n * m + 1)
    cost[-1] = 1.0
    seconds = remaining_seconds(deadline)
    result = linprog(
        cost,
        A_ub=matrix,
        b_ub=np.concatenate([np.full(n, -1.0), np.zeros(m)]),
        method="highs",
        options={} if seconds is None else {"time_limit": seconds},
    )
    if result.status != 0:
        return []
    flows = result.x[:-1]
    prices = -result.ineqlin.marginals
    u, v = prices[:n] / a, prices[n:] / b
    slack = np.abs(r * v[None, :] - u[:, None]).ravel() / np.maximum(u.max(), 1e-300)
    used = flows > 1e-11
    order = np.lexsort((slack, ~used))
    wanted = [int(k) for k in order if used[k] or slack[k] < 1e-9]
    return [(k // m, k % m) for k in wanted]
