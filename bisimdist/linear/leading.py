"""The leading digits of all unknowns of a system, as many as wanted: guesses, never answers."""

from __future__ import annotations

from itertools import islice

from flint import fmpz

from bisimdist.errors import LimitError
from bisimdist.linear.digits import integers_of
from bisimdist.linear.irreducible import IrreducibleSystem
from bisimdist.linear.lifting import LiftingError, prepare_lifting
from bisimdist.linear.system import SparseSystem
from bisimdist.progress import NEVER, Deadline

GUARD = 32
"""Bits beyond those that the lifting may have wrong: what has a short binary expansion is rounded to it."""


def solve_nearly(system: SparseSystem, places: int, *, deadline: Deadline = NEVER) -> list[fmpz]:
    """Solve a system in units of 2 ** -places, rounded to the nearest; no bound is implied.

    All components are lifted at once, and no denominator is looked for.

    >>> solve_nearly(SparseSystem(((2, 1, ((1, 1),)), (4, 0, ((0, 2),)))), 100)[0] * 3 - 2**101
    1
    """
    if system.size == 0:
        return []
    digits = []
    try:
        lifting = prepare_lifting(_at_once(system))
        width, whole = lifting.width, lifting.integer_digits()
        count = whole + -(-(places + lifting.error_bits() + GUARD) // width)
        for digit in islice(lifting.digits(), count):
            deadline.check()
            digits.append(digit)
    except LiftingError as error:
        raise LimitError(f"no digits from doubles: {error}") from None
    spare = width * (count - whole) - places
    half = fmpz(1) << (spare - 1)
    return [(value + half) >> spare for value in integers_of(digits, width)]


def _at_once(system: SparseSystem) -> IrreducibleSystem:
    """Return the whole system in the form that lifting takes, whatever its components are."""
    diagonal, rows, beta = [], [], []
    for index, (scale, constant, entries) in enumerate(system.rows):
        row: dict[int, int] = {}
        for column, weight in entries:
            row[column] = row.get(column, 0) + weight
        own = scale - row.pop(index, 0)
        if own <= 0:
            raise LiftingError(f"the unknown {index} depends on nothing but itself")
        diagonal.append(own)
        rows.append(tuple(row.items()))
        beta.append(fmpz(constant))
    return IrreducibleSystem(tuple(diagonal), tuple(rows), tuple(beta))
