"""Claims about two states, as most kinds make them."""

from __future__ import annotations

from fractions import Fraction

from bisimdist.checker.core.reading import item, rational, text_of
from bisimdist.checker.core.shape import Bound, Shape, bound, key

__all__ = ["Between", "BetweenBounds", "Finite", "at_most"]


class Between(Shape):
    """A claim about two states."""

    source: str = key(item, "from")
    target: str = key(item, "to")


class BetweenBounds(Between):
    """That what is called the distance of two states lies between two bounds, which may be infinite."""

    upper: Bound = key(bound)
    lower: Bound = key(bound)

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        upper, lower = ("inf" if side is None else text_of(side) for side in (self.upper, self.lower))
        return {"from": self.source, "to": self.target, "upper": upper, "lower": lower}


class Finite(BetweenBounds):
    """That it lies between two numbers."""

    upper: Fraction = key(rational)
    lower: Fraction = key(rational)


def at_most(first: Bound, second: Bound) -> bool:
    """Tell whether a bound is at most another."""
    return second is None or (first is not None and first <= second)
