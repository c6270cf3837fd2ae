"""Strategies: an option for every pair and a coupling for every side, with their linear system."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from flint import fmpq, fmpz

from bisimdist.errors import LimitError
from bisimdist.exact.number import Unreduced
from bisimdist.fixpoint.detours import GeneralCoupling
from bisimdist.fixpoint.programs import Functional
from bisimdist.linear import SparseRow, SparseSystem, solve_exact, solve_float
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import BoolArray, Float64Array, Int64Array
from bisimdist.progress import NEVER, Deadline, Progress, silent

__all__ = ["Plan", "Strategy", "Values"]

LONG = 2000
"""Bits of a denominator from which on lowest terms take time."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a coupling of one side costs: ``(constant + sum of weight * d) / scale``."""

    scale: int
    constant: int
    entries: tuple[tuple[int, int], ...]
    """(pair, positive weight), by ascending pair."""


@dataclass(frozen=True, slots=True)
class Values:
    """Distances of all numbered pairs over one denominator."""

    numerators: Sequence[fmpz]
    """By pair."""
    denominator: fmpz

    def cost(self, plan: Plan) -> fmpz:
        """Return the cost of a plan, in units of 1 / (scale * denominator)."""
        total = self.denominator * plan.constant
        for pair, weight in plan.entries:
            total += self.numerators[pair] * weight
        return total

    def fixed_point(self, one: int) -> Int64Array:
        """Return the distances in units of 1 / `one`, rounded down.

        Raises
        ------
        LimitError
            If they are not in [0, 1], as only those of strategies that are far from optimal can be.
        """
        whole = int(self.denominator)
        if not all(0 <= x <= whole for x in self.numerators):
            raise LimitError("the values of the strategies left [0, 1]")
        return np.array([int(x) * one // whole for x in self.numerators], dtype=np.int64)

    def value(self, pair: int) -> fmpq:
        """Return one distance."""
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
    zero: BoolArray
    """By pair: those at distance 0, which have no equation."""
    general: dict[int, GeneralCoupling] = field(default_factory=dict)
    """By program: couplings that take the place of the transportation basis."""

    def parents(self, program: int) -> list[int]:
        """Return the basis of a program."""
        return self.basis.parent[self.functional.batch.nodes_of(program)].tolist()  # type: ignore[no-any-return]

    def flows(self, program: int) -> Sequence[int]:
        """Return the exact flows of the basis of a program, in the unit of its amounts."""
        return self.basis.flows(self.functional.batch, program)

    def settle(self, program: int, costs: Sequence[fmpz | int], one: fmpz | int) -> bool:
        """Make the basis of one program optimal for exact costs; tell whether it was not."""
        before = tuple(self.parents(program))
        return self.basis.settle(self.functional.batch, program, costs, one).parent != before

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
        functional = self.functional
        pairs = [pair for pair in range(functional.size) if not self.zero[pair]]
        unknown = {pair: index for index, pair in enumerate(pairs)}
        rows: list[SparseRow] = []
        for pair in pairs:
            plan = self.plan(self.side(pair))
            entries = tuple((unknown[n], weight) for n, weight in plan.entries if n in unknown)
            rows.append((plan.scale, plan.constant, entries))
        return SparseSystem(tuple(rows)), pairs

    def values(self, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Values:
        """Solve the equations exactly.

        Raises
        ------
        SingularSystemError
            If the strategies keep mass for ever.
        LimitError
            If the deadline passes.
        """
        system, pairs = self.system()
        solution = solve_exact(system, deadline=deadline, progress=progress)
        numerators, denominator = solution.over_common_denominator()
        by_pair = [fmpz(0)] * self.functional.size
        for index, pair in enumerate(pairs):
            by_pair[pair] = numerators[index]
        return Values(by_pair, denominator)

    def rough_values(self) -> Float64Array:
        """Solve the equations in doubles; by pair."""
        system, pairs = self.system()
        result = np.zeros(self.functional.size, dtype=np.float64)
        result[np.array(pairs, dtype=np.int64)] = solve_float(system)
        return result
