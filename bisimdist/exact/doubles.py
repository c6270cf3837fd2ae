"""Between rationals and binary floats: floats guess, and what they guess becomes a rational to be proved."""

from __future__ import annotations

from flint import fmpq

from bisimdist.exact.simplest import simplest_between

__all__ = ["as_double", "from_double", "simplest_within"]


def as_double(value: fmpq) -> float:
    """Return a double next to a rational, correctly rounded.

    Examples
    --------
    >>> as_double(fmpq(1, 4))
    0.25
    """
    return int(value.p) / int(value.q)


def from_double(value: float) -> fmpq:
    """Return the rational that a double is.

    Examples
    --------
    >>> from_double(0.25)
    1/4
    """
    return fmpq(*float(value).as_integer_ratio())


def simplest_within(low: float, high: float) -> fmpq:
    """Return the simplest rational that is between two doubles and not negative.

    Examples
    --------
    >>> simplest_within(0.333, 0.334), simplest_within(-0.1, 0.2)
    (1/3, 0)
    """
    return simplest_between(max(from_double(low), fmpq(0)), from_double(high))
