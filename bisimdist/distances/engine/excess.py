"""What rows of states have more of than rows of others: the sources and sinks of many pairs at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from math import lcm
from typing import Any

import numpy as np
from flint import fmpq

from bisimdist.lp.compiled import Int64Array
from bisimdist.lp.programs import Programs, ranges, starts
from bisimdist.models.interactive import System
from bisimdist.models.lmc import Row

IntegerRow = tuple[dict[int, int], int]
"""A row as integers over one denominator: ({state: numerator}, denominator)."""

Numbering = Callable[[Int64Array, Int64Array], Int64Array]  # returns the numbers of pairs of states
BITS = 62  # amounts whose sums have no more bits are numbers of 64 bits; others stay Python's
CELLS = 1 << 18  # rows that come to about so many moves are looked at together;
ROW = 16  # two rows take as long as so many, however short they are


def integer_rows(rows: Sequence[Row]) -> tuple[IntegerRow, ...]:
    """Return the rows over their least common denominators."""
    result = []
    for row in rows:
        denominator = lcm(*(int(p.q) for _, p in row))
        result.append(({state: int(p.p) * (denominator // int(p.q)) for state, p in row}, denominator))
    return tuple(result)


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a model as flat arrays, arm after arm, and the skew for which they are compared."""

    model: System
    skew: tuple[int, int]
    state: Int64Array  # state and kind: the states, sorted by class, and their classes
    kind: Int64Array
    # start, place and mass: row r has `mass` on the states at `place` in that order, from start[r] to start[r
    # + 1]
    start: Int64Array
    place: Int64Array
    mass: Any
    whole: Any  # by row what stands for mass 1

    @classmethod
    def of(cls, model: System, classes: Sequence[int], alpha: fmpq) -> Rows:
        """Return the rows of a model, of whose states some are in one class."""
        kind = np.array(classes, dtype=np.int64)
        state = np.argsort(kind, kind="stable")
        place = np.argsort(state)
        rows = integer_rows([row for arm in model.arms for row in arm])
        p, q = int(alpha.p), int(alpha.q)
        longest = p * q * max(whole for _, whole in rows) ** 2
        shared = p * q
        for whole in {whole for _, whole in rows}:
            shared = lcm(shared, p * q * whole) if shared < longest else longest
        number = np.int64 if min(shared, longest) >> BITS == 0 else object
        return cls(
            model,
            (p, q),
            state,
            kind[state],
            starts(np.array([len(masses) for masses, _ in rows], dtype=np.int64)),
            place[np.fromiter(chain.from_iterable(masses for masses, _ in rows), dtype=np.int64)],
            np.array([x for masses, _ in rows for x in masses.values()], dtype=number),
            np.array([whole for _, whole in rows], dtype=number),
        )

    def facing(
        self, first: Int64Array, second: Int64Array
    ) -> tuple[Int64Array, Int64Array, Int64Array, Int64Array]:
        """Return all that faces each other in pairs of states: by pair and number of the arm two rows."""
        pairs = zip(first.tolist(), second.tolist(), strict=True)
        arms = [self.model.facing(s, t) for s, t in pairs]
        pair, arm = ranges(np.zeros_like(first), np.array([len(found) for found in arms], dtype=np.int64))
        here, there = np.array([both for found in arms for both in found], dtype=np.int64).reshape(-1, 2).T
        size = len(self.state)
        return pair, arm, here * size + first[pair], there * size + second[pair]

    def parts(self, left: Int64Array, right: Int64Array) -> Iterator[slice]:
        """Yield pieces of pairs of rows that are small enough to be looked at together."""
        length = np.diff(self.start)
        cells = np.cumsum(ROW + length[left] * length[right])
        cuts = np.searchsorted(cells, np.arange(CELLS, cells[-1] if len(cells) else 0, CELLS)).tolist()
        yield from (slice(low, high) for low, high in pairwise(sorted({0, *cuts, len(left)})))

    def units(self, left: Int64Array, right: Int64Array) -> Any:
        """Return what stands for mass 1 where two rows are compared."""
        return np.lcm(self.whole[left], self.whole[right]) * (self.skew[0] * self.skew[1])

    def programs(
        self, left: Int64Array, right: Int64Array, number: Numbering, *, both: bool
    ) -> tuple[Int64Array, Programs]:
        """Return the transportation programs of pairs of rows: one for every class with sources.

        With m = M/R, m' = M'/R and alpha = p/q, a source i holds m(i) - alpha m'(i) and a sink j takes
        m'(j) - m(j)/alpha units of shipped mass; in units of 1/(p q R) both are integers.

        ``number``: returns the numbers of cells, given their sources and sinks.
        ``both``: whether the other direction is wanted too.
        returns: by program its direction, 2 k for the k-th pair of rows and 2 k + 1 for the other one; and
            the programs, in that order.
        """
        p, q = self.skew
        direction, place, excess = self._excess(left, right, both=both)
        kind = self.kind[place]
        fresh = np.ones(len(place), dtype=np.bool_)
        fresh[1:] = (direction[1:] != direction[:-1]) | (kind[1:] != kind[:-1])
        block, blocks = np.cumsum(fresh) - 1, int(fresh.sum())
        source = excess > 0
        sources = np.bincount(block[source], minlength=blocks)
        alive = sources > 0
        sink = (excess < 0) & alive[block]
        sinks = np.bincount(block[sink], minlength=blocks)[alive]
        sources = sources[alive]
        side, source_start, sink_start = direction[fresh][alive], starts(sources), starts(sinks)
        here, there = self.state[place[source]], self.state[place[sink]]
        owner, cell = ranges(np.zeros_like(sources), sources * sinks)
        row, column = cell // sinks[owner], cell % sinks[owner]
        return side, Programs(
            source_start,
            sink_start,
            starts(sources * sinks),
            here,
            there,
            p * excess[source],
            -q * excess[sink],
            number(here[source_start[owner] + row], there[sink_start[owner] + column]),
            self.units(left, right)[side // 2],
        )

    def _excess(
        self, left: Int64Array, right: Int64Array, *, both: bool
    ) -> tuple[Int64Array, Int64Array, Any]:
        """Return what is in one of two rows: by direction and place q times the excess of the first."""
        (p, q), size = self.skew, len(self.state)
        whole = np.lcm(self.whole[left], self.whole[right])
        keys, masses = [], []
        for rows in (left, right):
            owner, entry = ranges(self.start[rows], np.diff(self.start)[rows])
            keys.append(owner * size + self.place[entry])
            masses.append(self.mass[entry] * (whole // self.whole[rows])[owner])
        names, found = np.unique(np.concatenate(keys), return_inverse=True)
        m, other = np.zeros((2, len(names)), dtype=self.mass.dtype)
        m[found[: len(keys[0])]], other[found[len(keys[0]) :]] = masses
        direction, place, excess = names // size * 2, names % size, q * m - p * other
        if both:
            direction = np.concatenate((direction, direction + 1))
            order = np.argsort(direction, kind="stable")
            direction, place = direction[order], np.concatenate((place, place))[order]
            excess = np.concatenate((excess, q * other - p * m))[order]
        return direction, place, excess
