"""The multiplicative transportation problem in general: the primal simplex method, exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq, fmpq_mat

from bisimdist.errors import LinearProgramError
from bisimdist.lp.ratio_tree import RatioPart
from bisimdist.progress import NEVER, Deadline

_ZERO = fmpq(0)
_ONE = fmpq(1)


@dataclass(frozen=True, slots=True)
class _Column:
    """A variable: the mass of an arc, the room of a sink (no source), or C (neither source nor sink)."""

    source: int | None
    sink: int | None
    entries: tuple[tuple[int, fmpq], ...]


def solve_incomplete(
    supply: Sequence[fmpq],
    demand: Sequence[fmpq],
    ratio: Sequence[Sequence[fmpq | None]],
    *,
    deadline: Deadline = NEVER,
) -> RatioPart:
    """Solve any component in which every source reaches a sink.

    Parameters and return value are those of `bisimdist.lp.ratio_tree.solve_complete`, but that ratios may
    be None (infinite). Bland's rule; each basis is solved anew, which is slow, and meant for the rare
    relations whose finite ratios are not transitive.
    """
    n, size = len(supply), len(supply) + len(demand)
    columns = _columns(demand, ratio)
    right = fmpq_mat(size, 1, [*supply, *([_ZERO] * len(demand))])
    basis = _first_basis(columns, supply, demand, ratio)
    while True:
        deadline.check()
        matrix = fmpq_mat(size, size)
        for place, number in enumerate(basis):
            for row, entry in columns[number].entries:
                matrix[row, place] = entry
        amounts = matrix.solve(right)
        cost = fmpq_mat(size, 1, [_ONE if number == 0 else _ZERO for number in basis])
        prices = matrix.transpose().solve(cost)
        inside = set(basis)
        entering = next(
            (
                number
                for number, column in enumerate(columns)
                if number not in inside and sum((prices[r, 0] * e for r, e in column.entries), _ZERO) > 0
            ),
            None,
        )
        if entering is None:
            return _part(columns, basis, amounts, prices, n)
        direction = fmpq_mat(size, 1)
        for row, entry in columns[entering].entries:
            direction[row, 0] = entry
        rates = matrix.solve(direction)
        steps = [
            (amounts[p, 0] / rates[p, 0], number, p) for p, number in enumerate(basis) if rates[p, 0] > 0
        ]
        if not steps:
            raise LinearProgramError("the program of a multiplicative lifting is unbounded")
        basis[min(steps)[2]] = entering


def _columns(demand: Sequence[fmpq], ratio: Sequence[Sequence[fmpq | None]]) -> list[_Column]:
    """Return the variables: C first, then the arcs, then the rooms of the sinks."""
    n = len(ratio)
    columns = [_Column(None, None, tuple((n + j, -m) for j, m in enumerate(demand)))]
    for i, row in enumerate(ratio):
        columns += [_Column(i, j, ((i, _ONE), (n + j, r))) for j, r in enumerate(row) if r is not None]
    columns += [_Column(None, j, ((n + j, _ONE),)) for j in range(len(demand))]
    return columns


def _first_basis(
    columns: Sequence[_Column],
    supply: Sequence[fmpq],
    demand: Sequence[fmpq],
    ratio: Sequence[Sequence[fmpq | None]],
) -> list[int]:
    """Return the basis in which every source sends all to its nearest sink."""
    load = [_ZERO] * len(demand)
    used: set[tuple[int | None, int | None]] = {(None, None)}
    for i, row in enumerate(ratio):
        least, j = min((r, j) for j, r in enumerate(row) if r is not None)
        load[j] += least * supply[i]
        used.add((i, j))
    fullest = max(range(len(demand)), key=lambda j: load[j] / demand[j])
    used |= {(None, j) for j in range(len(demand)) if j != fullest}
    return [number for number, column in enumerate(columns) if (column.source, column.sink) in used]


def _part(
    columns: Sequence[_Column], basis: Sequence[int], amounts: fmpq_mat, prices: fmpq_mat, n: int
) -> RatioPart:
    ratio = _ZERO
    moves = []
    for place, number in enumerate(basis):
        column, amount = columns[number], amounts[place, 0]
        if number == 0:
            ratio = amount
        elif column.source is not None and column.sink is not None and amount > 0:
            moves.append((column.source, column.sink, amount))
    return RatioPart(
        ratio,
        tuple(sorted(moves)),
        tuple(prices[i, 0] for i in range(n)),
        tuple(-prices[j, 0] for j in range(n, prices.nrows())),
    )
