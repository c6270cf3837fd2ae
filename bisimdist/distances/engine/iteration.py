"""Value iteration in fixed-point integers: the fast guess that exact arithmetic judges later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisimdist.distances.engine.programs import Functional
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.lp.programs import ranges
from bisimdist.progress import NEVER, Deadline, Progress, silent

BoolArray = npt.NDArray[np.bool_]

ONE = 1 << 48  # distance 1 in the units of the guess


@dataclass(frozen=True, slots=True)
class Stage:
    """A strongly connected component of classes: what is iterated together, after all below it."""

    pairs: Int64Array  # its pairs
    programs: Int64Array  # indices of their programs
    cyclic: bool


def stages(functional: Functional, components: Sequence[tuple[tuple[int, ...], bool]]) -> list[Stage]:
    """Sort the pairs into components of classes, successors first."""
    space, start = functional.space, functional.side_start[:: functional.width]
    kind = np.array(space.classes)[space.states()[0]]
    order = np.argsort(kind, kind="stable")
    cuts = np.searchsorted(kind[order], np.arange(len(space.members) + 1))
    result = []
    for group, cyclic in components:
        pairs = np.concatenate([order[cuts[k] : cuts[k + 1]] for k in group])
        if len(pairs):
            _, programs = ranges(start[pairs], start[pairs + 1] - start[pairs])
            result.append(Stage(pairs, programs, cyclic))
    return result


@dataclass(slots=True)
class Approximation:
    """Distances in units of 1 / ONE with the bases and directions that belong to them: the working state."""

    functional: Functional
    basis: BatchBasis
    distance: Int64Array  # by pair
    direction: Int64Array  # by pair: the option that the maximiser takes, 0 or 1 for a direction of a chain
    zero: BoolArray  # by pair: those found to be at distance 0
    rounds: int = 0
    pivots: int = 0

    @classmethod
    def start(cls, functional: Functional, *, jobs: int = 1) -> Approximation:
        """Return the least element, distance 0 everywhere."""
        size = functional.size
        return cls(
            functional,
            BatchBasis.start(functional.batch, jobs=jobs),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.int64),
            np.zeros(size, dtype=np.bool_),
        )

    def sides(self, stage: Stage, distance: Int64Array) -> Float64Array:
        """Return Gamma of `distance` on the stage: the values of all options, an array (pairs, width)."""
        functional = self.functional
        if len(stage.programs):
            self.pivots += self.basis.solve(functional.batch, stage.programs, distance, one=ONE, guess=True)
        return functional.by_side(self.basis.value, stage.programs)[stage.pairs]

    def run(
        self, stage: Stage, *, limit: int = 200, deadline: Deadline = NEVER, progress: Progress = silent
    ) -> None:
        """Iterate on one stage from the distances that it has, until they stand still or `limit` rounds."""
        open_ = ~self.zero[stage.pairs]
        for _ in range(limit if stage.cyclic else 1):
            deadline.check()
            value = self.sides(stage, self.distance)
            best = value.max(axis=1)
            # keep a direction until the other is better by more than rounding: ties must not flicker
            kept = value[np.arange(len(best)), self.direction[stage.pairs]]
            switch = (best > kept + 256) | (kept <= 0)
            self.direction[stage.pairs] = np.where(switch, value.argmax(axis=1), self.direction[stage.pairs])
            fresh = np.where(open_, np.minimum(best, ONE), 0).astype(np.int64)
            change = int(np.abs(fresh - self.distance[stage.pairs]).max())
            self.distance[stage.pairs] = fresh
            self.rounds += 1
            progress("value iteration", self.rounds, None)
            if change <= 1:
                break

    def take(self, distance: Int64Array) -> None:
        """Take distances that are known in about, with the bases and directions that belong to them."""
        self.distance[:] = distance
        self.zero[:] = distance == 0
        functional, everything = self.functional, np.arange(len(self.functional.batch))
        self.pivots += self.basis.solve(functional.batch, everything, distance, one=ONE)
        self.direction[:] = functional.by_side(self.basis.value).argmax(axis=1)
