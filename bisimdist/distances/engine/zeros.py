"""Which pairs are at distance 0: a boolean iteration of the functional, exact in integers.

Source: CMP18 Corollary 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bisimdist.distances.engine.free_detours import ZeroDetours
from bisimdist.distances.engine.iteration import ONE
from bisimdist.distances.engine.programs import Functional
from bisimdist.lp.batch import BatchBasis
from bisimdist.lp.compiled import Int64Array
from bisimdist.progress import NEVER, Deadline

BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Positivity:
    """Which pairs are positive."""

    positive: BoolArray  # by pair: whether some iterate of the functional, started from 0, is positive there
    direction: Int64Array  # by pair: a direction in which the first such iterate is


def positivity(functional: Functional, *, deadline: Deadline = NEVER) -> Positivity:
    """Find the pairs whose distance is positive; all others are at distance 0.

    Round by round, a pair is positive if in some direction every coupling costs something, where only the
    pairs that are positive already cost (and mass given up). What is left is the greatest relation that is
    closed under couplings of cost 0.
    """
    size = functional.size
    positive = np.zeros(size, dtype=np.bool_)
    direction = np.zeros(size, dtype=np.int64)
    batch, side_of, width = functional.batch, functional.side_of, functional.width
    cost = np.zeros(functional.size, dtype=np.int64)
    scratch = BatchBasis.start(batch)
    detours = ZeroDetours(functional)
    todo = np.arange(len(batch))
    held = np.zeros(len(batch), dtype=np.bool_)
    cell_program = np.repeat(np.arange(len(batch)), np.diff(batch.cell_start))
    undecided = todo
    while len(todo):
        deadline.check()
        scratch.solve(batch, todo, cost, one=ONE)
        candidates = todo[scratch.value[todo] > 0]
        paying = detours.confirmed(candidates, cost, scratch)
        held[candidates] = True
        held[paying] = False
        sides = side_of[paying]
        pairs = sides // width
        if not len(pairs):
            break
        decided = np.unique(pairs)
        positive[decided] = True
        direction[pairs] = sides % width
        cost[decided] = ONE
        # only programs that saw a cost change can change their answer
        undecided = undecided[~positive[side_of[undecided] // width]]
        touched = np.zeros(functional.size, dtype=np.bool_)
        touched[decided] = True
        affected = np.zeros(len(batch), dtype=np.bool_)
        affected[cell_program[touched[batch.cells]]] = True
        # and programs that only a free detour saved, which may cost something by now
        todo = undecided[affected[undecided] | held[undecided]]
    return Positivity(positive, direction)
