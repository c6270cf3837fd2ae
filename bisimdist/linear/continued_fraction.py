"""The denominator of a rational number from its leading binary digits, in quasi-linear time."""

from __future__ import annotations

from flint import fmpz

_Matrix = tuple[fmpz, fmpz, fmpz, fmpz]

_PLAIN_BITS = 600
"""Below this length plain division steps on Python integers are faster than recursion (measured)."""

_GAP_BITS = 40  # how many bits the partial quotient after the answer must have at least to be no accident


def reconstruct_denominator(value: fmpz, precision: int, error_bits: int) -> fmpz | None:
    """Find the denominator D of the rational number that value / 2**precision approximates.

    ``value``: the integer with ``abs(value / 2**precision - x) <= 2**(error_bits - precision)``.
    ``error_bits``: how many of the last places may be wrong.
    returns: the denominator of the convergent whose next partial quotient is so large (40 bits) that the
        number is rational beyond reasonable doubt; none if there is no such convergent below half the
        precision. It is always found if ``2 * D.bit_length() + error_bits + 44 <= precision``.
    Source: von zur Gathen, Gerhard, "Modern Computer Algebra", 3rd ed., Sections 5.10 and 11.1.

    >>> reconstruct_denominator(fmpz(2**200) * 3 // 7, 200, 2)
    7
    """
    modulus = fmpz(1) << precision
    fraction = value % modulus
    if not fraction:
        return fmpz(1)
    stop = (precision + error_bits) // 2 + 1
    _, remainder, matrix = _reduce(modulus, fraction, stop)
    denominator = matrix[0]
    # Consecutive convergents have |remainder| * next denominator ~ modulus, so a small product means a large
    # next partial quotient.
    if denominator.bit_length() + remainder.bit_length() + _GAP_BITS > precision:
        return None
    return denominator


def _reduce(a: fmpz, b: fmpz, stop: int) -> tuple[fmpz, fmpz, _Matrix]:
    """Take the Euclidean steps of a > b >= 0 until b has at most `stop` bits.

    Returns (a', b', M) with (a, b) = M (a', b').
    """
    m11, m12, m21, m22 = fmpz(1), fmpz(0), fmpz(0), fmpz(1)
    while b.bit_length() > stop:
        length = a.bit_length()
        if length <= _PLAIN_BITS:
            a, b, (t11, t12, t21, t22) = _plain(a, b, stop)
        else:
            # The leading 2 d bits of the numbers determine the steps that remove the next d bits.
            wanted = (length - stop + 1) // 2 if length - stop > _PLAIN_BITS else length - stop
            shift = max(length - 2 * wanted - 8, 0)
            if shift == 0:
                shift = length // 2
            high = a >> shift
            _, _, (t11, t12, t21, t22) = _reduce(
                high, b >> shift, max(high.bit_length() // 2 + 2, stop - shift)
            )
            sign = t11 * t22 - t12 * t21
            x, y = sign * (t22 * a - t12 * b), sign * (t11 * b - t21 * a)
            # The quotients of the leading parts are those of the numbers up to the last few: by the
            # uniqueness of continued fractions they are right as soon as x > y >= 0.
            while not x > y >= 0:
                # Undo the last step; only one of the two rows can overestimate its quotient.
                quotient = t11 // t12 if not t22 else min(t11 // t12, t21 // t22)
                x, y = quotient * x + y, x
                t11, t12, t21, t22 = t12, t11 - quotient * t12, t22, t21 - quotient * t22
            if t12 == 0 and t21 == 0:
                quotient, rest = divmod(a, b)
                x, y = b, rest
                t11, t12, t21, t22 = quotient, fmpz(1), fmpz(1), fmpz(0)
            a, b = x, y
        m11, m12, m21, m22 = (
            m11 * t11 + m12 * t21,
            m11 * t12 + m12 * t22,
            m21 * t11 + m22 * t21,
            m21 * t12 + m22 * t22,
        )
    return a, b, (m11, m12, m21, m22)


def _plain(a: fmpz, b: fmpz, stop: int) -> tuple[fmpz, fmpz, _Matrix]:
    """Do the same as `_reduce` on Python integers, step by step."""
    x, y = int(a), int(b)
    m11, m12, m21, m22 = 1, 0, 0, 1
    while y.bit_length() > stop:
        quotient, rest = divmod(x, y)
        x, y = y, rest
        m11, m12 = quotient * m11 + m12, m11
        m21, m22 = quotient * m21 + m22, m21
    return fmpz(x), fmpz(y), (fmpz(m11), fmpz(m12), fmpz(m21), fmpz(m22))
