"""The random source of a program in plain Python: `random.SystemRandom` with exact draws more."""

from __future__ import annotations

import random
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import lcm
from typing import TypeVar

OWN_DRAWS = ("flip", "pick", "uniform", "geometric", "two_sided_geometric")
"""The exact draws that Python's own sources do not have."""

Value = TypeVar("Value", bound=Hashable)


def exact_fraction(value: object) -> Fraction:
    """Return an exact number as a fraction. Raises TypeError if it is a float, or no number."""
    if type(value) is Fraction:
        return value
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise TypeError(
            f"{value!r} is no exact probability; expected a Fraction, an int or a text such as '1/3'"
        )
    return Fraction(value)


def ratio_of(value: object) -> Fraction:
    """Return the ratio of geometric noise as a fraction.

    Raises ValueError if it is not at least 0 and less than 1.
    """
    ratio = exact_fraction(value)
    if not 0 <= ratio < 1:
        raise ValueError(f"the ratio is {ratio}; expected a number in [0, 1)")
    return ratio


def clipped_chances(a: object, most: int) -> Mapping[int, Fraction]:
    """Return how likely each value of clipped noise is. Raises ValueError if it is clipped at less than 1."""
    if most < 1:
        raise ValueError(f"the noise is clipped at {most}; expected at least 1")
    return _clipped_chances(ratio_of(a), most)


@cache
def _clipped_chances(ratio: Fraction, most: int) -> Mapping[int, Fraction]:
    inner = {z: (1 - ratio) / (1 + ratio) * ratio ** abs(z) for z in range(1 - most, most)}
    end = ratio**most / (1 + ratio)
    return {-most: end, **inner, most: end}


def weights_of(chances: Mapping[Value, object]) -> tuple[tuple[Value, ...], tuple[int, ...]]:
    """Return the values of a distribution that may come, and integers in proportion to their probabilities.

    Raises ValueError if a probability is negative, or they do not sum to one.
    """
    exact = {value: exact_fraction(chance) for value, chance in chances.items()}
    if any(chance < 0 for chance in exact.values()):
        raise ValueError("a probability is negative")
    total = sum(exact.values(), Fraction(0))
    if total != 1:
        raise ValueError(f"the probabilities sum to {total}; expected 1")
    scale = lcm(*(chance.denominator for chance in exact.values()))
    kept = {value: int(chance * scale) for value, chance in exact.items() if chance}
    return tuple(kept), tuple(kept.values())


def options_of(options: Sequence[Value]) -> tuple[Value, ...]:
    """Return what an analyst may choose from, everything once.

    Raises TypeError if it is no list, tuple or range. Raises ValueError if there is nothing.
    """
    if not isinstance(options, list | tuple | range):
        raise TypeError(f"a {type(options).__name__} to choose from; expected a list, tuple or range")
    if not options:
        raise ValueError("there is nothing to choose from")
    return tuple(dict.fromkeys(options))


class ExactRandom(random.SystemRandom):
    """A source for running a program: that of the operating system, with exact draws.

    Examples
    --------
    >>> source = ExactRandom()
    >>> source.flip("1/3") in (False, True)
    True
    >>> source.pick({"a": Fraction(1, 2), "b": Fraction(1, 2)}) in ("a", "b")
    True
    """

    def flip(self, p: Fraction | int | str) -> bool:
        """Return True with probability p."""
        chance = exact_fraction(p)
        if not 0 <= chance <= 1:
            raise ValueError(f"the probability is {chance}; expected a number in [0, 1]")
        return self.randrange(chance.denominator) < chance.numerator

    def uniform(self, n: int) -> int:  # type: ignore[override]
        """Return one of 0, …, n - 1, each with the same probability (not the float of the base class)."""
        return self.randrange(n)

    def pick(self, chances: Mapping[Value, object]) -> Value:
        """Return a value with the probability that the mapping gives it."""
        values, weights = weights_of(chances)
        left = self.randrange(sum(weights))
        for value, weight in zip(values, weights, strict=True):
            left -= weight
            if left < 0:
                return value
        raise AssertionError("the weights were added up wrongly")

    def geometric(self, a: Fraction | int | str) -> int:
        """Return k = 0, 1, 2, … with probability ``(1 - a) a**k``."""
        ratio, k = ratio_of(a), 0
        while self.flip(ratio):
            k += 1
        return k

    def two_sided_geometric(self, a: Fraction | int | str, most: int | None = None) -> int:
        """Return any integer z with probability proportional to ``a**|z|``, clipped to [-most, most]."""
        if most is not None:
            return self.pick(clipped_chances(a, most))
        return self.geometric(a) - self.geometric(a)


_source = ExactRandom()


def flip(p: Fraction | int | str) -> bool:
    """Return True with probability p.

    Parameters
    ----------
    p
        The probability: a Fraction, an int or a text such as ``"1/3"``.

    Returns
    -------
    bool
        True or False.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.programs.flip("1/3") in {True, False}
    True
    """
    return _source.flip(p)


def uniform(n: int) -> int:
    """Return one of 0, …, n - 1, each with the same probability.

    Parameters
    ----------
    n
        How many values there are.

    Returns
    -------
    int
        The number.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.programs.uniform(6) in range(6)
    True
    """
    return _source.uniform(n)


def pick(chances: Mapping[Value, object]) -> Value:
    """Return a value with the probability that the mapping gives it.

    Parameters
    ----------
    chances
        By value its probability; together 1.

    Returns
    -------
    object
        One of the values.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.programs.pick({"heads": "1/3", "tails": "2/3"}) in {"heads", "tails"}
    True
    """
    return _source.pick(chances)


def geometric(a: Fraction | int | str) -> int:
    """Return k = 0, 1, 2, … with probability ``(1 - a) a**k``.

    Parameters
    ----------
    a
        The ratio, exact, at least 0 and below 1.

    Returns
    -------
    int
        A natural number.

    Examples
    --------
    >>> from bisimdist.programs import geometric
    >>> geometric(0)
    0
    """
    return _source.geometric(a)


def two_sided_geometric(a: Fraction | int | str, most: int | None = None) -> int:
    """Return any integer z with probability proportional to ``a**|z|``, clipped to [-most, most].

    Parameters
    ----------
    a
        The ratio, exact, at least 0 and below 1.
    most
        Where the noise is clipped; by default nowhere.

    Returns
    -------
    int
        The noise of the geometric mechanism.

    Examples
    --------
    >>> from bisimdist.programs import two_sided_geometric
    >>> -3 <= two_sided_geometric("1/2", 3) <= 3
    True
    """
    return _source.two_sided_geometric(a, most)


def observe(value: object) -> None:
    """Announce a value to the observer of a program; in plain Python this does nothing.

    Parameters
    ----------
    value
        What is announced.

    Returns
    -------
    None
        Nothing.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.programs.observe("anything")
    """
