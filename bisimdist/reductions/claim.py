"""What is claimed of states, with bounds that know which side they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from bisimdist.exact.bounds import DirectionError
from bisimdist.exact.scale import Value


@dataclass(frozen=True, slots=True)
class Below:
    """A bound from below; None is infinity."""

    value: Value


@dataclass(frozen=True, slots=True)
class Above:
    """A bound from above; None is infinity."""

    value: Value


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """Bounds on a quantity; a side of which nothing is known is None.

    Raises DirectionError if a bound is of the other side.

    >>> claim = Claim(quantity="delta", states=("s", "t"), below=None, above=Above(fmpq(1, 2)))
    >>> claim.exact
    False
    """

    # what is bounded: ``"bd"``, ``"lbd"``, ``"delta"``, ``"delta of fixed sequences"`` or a leakage
    quantity: str
    states: tuple[str, ...]  # the states it is about, by names
    below: Below | None  # below and above: the bounds
    above: Above | None
    # the skew of the bound from below and of the one from above
    alphas: tuple[fmpq, fmpq] = (fmpq(1), fmpq(1))
    about: Any = None  # what else defines the quantity, such as a measure with its prior

    def __post_init__(self) -> None:
        if not (isinstance(self.below, Below | None) and isinstance(self.above, Above | None)):
            raise DirectionError("a claim holds a Below and an Above, in these places")

    @classmethod
    def between(
        cls, quantity: str, states: Sequence[str], sides: tuple[fmpq, fmpq], alphas: tuple[fmpq, fmpq]
    ) -> Claim:
        """Return the claim that a difference of probabilities is between two numbers."""
        lower, upper = sides
        return cls(
            quantity=quantity, states=tuple(states), below=Below(lower), above=Above(upper), alphas=alphas
        )

    @property
    def sides(self) -> tuple[fmpq, fmpq]:
        """Both bounds of a difference of probabilities: 0 and 1 where nothing is known."""
        low, high = (None if side is None else side.value for side in (self.below, self.above))
        return fmpq(0) if low is None else low, fmpq(1) if high is None else high

    @property
    def exact(self) -> bool:
        """Whether both sides are known and the same."""
        return None not in (self.below, self.above) and self.below.value == self.above.value  # type: ignore[union-attr]
