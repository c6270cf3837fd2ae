"""Claims about the distance of two states of an automaton: bounds that may be infinite."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.reading import item, rational, record, text_of

__all__ = ["Bound", "Claim", "at_most", "read_bound", "read_claim"]

Bound = Fraction | None
"""None is infinity."""


def at_most(first: Bound, second: Bound) -> bool:
    """Tell whether a bound is at most another."""
    return second is None or (first is not None and first <= second)


def read_bound(value: object, where: str) -> Bound:
    """Read a bound."""
    return None if value == "inf" else rational(value, where)


@dataclass(frozen=True)
class Claim:
    """A claim: how errors speak of it, two states and bounds on what is called their distance."""

    where: str
    source: str
    target: str
    upper: Bound
    lower: Bound

    def data(self) -> dict[str, object]:
        """Return the claim as plain data."""
        upper, lower = ("inf" if bound is None else text_of(bound) for bound in (self.upper, self.lower))
        return {"from": self.source, "to": self.target, "upper": upper, "lower": lower}


def read_claim(value: object, where: str, read: Callable[[object, str], Bound] = read_bound) -> Claim:
    """Read a claim whose bounds are read by `read`."""
    entry = record(value, where, ("from", "to", "upper", "lower"))
    source, target = item(entry["from"], where), item(entry["to"], where)
    return Claim(where, source, target, read(entry["upper"], where), read(entry["lower"], where))
