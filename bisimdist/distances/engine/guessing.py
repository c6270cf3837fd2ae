"""Values close to the least fixed point of a component: by iteration, and by linear systems of best moves.

Nothing rests on what is found here; `bisimdist.distances.engine.component` proves what it says about it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from flint import fmpq, fmpz

from bisimdist.distances.engine.evaluation import Evaluation, Row
from bisimdist.distances.engine.hausdorff import Arena, Challenge
from bisimdist.exact.doubles import from_double
from bisimdist.exact.scale import Value
from bisimdist.linear.components import strongly_connected_components
from bisimdist.linear.floats import Floats, factorised
from bisimdist.progress import NEVER, Deadline, Progress, silent

BITS = 120  # values are kept to so many bits
SMALL = 2.0**-60  # a residual as small as that ends the iteration

SLACK = fmpq(1, 1 << 40)
"""Challenges worth almost as much as the best one count as equal when moves are chosen."""

STEEP = 600.0  # a linear system that wants to move a value further than this is not believed

WALKS = 60

FULL = 1 - 1e-10  # rows that sum to so much lead to other positions for sure


@dataclass(frozen=True, slots=True)
class Guess:
    """A table that is close to a fixed point on some positions."""

    values: list[Value]  # by position; those outside the component are as given
    residual: float  # by how much the functional changes them at most


def rounded(value: Value, bits: int, *, up: bool, relative: bool) -> Value:
    """Round a value to a multiple of a power of two.

    >>> rounded(fmpq(1, 3), 4, up=True, relative=False), rounded(fmpq(100, 3), 4, up=False, relative=True)
    (3/8, 32)
    """
    if value is None:
        return None
    size = int(value.p.bit_length()) - int(value.q.bit_length()) if relative else 0
    shift = bits - size
    unit = fmpz(2) ** abs(shift)
    scaled = value * unit if shift >= 0 else value / unit
    whole = scaled.ceil() if up else scaled.floor()
    return fmpq(whole, unit) if shift >= 0 else fmpq(whole * unit)


FARTHEST = 700.0  # logarithms of ratios are guessed to change by no more: e to that power is a double


def shifted(arena: Arena, value: fmpq, change: float) -> fmpq:
    """Return a value moved by a change (of its logarithm, where values are ratios), within its range."""
    if arena.lifting.top is None:
        return max(fmpq(1), value * (1 + from_double(math.expm1(min(change, FARTHEST)))))
    return min(fmpq(1), max(fmpq(0), value + from_double(change)))


def approximate(  # noqa: PLR0913
    arena: Arena,
    members: Sequence[int],
    table: Sequence[Value],
    *,
    rounds: int,
    patience: int,
    calm: float = 0.0,
    small: float = SMALL,
    deadline: Deadline = NEVER,
    progress: Progress = silent,
) -> Guess:
    """Iterate from the table until it stands still.

    ``arena``, ``members``: the positions to change; all finite.
    ``table``: where to start: at most the least fixed point, and exact outside the members.
    ``patience``: rounds of value iteration before a linear system is solved every other round.
    ``calm``: the linear systems come earlier if the residual is as small as that.
    ``small``: a residual as small as that ends the iteration.
    """
    values = list(table)
    best = Guess(list(values), math.inf)
    jumped = False
    relative = arena.lifting.top is None
    for round_ in range(rounds):
        deadline.check()
        progress("value iteration", round_, None)
        evaluation = Evaluation(arena, list(values), deadline)
        fresh = {
            p: rounded(evaluation.value(p, up=False), BITS, up=False, relative=relative) for p in members
        }
        change = np.array([evaluation.residual(p) for p in members])
        worst = float(np.abs(change).max(initial=0.0))
        if worst <= best.residual:
            best = Guess(list(values), worst)
        if worst <= small or not math.isfinite(worst):
            break
        jumped = not jumped and (round_ >= patience or worst <= calm)
        if jumped:
            jump = _jump(evaluation, members, change)
            if jump is not None:
                for p, step in zip(members, jump, strict=True):
                    value = values[p]
                    if value is not None:
                        moved = shifted(arena, value, float(step))
                        values[p] = rounded(moved, BITS, up=False, relative=relative)
                continue
        for p, value in fresh.items():
            values[p] = value
    return best


def _jump(evaluation: Evaluation, members: Sequence[int], change: Floats) -> Floats | None:
    """Return how far values move if all keep to their best moves; None where that leads nowhere."""
    chosen = escaping_challenges(evaluation, members, SLACK)
    rows = [evaluation.row(evaluation.best_answer(chosen[p])) for p in members]
    solution = _solved(rows, members, change)
    if solution is None or float(np.abs(solution).max(initial=0.0)) > STEEP:
        return None
    return solution


def _solved(rows: Sequence[Row], members: Sequence[int], constants: Floats) -> Floats | None:
    """Solve x = constants + A x, where A is made of rows that lead outside the members at no gain."""
    place = {p: k for k, p in enumerate(members)}
    entries = [(k, place[q], weight) for k, row in enumerate(rows) for q, weight in row.items() if q in place]
    size = len(members)
    data = np.array([weight for _, _, weight in entries])
    where = np.array([(k, q) for k, q, _ in entries], dtype=np.int64).reshape(-1, 2)
    matrix = sp.eye_array(size, format="csr") - sp.csr_array(
        (data, (where[:, 0], where[:, 1])), shape=(size, size)
    )
    try:
        with np.errstate(all="ignore"):
            solution = factorised(matrix)(constants)
    except ArithmeticError:
        return None
    return solution if np.isfinite(solution).all() else None


@dataclass(frozen=True, slots=True)
class Walk:
    """Numbers w with w >= 1 + A w for all rows A that positions have to choose from."""

    steps: Floats  # by member: the most steps to get away
    # by member: those of one group may lead to each other for ever at no gain. All of a group have the same
    # steps, and must be moved to one value.
    group: list[int]


def longest_walk(options: Iterable[tuple[int, Row]], members: Sequence[int]) -> Walk | None:
    """Return the most steps to get away; None where that takes too long for doubles."""
    place = {p: k for k, p in enumerate(members)}
    rows = [(place[p], {place[q]: x for q, x in row.items() if q in place}) for p, row in options]
    group = _groups(rows, len(members))
    merged: list[list[Row]] = [[] for _ in range(max(group, default=-1) + 1)]
    for k, row in rows:
        total: Row = {}
        for q, weight in row.items():
            total[group[q]] = total.get(group[q], 0.0) + weight
        if total.get(group[k], 0.0) < FULL:
            merged[group[k]].append(total)
    walk = _walk(merged)
    return None if walk is None else Walk(walk[np.array(group, dtype=np.int64)], group)


def _walk(choices: Sequence[Sequence[Row]]) -> Floats | None:
    walk = np.ones(len(choices))

    def steps(row: Row) -> float:
        return float(1.0 + sum(weight * walk[q] for q, weight in row.items()))

    for _ in range(WALKS):
        taken = [max(rows, key=steps, default={}) for rows in choices]
        best = np.array([steps(row) for row in taken])
        if (best <= walk * (1 + 1e-9)).all():
            return walk
        solution = _solved(taken, range(len(choices)), np.ones(len(choices)))
        if solution is None or (solution < 1 - 1e-9).any() or float(solution.max()) > 1e12:
            return None
        walk = np.maximum(solution, 1.0)
    return None


def _groups(rows: Sequence[tuple[int, Row]], size: int) -> list[int]:
    """Return a number for each member, the same for those that rows may keep among each other."""
    kept = [(k, row) for k, row in rows if sum(row.values()) >= FULL]
    while True:
        graph: list[list[int]] = [[] for _ in range(size)]
        for k, row in kept:
            graph[k] += row
        group = [0] * size
        for number, component in enumerate(strongly_connected_components(graph)):
            for k in component:
                group[k] = number
        inside = [(k, row) for k, row in kept if all(group[q] == group[k] for q in row)]
        if len(inside) == len(kept):
            return group
        kept = inside


def escaping_challenges(evaluation: Evaluation, members: Sequence[int], slack: fmpq) -> dict[int, Challenge]:
    """Return for each position a challenge that is worth the most, or almost, and gets away if one does.

    Of challenges that are worth the same, one may let the answers lead in circles for ever, so that it would
    not fix any value.
    """
    inside = set(members)
    tight = {p: list(evaluation.tight_challenges(p, slack)) for p in members}
    result: dict[int, Challenge] = {}
    pending = list(members)
    while pending:
        found = {}
        for p in pending:
            for challenge in tight[p]:
                rows = evaluation.tight_rows(challenge, slack)
                if all(
                    sum(x for q, x in row.items() if q in inside and q not in result) < FULL for row in rows
                ):
                    found[p] = challenge
                    break
        if not found:
            break
        result |= found
        pending = [p for p in pending if p not in found]
    return result | {p: evaluation.best_challenge(p) for p in pending}
