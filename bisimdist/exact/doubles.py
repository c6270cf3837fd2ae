"""Between rationals and binary floats: floats guess, and what they guess becomes a rational to be proved."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.errors import NumberError
from bisimdist.exact.rational import parse_rational
from bisimdist.exact.simplest import simplest_between


def as_double(value: fmpq) -> float:
    """Return a double next to a rational, correctly rounded.

    >>> as_double(fmpq(1, 4))
    0.25
    """
    return int(value.p) / int(value.q)


def from_double(value: float) -> fmpq:
    """Return the rational that a double is.

    >>> from_double(0.25)
    1/4
    """
    return fmpq(*float(value).as_integer_ratio())


def simplest_within(low: float, high: float) -> fmpq:
    """Return the simplest rational that is between two doubles and not negative.

    >>> simplest_within(0.333, 0.334), simplest_within(-0.1, 0.2)
    (1/3, 0)
    """
    return simplest_between(max(from_double(low), fmpq(0)), from_double(high))


@dataclass(slots=True)
class Rationaliser:
    """Puts in place of doubles, each once, the simplest rational within one unit in the last place."""

    # what was written, by the number that took its place, where the two are not the same
    changed: dict[str, fmpq] = field(default_factory=dict)
    # by the number that took the place of doubles what is within one unit in the last place of these
    around: dict[fmpq, tuple[fmpq, fmpq]] = field(default_factory=dict)
    _known: dict[float, fmpq] = field(default_factory=dict)

    def of_double(self, value: float) -> fmpq:
        """Return the simplest rational within one unit in the last place of a double.

        Raises NumberError if the double is negative, infinite or none.

        >>> Rationaliser().of_double(1 / 3), Rationaliser().of_double(0.98)
        (1/3, 49/50)
        """
        known = self._known.get(value)
        if known is not None:
            return known
        if not (math.isfinite(value) and value >= 0):
            raise NumberError(f"the double {value!r} is no probability")
        exact, unit = from_double(value), from_double(math.ulp(value))
        low = max(exact - unit, fmpq(0)) if value else exact
        found = simplest_between(low, exact + unit) if value else exact
        self._known[value] = found
        if value:
            ends = low, exact + unit
            before = self.around.get(found, ends)
            self.around[found] = min(ends[0], before[0]), max(ends[1], before[1])
        if parse_rational(repr(value)) != found:
            self.changed[repr(value)] = found
        return found

    def of_text(self, text: str) -> fmpq:
        """Return the same of the double that a decimal in [0, 1] is read as; other texts stay what they are.

        >>> Rationaliser().of_text("0.3333333333333333"), Rationaliser().of_text("0.3")
        (1/3, 3/10)
        """
        exact = parse_rational(text)
        return exact if "/" in text else self.of_decimal(exact)

    def of_decimal(self, value: fmpq) -> fmpq:
        """Return the same of a number that can be written as a decimal; any other stays what it is.

        >>> Rationaliser().of_decimal(fmpq(3333333333333333, 10**16)), Rationaliser().of_decimal(fmpq(2, 7))
        (1/3, 2/7)
        """
        rest = value.q
        for prime in (2, 5):
            while rest % prime == 0:
                rest //= prime
        if rest != 1 or not 0 <= value <= 1:
            return value
        double = as_double(value)
        return self.of_double(double) if double else value

    def remark(self) -> str:
        """Return what was changed, as a sentence; "" where nothing was."""
        if not self.changed:
            return ""
        written, made = next(iter(self.changed.items()))
        farthest = max(abs(parse_rational(text) - value) for text, value in self.changed.items())
        return (
            f"{len(self.changed)} different doubles became the simplest rational within one unit in the last "
            f"place, such as {written} -> {made}; none moved by more than {as_double(farthest):.1e}"
        )
