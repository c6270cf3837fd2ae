"""An exact simplex for the coupling program, on the forests of its bases.

Every number is an ``fmpq``; a double only ever suggests which column to look at first. The flows are kept
feasible throughout, and the method ends when an exact look at every column finds none that would lower the
cost, which is the proof that the potentials are feasible too.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from flint import fmpq

from bisimdist.errors import LinearProgramError
from bisimdist.lp.network import Forest, feasible_basis
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.progress import NEVER, Deadline

_ZERO = fmpq(0)
_ONE = fmpq(1)
_PATIENCE = 1  # pivots without progress, as a multiple of the nodes, before Bland's rule
_GUIDED_FROM = 12  # nodes from which doubles choose the columns faster than exact numbers do
_GUIDED_TOLERANCE = 1e-9
_GUIDED_ALPHA = 2**60  # beyond it doubles say nothing about potentials of size one


def solve_simplex(
    problem: SkewedProblem, basis: Iterable[int] = (), *, deadline: Deadline = NEVER
) -> SkewedOptimum:
    """Solve a skewed problem exactly.

    The column that promises most enters; after more pivots without progress than there are nodes, the
    smallest column that promises anything enters, until the next progress (Bland's rule, which cannot
    cycle). Among the columns that may leave, the smallest does.

    ``problem``: the problem; any number of nodes, gains and detours through nodes outside both supports
        included.
    ``basis``: columns to start from (see `bisimdist.lp.network`), such as the basis of the optimum of a
        neighbouring problem; need not be a basis, nor feasible. By default all mass is given up.
    returns: with both witnesses, the optimal basis and the number of pivots.

    >>> half = fmpq(1, 2)
    >>> distance = ((fmpq(0), half), (half, fmpq(0)))
    >>> solve_simplex(SkewedProblem(fmpq(1), (fmpq(1), fmpq(0)), (fmpq(0), fmpq(1)), distance)).value
    1/2
    """
    return _Run(problem, deadline).solve(basis)


class _Run:
    """The state of one solution."""

    __slots__ = (
        "columns",
        "deadline",
        "distance",
        "excess",
        "forest",
        "guided",
        "n",
        "pivots",
        "potential",
        "problem",
        "rough",
    )

    columns: dict[int, fmpq]
    forest: Forest
    potential: list[fmpq]

    def __init__(self, problem: SkewedProblem, deadline: Deadline) -> None:
        self.problem = problem
        self.deadline = deadline
        self.n = len(problem)
        self.excess = problem.excess()
        self.distance = problem.distance
        self.pivots = 0
        self.guided = self.n >= _GUIDED_FROM and problem.alpha < _GUIDED_ALPHA
        self.rough: np.ndarray[tuple[int, int], np.dtype[np.float64]] | None = None

    def solve(self, basis: Iterable[int]) -> SkewedOptimum:
        _, self.columns = feasible_basis(self.problem.alpha, self.excess, basis)
        self._refresh()
        self._descend()
        return self._optimum()

    def _refresh(self) -> None:
        self.forest = Forest(self.n, self.problem.alpha, self.columns)
        self.potential = self.forest.potentials(self.distance)

    def _descend(self) -> None:
        """Pivot until no column lowers the cost."""
        idle = 0
        while True:
            self.deadline.check()
            entering = None
            if idle > _PATIENCE * self.n:
                entering = self._first_column()
            else:
                if self.guided:
                    entering = self._guided_column()
                if entering is None:
                    entering = self._best_column()
            if entering is None:
                return
            idle = 0 if self._pivot(entering) else idle + 1

    def _guided_column(self) -> int | None:
        """Return the column that promises most in double precision, if exact numbers confirm it."""
        if self.rough is None:
            self.rough = np.array([[float(d) for d in row] for row in self.distance])
            np.fill_diagonal(self.rough, np.inf)
        f, alpha = self.potential, self.problem.alpha
        near = np.array([float(value) for value in f])
        promise = near[:, None] - float(alpha) * near[None, :] - self.rough
        place = int(promise.argmax())
        if not promise.flat[place] > _GUIDED_TOLERANCE:
            return None
        i, j = divmod(place, self.n)
        return place if i != j and f[i] - alpha * f[j] > self.distance[i][j] else None

    def _single_columns(self) -> Iterable[tuple[int, fmpq]]:
        """Yield the columns of one node that lower the cost, and by how much a unit."""
        for i, f in enumerate(self.potential):
            if f > 1:
                yield i * (self.n + 1), f - 1
            elif f < 0:
                yield self.n * self.n + i, -f

    def _best_column(self) -> int | None:
        best = _ZERO
        entering = None
        n, f, distance = self.n, self.potential, self.distance
        alpha = self.problem.alpha
        scaled = [alpha * value for value in f]
        for i, mine in enumerate(f):
            if mine <= best:
                continue  # no gain beyond the best: d_ij + alpha f_j >= 0 or f_j itself is out of bounds
            row = distance[i]
            for j, other in enumerate(scaled):
                promise = mine - other - row[j]
                if promise > best and i != j:
                    best = promise
                    entering = i * n + j
        for column, promise in self._single_columns():
            if promise > best:
                best = promise
                entering = column
        return entering

    def _first_column(self) -> int | None:
        candidates = [column for column, _ in self._single_columns()]
        f, distance = self.potential, self.distance
        alpha = self.problem.alpha
        scaled = [alpha * value for value in f]
        for i, row in enumerate(distance):
            found = next((j for j, other in enumerate(scaled) if f[i] - other > row[j] and i != j), None)
            if found is not None:
                candidates.append(i * self.n + found)
                break
        return min(candidates, default=None)

    def _pivot(self, entering: int) -> bool:
        """Exchange a column; tell whether the cost fell."""
        n = self.n
        direction = [_ZERO] * n
        if entering >= n * n:
            direction[entering - n * n] = -_ONE
        else:
            i, j = divmod(entering, n)
            direction[i] = _ONE
            if i != j:
                direction[j] = -self.problem.alpha
        rates = self.forest.solve(direction)
        columns = self.columns
        step = None
        leaving = -1
        for column, rate in rates.items():
            if rate > 0:
                ratio = columns[column] / rate
                if step is None or ratio < step or (ratio == step and column < leaving):
                    step = ratio
                    leaving = column
        if step is None:
            raise LinearProgramError("the coupling program is unbounded below, which its costs exclude")
        if step:
            for column, rate in rates.items():
                columns[column] -= step * rate
        del columns[leaving]
        columns[entering] = step
        self.pivots += 1
        self._refresh()
        return bool(step)

    def _optimum(self) -> SkewedOptimum:
        moves = {}
        given_up = {}
        value = _ZERO
        for column in sorted(self.columns):
            amount = self.columns[column]
            i, j = divmod(column, self.n)
            if i >= self.n or not amount:
                continue
            if i == j:
                given_up[i] = amount
                value += amount
            else:
                moves[i, j] = amount
                value += amount * self.distance[i][j]
        return SkewedOptimum(
            value, tuple(self.potential), moves, given_up, tuple(sorted(self.columns)), self.pivots
        )
