"""Proved bounds on all the distances that a question depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from flint import fmpq, fmpz

from bisimdist.distances.engine.question import Question
from bisimdist.distances.engine.ranking import Ranked
from bisimdist.distances.engine.strategy import Strategy, Values
from bisimdist.exact.number import Unreduced
from bisimdist.progress import NEVER, Deadline, Progress, silent


@dataclass(frozen=True, slots=True)
class Proof:
    """A pre-fixed point and a post-fixed point of the functional, with what proves that they are."""

    question: Question
    # upper_values and upper_strategy: values, and couplings of both directions that cost no more at these
    # values
    upper_values: Values
    upper_strategy: Strategy
    # lower_values and lower_strategy: values, and couplings that are optimal at these values in the
    # directions taken, so that their potentials gain at least the values. Pairs with value 0 need nothing.
    lower_values: Values
    lower_strategy: Strategy
    # by pair: why equality does no harm (see `bisimdist.distances.engine.ranking`); missing, or None of all,
    # where the potentials gain strictly more than the value, which needs no reason
    ranked: Mapping[int, Ranked] | None
    # returns the proof with all that its lower bounds rest on, where that is more than it holds
    complete: Callable[[Deadline, Progress], Proof] | None = None

    def whole(self, *, deadline: Deadline = NEVER, progress: Progress = silent) -> Proof:
        """Return the proof with all that it rests on, as it is written down."""
        return self if self.complete is None else self.complete(deadline, progress)

    @property
    def gap(self) -> float:
        """The largest difference of the bounds on a pair, about."""
        if self.lower_values is self.upper_values:
            return 0.0
        high, low = self.upper_values, self.lower_values
        pairs = zip(high.numerators, low.numerators, strict=True)
        largest = max((u * low.denominator - v * high.denominator for u, v in pairs), default=fmpz(0))
        return float(fmpq(largest, high.denominator * low.denominator))

    def upper(self, pair: tuple[int, int]) -> fmpq:
        """Return the upper bound on the distance of a pair of states."""
        return self.bounds(pair)[1]

    def lower(self, pair: tuple[int, int]) -> fmpq:
        """Return the lower bound on the distance of a pair of states."""
        return self.bounds(pair)[0]

    def bounds(self, pair: tuple[int, int]) -> tuple[fmpq, fmpq]:
        """Return the lower and the upper bound on the distance of a pair of states."""
        lower, upper = (x.value if isinstance(x, Unreduced) else x for x in self.claims(pair))
        return lower, upper

    def claims(self, pair: tuple[int, int]) -> tuple[fmpq | Unreduced, fmpq | Unreduced]:
        """Return the same; where the bounds meet, and are long, it is one number as it stands."""
        number = self.question.number(pair)
        if number is None:
            known = fmpq(0 if pair[0] == pair[1] else 1)
            return known, known
        if self.lower_values is self.upper_values:
            exact = self.upper_values.unreduced(number)
            return exact, exact
        return self.lower_values.value(number), self.upper_values.value(number)
