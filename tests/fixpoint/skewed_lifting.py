"""The lifting of bd_alpha for the engine of the generalised metrics: the same distances by another way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from flint import fmpq

from bisimdist.distances.engine.lifting_values import Direction, DistanceOf, Lifted, Masses
from bisimdist.distances.engine.liftings import Lifting
from bisimdist.exact.scale import Value, larger
from bisimdist.lp.problem import SkewedProblem
from bisimdist.lp.solve import solve
from bisimdist.progress import NEVER, Deadline

ZERO, ONE = fmpq(0), fmpq(1)


@dataclass(frozen=True, slots=True)
class SkewedLifting(Lifting):
    """The skewed lifting of bd_alpha, where the supremum is over functions on all given states.

    ``states``: the states of the system: for alpha > 1 couplings may make detours through any of them.
    Source: CMP18, Definition 10.
    """

    name = "bd"
    alpha: fmpq
    states: Sequence[int] = ()

    @property
    def discount(self) -> fmpq:
        return ONE

    def lifted(
        self, first: Masses, second: Masses, distance: DistanceOf, *, deadline: Deadline = NEVER
    ) -> Lifted:
        nodes = sorted({*self.states, *first, *second})
        rows = tuple(tuple(ZERO if i == j else _finite(distance(i, j)) for j in nodes) for i in nodes)
        left = tuple(first.get(i, ZERO) for i in nodes)
        right = tuple(second.get(i, ZERO) for i in nodes)
        problem = SkewedProblem(self.alpha, left, right, rows)
        directions = []
        for swapped in (False, True):
            optimum = solve(problem.swapped() if swapped else problem, deadline=deadline)
            directions.append(
                Direction(
                    swapped,
                    optimum.value,
                    tuple((nodes[i], nodes[j], mass) for (i, j), mass in optimum.moves.items()),
                    tuple((nodes[i], mass) for i, mass in optimum.given_up.items()),
                    dict(zip(nodes, optimum.potential, strict=True)),
                )
            )
        value = larger(directions[0].value, directions[1].value)
        return Lifted(value, tuple(directions))

    def needed(self, first: Masses, second: Masses) -> Iterable[tuple[int, int]]:
        """Return the pairs of different states whose distance `lifted` asks for."""
        return combinations(sorted({*self.states, *first, *second}), 2)


def _finite(value: Value) -> fmpq:
    assert value is not None
    return value
