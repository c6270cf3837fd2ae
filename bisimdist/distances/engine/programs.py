"""The linear programs of the functional Gamma_alpha: for every pair, two directions, one program a class.

Source: CMP18 Definition 11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.excess import Rows
from bisimdist.distances.engine.pairs import PairSpace
from bisimdist.lp.batch import TransportBatch, pack
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.lp.programs import Programs, starts
from bisimdist.models.interactive import System
from bisimdist.models.lmc import Row
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(frozen=True, slots=True)
class Functional:
    """A functional on numbered pairs, as transportation programs.

    On unordered pairs it is Gamma_alpha, the maximum of the lifting in both directions, whose least fixed
    point is bd_alpha; on ordered pairs the lifting in the direction of the pair, whose least fixed point is
    the asymmetric distance lbd_alpha. Of an interactive model it is the maximum over all actions besides.

    A *side* is a pair with an option, an action and a direction: side ``k width + 2 a`` of the k-th pair
    (s, t) is the direction (mu_s, mu_t) of the rows of the a-th of ``model.facing(s, t)``, the next side the
    other direction. Its value is the sum over its programs (one a class of successors), divided by `scale`.
    """

    model: System
    space: PairSpace
    alpha: fmpq
    scale: tuple[int, ...]  # by side: the integer that stands for mass 1
    batch: TransportBatch
    side_start: Int64Array  # the programs of side k are side_start[k] … side_start[k + 1] - 1
    side_of: Int64Array  # the side that each program belongs to
    width: int  # how many sides a pair has, with those that are not looked at

    @property
    def size(self) -> int:
        """The number of pairs."""
        return len(self.space)

    @property
    def both_sides(self) -> bool:
        """Whether the maximiser has a choice of two directions.

        Not at alpha = 1, where they are mirror images, and not for ordered pairs, which say the direction.
        """
        return bool(self.alpha != 1) and not self.space.ordered

    @property
    def options(self) -> tuple[int, ...]:
        """What the maximiser chooses from at a pair: places of sides among those of the pair."""
        return tuple(range(0, self.width, 1 if self.both_sides else 2))

    @property
    def sides(self) -> Int64Array:
        """All sides that the maximiser chooses from, pair by pair."""
        starts = np.arange(self.size, dtype=np.int64) * self.width
        sides: Int64Array = (starts[:, None] + np.array(self.options)).ravel()
        return sides

    @property
    def detours(self) -> bool:
        """Whether detours through third states count.

        They do not at alpha = 1, where the distance is a pseudometric; nor where only the pairs that direct
        couplings reach are numbered: then the functional is an upper bound of the true one.
        """
        return bool(self.alpha != 1) and self.space.whole

    def ordered(self, side: int) -> tuple[int, int]:
        """Return the states (s, t) of a side, such that mu_s stands for m and mu_t for m'."""
        s, t = self.space.pairs[side // self.width]
        return (t, s) if side % 2 else (s, t)

    def arm(self, side: int) -> int:
        """Return the number of the action of a side."""
        return side % self.width // 2

    def rows_of(self, side: int) -> tuple[Row, Row]:
        """Return the rows m and m' of a side."""
        s, t = self.space.pairs[side // self.width]
        facing = self.model.facing(s, t)
        if self.arm(side) >= len(facing):
            return (), ()
        here, there = facing[self.arm(side)]
        rows = self.model.arms[here][s], self.model.arms[there][t]
        return rows[::-1] if side % 2 else rows

    def class_of(self, program: int) -> int:
        """Return the class whose states a program is about."""
        programs = self.batch.programs
        return self.space.classes[int(programs.sources[programs.source_start[program]])]

    def classes_of(self, programs: Int64Array) -> Int64Array:
        """Return the same of many programs."""
        flat = self.batch.programs
        found: Int64Array = np.array(self.space.classes)[flat.sources[flat.source_start[programs]]]
        return found

    def programs_of(self, side: int) -> range:
        return range(int(self.side_start[side]), int(self.side_start[side + 1]))

    def by_side(self, value: Float64Array, programs: Int64Array | None = None) -> Float64Array:
        """Return, by pair and place of a side, the sum of the values of its programs: of all, or of some."""
        chosen = slice(None) if programs is None else programs
        summed = np.bincount(self.side_of[chosen], value[chosen], minlength=self.width * self.size)
        return summed.astype(np.float64, copy=False).reshape(-1, self.width)


def build_functional(
    model: System, space: PairSpace, alpha: fmpq, *, deadline: Deadline = NEVER, progress: Progress = silent
) -> Functional:
    """Make the programs of the pairs; at alpha = 1 and for ordered pairs only of the first direction."""
    rows = Rows.of(model, space.classes, alpha)
    first, second = space.states()
    pair, arm, left, right = rows.facing(first, second)
    width = 2 * (1 + int(arm.max(initial=0)))
    start, number = pair * width + 2 * arm, space.numbering()
    scale = np.full(width * len(space), int(alpha.p * alpha.q), dtype=rows.mass.dtype)
    scale[start] = scale[start + 1] = rows.units(left, right)
    side_of, made = [np.zeros(0, dtype=np.int64)], []
    for part in rows.parts(left, right):
        deadline.check()
        progress("linear programs", part.start, len(start))
        direction, programs = rows.programs(
            left[part], right[part], number, both=bool(alpha != 1) and not space.ordered
        )
        side_of.append(start[part][direction // 2] + direction % 2)
        made.append(programs)
    sides = np.concatenate(side_of)
    count = np.bincount(sides, minlength=len(scale))
    return Functional(
        model,
        space,
        alpha,
        tuple(scale.tolist()),
        pack(Programs.joined(made), deadline=deadline),
        starts(count),
        sides,
        width,
    )
