"""The linear programs of the functional Gamma_alpha: for every pair, two directions, one program a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import lcm

import numpy as np
from flint import fmpq

from bisimdist.fixpoint.pairs import PairSpace
from bisimdist.lp.batch import TransportBatch, pack
from bisimdist.lp.compiled import Float64Array, Int64Array
from bisimdist.lp.program import Program
from bisimdist.models.interactive import System
from bisimdist.models.lmc import Row
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["Functional", "build_functional", "integer_rows"]

IntegerRow = tuple[dict[int, int], int]
"""A row as integers over one denominator: ({state: numerator}, denominator)."""


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
    scale: tuple[int, ...]
    """By side: the integer that stands for mass 1."""
    batch: TransportBatch
    side_start: Int64Array
    """The programs of side k are side_start[k] … side_start[k + 1] - 1."""
    side_of: Int64Array
    """The side that each program belongs to."""
    width: int
    """How many sides a pair has, with those that are not looked at."""

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

    def programs_of(self, side: int) -> range:
        """Return the indices of the programs of a side."""
        return range(int(self.side_start[side]), int(self.side_start[side + 1]))

    def by_side(self, value: Float64Array, programs: Int64Array | None = None) -> Float64Array:
        """Return, by pair and place of a side, the sum of the values of its programs: of all, or of some."""
        chosen = slice(None) if programs is None else programs
        summed = np.bincount(self.side_of[chosen], value[chosen], minlength=self.width * self.size)
        return summed.astype(np.float64, copy=False).reshape(-1, self.width)


def build_functional(
    model: System,
    space: PairSpace,
    alpha: fmpq,
    *,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Functional:
    """Make the programs of the pairs; at alpha = 1 and for ordered pairs only of the first direction.

    With m = M/R, m' = M'/R and alpha = p/q, a source i holds m(i) - alpha m'(i) and a sink j takes
    m'(j) - m(j)/alpha units of shipped mass; in units of 1/(p q R) both are integers.
    """
    arms = [integer_rows(rows) for rows in model.arms]
    width = max((len(model.facing(s, t)) for s, t in space.pairs), default=1)
    p, q = int(alpha.p), int(alpha.q)
    programs: list[Program] = []
    side_start = [0]
    side_of: list[int] = []
    scales = []
    directions = (0,) if alpha == 1 or space.ordered else (0, 1)
    for number, (s, t) in enumerate(space.pairs):
        if number % 512 == 0:
            deadline.check()
            progress("linear programs", number, len(space))
        facing = model.facing(s, t)
        for here, there in facing:
            split, common = _split(arms[here][s], arms[there][t], space.classes)
            scales += [common * p * q] * 2
            for direction in (0, 1):
                if direction in directions:
                    made = [_program(space, block, direction, (p, q), scales[-1]) for block in split]
                    kept = [program for program in made if program is not None]
                    programs.extend(kept)
                    side_of.extend([len(side_start) - 1] * len(kept))
                side_start.append(len(programs))
        missing = 2 * (width - len(facing))
        scales += [p * q] * missing
        side_start += [len(programs)] * missing
    return Functional(
        model,
        space,
        alpha,
        tuple(scales),
        pack(programs, deadline=deadline),
        np.array(side_start, dtype=np.int64),
        np.array(side_of, dtype=np.int64),
        2 * width,
    )


def integer_rows(rows: Sequence[Row]) -> tuple[IntegerRow, ...]:
    """Return the rows over their least common denominators."""
    result = []
    for row in rows:
        denominator = lcm(*(int(p.q) for _, p in row))
        result.append(({state: int(p.p) * (denominator // int(p.q)) for state, p in row}, denominator))
    return tuple(result)


Block = list[tuple[int, int, int]]  # (state, numerator of m, numerator of m')


def _split(left: IntegerRow, right: IntegerRow, classes: Sequence[int]) -> tuple[list[Block], int]:
    """Bring two rows to one denominator and sort their states into classes."""
    first, first_denominator = left
    second, second_denominator = right
    common = lcm(first_denominator, second_denominator)
    raise_first, raise_second = common // first_denominator, common // second_denominator
    blocks: dict[int, Block] = {}
    for state in sorted(first.keys() | second.keys()):
        entry = (state, first.get(state, 0) * raise_first, second.get(state, 0) * raise_second)
        blocks.setdefault(classes[state], []).append(entry)
    return [blocks[number] for number in sorted(blocks)], common


def _program(
    space: PairSpace, block: Block, direction: int, skew: tuple[int, int], whole: int
) -> Program | None:
    p, q = skew
    sources, sinks, supply, capacity = [], [], [], []
    for state, first, second in block:
        here, there = (first, second) if direction == 0 else (second, first)
        excess = q * here - p * there
        if excess > 0:
            sources.append(state)
            supply.append(p * excess)
        elif excess < 0:
            sinks.append(state)
            capacity.append(-q * excess)
    if not sources:
        return None
    cells = tuple(space.number(i, j) for i in sources for j in sinks)
    return Program(tuple(sources), tuple(sinks), tuple(supply), tuple(capacity), cells, whole)
