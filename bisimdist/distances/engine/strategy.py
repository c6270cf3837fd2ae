"""Strategies: an option for every pair and a coupling for every side, with their linear system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from flint import fmpq, fmpz

from bisimdist.distances.engine.detours import GeneralCoupling
from bisimdist.distances.engine.moves import moves_of, unusual_sides
from bisimdist.distances.engine.programs import Functional
from bisimdist.errors import LimitError
from bisimdist.exact.number import Unreduced
from bisimdist.linear import SparseRow, SparseSystem, solve_exact, solve_float
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import BoolArray, Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

WORD = 61  # bits of a scale up to which all masses of a side, added up, are numbers of 64 bits
LONG = 2000  # bits of a denominator from which on lowest terms take time


@dataclass(frozen=True, slots=True)
class Plan:
    """What a coupling of one side costs: ``(constant + sum of weight * d) / scale``."""

    scale: int
    constant: int
    entries: tuple[tuple[int, int], ...]  # (pair, positive weight), by ascending pair


@dataclass(frozen=True, slots=True)
class Values:
    """Distances of all numbered pairs over one denominator."""

    numerators: Sequence[fmpz]  # by pair
    denominator: fmpz

    @classmethod
    def of(cls, units: Int64Array, one: int) -> Values:
        return cls([fmpz(x) for x in units.tolist()], fmpz(one))

    def cost(self, plan: Plan) -> fmpz:
        """Return the cost of a plan, in units of 1 / (scale * denominator)."""
        total = self.denominator * plan.constant
        for pair, weight in plan.entries:
            total += self.numerators[pair] * weight
        return total

    def fixed_point(self, one: int) -> Int64Array:
        """Return the distances in units of 1 / `one`, rounded down."""
        whole = int(self.denominator)
        if not all(0 <= x <= whole for x in self.numerators):
            raise LimitError("the values of the strategies left [0, 1]")
        return np.array([int(x) * one // whole for x in self.numerators], dtype=np.int64)

    def value(self, pair: int) -> fmpq:
        return fmpq(self.numerators[pair], self.denominator)

    def unreduced(self, pair: int) -> fmpq | Unreduced:
        """Return one distance; a long one as it stands."""
        if self.denominator.bit_length() < LONG:
            return self.value(pair)
        return Unreduced(self.numerators[pair], self.denominator)


@dataclass(slots=True)
class Strategy:
    """Directions and couplings, improved step by step; the functional itself is never changed."""

    functional: Functional
    basis: BatchBasis
    direction: Int64Array
    """By pair: what the maximiser takes of `Functional.options`, a direction and perhaps an action."""
    zero: BoolArray  # by pair: those at distance 0, which have no equation
    general: dict[int, GeneralCoupling] = field(default_factory=dict)
    """By program: couplings that take the place of the transportation basis."""

    def copy(self) -> Strategy:
        """Return a copy that can go its own way."""
        general = dict(self.general)
        return Strategy(self.functional, self.basis.copy(), self.direction.copy(), self.zero, general)

    def parents(self, program: int) -> list[int]:
        return self.basis.parent[self.functional.batch.nodes_of(program)].tolist()  # type: ignore[no-any-return]

    def flows(self, program: int) -> Sequence[int]:
        """Return the exact flows of the basis of a program, in the unit of its amounts."""
        return self.basis.flows(self.functional.batch, program)

    def settle(
        self, program: int, costs: Sequence[fmpz | int], one: fmpz | int, *, tolerance: int = 0
    ) -> bool:
        """Make the basis of one program optimal for exact costs; tell whether it was not."""
        before = tuple(self.parents(program))
        batch = self.functional.batch
        return self.basis.settle(batch, program, costs, one, tolerance=tolerance).parent != before

    def side(self, pair: int) -> int:
        """Return the side that the maximiser takes at a pair."""
        return self.functional.width * pair + int(self.direction[pair])

    def others(self, pair: int) -> Iterator[int]:
        """Yield the sides that the maximiser could take at a pair, and does not."""
        start, taken = self.functional.width * pair, int(self.direction[pair])
        return (start + option for option in self.functional.options if option != taken)

    def takes(self, side: int) -> bool:
        """Tell whether the maximiser takes a side, at a pair that is not at distance 0."""
        pair = side // self.functional.width
        return self.side(pair) == side and not self.zero[pair]

    def plan(self, side: int) -> Plan:
        """Return what the couplings of a side cost."""
        functional = self.functional
        scale = functional.scale[side]
        constant = 0
        weights: dict[int, int] = {}
        extra: list[GeneralCoupling] = []
        for index in functional.programs_of(side):
            if index in self.general:
                extra.append(self.general[index])
                continue
            program = functional.batch.programs[index]
            sources, sinks = len(program.sources), len(program.sinks)
            parent = self.parents(index)
            for v, carried in enumerate(self.flows(index)):
                above = parent[v]
                if carried == 0:
                    continue
                if v < sources and above < 0:
                    constant += carried
                elif above >= 0:
                    cell = v * sinks + above - sources if v < sources else above * sinks + v - sources
                    number = program.cells[cell]
                    weights[number] = weights.get(number, 0) + carried
        if extra:
            return self._with_general(scale, constant, weights, extra)
        return Plan(scale, constant, tuple(sorted(weights.items())))

    def plans(self, sides: Int64Array, called: Int64Array | None = None) -> list[Plan]:
        """Return what the couplings of many sides cost, at once.

        Pairs may be `called` by other numbers, in the same order; -1 for those that are left out.
        """
        functional, count, size = self.functional, len(sides), max(self.functional.size, 1)
        row_of = np.full(functional.width * size, -1, dtype=np.int64)
        row_of[sides] = np.arange(count)
        unusual = unusual_sides(self, WORD)
        unusual = unusual[row_of[unusual] >= 0]
        alone = row_of[unusual]
        row_of[unusual] = -1
        called = np.arange(size) if called is None else called
        row, number, mass, lost_row, lost = moves_of(self, row_of)
        kept = called[number] >= 0
        named, place = np.unique(row[kept] * size + called[number[kept]], return_inverse=True)
        constant, weight = np.zeros(count, dtype=np.int64), np.zeros(len(named), dtype=np.int64)
        np.add.at(constant, lost_row, lost)
        np.add.at(weight, place, mass[kept])
        cuts = np.searchsorted(named, np.arange(count + 1) * size).tolist()
        moves = list(zip((named % size).tolist(), weight.tolist(), strict=True))
        result = [
            Plan(functional.scale[side], given_up, tuple(moves[low:high]))
            for side, given_up, (low, high) in zip(
                sides.tolist(), constant.tolist(), pairwise(cuts), strict=True
            )
        ]
        for side, index in zip(unusual.tolist(), alone.tolist(), strict=True):
            plan = self.plan(side)
            entries = ((int(called[pair]), mass) for pair, mass in plan.entries)
            result[index] = Plan(
                plan.scale, plan.constant, tuple(entry for entry in entries if entry[0] >= 0)
            )
        return result

    def _with_general(
        self, scale: int, constant: int, weights: dict[int, int], extra: list[GeneralCoupling]
    ) -> Plan:
        """Add couplings whose flows are rationals, and clear their denominators."""
        rational = fmpq(constant)
        masses = {number: fmpq(weight) for number, weight in weights.items()}
        for coupling in extra:
            rational += scale * sum(coupling.optimum.given_up.values(), fmpq(0))
            for (a, b), amount in coupling.optimum.moves.items():
                number = self.functional.space.number(coupling.nodes[a], coupling.nodes[b])
                masses[number] = masses.get(number, fmpq(0)) + scale * amount
        common = rational.q
        for mass in masses.values():
            common = common.lcm(mass.q)
        return Plan(
            int(scale * common),
            int((rational * common).p),
            tuple(sorted((number, int((mass * common).p)) for number, mass in masses.items())),
        )

    def system(self) -> tuple[SparseSystem, list[int]]:
        """Return the equations of the chosen directions and couplings, and the pairs that they determine."""
        pairs = np.flatnonzero(~self.zero)
        unknown = np.full(len(self.zero), -1, dtype=np.int64)
        unknown[pairs] = np.arange(len(pairs))
        plans = self.plans(self.functional.width * pairs + self.direction[pairs], unknown)
        rows: list[SparseRow] = [(plan.scale, plan.constant, plan.entries) for plan in plans]
        return SparseSystem(tuple(rows)), pairs.tolist()

    def values(self, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Values:
        """Solve the equations exactly."""
        system, pairs = self.system()
        solution = solve_exact(system, deadline=deadline, progress=progress)
        numerators, denominator = solution.over_common_denominator()
        return self._by_pair(pairs, numerators, denominator)

    def nearly(self, places: int, *, deadline: Deadline = NEVER) -> Values:
        """Solve the equations in units of 2 ** -places, about."""
        from bisimdist.linear.leading import solve_nearly  # noqa: PLC0415 - scipy is slow to load

        system, pairs = self.system()
        return self._by_pair(pairs, solve_nearly(system, places, deadline=deadline), fmpz(1) << places)

    def _by_pair(self, pairs: Sequence[int], numerators: Sequence[fmpz], denominator: fmpz) -> Values:
        by_pair = [fmpz(0)] * self.functional.size
        for pair, numerator in zip(pairs, numerators, strict=True):
            by_pair[pair] = numerator
        return Values(by_pair, denominator)

    def rough_values(self) -> Float64Array:
        """Solve the equations in doubles; by pair."""
        system, pairs = self.system()
        result = np.zeros(self.functional.size, dtype=np.float64)
        result[np.array(pairs, dtype=np.int64)] = solve_float(system)
        return result
