"""All values of one draw at once: floats of 32 bits, by the vectorised code of the library itself.

A chain does not hold so many outputs. Outputs with the same probabilities from all inputs are one state:
delta is the same at every alpha.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import fmpq

from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.lazy import Lazy
from bisimdist.programs.replay.rules import RULES, grid_of

if TYPE_CHECKING:
    from bisimdist.programs.replay.released import Released

FEWEST, MOST, PART = 1 << 12, 1 << 24, 1 << 20
"""From so many values of a draw on they are computed at once, and up to so many; so many at a time."""

COMPARED = 200

_PLAIN = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos, operator.abs}
)
_MOST_WEIGHT = 1 << 62


@dataclass(frozen=True, slots=True)
class Bulk:
    """Floats that are released, how often each, and how probable each single draw is."""

    values: np.ndarray[Any, Any]
    counts: np.ndarray[Any, Any]
    unit: fmpq


def _vectorised(node: Any, base: np.ndarray[Any, Any], memo: dict[int, Any]) -> Any:
    """Compute a number for an array of draws, or return None where that is not done with arrays."""
    if type(node) is not Lazy:
        return node
    if id(node) in memo:
        return memo[id(node)]
    if node.arguments is None:
        found = node.function(base, base)[0]
    else:
        parts = [_vectorised(part, base, memo) for part in node.arguments]
        if any(part is None for part in parts):
            found = None
        elif node.function is grid_of:
            found = _grid(*parts)
        elif isinstance(node.function, np.ufunc) or node.function in _PLAIN or node.function is np.round:
            found = node.function(*parts)
        elif getattr(node.function, "__name__", "") in {"float32", "float64"} and node.function in RULES:
            found = node.function(parts[0])
        else:
            found = None
    memo[id(node)] = found
    return found


def _grid(values: Any, top: int, bottom: int) -> Any:
    if top != 1 or bottom & (bottom - 1) or values.dtype != np.float32:
        return None
    return np.floor((values.astype(np.float64) * (2 * bottom) + 1) / 2)


def released_at_once(
    released: Released, law: Law, draw: int, span: tuple[float, float], whole: fmpq
) -> Bulk | None:
    """Return what runs release for all values of a draw in a range; None where that is not done at once."""
    low, high = span
    node = released.value
    if type(law) is not Uniform or not FEWEST <= high - low < MOST:
        return None
    scale = 1.0
    inner = node
    first = None if node.arguments is None else node.arguments[0]
    if node.function is operator.mul and type(first) is Lazy and first.function is grid_of:
        inner, scale = first, float((node.arguments or (0, 1))[1])
    parts = []
    for start in range(int(low), int(high) + 1, PART):
        base = np.arange(start, min(start + PART, int(high) + 1))
        found = _vectorised(inner, base, {})
        if found is None or not isinstance(found, np.ndarray) or found.dtype.kind != "f":
            return None
        if start == int(low) and not _agrees(released, draw, base, found * scale):
            return None
        parts.append(found)
    values, counts = np.unique(np.concatenate(parts), return_counts=True)
    return Bulk(values * scale if scale != 1.0 else values, counts, whole * fmpq(1, law.count))


def _agrees(released: Released, draw: int, base: Any, found: Any) -> bool:
    """Tell whether single values are what was computed for many."""
    for k in range(0, len(base), max(1, len(base) // COMPARED)):
        point = {draw: int(base[k])}
        end = released.end(point, point)
        if end[-1][1] != released.end_of((found[k],))[-1][1]:
            return False
    return True


@dataclass(frozen=True, slots=True)
class Classes:
    """Outputs with the same probabilities from all inputs, as one each.

    only: by pair of inputs some of the outputs that the first has and the second has not.
    """

    laws: dict[str, dict[str, fmpq]]  # by input, and by name of a class, its probability
    counted: dict[str, int]  # by input how many outputs it has
    only: dict[tuple[str, str], tuple[str, ...]]


MOST_LISTED = 20


def classes_of(
    bulks: Mapping[str, Sequence[Bulk]], others: Mapping[str, Mapping[float, fmpq]]
) -> Classes | None:
    """Return classes of all floats that are released; None if the counts overflow."""
    names = list(bulks)
    scale = lcm(
        *(int(bulk.unit.q) for found in bulks.values() for bulk in found),
        *(int(mass.q) for law in others.values() for mass in law.values()),
    )
    values, owners, weights = [], [], []
    for k, name in enumerate(names):
        for bulk in bulks[name]:
            factor = int(bulk.unit * scale)
            if factor * int(bulk.counts.max()) >= _MOST_WEIGHT:
                return None
            values.append(bulk.values.astype(np.float64))
            weights.append(bulk.counts * factor)
            owners.append(np.full(len(bulk.values), k))
        for value, mass in others[name].items():
            if int(mass * scale) >= _MOST_WEIGHT:
                return None
            values.append(np.array([value]))
            weights.append(np.array([int(mass * scale)]))
            owners.append(np.array([k]))
    every, inverse = np.unique(np.concatenate(values), return_inverse=True)
    owner, weight = np.concatenate(owners), np.concatenate(weights)
    table, key = [], np.zeros(len(every), dtype=np.int64)
    for k in range(len(names)):
        mine = owner == k
        column = np.zeros(len(every), dtype=np.int64)
        np.add.at(column, inverse[mine], weight[mine])
        table.append(column)
        distinct, place = np.unique(column, return_inverse=True)
        key = np.unique(key * len(distinct) + place, return_inverse=True)[1]
    first = np.unique(key, return_index=True)[1]
    sizes = np.bincount(key)
    laws: dict[str, dict[str, fmpq]] = {name: {} for name in names}
    for place, size in zip(first.tolist(), sizes.tolist(), strict=True):
        label = repr(float(every[place])) + (f" and {size - 1} more" if size > 1 else "")
        for name, column in zip(names, table, strict=True):
            if column[place]:
                laws[name][label] = fmpq(int(column[place]), scale) * size
    only = {}
    for k, one in enumerate(names):
        for j, other in enumerate(names):
            if k != j and len(names) <= MOST_LISTED:
                places = np.flatnonzero((table[k] > 0) & (table[j] == 0))[:MOST_LISTED]
                only[one, other] = tuple(repr(float(every[place])) for place in places)
    counted = {name: int(np.count_nonzero(table[k])) for k, name in enumerate(names)}
    return Classes(laws, counted, only)
