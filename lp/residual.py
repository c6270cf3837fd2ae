"""Big programs with costs of any size: 64-bit pivots on what a basis leaves over, judged by exact integers.

The exact reduced costs of a basis (its *residuals*) are the costs of an equivalent program in which the
potentials of that basis are zero. Only their leading bits matter to find a better basis, so the compiled
kernel takes a round of pivots on the residuals, shifted and clipped to 64 bits; then the residuals of the
basis that it ends at are worked out exactly, and so on. This is iterative refinement of the dual solution.
The rounds only guess; where the exact residuals do not prove the last basis, the exact simplex goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from bisimdist.lp import kernel
from bisimdist.lp.compiled import compiled, compiled_kernel

LEAST_CELLS = 100  # smaller programs are solved interpreted in less than a millisecond or two

PATIENCE = 15_000
"""So many cells are worked on interpreted, which takes as long as to load the machine code then."""

ROUNDS = 8
ROOM = 1 << 61

_seen = 0


def worth_approaching(cells: int, total: int) -> bool:
    """Tell whether this is for a program of so many cells, whose perturbed amounts add up to `total`."""
    return cells >= LEAST_CELLS and total < ROOM


def _loaded() -> bool:
    """Tell whether the machine code is there already."""
    return compiled_kernel.cache_info().currsize > 0


def _narrow_simplex(cells: int) -> tuple[Callable[..., int], Callable[[Sequence[int]], Any]]:
    """Return the kernel and what makes its arrays; both kernels take the same pivots, whichever it is."""
    global _seen  # noqa: PLW0603 - how much this process has done so far decides about loading code
    _seen += cells
    if _seen <= PATIENCE and not _loaded():
        return kernel.simplex, list
    return compiled("simplex"), lambda numbers: np.array(numbers, dtype=np.int64)


def approach(  # noqa: PLR0913, PLR0917
    sources: int,
    sinks: int,
    supply: Sequence[int],
    capacity: Sequence[int],
    costs: Sequence[int],
    one: int,
    parent: list[int],
    tolerance: int,
) -> tuple[int, bool]:
    """Improve a feasible basis in place by 64-bit pivots; return how many, and whether it is proved optimal.

    ``sources``, ``sinks``, ``supply``, ``capacity``: the program; amounts perturbed, adding up to less than
        2^61.
    ``costs``, ``one``: the costs by row and that of giving up, integers of any size.
    ``parent``: the basis, overwritten by one that is as good or better: usually the optimal one.
    """
    nodes = sources + sinks
    whole = 1 << min(53, 62 - (nodes + 1).bit_length())
    simplex, array = _narrow_simplex(len(costs))
    amounts, up = (array(supply), array(capacity)), array(parent)
    order, depth, flow, potential = (array([0] * nodes) for _ in range(4))
    pivots = 0
    last: int | None = None
    optimal = False
    for _ in range(ROUNDS):
        if (
            pivots == 0 and last is None and max(parent) < 0
        ):  # no basis to start from: let the least cost of a row be zero
            parts = _lowered(sources, sinks, costs, one)
            spread = max(parts[0])
        else:
            parts = _residuals(sources, sinks, costs, one, [int(v) for v in up])
            worst = min(map(min, parts))
            optimal = worst >= -tolerance
            if optimal or (last is not None and worst <= last):
                break
            spread = last = worst
        shift = max(0, abs(spread).bit_length() - whole.bit_length() + 4)
        narrow = [array([min(cost >> shift, whole) for cost in part]) for part in parts]
        done = simplex(
            sources, sinks, *amounts, *narrow, up, order, depth, flow, potential, tolerance >> shift
        )
        if done == 0:
            break
        pivots += int(done)
    parent[:] = [int(v) for v in up]
    return pivots, optimal


def _lowered(
    sources: int, sinks: int, costs: Sequence[int], one: int
) -> tuple[list[int], list[int], list[int]]:
    """Return the costs of an equivalent program in which the cheapest cell of every row costs nothing."""
    rows = [costs[i * sinks : (i + 1) * sinks] for i in range(sources)]
    least = [min(row) for row in rows]
    cells = [cost - low for row, low in zip(rows, least, strict=True) for cost in row]
    return cells, [one - low for low in least], [0] * sinks


def _residuals(
    sources: int, sinks: int, costs: Sequence[int], one: int, parent: list[int]
) -> tuple[list[int], list[int], list[int]]:
    """Return the exact reduced costs of cells, of giving up, and of capacity left over."""
    nodes = sources + sinks
    order, depth, potential = [0] * nodes, [0] * nodes, [0] * nodes
    kernel.sort_tree(nodes, parent, depth, order)
    kernel.basis_potentials(sources, sinks, costs, [one] * sources, [0] * sinks, parent, order, potential)
    below = potential[sources:]
    cells: list[int] = []
    for i in range(sources):
        u = potential[i]
        row = costs[i * sinks : (i + 1) * sinks]
        cells.extend([cost - u + v for cost, v in zip(row, below, strict=True)])
    return cells, [one - u for u in potential[:sources]], below
