"""What shows that a bound on a cycle is sound: weights that shrink with every round, or growth."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.exact.doubles import from_double
from bisimdist.linear import SingularSystemError, SparseSystem, solve_exact
from bisimdist.privacy.engine.closure import Closure, inner_shares
from bisimdist.privacy.engine.divergence import Divergence, DivergenceNode, Relative
from bisimdist.privacy.engine.measure import Edge, Measure, dyadic

MOST_DENSE = 1000
DIGITS = 30
ROUNDS = 64  # a bound that has not begun to grow after so many rounds over all nodes is given up


def _edge(measure: Measure[Any], edge: Edge, *, up: bool) -> tuple[fmpq, fmpq]:
    """Return (factor, constant) of an edge, rounded for bounds from above or from below."""
    found = measure.equation([edge], {edge[2]: 0}, {}, up=up)
    if found is None:  # pragma: no cover  (nothing is known)
        raise LimitError("an edge has no weight")
    constant, ((_, factor),) = found
    return factor, constant


def _inside(
    measure: Measure[Any], group: Sequence[Any], closure: Closure, *, up: bool
) -> list[list[tuple[int, fmpq]]]:
    """Return the factors between the nodes of a group, by the options that are chosen."""
    place = {node.index: k for k, node in enumerate(group)}
    return [
        [(place[e[2]], _edge(measure, e, up=up)[0]) for e in closure.chosen(node) if e[2] in place]
        for node in group
    ]


def _short(part: float, node: Any) -> fmpq:
    """Return a part of the mass of a node, with few digits."""
    return dyadic(from_double(part) * node.mass, up=True, places=DIGITS)


def _times(rows: Sequence[Sequence[tuple[int, fmpq]]], values: Sequence[fmpq]) -> list[fmpq]:
    return [sum((factor * values[k] for k, factor in row), fmpq(0)) for row in rows]


def weights_of(measure: Measure[Any], group: Sequence[Any], closure: Closure) -> Mapping[int, fmpq]:
    """Return weights h > A h of the nodes of a cycle, where there is a choice by the options that are chosen.

    Raises LimitError if there are none.
    """
    rows = _inside(measure, group, closure, up=False)
    size = len(group)
    if size <= MOST_DENSE:
        try:
            rough = np.linalg.solve(np.eye(size) - inner_shares(group, closure.choice), np.ones(size))
            guess = [_short(x, node) for x, node in zip(rough, group, strict=True)]
        except np.linalg.LinAlgError:
            guess = [fmpq(0)]
        if min(guess) > 0 and all(x > y for x, y in zip(guess, _times(rows, guess), strict=True)):
            return {node.index: x for node, x in zip(group, guess, strict=True)}
    try:
        solution = solve_exact(SparseSystem.from_rationals([(fmpq(1), row) for row in rows]))
    except SingularSystemError:
        raise LimitError("a cycle has no weights that shrink") from None
    exact = [solution.entry(k) for k in range(size)]
    if min(exact) <= 0:
        raise LimitError("a cycle has no weights that shrink")
    return {node.index: x for node, x in zip(group, exact, strict=True)}


def growth_of(
    measure: Any, group: Sequence[DivergenceNode], nodes: Sequence[Any], closure: Closure
) -> Mapping[int, tuple[fmpq, fmpq]]:
    """Return (z, h) by node of a cycle on which sums grow: z + h <= A z + b, h <= A h, and z <= V.

    Raises LimitError if none were found.
    """
    rows = _inside(measure, group, closure, up=False)
    own = [_known(measure, node) for node in group]
    steady = _harmonic(measure, group, rows)
    if steady is None:
        guess = _perron(group, closure)
        image = _times(rows, guess)
        rate = min(x / y for x, y in zip(image, guess, strict=True))
        if rate <= 1:
            raise LimitError("no bound was found that grows on a cycle")
        scale = min(x / y for x, y in zip(own, guess, strict=True))
        return {node.index: (scale * x, scale * (rate - 1) * x) for node, x in zip(group, guess, strict=True)}
    place = {node.index for node in group}
    gains = []
    for node in group:
        gain = fmpq(0)
        for edge in closure.chosen(node):
            factor, constant = _edge(measure, edge, up=False)
            gain += constant
            if edge[2] not in place:
                gain += factor * _known(measure, nodes[edge[2]])
        gains.append(gain)
    return _risen(group, rows, gains, own, steady)


def _risen(
    group: Sequence[DivergenceNode],
    rows: Sequence[Sequence[tuple[int, fmpq]]],
    gains: Sequence[fmpq],
    own: Sequence[fmpq],
    steady: Sequence[fmpq],
) -> Mapping[int, tuple[fmpq, fmpq]]:
    """Take the mean of bounds that rise from the own ones: it gains with a round what they did on average."""
    sums, values = [fmpq(0)] * len(group), list(own)
    for rounds in range(1, ROUNDS * len(group) + 1):
        sums = [x + y for x, y in zip(sums, values, strict=True)]
        values = [x + y for x, y in zip(_times(rows, values), gains, strict=True)]
        step = min((x - y) / u for x, y, u in zip(values, own, steady, strict=True)) / rounds
        if step > 0 and rounds >= len(group):
            mean = [x / rounds for x in sums]
            down = max((x - y) / u for x, y, u in zip(mean, own, steady, strict=True))
            return {
                node.index: (x - max(down, fmpq(0)) * u, step * u)
                for node, x, u in zip(group, mean, steady, strict=True)
            }
    raise LimitError("no bound was found that grows on a cycle")


def _known(measure: Divergence, node: DivergenceNode) -> fmpq:
    found = measure.own(node, up=False)
    return fmpq(0) if found is None else found


def _harmonic(
    measure: Divergence, group: Sequence[DivergenceNode], rows: Sequence[Sequence[tuple[int, fmpq]]]
) -> list[fmpq] | None:
    """Return u > 0 with u = A u, if there is such a vector."""
    if isinstance(measure, Relative):
        return [fmpq(node.x) for node in group]
    rest = [
        (sum((f for k, f in row if not k), fmpq(0)), [(k - 1, f) for k, f in row if k]) for row in rows[1:]
    ]
    try:
        solution = solve_exact(SparseSystem.from_rationals(rest))
    except SingularSystemError:
        return None
    found = [fmpq(1), *(solution.entry(k) for k in range(len(rest)))]
    return found if min(found) > 0 and _times(rows, found) == found else None


def _perron(group: Sequence[DivergenceNode], closure: Closure) -> list[fmpq]:
    """Return a vector near the one that grows alike everywhere."""
    matrix = inner_shares(group, closure.choice)
    values = np.ones(len(group))
    for _ in range(200 * len(group)):
        values = matrix @ values + values
        values /= values.max()
    return [_short(max(x, 1e-300), node) for x, node in zip(values, group, strict=True)]
