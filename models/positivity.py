"""The sign of a polynomial on an open box, decided exactly where that is cheap.

Squares are taken out first; Bernstein coefficients decide the other factors, within a number of boxes.
"""

from __future__ import annotations

from enum import Enum

from flint import fmpq, fmpq_mpoly

from bisimdist.exact import bernstein
from bisimdist.exact.bernstein import Box, coefficient_count, prove_sign
from bisimdist.models.polynomial import monomials_of

MAX_COEFFICIENTS = 200_000
MAX_BOXES = 256


class Sign(Enum):
    """What is known of the sign of a polynomial at all points inside a box."""

    ZERO = "zero"
    POSITIVE = "positive"
    NEGATIVE = "negative"
    NOT_NEGATIVE = "not negative"
    NOT_POSITIVE = "not positive"
    BOTH = "both"
    UNKNOWN = "unknown"


def sign_on_box(polynomial: fmpq_mpoly, box: Box) -> Sign:
    """Return what a bounded effort finds out about the sign of a polynomial inside an open box.

    ``box``: an interval for each variable of its ring; the points strictly inside count.
    returns: ``POSITIVE`` and ``NEGATIVE`` exclude zeros inside. ``BOTH`` means that points of both signs are
        known.

    >>> from bisimdist.models.polynomial import parameter_ring
    >>> (p,) = parameter_ring(["p"]).gens()
    >>> sign_on_box((2 * p - 1) ** 2 * p, ((fmpq(0), fmpq(1)),))
    <Sign.NOT_NEGATIVE: 'not negative'>
    """
    if polynomial.is_zero():
        return Sign.ZERO
    content, factors = polynomial.factor()
    negative = bool(content < 0)
    strict = True
    for factor, exponent in factors:
        sign = _factor_sign(factor, box)
        if exponent % 2 == 0:
            strict = strict and sign in {Sign.POSITIVE, Sign.NEGATIVE}
            continue
        if sign in {Sign.BOTH, Sign.UNKNOWN}:
            return sign if sign is Sign.UNKNOWN or len(factors) == 1 else Sign.UNKNOWN
        strict = strict and sign in {Sign.POSITIVE, Sign.NEGATIVE}
        negative = negative != (sign in {Sign.NEGATIVE, Sign.NOT_POSITIVE})
    if strict:
        return Sign.NEGATIVE if negative else Sign.POSITIVE
    return Sign.NOT_POSITIVE if negative else Sign.NOT_NEGATIVE


def _factor_sign(polynomial: fmpq_mpoly, box: Box) -> Sign:
    monomials = monomials_of(polynomial)
    if coefficient_count(monomials, len(box)) > MAX_COEFFICIENTS:
        return Sign.UNKNOWN
    value = fmpq(0)
    for share in ((1, 2), (1, 3), (2, 5)):  # points inside, until the polynomial does not vanish
        point = [low + (high - low) * fmpq(*share) ** (1 + axis % 3) for axis, (low, high) in enumerate(box)]
        value = fmpq(polynomial(*point))
        if value != 0:
            break
    part = {key: -entry for key, entry in monomials.items()} if value < 0 else monomials
    if prove_sign(part, box, sign=bernstein.Sign.POSITIVE, max_boxes=MAX_BOXES).holds:
        return Sign.NEGATIVE if value < 0 else Sign.POSITIVE
    weak = prove_sign(part, box, max_boxes=MAX_BOXES).holds
    if weak:
        return Sign.NOT_POSITIVE if value < 0 else Sign.NOT_NEGATIVE
    return Sign.UNKNOWN if weak is None or value == 0 else Sign.BOTH
