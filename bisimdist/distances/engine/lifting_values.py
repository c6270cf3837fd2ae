"""Values of distances, and liftings of two sub-distributions with what proves them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import lcm
from typing import TypeAlias

from flint import fmpq

from bisimdist.exact.scale import Value, at_most
from bisimdist.lp.program import Program

Masses: TypeAlias = Mapping[int, fmpq]
"""A sub-distribution: positive masses that sum to at most one; what is missing halts."""

DistanceOf: TypeAlias = Callable[[int, int], Value]

ZERO = fmpq(0)


@dataclass(frozen=True, slots=True)
class Direction:
    """One direction of a lifting, with what proves its value from both sides."""

    swapped: bool  # whether it is the second sub-distribution that is compared with the first
    value: Value
    # the coupling (i, j, mass), which proves that the value is at most this
    moves: tuple[tuple[int, int, fmpq], ...] = ()
    # mass (i, mass) that the coupling gives up at cost one (additive)
    given_up: tuple[tuple[int, fmpq], ...] = ()
    # by state of the side that masses are moved to: the potential g there. With f_i the largest that g and
    # the distances allow, f and g prove that the value is at least this.
    prices: Mapping[int, fmpq] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Lifted:
    """The distance of two sub-distributions: the largest one of the directions that matter."""

    value: Value
    directions: tuple[Direction, ...]

    @property
    def best(self) -> Direction:
        """The direction of the largest value."""
        found = self.directions[0]
        for direction in self.directions[1:]:
            if not at_most(direction.value, found.value):
                found = direction
        return found


def excess(first: Masses, second: Masses) -> tuple[dict[int, fmpq], dict[int, fmpq], bool]:
    """Return what the heavier sub-distribution has more, what it has less, and whether that is the second.

    Mass that both have stays where it is; the heavier one's direction is the larger one.
    """
    swapped = sum(first.values(), ZERO) < sum(second.values(), ZERO)
    heavy, light = (second, first) if swapped else (first, second)
    sources = {i: p - light.get(i, ZERO) for i, p in heavy.items() if p > light.get(i, ZERO)}
    sinks = {j: p - heavy.get(j, ZERO) for j, p in light.items() if p > heavy.get(j, ZERO)}
    return sources, sinks, swapped


def transport_program(sources: Masses, sinks: Masses, cells: Sequence[int] | None = None) -> Program:
    """Return the transportation program of what has to move, in whole numbers.

    The costs are numbered source by source unless `cells` says where to find them.
    """
    whole = lcm(*(int(p.q) for p in (*sources.values(), *sinks.values())))
    return Program(
        tuple(sources),
        tuple(sinks),
        tuple(int((p * whole).p) for p in sources.values()),
        tuple(int((p * whole).p) for p in sinks.values()),
        tuple(range(len(sources) * len(sinks)) if cells is None else cells),
        whole,
    )
