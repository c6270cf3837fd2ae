"""Rational functions on the states that span those of all traces: guessed from residues, proved exactly.

Over a prime the space of the functions of all traces has exactly one reduced basis: each function is one at a
state of its own, its pivot, where the others are zero. The residues for several primes are joined and read as
short rationals. What comes out is then proved: it is closed under steps, so it holds every trace's function.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isqrt

import numpy as np
from flint import fmpq, fmpq_mat, nmod_mat

from bisimdist.errors import LimitError
from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.functions import TraceFunctions, primes
from bisimdist.traces.engine.residue_echelon import Residues
from bisimdist.traces.engine.system import WordSystem

MAX_PRIMES = 256

Function = Mapping[int, fmpq]


@dataclass(frozen=True, slots=True)
class BasisFunction:
    """A function on classes that is one at its pivot, where the other functions of the basis are zero."""

    pivot: int
    values: Function


@dataclass(frozen=True, slots=True)
class ResidueBasis:
    """The reduced basis modulo a prime, by action: functions live on the states that perform it."""

    prime: int
    # for each action the pivots, as places among the classes that perform it
    pivots: tuple[tuple[int, ...], ...]
    rows: tuple[tuple[tuple[int, ...], ...], ...]  # for each action the functions, in the same columns

    @classmethod
    def of(
        cls, chain: WordSystem, prime: int, kept: Sequence[Residues], deadline: Deadline = NEVER
    ) -> ResidueBasis:
        """Reduce the functions of the kept traces."""
        pivots, rows = [], []
        for group in chain.groups():
            deadline.check()
            parts = [part[:, group] for part in kept]
            none = np.zeros((0, len(group)), dtype=np.int64)
            matrix = np.concatenate([none, *(part[part.any(axis=1)] for part in parts)])
            reduced, rank = nmod_mat(len(matrix), len(group), matrix.ravel().tolist(), prime).rref()
            entries = np.array([int(x) for x in reduced.entries()], dtype=np.int64)
            square = entries.reshape(len(matrix), len(group))[:rank]
            pivots.append(tuple(int(np.flatnonzero(row)[0]) for row in square))
            rows.append(tuple(tuple(row) for row in square.tolist()))
        return cls(prime, tuple(pivots), tuple(rows))

    @classmethod
    def explored(cls, chain: WordSystem, prime: int, deadline: Deadline = NEVER) -> ResidueBasis:
        """Explore all functions modulo a prime."""
        levels = TraceFunctions(chain, prime).levels(deadline)
        return cls.of(chain, prime, [level.values for level in levels], deadline)

    @property
    def rank(self) -> int:
        """The dimension of the space."""
        return sum(map(len, self.pivots))

    def holds_one(self, chain: WordSystem) -> bool:
        """Tell whether the constant function one is in the span of those of all traces but the empty one."""
        acting = sum(step is not None for step in chain.steps)
        return acting == len(chain) and all(
            sum(column) % self.prime == 1 for rows in self.rows for column in zip(*rows, strict=True)
        )


@dataclass(frozen=True, slots=True)
class RationalBasis:
    """Functions whose span is proved to be closed under steps, so it holds the functions of all traces."""

    functions: tuple[BasisFunction, ...]

    @classmethod
    def of(cls, chain: WordSystem, deadline: Deadline = NEVER) -> RationalBasis:
        """Explore modulo primes until a basis is proved."""
        images = []
        for count, prime in enumerate(primes(chain), start=1):
            deadline.check()
            images.append(ResidueBasis.explored(chain, prime, deadline))
            if not count & (count - 1):
                basis = cls.proved(chain, images, deadline)
                if basis is not None:
                    return basis
            if count == MAX_PRIMES:
                break
        raise LimitError("the functions of traces take numbers that are too long")

    @classmethod
    def proved(
        cls, chain: WordSystem, images: Sequence[ResidueBasis], deadline: Deadline = NEVER
    ) -> RationalBasis | None:
        """Read rationals off residues; None where they are no basis, as more primes are needed."""
        best = max(images, key=lambda image: (image.rank, [[-p for p in pivots] for pivots in image.pivots]))
        agreeing = [image for image in images if image.pivots == best.pivots]
        matrices = []
        for number in range(len(best.pivots)):
            matrix = _joined([(image.prime, image.rows[number]) for image in agreeing], deadline)
            if matrix is None:
                return None
            matrices.append(matrix)
        if not _closed(chain, best.pivots, matrices, deadline):
            return None
        functions = [
            BasisFunction(group[pivot], {group[n]: value for n, value in enumerate(row) if value != 0})
            for group, pivots, matrix in zip(chain.groups(), best.pivots, matrices, strict=True)
            for pivot, row in zip(pivots, matrix, strict=True)
        ]
        return cls(tuple(functions))


def agree_on(basis: RationalBasis, s: int, t: int) -> bool:
    """Tell whether all functions of a basis have the same value at two classes."""
    return all(f.values.get(s, fmpq(0)) == f.values.get(t, fmpq(0)) for f in basis.functions)


def _joined(
    images: Sequence[tuple[int, Sequence[Sequence[int]]]], deadline: Deadline
) -> list[list[fmpq]] | None:
    """Return the short rationals with these residues, None where an entry has none."""
    result = []
    primes, moduli = [prime for prime, _ in images], [1]
    for prime in primes:
        moduli.append(moduli[-1] * prime)
    inverses = [pow(modulus, -1, prime) for modulus, prime in zip(moduli, primes, strict=False)]
    for rows in zip(*(rows for _, rows in images), strict=True):
        deadline.check()
        values = []
        for residues in zip(*rows, strict=True):
            number = 0
            for residue, prime, modulus, inverse in zip(residues, primes, moduli, inverses, strict=False):
                number += modulus * ((residue - number) * inverse % prime)
            value = _rational(number, moduli[-1])
            if value is None:
                return None
            values.append(value)
        result.append(values)
    return result


def _rational(number: int, modulus: int) -> fmpq | None:
    """Return the short rational that is congruent to a number, if there is one."""
    if number in (0, 1):
        return fmpq(number)
    bound = isqrt(modulus // 2)
    above, below = (modulus, 0), (number, 1)
    while below[0] > bound:
        quotient = above[0] // below[0]
        above, below = below, (above[0] - quotient * below[0], above[1] - quotient * below[1])
    return fmpq(below[0], below[1]) if 0 < abs(below[1]) <= bound else None


def _closed(
    chain: WordSystem,
    pivots: Sequence[Sequence[int]],
    matrices: Sequence[list[list[fmpq]]],
    deadline: Deadline,
) -> bool:
    """Tell whether the span of the functions holds one step of each of them and of the constant one."""
    groups = chain.groups()
    bases = [
        fmpq_mat(len(matrix), len(group), [x for row in matrix for x in row])
        for matrix, group in zip(matrices, groups, strict=True)
    ]
    place = {state: (n, k) for n, group in enumerate(groups) for k, state in enumerate(group)}
    for group, own, basis in zip(groups, pivots, bases, strict=True):
        constant = fmpq_mat(1, len(group))
        steps = [fmpq_mat(len(other), len(group)) for other in groups]
        for column, state in enumerate(group):
            for target, p in (chain.steps[state] or ("", ()))[1]:
                constant[0, column] += p
                if target in place:
                    n, row = place[target]
                    steps[n][row, column] = p
        moved = [constant, *(other * step for other, step in zip(bases, steps, strict=True))]
        for functions in moved:
            deadline.check()
            count = functions.nrows()
            chosen = [functions[row, column] for row in range(count) for column in own]
            if fmpq_mat(count, len(own), chosen) * basis != functions:
                return False
    return True
