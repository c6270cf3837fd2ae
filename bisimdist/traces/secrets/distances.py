"""Distances between secrets: what d_X-privacy measures its loss by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import lcm
from operator import add
from typing import Any, TypeAlias

from flint import fmpq

from bisimdist.errors import NumberError, NumberTypeError, UsageError
from bisimdist.exact.rational import ExactNumber, to_fmpq

Secret: TypeAlias = Any
"""Whatever can be a key: a name, a number, a tuple of attributes of a person or of rows of a data set."""

Table: TypeAlias = Mapping[tuple[Secret, Secret], ExactNumber]
ZERO = fmpq(0)
MAX_VIOLATIONS = 3


@dataclass(frozen=True, slots=True)
class Distances:
    """The distances of all pairs of different secrets."""

    name: str  # ``discrete``, ``hamming``, ``absolute`` or ``table``
    secrets: tuple[Secret, ...]  # the secrets, in the order in which they were given
    values: Mapping[tuple[int, int], fmpq]  # by the positions of two secrets, the first one smaller
    # some triples (x, y, z) of positions with d(x, z) > d(x, y) + d(y, z), where there are any
    triangles: tuple[tuple[int, int, int], ...] = ()

    def between(self, first: int, second: int) -> fmpq:
        """Return the distance of two secrets by their positions."""
        if first == second:
            return ZERO
        return self.values[min(first, second), max(first, second)]


def _discrete(first: Secret, second: Secret) -> fmpq:
    return fmpq(first != second)


def _hamming(first: Secret, second: Secret) -> fmpq:
    if not isinstance(first, str | tuple) or not isinstance(second, str | tuple):
        raise UsageError(
            "the Hamming distance compares texts or tuples; "
            f"one of {_shown(first)} and {_shown(second)} is neither"
        )
    if len(first) != len(second):
        raise UsageError(
            f"the secrets {_shown(first)} and {_shown(second)} differ in length; "
            "the Hamming distance needs equal lengths"
        )
    return fmpq(sum(a != b for a, b in zip(first, second, strict=True)))


def _absolute(first: Secret, second: Secret) -> fmpq:
    return abs(_number(first) - _number(second))


def _number(secret: Secret) -> fmpq:
    try:
        return to_fmpq(secret)
    except (NumberError, NumberTypeError) as error:
        raise UsageError(f"the secret {_shown(secret)} is no number: {error}") from None


_DISTANCES: dict[str, Callable[[Secret, Secret], fmpq]] = {
    "discrete": _discrete,
    "hamming": _hamming,
    "absolute": _absolute,
}
DISTANCE_NAMES = tuple(_DISTANCES)


def _shown(secret: Secret) -> str:
    text = repr(secret)
    return text if len(text) <= 40 else text[:37] + "..."


def secret_distances(secrets: Sequence[Secret], distance: str | Table) -> Distances:
    """Return the distances of all pairs of some secrets.

    ``distance``: ``"discrete"`` (1 between different secrets: local differential privacy), ``"hamming"`` (in
        how many places texts or tuples of one length differ: differential privacy), ``"absolute"`` (of
        numbers), or a table of pairs; of each pair one order is enough.

    >>> secret_distances(["00", "01", "11"], "hamming").values
    {(0, 1): 1, (0, 2): 2, (1, 2): 1}
    >>> secret_distances(["x", "y"], {("x", "y"): "-1"})
    Traceback (most recent call last):
    ...
    bisimdist.errors.UsageError: the distance of 'x' and 'y' is -1; expected at least 0
    """
    given = tuple(secrets)
    if len(set(given)) != len(given):
        twice = next(secret for secret in given if given.count(secret) > 1)
        raise UsageError(f"the secret {_shown(twice)} is given twice")
    if isinstance(distance, str):
        if distance not in _DISTANCES:
            raise UsageError(
                f"there is no distance {distance!r}; expected {', '.join(DISTANCE_NAMES)} or a table"
            )
        measure, name = _DISTANCES[distance], distance
    else:
        measure, name = _from_table(distance, given), "table"
    values = {
        (i, j): measure(given[i], given[j]) for i in range(len(given)) for j in range(i + 1, len(given))
    }
    triangles = _triangles(len(given), values) if name == "table" else ()
    return Distances(name, given, values, triangles)


def _from_table(table: Table, secrets: Sequence[Secret]) -> Callable[[Secret, Secret], fmpq]:
    known: dict[tuple[Secret, Secret], fmpq] = {}
    for (first, second), entry in table.items():
        value = to_fmpq(entry)
        if value < 0:
            raise UsageError(
                f"the distance of {_shown(first)} and {_shown(second)} is {value}; expected at least 0"
            )
        if first == second and value != 0:
            raise UsageError(f"the distance of {_shown(first)} and itself is {value}; expected 0")
        if known.get((second, first), value) != value:
            raise UsageError(
                f"the distance of {_shown(first)} and {_shown(second)} is {value} in one order "
                f"and {known[second, first]} in the other"
            )
        known[first, second] = value
    members = set(secrets)
    for first, second in known:
        for secret in (first, second):
            if secret not in members:
                raise UsageError(f"the table of distances names {_shown(secret)}, which is no secret")

    def measure(first: Secret, second: Secret) -> fmpq:
        found = known.get((first, second), known.get((second, first)))
        if found is None:
            raise UsageError(f"the table has no distance of {_shown(first)} and {_shown(second)}")
        return found

    return measure


def _triangles(count: int, values: Mapping[tuple[int, int], fmpq]) -> tuple[tuple[int, int, int], ...]:
    """Return some triples that violate the triangle inequality."""
    common = lcm(*(int(value.q) for value in values.values()))
    table = [[0] * count for _ in range(count)]
    for (x, z), value in values.items():
        table[x][z] = table[z][x] = int((value * common).p)
    found: list[tuple[int, int, int]] = []
    for x in range(count):
        for z in range(x + 1, count):
            whole = table[x][z]
            if min(map(add, table[x], table[z])) < whole:
                y = next(y for y in range(count) if table[x][y] + table[z][y] < whole)
                found.append((x, y, z))
            if len(found) == MAX_VIOLATIONS:
                return tuple(found)
    return tuple(found)
