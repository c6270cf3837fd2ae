"""Between epsilon and alpha = e**epsilon: irrational numbers, enclosed by rationals with a proof.

Every enclosure comes from ball arithmetic; the precision is raised until the wanted statement follows.
"""

from __future__ import annotations

from collections.abc import Iterator

from flint import arb, fmpq, fmpz

from bisimdist.errors import UsageError
from bisimdist.exact.decimals import decimal_exponent, scaled_decimal
from bisimdist.exact.number import Exact
from bisimdist.exact.precision import working_precision
from bisimdist.exact.rational import ExactNumber, to_fmpq
from bisimdist.exact.simplest import simplest_between

MAX_EPSILON = 700
RELATIVE_BITS = 40
MAX_RELATIVE_BITS = 128


def _precisions(start: int) -> Iterator[int]:
    """Yield precisions in bits, each twice the one before, for as long as somebody asks."""
    while True:
        yield start
        start *= 2


def _ends(ball: arb) -> tuple[fmpq, fmpq]:
    return ball.lower().fmpq(), ball.upper().fmpq()


def _checked_epsilon(epsilon: ExactNumber) -> fmpq:
    value = to_fmpq(epsilon)
    if value < 0:
        raise UsageError(f"epsilon is {_shown(value)}; expected a number of at least 0, for e^epsilon >= 1")
    if value > MAX_EPSILON:
        raise UsageError(f"epsilon is {_shown(value)}; expected at most {MAX_EPSILON}")
    return value


def _shown(value: fmpq) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _wanted_bits(epsilon: fmpq) -> int:
    # Close to alpha = 1 it is alpha - 1 that matters: ask for as many bits of that.
    size = int(epsilon.q.bit_length()) - int(epsilon.p.bit_length())
    return min(RELATIVE_BITS + max(0, size + 1), MAX_RELATIVE_BITS)


def _rational_near_exp(epsilon: fmpq, bits: int, *, upward: bool) -> fmpq:
    if bits < 1:
        raise UsageError(f"denominator_bits is {bits}; expected at least 1")
    width = 1 / fmpq(fmpz(2) ** bits)
    for precision in _precisions(bits + 64):
        with working_precision(precision):
            low, high = _ends(arb(epsilon).exp())
        # Both intervals lie on the sound side of the ball, and within the relative error of all of it.
        start, end = (high, low * (1 + width)) if upward else (high * (1 - width), low)
        start = max(start, fmpq(1))
        if 2 * (end - start) >= low * width or (end >= start and start == 1):
            return simplest_between(start, end)
    raise AssertionError  # pragma: no cover  (the precisions never end)


def alpha_below(epsilon: ExactNumber, *, denominator_bits: int | None = None) -> Exact:
    """Return a short rational at most e**epsilon: what an upper bound on delta at epsilon needs.

    delta does not increase with alpha, so that a bound on delta at the smaller alpha bounds delta at
    e**epsilon too. (The distance bd_alpha itself is not monotone in alpha.)

    Parameters
    ----------
    epsilon
        An exact number from 0 to 700.
    denominator_bits
        The relative error is at most ``2**-denominator_bits`` and the denominator at most
        ``2**(denominator_bits + 1)``. By default 40 bits (an error below 1e-12), and more for an epsilon
        below one, so that alpha - 1 keeps that accuracy down to epsilon = 2**-88.

    Returns
    -------
    Exact
        At least 1, and exactly 1 for epsilon = 0.

    Raises
    ------
    UsageError
        If epsilon is negative or too large.

    Examples
    --------
    >>> alpha_below("0")
    1
    >>> alpha_below("1", denominator_bits=10)
    106/39
    """
    return _alpha(epsilon, denominator_bits, upward=False)


def alpha_above(epsilon: ExactNumber, *, denominator_bits: int | None = None) -> Exact:
    """Return a short rational at least e**epsilon: what a lower bound on delta at epsilon needs.

    Parameters and errors are those of `alpha_below`.

    Parameters
    ----------
    epsilon, denominator_bits
        As for `alpha_below`.

    Returns
    -------
    Exact
        The rational.

    Examples
    --------
    >>> alpha_above("0")
    1
    >>> alpha_above("1", denominator_bits=10)
    68/25
    """
    return _alpha(epsilon, denominator_bits, upward=True)


def _alpha(epsilon: ExactNumber, denominator_bits: int | None, *, upward: bool) -> Exact:
    value = _checked_epsilon(epsilon)
    if value == 0:
        return Exact(1)
    bits = _wanted_bits(value) if denominator_bits is None else denominator_bits
    return Exact(_rational_near_exp(value, bits, upward=upward))


def log_enclosure(ratio: ExactNumber, digits: int = 5) -> tuple[str, str]:
    """Return decimals below and above ln(ratio), one unit of the last place apart.

    Parameters
    ----------
    ratio
        A positive exact number.
    digits
        How many significant digits; an integer part is never cut.

    Returns
    -------
    tuple of str
        A lower and an upper bound, both proved; ``("0", "0")`` for a ratio of one, the only rational whose
        logarithm is rational.

    Raises
    ------
    UsageError
        If the ratio is not positive.

    Examples
    --------
    >>> log_enclosure("9/4")
    ('0.81093', '0.81094')
    """
    value = to_fmpq(ratio)
    if value <= 0:
        raise UsageError(f"the logarithm of {_shown(value)} was asked for; expected a positive number")
    if digits < 1:
        raise UsageError(f"{digits} digits were asked for; expected at least 1")
    if value == 1:
        return "0", "0"
    for precision in _precisions(64 + 4 * digits):
        with working_precision(precision):
            low, high = _ends(arb(value).log())
        if low * high <= 0 or (exponent := decimal_exponent(low)) != decimal_exponent(high):
            continue
        places = max(0, digits - 1 - exponent)
        unit = fmpz(10) ** places
        below = (low * unit).floor()
        # ln(ratio) is irrational, hence strictly between two neighbours; enough precision finds them.
        if below == (high * unit).floor():
            return scaled_decimal(below, places), scaled_decimal(below + 1, places)
    raise AssertionError  # pragma: no cover  (the precisions never end)
