"""The sign of a polynomial on an open box, decided exactly where that is cheap.

In the Bernstein basis of a box every basis polynomial is positive inside, so that coefficients of one sign,
not all zero, prove that sign inside. Squares are taken out first, then the box is halved a bounded number of
times.
"""

from __future__ import annotations

from collections import deque
from enum import Enum
from itertools import product

from flint import fmpq, fmpq_mpoly

from bisimdist.exact.bernstein import Box, Tensor, coefficient_count, tensor_of
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
    value = fmpq(0)
    for share in ((1, 2), (1, 3), (2, 5)):  # points inside, until the polynomial does not vanish
        part_of = fmpq(*share)
        point = [low + (high - low) * part_of ** (1 + axis % 3) for axis, (low, high) in enumerate(box)]
        value = fmpq(polynomial(*point))
        if value != 0:
            break
    monomials = monomials_of(polynomial)
    if coefficient_count(monomials, len(box)) > MAX_COEFFICIENTS:
        return Sign.UNKNOWN
    wanted = 1 if value >= 0 else -1
    strict = True
    waiting: deque[tuple[Box, int]] = deque([(tuple(box), 0)])
    boxes = 0
    while waiting:
        part, axis = waiting.popleft()
        boxes += 1
        if boxes > MAX_BOXES:
            return Sign.UNKNOWN
        tensor = tensor_of(monomials, part)
        if all(c * wanted >= 0 for c in tensor.entries):
            strict = strict and _no_zero_inside(tensor, part, box)
            continue
        inner = fmpq(polynomial(*((low + high) / 2 for low, high in part)))
        if inner * wanted < 0:
            return Sign.BOTH if value != 0 else Sign.UNKNOWN
        strict = strict and inner != 0
        for offset in range(len(box)):  # halve the next variable that occurs
            chosen = (axis + offset) % len(box)
            if polynomial.degrees()[chosen] > 0:
                break
        low, high = part[chosen]
        cut = (low + high) / 2
        for interval in ((low, cut), (cut, high)):
            waiting.append(((*part[:chosen], interval, *part[chosen + 1 :]), chosen + 1))
    if strict:
        return Sign.POSITIVE if wanted > 0 else Sign.NEGATIVE
    return Sign.NOT_NEGATIVE if wanted > 0 else Sign.NOT_POSITIVE


def _no_zero_inside(tensor: Tensor, part: Box, box: Box) -> bool:
    """Tell whether coefficients of one sign exclude zeros at the points of a part that lie inside the box.

    Each such point lies inside a face of the part that is not within the boundary of the box; there the
    polynomial is a combination with positive weights of the coefficients of that face.
    """
    choices = []
    for (low, high), (bottom, ceiling) in zip(part, box, strict=True):
        faces: list[int | None] = [None]
        if low > bottom:
            faces.append(0)
        if high < ceiling:
            faces.append(1)
        choices.append(faces)
    return not any(tensor.face_is_zero(face) for face in product(*choices))
