"""Liftings of distances from states to sub-distributions: what turns the one fixed point into many metrics.

A lifting says how far two sub-distributions are from each other when the distance of states is known, where
the distances start (`zero`), how large they get (`top`), and what a step discounts. The functional on pairs
of states, `bisimdist.distances.engine.hausdorff`, is the same for all of them.

Source: CMP18 Remark 5, CCP18 Definition 14.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass
from math import lcm
from typing import ClassVar

from flint import arb, fmpq, fmpz

from bisimdist.distances.engine.lifting_values import (
    Direction,
    DistanceOf,
    Lifted,
    Masses,
    excess,
    transport_program,
)
from bisimdist.errors import UsageError
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import format_rational
from bisimdist.exact.scale import Value, larger, sign
from bisimdist.exact.simplest import simplest_between
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.lp.transport import solve_program
from bisimdist.progress import NEVER, Deadline

ZERO = fmpq(0)
ONE = fmpq(1)
MAX_POWER = 10_000  # the largest numerator and denominator of a discount that ratios are raised to
ROOT_BITS = 64  # irrational powers are rounded to a relative error of 2 to minus this


class Lifting(ABC):
    """What a metric is made of."""

    __slots__ = ()

    name: ClassVar[str]  # what the metric is called
    zero: ClassVar[fmpq] = ZERO  # the least value
    top: ClassVar[Value] = ONE  # the diameter: the distance of states that do not have the same actions
    discount: fmpq  # the factor of a step, in (0, 1]

    @abstractmethod
    def lifted(
        self, first: Masses, second: Masses, distance: DistanceOf, *, deadline: Deadline = NEVER
    ) -> Lifted:
        """Lift a distance exactly, in both directions and without discount, with witnesses."""

    def lift(
        self, first: Masses, second: Masses, distance: DistanceOf, *, deadline: Deadline = NEVER
    ) -> Value:
        return self.lifted(first, second, distance, deadline=deadline).value

    def discounted(self, value: Value, *, up: bool) -> Value:
        """Return the discounted value, where it is irrational a rational above (`up`) or below it."""
        del up
        return None if value is None else value * self.discount

    def compare(self, value: Value, bound: Value) -> int:
        """Return the sign of the discounted value minus the bound, exactly."""
        return sign(self.discounted(value, up=True), bound)

    @abstractmethod
    def needed(self, first: Masses, second: Masses) -> Iterable[tuple[int, int]]:
        """Return the pairs of different states whose distance `lifted` asks for."""


def checked_discount(discount: fmpq) -> fmpq:
    """Return the discount."""
    if not 0 < discount <= 1:
        raise UsageError(f"the discount is {format_rational(discount)}; expected more than 0 and at most 1")
    return discount


@dataclass(frozen=True, slots=True)
class AdditiveLifting(Lifting):
    """The Kantorovich lifting for |x - y| on [0, 1].

    Source: CCP18, Definition 14.

    >>> half = fmpq(1, 2)
    >>> AdditiveLifting().lift({0: fmpq(1)}, {1: half, 2: half}, lambda i, j: fmpq(j, 4))
    3/8
    """

    name = "additive"
    discount: fmpq = ONE

    def __post_init__(self) -> None:
        checked_discount(self.discount)

    def lifted(
        self, first: Masses, second: Masses, distance: DistanceOf, *, deadline: Deadline = NEVER
    ) -> Lifted:
        deadline.check()
        sources, sinks, swapped = excess(first, second)
        if not sources:
            return Lifted(ZERO, (Direction(swapped, ZERO),))
        costs = [_finite(distance(i, j)) for i in sources for j in sinks]
        program = transport_program(sources, sinks)
        whole, one = program.whole, lcm(1, *(int(c.q) for c in costs))
        scaled = [int((c * one).p) for c in costs]
        basis = solve_program(program, scaled, one)
        moves, given_up = [], []
        count = len(sources)
        for v, (above, flow) in enumerate(zip(basis.parent, basis.flow, strict=True)):
            mass = fmpq(flow, whole)
            if flow and v < count and above < 0:
                given_up.append((program.sources[v], mass))
            elif flow and v < count:
                moves.append((program.sources[v], program.sinks[above - count], mass))
            elif flow and above >= 0:
                moves.append((program.sources[above], program.sinks[v - count], mass))
        value = fmpq(basis.cost(program, scaled, one), whole * one)
        prices = {j: fmpq(basis.potential[count + k], one) for k, j in enumerate(program.sinks)}
        return Lifted(value, (Direction(swapped, value, tuple(moves), tuple(given_up), prices),))

    def needed(self, first: Masses, second: Masses) -> Iterable[tuple[int, int]]:
        """Return the pairs of different states whose distance `lifted` asks for."""
        sources, sinks, _ = excess(first, second)
        return ((i, j) for i in sources for j in sinks)


def _finite(value: Value) -> fmpq:
    if value is None:
        raise UsageError("an additive distance is infinite; expected at most 1")
    return value


@dataclass(frozen=True, slots=True)
class MultiplicativeLifting(Lifting):
    """The Kantorovich lifting for |ln x - ln y| on [0, 1]; all values are e to what they stand for.

    Source: CGPX14.

    >>> third = fmpq(1, 3)
    >>> first, second = {0: third, 1: 2 * third}, {0: 2 * third, 1: third}
    >>> MultiplicativeLifting().lift(first, second, lambda i, j: None)
    2
    """

    name = "multiplicative"
    zero = ONE
    top = None
    discount: fmpq = ONE

    def __post_init__(self) -> None:
        checked_discount(self.discount)
        if max(self.discount.p, self.discount.q) > MAX_POWER:
            raise UsageError(
                f"the discount is {format_rational(self.discount)}; ratios are raised to its numerator and "
                f"denominator, which may be at most {MAX_POWER}"
            )

    def lifted(
        self, first: Masses, second: Masses, distance: DistanceOf, *, deadline: Deadline = NEVER
    ) -> Lifted:
        directions = []
        value: Value = ONE
        for swapped in (False, True):
            deadline.check()
            here, there = (second, first) if swapped else (first, second)
            found = lift_ratio(here, there, distance, deadline=deadline)
            potential = found.potential
            if not potential and found.ratio is not None:
                potential = _apart(here, there, distance, deadline)
            prices = {j: g for j, g in potential if j in there}
            directions.append(Direction(swapped, found.ratio, found.coupling, (), prices))
            value = larger(value, found.ratio)
        return Lifted(value, tuple(directions))

    def discounted(self, value: Value, *, up: bool) -> Value:
        """Return a rational power, rounded where it is irrational."""
        if value is None or self.discount == 1 or value == 1:
            return value
        return _power(value, self.discount, up=up)

    def compare(self, value: Value, bound: Value) -> int:
        """Return the sign of the discounted value minus the bound, exactly."""
        if value is None or bound is None or self.discount == 1:
            return sign(value, bound)
        return sign(value ** int(self.discount.p), bound ** int(self.discount.q))

    def needed(self, first: Masses, second: Masses) -> Iterable[tuple[int, int]]:
        """Return the pairs of different states whose distance `lifted` asks for."""
        return ((i, j) for i in first for j in second if i != j)


def _apart(
    here: Masses, there: Masses, distance: DistanceOf, deadline: Deadline
) -> tuple[tuple[int, fmpq], ...]:
    """Return prices where the distances are no pseudometric: a state of both supports counts as two."""
    shift = 1 + max((*here, *there), default=0)

    def ratio(i: int, j: int) -> Value:
        return ONE if i == j - shift else distance(i, j - shift)

    moved = {shift + j: p for j, p in there.items()}
    found = lift_ratio(here, moved, ratio, deadline=deadline)
    return tuple((x - shift, f) for x, f in found.potential if x >= shift)


def _power(base: fmpq, exponent: fmpq, *, up: bool) -> fmpq:
    """Return base^exponent for a base above 1: exactly where it is rational, else rounded."""
    p, q = int(exponent.p), int(exponent.q)
    roots = [_exact_root(part, q) for part in (base.p, base.q)]
    if roots[0] is not None and roots[1] is not None:
        return fmpq(roots[0], roots[1]) ** p
    with working_precision(4 * ROOT_BITS):
        ball = (arb(base).log() * arb(exponent)).exp()
        low, high = ball.lower().fmpq(), ball.upper().fmpq()
    width = high / fmpz(2) ** ROOT_BITS
    return simplest_between(high, high + width) if up else max(ONE, simplest_between(low - width, low))


def _exact_root(value: fmpz, degree: int) -> fmpz | None:
    root = value.root(degree)
    return root if root**degree == value else None
