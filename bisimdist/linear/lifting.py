"""Numeric lifting: ever more binary digits of M^{-1} beta from one floating-point factorisation.

Each step solves once in double precision, rounds the answer to integers and computes what is left of the
right-hand side exactly, which gains up to 45 bits. Nothing here is trusted: the caller checks the residual of
the rational numbers that it reads off the digits. The method is that of Wan06.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from bisimdist.errors import BisimdistError
from bisimdist.linear.digits import digits_of
from bisimdist.linear.floats import DIRECT, factorised, swept
from bisimdist.linear.irreducible import IrreducibleSystem

Floats = NDArray[np.float64]

_WORD_SCALE_BITS = 58  # rows up to this size have their residuals in 64-bit words

_SAFE_BITS = 47
"""Width of a digit plus the logarithm of the condition number: leaves 5 bits for errors of the solver."""

_SWEPT_WIDTH = 42  # digits that sweeps are good for
_LEAST_WIDTH = 6  # digits shorter than this are slower than a dense exact solution

_RESIDUAL_LIMIT = 16.0
"""A residual beyond this many times the scale of its row says that the digits are too wide."""


class LiftingError(BisimdistError, ArithmeticError):
    """The system is too ill-conditioned for the digits asked for."""


@dataclass(frozen=True, slots=True)
class Lifting:
    """A factorised system, ready to yield digits."""

    system: IrreducibleSystem
    scales: tuple[int, ...]
    solve: Callable[[Floats], Floats]  # an approximate inverse of M with its rows divided by `scales`
    width: int  # the number of bits of a digit
    condition: float  # an estimate of the norm of that inverse

    def error_bits(self) -> int:
        """Return the length of the error bound that `digits` states, in units of the last place."""
        return math.ceil(math.log2(self.condition)) + 5

    def integer_digits(self) -> int:
        """How many of the first digits stand before the binary point."""
        bits: int = max(value.bit_length() for value in self.system.beta)
        return -(-bits // self.width)

    def digits(self) -> Iterator[NDArray[np.int64]]:
        """Yield the digits of all unknowns in base 2**width, leading first, for ever.

        With y_0, ..., y_k yielded so far, M^{-1} beta is the sum of y_j 2**(width (p - 1 - j)), where p is
        `integer_digits`, up to an error below 16 condition 2**(width (p - 1 - k)).

        Raises LiftingError if a residual grows, so that digits must be narrower.
        """
        if max(self.scales).bit_length() <= _WORD_SCALE_BITS:
            return self._digits_in_words()
        return self._digits_in_integers()

    def _rounded_solution(self, target: Floats) -> NDArray[np.int64]:
        try:
            solution = np.rint(self.solve(target))
        except ArithmeticError as error:
            raise LiftingError(str(error)) from None
        if not np.abs(solution).max() < 2.0**62:
            raise LiftingError("a digit has more than 62 bits")
        return solution.astype(np.int64)

    def _digits_in_words(self) -> Iterator[NDArray[np.int64]]:
        # The new residual is known to be small, so that it is right although its two parts may have wrapped
        # around modulo 2**64.
        matrix = _signed_matrix(self.system).astype(np.uint64)
        inverse_scales = 1.0 / np.array(self.scales, dtype=np.float64)
        base = float(2**self.width)
        shift = np.uint64(self.width)
        leading = digits_of(self.system.beta, self.width, self.integer_digits())
        residual = np.zeros(self.system.size, dtype=np.int64)
        step = 0
        while True:
            target = residual * base
            if step < len(leading):
                target += leading[step]
            digit = self._rounded_solution(target * inverse_scales)
            exact = residual.view(np.uint64) << shift
            if step < len(leading):
                exact = exact + leading[step].view(np.uint64)
            residual = (exact - matrix @ digit.view(np.uint64)).view(np.int64)
            if not np.abs(residual * inverse_scales).max() <= _RESIDUAL_LIMIT:
                raise LiftingError("the digits are too wide for the condition of the system")
            yield digit
            step += 1

    def _digits_in_integers(self) -> Iterator[NDArray[np.int64]]:
        matrix = _signed_matrix(self.system)
        weights: NDArray[Any] = matrix.data
        starts = matrix.indptr[:-1]
        spare = np.array([max(scale.bit_length() - 60, 0) for scale in self.scales], dtype=object)
        inverse_scales = 1.0 / (np.array(self.scales, dtype=object) >> spare).astype(np.float64)
        leading = digits_of(self.system.beta, self.width, self.integer_digits())
        residual: NDArray[Any] = np.array([0] * self.system.size, dtype=object)
        step = 0
        while True:
            target = residual << self.width
            if step < len(leading):
                target = target + leading[step].astype(object)
            digit = self._rounded_solution((target >> spare).astype(np.float64) * inverse_scales)
            residual = target - np.add.reduceat(weights * digit.astype(object)[matrix.indices], starts)
            if not np.abs((residual >> spare).astype(np.float64) * inverse_scales).max() <= _RESIDUAL_LIMIT:
                raise LiftingError("the digits are too wide for the condition of the system")
            yield digit
            step += 1


def _signed_matrix(system: IrreducibleSystem) -> Any:
    indices: list[int] = []
    data: list[int] = []
    starts = [0]
    for index, (value, row) in enumerate(zip(system.diagonal, system.entries, strict=True)):
        indices.append(index)
        data.append(value)
        for column, weight in row:
            indices.append(column)
            data.append(-weight)
        starts.append(len(indices))
    small = max(map(abs, data)).bit_length() < 63
    values = np.array(data, dtype=np.int64 if small else object)
    if small:
        return sp.csr_matrix((values, indices, starts), shape=(system.size, system.size))
    return _Rows(values, np.array(indices), np.array(starts))


@dataclass(frozen=True, slots=True)
class _Rows:
    """What is needed of a sparse matrix whose entries exceed 64 bits."""

    data: NDArray[Any]
    indices: NDArray[np.int64]
    indptr: NDArray[np.int64]


def prepare_lifting(system: IrreducibleSystem, *, width_limit: int = _SAFE_BITS) -> Lifting:
    """Choose a floating-point solver for a system, and the width of the digits."""
    scales = tuple(
        max(abs(value), *(weight for _, weight in row)) if row else abs(value)
        for value, row in zip(system.diagonal, system.entries, strict=True)
    )
    diagonal = np.array([value / scale for value, scale in zip(system.diagonal, scales, strict=True)])
    rows = [index for index, row in enumerate(system.entries) for _ in row]
    columns = [column for row in system.entries for column, _ in row]
    weights = [weight / scales[index] for index, row in enumerate(system.entries) for _, weight in row]
    size = system.size
    matrix = sp.diags_array(diagonal) - sp.csr_array((weights, (rows, columns)), shape=(size, size))
    ones = np.ones(size)
    solve = swept(matrix) if size > DIRECT and width_limit >= _SWEPT_WIDTH else None
    try:
        if solve is None:
            solve = factorised(matrix)
        else:
            width_limit = _SWEPT_WIDTH
        image = solve(ones)
    except ArithmeticError as error:
        raise LiftingError(str(error)) from None
    # The inverse of an M-matrix is non-negative: its norm is its largest row sum.
    condition = float(np.abs(image).max())
    if not math.isfinite(condition):
        raise LiftingError("the matrix is singular in double precision")
    condition = max(condition, 1.0)
    width = min(_SAFE_BITS - math.ceil(math.log2(condition)), width_limit)
    if width < _LEAST_WIDTH:
        raise LiftingError(f"the condition number is about {condition:.1e}")
    return Lifting(system, scales, solve, width, condition)
