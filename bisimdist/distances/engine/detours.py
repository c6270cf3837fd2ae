"""Detours: couplings that reach a sink through third states, which skewed distances can make cheaper.

For alpha > 1 the distances obey no triangle inequality. A unit that goes from i to j through k costs
``d_ik + alpha d_kj`` (and uses up alpha times the capacity of a direct one). A direct coupling is optimal
exactly where its potentials extend to all states of the class; where they do not, the states on the paths
that pull them up are let in, and the program is solved again with all their arcs. At alpha = 1 the least
fixed point is a pseudometric and no detour ever helps. See the note on detours in docs/theory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from flint import fmpq

from bisimdist.distances.engine.programs import Functional
from bisimdist.lp.optimum import SkewedOptimum
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.simplex import solve_simplex
from bisimdist.progress import NEVER, Deadline

MARGIN = 1e-9
"""Sums of doubles that differ by more than this differ for certain; closer ones are compared exactly."""

CLOSE = 20_000  # more detours that tie with the direct way are not looked at one by one

Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class GeneralCoupling:
    """A coupling of one program on chosen states of its class, with detours through them."""

    nodes: tuple[int, ...]
    optimum: SkewedOptimum


def solve_block(  # noqa: PLR0913
    functional: Functional,
    side: int,
    nodes: tuple[int, ...],
    distance: Callable[[int, int], fmpq],
    *,
    basis: tuple[int, ...] = (),
    deadline: Deadline = NEVER,
) -> SkewedOptimum:
    """Solve one direction of the lifting on the given states of a class, with all detours through them."""
    left, right = map(dict, functional.rows_of(side))
    zero = fmpq(0)
    rows = tuple(tuple(zero if i == j else distance(i, j) for j in nodes) for i in nodes)
    here, there = (tuple(row.get(i, zero) for i in nodes) for row in (left, right))
    return solve_simplex(SkewedProblem(functional.alpha, here, there, rows), basis, deadline=deadline)


@dataclass(eq=False)
class ClassDistances:
    """The distances within one class: in doubles to find detours, exact to decide."""

    members: tuple[int, ...]
    guess: Matrix
    equal: npt.NDArray[np.int64]  # numbers that agree exactly where the distances do; 0 for distance 0
    distance: Callable[[int, int], fmpq]
    alpha: fmpq
    settled: bool = field(default=True, kw_only=True)  # otherwise they are guesses, and a tie means nothing

    def __post_init__(self) -> None:
        self.index = {state: k for k, state in enumerate(self.members)}
        self.skew = float(self.alpha)

    @classmethod
    def of_class(  # noqa: PLR0913
        cls,
        functional: Functional,
        kind: int,
        rough: npt.NDArray[np.float64],
        key: Callable[[int], object],
        distance: Callable[[int], fmpq],
        *,
        settled: bool = True,
    ) -> ClassDistances:
        """Return the distances of a class from vectors by number of pair; equal keys mean equal distances."""
        space = functional.space
        members = space.members[kind]
        size = len(members)
        guess = np.zeros((size, size), dtype=np.float64)
        equal = np.zeros((size, size), dtype=np.int64)
        if size > 1:
            rows, columns = np.nonzero(~np.eye(size, dtype=np.bool_))
            numbers = [
                space.number(members[a], members[b])
                for a, b in zip(rows.tolist(), columns.tolist(), strict=True)
            ]
            guess[rows, columns] = rough[np.array(numbers, dtype=np.int64)]
            known: dict[object, int] = {0: 0}
            equal[rows, columns] = [known.setdefault(key(number), len(known)) for number in numbers]

        def between(i: int, j: int) -> fmpq:
            return distance(space.number(i, j))

        return cls(members, guess, equal, between, functional.alpha, settled=settled)

    def has_detours(self, deadline: Deadline = NEVER) -> bool:
        """Tell whether some detour may be cheaper than the direct way; False is certain."""
        guess, size, equal = self.guess, len(self.members), self.equal
        close: list[tuple[int, int, int]] = []
        for k in range(size):
            deadline.check()
            gain = guess - guess[:, k : k + 1] - self.skew * guess[k : k + 1, :]
            gain[k, :] = gain[:, k] = -np.inf
            np.fill_diagonal(gain, val=-np.inf)
            # to a twin of j it is as far as to j: a tie, however long the numbers
            gain[(equal[k, :] == 0)[None, :] & (equal == equal[:, k : k + 1])] = -np.inf
            best = float(gain.max(initial=-np.inf))
            if best > MARGIN or len(close) > CLOSE:
                return True
            if best > -MARGIN and self.settled:
                close.extend((int(i), k, int(j)) for i, j in zip(*np.nonzero(gain > -MARGIN), strict=True))
        return any(self._cheaper(*triple) for triple in close)

    def _cheaper(self, i: int, k: int, j: int) -> bool:
        """Tell whether the detour from i through k to j is cheaper than the direct way, exactly."""
        a, b, c = self.members[i], self.members[k], self.members[j]
        return bool(self.distance(a, b) + self.alpha * self.distance(b, c) < self.distance(a, c))

    def missing(
        self,
        rough: Mapping[int, float],
        exact: Callable[[], Mapping[int, fmpq]],
        certified: Callable[[int, int], bool],
    ) -> set[int] | None:
        """Return the states to let in because the potential does not extend to the class; None if it does.

        ``rough``: the potential f on some states of the class, in doubles.
        ``exact``: computes it exactly; called only where doubles do not decide.
        ``certified``: tells of two of these states (i, j) whether ``f_i - alpha f_j <= d_ij`` is known.
        returns: middle states of the detours that pull f up; empty where only arcs between the given states
            do.
        """
        ends = [self.index[state] for state in rough]
        f = np.array(list(rough.values()), dtype=np.float64)
        direct = f[:, None] - self.skew * f[None, :] - self.guess[np.ix_(ends, ends)]
        known = np.array([[i == j or certified(i, j) for j in rough] for i in rough], dtype=np.bool_)
        direct[known] = -np.inf
        if float(direct.max(initial=-np.inf)) > MARGIN:
            return set()
        pulled, before = self._extended(ends, f)
        back = pulled[:, None] - self.skew * f[None, :] - self.guess[:, ends]
        back[ends, :] = -np.inf
        middles: set[int] = set()
        for k in np.flatnonzero(back.max(axis=1, initial=-np.inf) > MARGIN).tolist():
            middles |= self._path(k, before, set(ends))
        if middles:
            return middles
        if self.settled and max(direct.max(initial=-np.inf), back.max(initial=-np.inf)) > -MARGIN:
            return self._missing_exactly(exact(), certified, pulled)
        return None

    def missing_from(self, potential: Mapping[int, fmpq]) -> set[int] | None:
        """Return the same of an exact potential whose arcs are all known to be right."""
        rough = {state: float(f) for state, f in potential.items()}
        return self.missing(rough, lambda: potential, lambda _i, _j: True)

    def _extended(self, ends: list[int], f: Matrix) -> tuple[Matrix, list[int]]:
        """Return the least extension to the other states of the class, and where each value comes from."""
        steps = (f[:, None] - self.guess[ends, :]) / self.skew
        pulled = np.maximum(steps.max(axis=0, initial=0.0), 0.0)
        before = [ends[k] for k in steps.argmax(axis=0)] if len(ends) else []
        pulled[ends] = 0.0
        for _ in range(len(self.members)):
            onward = (pulled[:, None] - self.guess) / self.skew
            best = onward.max(axis=0)
            best[ends] = 0.0
            higher = best > pulled + MARGIN / (8 * len(self.members))
            if not higher.any():
                break
            origin = onward.argmax(axis=0)
            for k in np.flatnonzero(higher).tolist():
                before[k] = int(origin[k])
            pulled = np.where(higher, best, pulled)
        return pulled, before

    def _path(self, k: int, before: list[int], ends: set[int]) -> set[int]:
        found: set[int] = set()
        while k not in ends and self.members[k] not in found:
            found.add(self.members[k])
            k = before[k]
        return found

    def _missing_exactly(
        self, f: Mapping[int, fmpq], certified: Callable[[int, int], bool], rough: Matrix
    ) -> set[int] | None:
        """Decide in exact arithmetic, by the same relaxation along all steps that doubles do not rule out."""
        alpha, distance = self.alpha, self.distance
        for i, value in f.items():
            for j, other in f.items():
                if i != j and not certified(i, j) and value - alpha * other > distance(i, j):
                    return set()
        pulled: dict[int, fmpq] = {}
        before: dict[int, int] = {}
        outside = [state for state in self.members if state not in f]
        layer: dict[int, fmpq] = {i: value for i, value in f.items() if value > 0}
        while layer:
            following: dict[int, fmpq] = {}
            for i, value in layer.items():
                steps = (float(value) - self.guess[self.index[i]]) / self.skew
                close = steps > rough - MARGIN
                for k in outside:
                    if k != i and close[self.index[k]]:
                        least = (value - distance(i, k)) / alpha
                        if least > 0 and least > pulled.get(k, fmpq(0)):
                            pulled[k] = following[k] = least
                            before[k] = i
            layer = following
        for k, value in pulled.items():
            if any(value - alpha * other > distance(k, j) for j, other in f.items()):
                found = {k}
                last = before[k]
                while last not in f and last not in found:
                    found.add(last)
                    last = before[last]
                return found
        return None


def solve_with_detours(  # noqa: PLR0913
    functional: Functional,
    side: int,
    distances: ClassDistances,
    nodes: set[int],
    *,
    basis: tuple[int, ...] = (),
    deadline: Deadline = NEVER,
) -> GeneralCoupling:
    """Solve one direction on the given states of a class and on all others that make it cheaper.

    The result is optimal on the whole class: its potential extends to all states.
    """
    while True:
        deadline.check()
        chosen = tuple(sorted(nodes))
        optimum = solve_block(functional, side, chosen, distances.distance, basis=basis, deadline=deadline)
        middles = distances.missing_from(dict(zip(chosen, optimum.potential, strict=True)))
        if middles is None:
            return GeneralCoupling(chosen, optimum)
        nodes = nodes | middles
        basis = ()
