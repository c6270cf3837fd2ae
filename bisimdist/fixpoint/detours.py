"""Detours: couplings that reach a sink through third states, which skewed distances can make cheaper.

For alpha > 1 the distances obey no triangle inequality. A unit that goes from i to j through k costs
``d_ik + alpha d_kj`` (and uses up alpha times the capacity of a direct one). Where that is never less than
``d_ij`` the potentials of a transportation program extend to all states of the class and the program is
exact; where it is less (a *shortcut*), the whole class has to be looked at. At alpha = 1 the least fixed
point is a pseudometric and no detour ever helps. See the note on detours in docs/theory.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import numpy.typing as npt
from flint import fmpq, fmpz
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components

from bisimdist.fixpoint.programs import Functional
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.simplex import solve_simplex

__all__ = ["ZeroDetours", "shortcuts", "solve_block"]

MARGIN = 1e-9
"""Sums of doubles that differ by more than this differ for certain; closer ones are compared exactly."""


def solve_block(
    functional: Functional, side: int, nodes: tuple[int, ...], distance: Callable[[int, int], fmpq]
) -> SkewedOptimum:
    """Solve one direction of the lifting on the given states of a class, with all detours through them."""
    s, t = functional.ordered(side)
    left, right = dict(functional.lmc.rows[s]), dict(functional.lmc.rows[t])
    zero = fmpq(0)
    rows = tuple(tuple(zero if i == j else distance(i, j) for j in nodes) for i in nodes)
    here, there = (tuple(row.get(i, zero) for i in nodes) for row in (left, right))
    return solve_simplex(SkewedProblem(functional.alpha, here, there, rows))


class ZeroDetours:
    """Judges, for costs of 0 and 1 only, whether a free detour makes a paying program free after all."""

    def __init__(self, functional: Functional) -> None:
        self.functional = functional
        self.first = np.empty(0, dtype=np.int64)
        self.second = self.first
        if functional.detours:
            pairs = np.array(functional.space.pairs, dtype=np.int64).reshape(-1, 2)
            self.first, self.second = pairs[:, 0], pairs[:, 1]

    def components(self, cost: Int64Array) -> Int64Array | None:
        """Return the connected components of the free pairs, or None where each of them is a clique."""
        if not self.functional.detours:
            return None
        free = cost == 0
        size = len(self.functional.lmc)
        graph = coo_matrix(
            (np.ones(int(free.sum()), dtype=np.int8), (self.first[free], self.second[free])),
            shape=(size, size),
        )
        _, component = connected_components(graph, directed=False)
        sizes = np.bincount(component)
        cliques = int((sizes * (sizes - 1)).sum())
        if cliques == int(free.sum()) * (1 if self.functional.space.ordered else 2):
            return None
        return np.asarray(component, dtype=np.int64)

    def active(self, cost: Int64Array) -> bool:
        """Tell whether free detours exist that are not free directly."""
        return self.components(cost) is not None

    def confirmed(self, programs: Int64Array, cost: Int64Array, basis: BatchBasis) -> Int64Array:
        """Return those of the paying programs that pay whatever detour is taken."""
        component = self.components(cost)
        if component is None:
            return programs
        kept = [index for index in programs.tolist() if self._pays(index, component, cost, basis)]
        return np.array(kept, dtype=np.int64)

    def _pays(self, index: int, component: Int64Array, cost: Int64Array, basis: BatchBasis) -> bool:
        functional = self.functional
        program = functional.batch.programs[index]
        start = int(functional.batch.source_start[index] + functional.batch.sink_start[index])
        potential = basis.potential[start:]
        paying = {int(component[i]) for k, i in enumerate(program.sources) if potential[k] > 0}
        offset = len(program.sources)
        cheap = {int(component[j]) for k, j in enumerate(program.sinks) if potential[offset + k] == 0}
        if not paying & cheap:
            return True  # f extends by 0 and by powers of 1 / alpha along the free paths
        space = functional.space
        wanted = {int(component[i]) for i in program.sources + program.sinks}
        members = space.members[space.classes[program.sources[0]]]
        nodes = tuple(i for i in members if int(component[i]) in wanted)
        free, paid = fmpq(0), fmpq(1)

        def distance(i: int, j: int) -> fmpq:
            return paid if cost[space.number(i, j)] else free

        return bool(solve_block(functional, int(functional.side_of[index]), nodes, distance).value > 0)


def shortcuts(
    members: tuple[int, ...], value: Callable[[int, int], fmpz], one: fmpz, alpha: fmpq
) -> set[tuple[int, int]]:
    """Return the ordered pairs (i, j) of a class that some detour makes cheaper than ``d_ij``.

    Parameters
    ----------
    members
        The states of the class.
    value
        The distance of two different members, in units of 1 / `one`.
    one
        Distance 1.
    alpha
        The skew.

    Returns
    -------
    set of tuple of int
        The shortcuts, found by doubles and decided by integers. Empty exactly where
        ``d_ij <= d_ik + alpha d_kj`` for all members.
    """
    size = len(members)
    if size < 3:
        return set()
    exact = [[fmpz(0)] * size for _ in members]
    for a, b in permutations(range(size), 2):
        exact[a][b] = value(members[a], members[b])
    whole = int(one)
    guess: npt.NDArray[np.float64] = np.array(
        [[int(x) / whole for x in row] for row in exact], dtype=np.float64
    )
    p, q = alpha.p, alpha.q
    found = np.zeros((size, size), dtype=np.bool_)
    skew = float(alpha)
    for k in range(size):
        sums = guess[:, k : k + 1] + skew * guess[k : k + 1, :]
        near = sums < guess + MARGIN
        near[k, :] = near[:, k] = False
        np.fill_diagonal(near, val=False)
        near &= ~found
        for a, b in zip(*np.nonzero(near), strict=True):
            if q * exact[a][k] + p * exact[k][b] < q * exact[a][b]:
                found[a, b] = True
    closed = _closure(exact, found, alpha)
    return {(members[a], members[b]) for a, b in closed}


def _closure(exact: list[list[fmpz]], found: npt.NDArray[np.bool_], alpha: fmpq) -> set[tuple[int, int]]:
    """Add the pairs that only become shortcuts through a longer detour."""
    pairs = {(int(a), int(b)) for a, b in zip(*np.nonzero(found), strict=True)}
    if not pairs:
        return pairs
    size = len(exact)
    best = [[fmpq(x) for x in row] for row in exact]
    changed = True
    while changed:
        changed = False
        for a in range(size):
            for b in range(size):
                if a != b:
                    least = min(exact[a][k] + alpha * best[k][b] for k in range(size) if k not in {a, b})
                    if least < best[a][b]:
                        best[a][b] = least
                        pairs.add((a, b))
                        changed = True
    return pairs
