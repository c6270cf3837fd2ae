"""Matrices as Markov chains: NumPy arrays, SciPy's sparse matrices and nested lists of exact numbers.

Neither package is imported here: what is given brings its own methods along.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bisimdist.errors import Located, ModelError
from bisimdist.exact.doubles import Rationaliser
from bisimdist.exact.rational import to_fmpq
from bisimdist.models.labelled import probability
from bisimdist.models.lmc import LMC, Row

Pairs = Iterable[tuple[str | int, str | int]]


def chain_from_matrix(
    matrix: Any,
    labels: Sequence[str],
    *,
    states: Sequence[str] | None = None,
    pairs: Pairs = (),
    rationalise: bool = False,
) -> LMC:
    """Make a chain of a square matrix of probabilities; see `bisimdist.models.lmc.LMC.from_matrix`."""
    size, entries = _entries(matrix)
    names = tuple(str(index) for index in range(size)) if states is None else tuple(states)
    for what, given in (("labels", labels), ("names of states", names)):
        if len(given) != size:
            raise ModelError(f"the matrix has {size} rows, and there are {len(given)} {what}")
    rows: list[dict[int, Any]] = [{} for _ in range(size)]
    numbers = Rationaliser()
    for row, column, value in entries:
        place = f"transition {names[row]} -> {names[column]}"
        double = isinstance(value, float)  # a double of NumPy is one of Python, a shorter float is not
        if double and not rationalise:
            raise ModelError(
                f"the entry {float(value)!r} is a double; expected exact numbers such as Fraction(1, 3), or "
                "rationalise=True for the simplest rationals within one unit in the last place",
                place=place,
            )
        with Located(place=place):
            exact = numbers.of_double(float(value)) if double else to_fmpq(_whole(value))
        exact += rows[row].get(column, 0)  # a sparse matrix in coordinates may list an entry in parts
        rows[row][column] = probability(exact, place)
    made: tuple[Row, ...] = tuple(tuple(sorted((t, p) for t, p in row.items() if p)) for row in rows)
    position: Mapping[str | int, int] = {
        **{index: index for index in range(size)},
        **{name: i for i, name in enumerate(names)},
    }
    return LMC(names, tuple(labels), made, tuple((_at(s, position), _at(t, position)) for s, t in pairs))


def _whole(value: Any) -> Any:
    """Return an integer of NumPy as one of Python; anything else is returned as it is."""
    plain = value.item() if hasattr(value, "item") else value
    return plain if isinstance(plain, int) else value


def _at(state: str | int, position: Mapping[str | int, int]) -> int:
    if state not in position:
        raise ModelError("the pair names a state that is not there", place=f"state {state!r}")
    return position[state]


def _entries(matrix: Any) -> tuple[int, Iterable[tuple[int, int, Any]]]:
    """Return how many rows a matrix has, and its entries with their places."""
    if hasattr(matrix, "tocoo"):
        sparse = matrix.tocoo()
        shape = tuple(sparse.shape)
        listed = zip(map(int, sparse.row), map(int, sparse.col), sparse.data, strict=True)
    else:
        rows = [list(row) for row in matrix]
        shape = (len(rows), len(rows[0]) if rows else 0)
        for index, row in enumerate(rows):
            if len(row) != len(rows):
                raise ModelError(
                    f"the row has {len(row)} entries; expected a square matrix of {len(rows)}",
                    place=f"row {index}",
                )
        listed = ((i, j, value) for i, row in enumerate(rows) for j, value in enumerate(row))  # type: ignore[assignment]
    if len(shape) != 2 or shape[0] != shape[1]:
        raise ModelError(f"the matrix has the shape {shape}; expected a square one")
    return shape[0], listed
