"""The exact solution of one large strongly connected system by numeric lifting."""

from __future__ import annotations

import numpy as np
from flint import fmpz
from numpy.typing import NDArray

from bisimdist.linear.continued_fraction import reconstruct_denominator
from bisimdist.linear.digits import integer_of, integers_of
from bisimdist.linear.irreducible import IrreducibleSystem, solves
from bisimdist.linear.lifting import Lifting, LiftingError, prepare_lifting
from bisimdist.linear.regularity import check_regular
from bisimdist.progress import Deadline, Progress

_ATTEMPTS = 3  # how often lifting is tried, with ever shorter digits
_GROWTH = 1.2  # factor between the precisions at which the denominator is looked for

_MARGIN = 128
"""Bits that a numerator must have beyond its integer part: all zeros or ones unless something is wrong."""

_SAMPLE = 64  # how many unknowns make up the combination whose denominator is looked for


def solve_by_lifting(
    system: IrreducibleSystem, *, dominant: bool, deadline: Deadline, progress: Progress
) -> tuple[list[fmpz], fmpz] | None:
    """Solve M z = beta exactly for a strongly connected system; the residual has been checked.

    ``dominant``: whether the matrix is known to be non-singular.
    returns: numerators and their positive common denominator; None where the matrix is too ill-conditioned.
    """
    try:
        lifting = prepare_lifting(system)
    except LiftingError:
        return None
    if not dominant:
        check_regular(system, lifting)
    if not any(system.beta):
        return [fmpz(0)] * system.size, fmpz(1)
    for _ in range(_ATTEMPTS):
        try:
            found = _lift(lifting, dominant, deadline, progress)
        except LiftingError:
            found = None
        if found is not None and solves(system, *found):
            return found
        try:
            lifting = prepare_lifting(system, width_limit=lifting.width * 3 // 4)
        except LiftingError:
            break
    return None


def _lift(
    lifting: Lifting, dominant: bool, deadline: Deadline, progress: Progress
) -> tuple[list[fmpz], fmpz] | None:
    """Lift until the denominator shows, then read off the numerators; none if it never shows."""
    width, size = lifting.width, lifting.system.size
    whole = lifting.integer_digits()
    longest = lifting.system.determinant_bits(dominant=dominant)
    wrong_bits = lifting.error_bits() + 13
    kept_digits = whole + -(-(longest + wrong_bits + _MARGIN) // width)
    last = whole + -(-(2 * longest + wrong_bits + 44) // width)
    attempt = min(whole + 4 + 200 // width, last)
    kept: list[NDArray[np.int64]] = []
    generator = np.random.default_rng([size, width])
    sample = generator.permutation(size)[:_SAMPLE]
    factors = generator.integers(1, 128, len(sample)).tolist()
    combination: list[int] = []
    reference = fmpz(0)
    for count, digit in enumerate(lifting.digits(), start=1):
        if count <= kept_digits:
            kept.append(digit)
        combination.append(sum(f * y for f, y in zip(factors, digit[sample].tolist(), strict=True)))
        deadline.check()
        if count % 64 == 0:
            progress("linear system", count, last)
        if count < attempt:
            continue
        reference = (reference << (width * len(combination))) + integer_of(combination, width)
        combination = []
        precision = width * (count - whole)
        denominator = reconstruct_denominator(reference, precision, wrong_bits)
        if denominator is not None:
            found = _numerators(lifting, kept, denominator)
            if found is not None:
                return found
        if count >= last:
            return None
        attempt = min(whole + int((count - whole) * _GROWTH) + 1, last)
    return None


def _numerators(
    lifting: Lifting, kept: list[NDArray[np.int64]], denominator: fmpz
) -> tuple[list[fmpz], fmpz] | None:
    """Multiply by the denominator and round; enlarge it where an unknown shows a further factor."""
    width, whole = lifting.width, lifting.integer_digits()
    rounded: list[tuple[fmpz, fmpz]] = []
    while len(rounded) < lifting.system.size:
        needed = whole + -(-(denominator.bit_length() + lifting.error_bits() + _MARGIN) // width)
        if needed > len(kept):
            return None
        precision = width * (needed - whole)
        half = fmpz(1) << (precision - 1)
        # What is rounded already is exact and stays; the rest is read again when the margin is used up.
        start = len(rounded)
        for index, value in enumerate(integers_of([digit[start:] for digit in kept[:needed]], width), start):
            wrong_bits = lifting.error_bits() + denominator.bit_length()
            product = value * denominator
            numerator = (product + half) >> precision
            if (product - (numerator << precision)).bit_length() > wrong_bits:
                [longer] = integers_of([digit[index : index + 1] for digit in kept], width)
                factor = reconstruct_denominator(
                    longer * denominator, width * (len(kept) - whole), wrong_bits
                )
                if factor is None or factor == 1:
                    return None
                denominator *= factor
                if wrong_bits + factor.bit_length() + _MARGIN // 2 > precision:
                    break
                numerator = (value * denominator + half) >> precision
            rounded.append((numerator, denominator))
    return [numerator * (denominator // over) for numerator, over in rounded], denominator
