"""Proofs that the matrix of a strongly connected system is non-singular."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from flint import fmpz, nmod_mat

from bisimdist.linear.irreducible import IrreducibleSystem
from bisimdist.linear.system import SingularSystemError

if TYPE_CHECKING:
    from bisimdist.linear.lifting import Lifting

_PRIMES = (2**62 - 57, 2**62 - 87, 2**62 - 117)  # the three largest primes below 2**62


def is_dominant(system: IrreducibleSystem) -> bool:
    """Tell whether weak diagonal dominance with one strict row proves the matrix non-singular.

    For an irreducible matrix that is enough: mass leaves some row, and every row leads there.

    Raises SingularSystemError if all rows sum to zero, so that the matrix maps the vector of ones to zero.
    Source: Taussky49.
    """
    slacks = [
        value - sum(weight for _, weight in row)
        for value, row in zip(system.diagonal, system.entries, strict=True)
    ]
    if not any(slacks):
        raise SingularSystemError(
            f"the linear system is singular: no mass leaves a component of {system.size} unknowns"
        )
    return min(slacks) >= 0


def check_regular(system: IrreducibleSystem, lifting: Lifting) -> None:
    """Prove that the matrix is non-singular, where dominance does not.

    A positive vector v with M v > 0 proves that M, whose off-diagonal entries are not positive, is a
    non-singular M-matrix; v is guessed as the rounded solution of M v = 1. Else the determinant modulo a
    prime is computed, which is not zero for a non-singular matrix unless by accident.

    Source: BP94, Theorem 6.2.3, condition I28.
    """
    guess = lifting.solve(np.ones(system.size))
    if guess.min() > 0:
        vector = [fmpz(int(value)) for value in np.ceil(guess * (2.0**40 / guess.max()))]
        if min(system.product(vector)) > 0:
            return
    dense = system.dense()
    if not any(nmod_mat(dense, prime).det() for prime in _PRIMES):
        raise SingularSystemError(
            "the determinant of the linear system is zero modulo three primes of 62 bits"
        )
