"""A chain as flat arrays: its states sorted by class, its pairs one triangle a class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import NamedTuple

import numpy as np
from flint import fmpq

from bisimdist.distances.engine.excess import integer_rows
from bisimdist.distances.engine.flat_plan import Chain, Room, number
from bisimdist.distances.engine.pairs import reached_by_classes
from bisimdist.linear.components import strongly_connected_components
from bisimdist.lp.compiled import BoolArray, Float64Array, Int64Array
from bisimdist.models.distinguishable import distinguishable_classes
from bisimdist.models.interactive import System
from bisimdist.models.worlds import Worlds

EXACT_BITS = 52  # whole numbers of so many bits, and sums of two of them, are exact in doubles
FINEST = 48  # distances are multiples of 2 to minus this, at best
SPARE = 18  # brackets are so many binary digits wider than the units, unless that is too fine
WIDEST = 1 << 10  # rows of more states are left to others
LARGE = 1 << 16  # states in so many pairs, of which no order is better than others, are a part by themselves


class Part(NamedTuple):
    """Where a part of the order of the states begins and ends; it does not depend on those after it."""

    low: int
    high: int
    apart: bool  # whether its plans may as well be made for a table that stays as it is
    cyclic: bool  # whether a distance may come back to itself


@dataclass(frozen=True, slots=True)
class Layout:
    """Where states and pairs stand, and in what units."""

    chain: Chain
    place: Int64Array  # by state of the model its number there, -1 where no pair of it can matter
    width: int  # the length of the longest row
    pairs: int  # how many pairs the triangles hold
    places: int  # how many moves the plans of all of them may have together
    # what the order of the states falls into: strongly connected ones that stand in many pairs, many that do
    # not lead to each other, and what is between them
    parts: tuple[Part, ...]
    bits: int = FINEST  # distances are multiples of 2 to minus this, at best

    @classmethod
    def of(
        cls, model: System, alpha: fmpq, asked: Sequence[tuple[int, int]], *, ordered: bool = False
    ) -> Layout | None:
        """Return the layout of all pairs that those asked can depend on; None where doubles are too short."""
        classes = distinguishable_classes(model)
        wanted = reached_by_classes(model, classes, asked)
        order = sorted((s for s, k in enumerate(classes) if k in wanted), key=lambda s: (classes[s], s))
        if not order:
            return None
        asked_of = [[arm[s] for arm in model.arms if arm[s]] or [()] for s in order]
        row = np.concatenate(([0], np.cumsum([len(rows) for rows in asked_of])))
        long = np.array([max(map(len, rows)) for rows in asked_of], dtype=np.int64)
        width = int(long.max())
        place = np.full(len(classes), -1, dtype=np.int64)
        place[order] = np.arange(len(order))
        rows = integer_rows([row for rows in asked_of for row in rows])
        shared = lcm(*(whole for _, whole in rows))
        skew = int(alpha.p * alpha.q) * (width + 3)
        longest = max(whole for _, whole in rows) ** 2
        if min(shared, longest) * skew >> EXACT_BITS or width > WIDEST:
            return None
        if shared <= longest:
            rows = tuple(
                ({j: x * (shared // whole) for j, x in masses.items()}, shared) for masses, whole in rows
            )
        kind = np.array([classes[s] for s in order] + [-1], dtype=np.int64)
        first = np.searchsorted(kind[:-1], kind[:-1])
        above = np.arange(len(order)) - first
        sizes = np.unique(kind[:-1], return_counts=True)[1]
        triangles = np.concatenate(([0], np.cumsum(sizes * (sizes - 1) // 2)))
        begin = np.repeat(triangles[:-1], sizes)
        lengths = np.array([len(masses) for masses, _ in rows], dtype=np.int64)
        half = int(triangles[-1])
        end = (len(order), 0)
        targets = [[*sorted((int(place[j]), x) for j, x in masses.items()), end] for masses, _ in rows]
        group, cyclic = _groups(model)
        group = group[order]
        peer = np.lexsort((group, kind[:-1]))
        chain = Chain(
            order=np.argsort(group, kind="stable"),
            peer=peer,
            turn=np.argsort(peer),
            first=first,
            base=begin + above * (above - 1) // 2 - first,
            kind=kind,
            half=half if ordered else 0,
            row=row,
            crossed=isinstance(model, Worlds),
            long=long,
            start=np.concatenate(([0], np.cumsum(lengths + 1))),
            target=np.array([j for row in targets for j, _ in row], dtype=np.int64),
            mass=np.array([x for row in targets for _, x in row], dtype=np.float64),
            whole=np.array([whole for _, whole in rows], dtype=np.float64),
            p=float(int(alpha.p)),
            q=float(int(alpha.q)),
        )
        places = int((long * (np.repeat(sizes, sizes) - 1)).sum()) - half
        ways = 2 if ordered else 1
        return cls(chain, place, width, ways * half, ways * places, _parts(chain, group, cyclic))

    @property
    def one(self) -> int:
        """How many units are distance 1: what a plan costs is then known up to half a unit."""
        return 1 << min(self.bits, EXACT_BITS - (2 * self.width + 3).bit_length())

    def for_width(self, width: fmpq) -> Layout:
        """Return the layout in larger units, if brackets of that width leave room for it."""
        return replace(self, bits=min(FINEST, SPARE + int(1 / width).bit_length()))

    @property
    def finest(self) -> fmpq:
        """The least width of brackets that is tried for: a margin in it has room above the rounding."""
        return fmpq(1 << 11, self.one)

    @property
    def memory(self) -> int:
        """About how many bytes the work takes."""
        largest = int(np.bincount(self.chain.kind[:-1]).max()) if self.chain.p != self.chain.q else 0
        return 33 * self.pairs + 16 * self.places + 24 * largest**2

    @property
    def ordered(self) -> bool:
        """Whether (s, t) and (t, s) are two pairs."""
        return bool(self.chain.half)

    @property
    def simple(self) -> bool:
        """Whether it is that of a chain whose pairs are unordered."""
        return not self.ordered and len(self.chain.row) == int(self.chain.row[-1]) + 1

    @property
    def sides(self) -> int:
        """What the maximiser chooses from at a pair, at most."""
        rows = int(np.diff(self.chain.row).max())
        asked = rows**2 if self.chain.crossed else rows
        return asked if self.ordered or self.chain.p == self.chain.q else 2 * asked

    def pair(self, s: int, t: int) -> int:
        """Return the number of a pair of two states of the model that are in one class."""
        return int(number(int(self.place[s]), int(self.place[t]), True, self.chain.base, self.chain.half))

    def pairs_of(self, first: Int64Array, second: Int64Array) -> Int64Array:
        """Return the numbers of pairs; -1 where no table is needed to know the distance."""
        i, j, kind = self.place[first], self.place[second], self.chain.kind
        inside = (i != j) & (np.minimum(i, j) >= 0) & (kind[i] == kind[j])
        found = self.chain.base[np.maximum(i, j)] + np.minimum(i, j) + np.where(i < j, self.chain.half, 0)
        return np.where(inside, found, -1)

    def room(self) -> Room:
        """Return room for the plan of a pair."""
        size = self.width + 1

        def whole(count: int) -> Int64Array:
            return np.zeros(count, dtype=np.int64)

        def real(count: int) -> Float64Array:
            return np.zeros(count, dtype=np.float64)

        return Room(
            width=size,
            node=whole(2 * size),
            amount=real(2 * size),
            cost=real(size * size),
            tree=whole(6 * size),
            work=real(8 * size),
            cell=whole(2 * size),
            mass=real(2 * size),
        )


def _parts(chain: Chain, group: Int64Array, cyclic: BoolArray) -> tuple[Part, ...]:
    """Return the large groups of the order of the chain, and what is between them."""
    ordered = group[chain.order]
    ends = np.concatenate(([0], np.flatnonzero(np.diff(ordered)) + 1, [len(ordered)]))
    pairs = np.concatenate(([0], np.cumsum((chain.turn - chain.first)[chain.order])))[ends]
    parts: list[Part] = []
    for low, high, size, round_ in zip(
        ends, ends[1:], np.diff(pairs), cyclic[ordered[ends[:-1]]], strict=False
    ):
        part = Part(int(low), int(high), bool(size >= LARGE), bool(round_))
        if parts and not part.apart and not parts[-1].apart:
            before = parts.pop()
            part = Part(before.low, part.high, False, before.cyclic or part.cyclic)
        parts.append(part)
    return tuple(parts)


def _groups(model: System) -> tuple[Int64Array, BoolArray]:
    """Return by state the number of its group, successors first, and by group whether it goes round.

    A group is a strongly connected component, or all states that can take equally many steps at most before
    they are in one or stop.
    """
    graph = [[target for row in rows for target, _ in row] for rows in zip(*model.arms, strict=True)]
    depth, part = np.zeros(len(model), dtype=np.int64), np.full(len(model), -1, dtype=np.int64)
    for component, members in enumerate(strongly_connected_components(graph)):
        inside = set(members)
        targets = {target for state in members for target in graph[state]}
        depth[members] = 1 + max((int(depth[target]) for target in targets - inside), default=-1)
        if targets & inside:
            part[members] = component
    (_, found), group = np.unique(np.stack((depth, part)), axis=1, return_inverse=True)
    return group.reshape(-1), found >= 0
