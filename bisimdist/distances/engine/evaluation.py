"""The functional at one table of values: duels solved exactly, best moves, how values depend on others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from flint import fmpq

from bisimdist.distances.engine.hausdorff import SAME, Arena, Challenge
from bisimdist.distances.engine.lifting_values import Direction, Lifted
from bisimdist.exact.scale import Value, at_most
from bisimdist.progress import NEVER, Deadline

Row = dict[int, float]
"""By position: how much of a change of its distance (of the logarithm, where ratios) reaches the value."""

ONE = fmpq(1)


def logarithm(value: fmpq) -> float:
    """Return a double close to the natural logarithm of a positive rational of any size.

    >>> round(logarithm(fmpq(2) ** 5000) / 5000, 4)
    0.6931
    """
    if abs(value - 1) * 8 < 1:
        small = value - 1
        return math.log1p(_double(small))
    top, bottom = value.p.bit_length(), value.q.bit_length()
    shift = int(top) - int(bottom)
    scaled = value / fmpq(2) ** shift
    return math.log(_double(scaled)) + shift * math.log(2)


def _double(value: fmpq) -> float:
    """Return a double close to a rational, however long its numerator and denominator are."""
    cut = max(0, max(value.p.bit_length(), value.q.bit_length()) - 900)
    bottom = int(value.q) >> cut
    return 0.0 if bottom == 0 else (int(value.p) >> cut) / bottom


@dataclass(slots=True)
class Evaluation:
    """The value of every duel of some positions at one table, found when asked for."""

    arena: Arena
    values: Sequence[Value]
    deadline: Deadline = NEVER
    _known: dict[int, Lifted] = field(default_factory=dict)

    def lifted(self, duel: int) -> Lifted:
        found = self._known.get(duel)
        if found is None:
            found = self._known[duel] = self.arena.lifted(duel, self.values, deadline=self.deadline)
        return found

    def worth(self, duel: int) -> Value:
        return self.arena.lifting.zero if duel == SAME else self.lifted(duel).value

    def raw(self, position: int) -> Value:
        """Return the value of a position before it is discounted."""
        return self.arena.hausdorff(position, self.worth)

    def value(self, position: int, *, up: bool) -> Value:
        return self.arena.lifting.discounted(self.raw(position), up=up)

    def best_challenge(self, position: int) -> Challenge:
        """Return a challenge that is worth most."""
        challenges = self.arena.challenges[position]
        best, most = challenges[0], self.arena.answered(challenges[0], self.worth)
        for challenge in challenges[1:]:
            value = self.arena.answered(challenge, self.worth)
            if not at_most(value, most):
                best, most = challenge, value
        return best

    def best_answer(self, challenge: Challenge) -> int:
        """Return the duel of an answer that costs least."""
        best = challenge.answers[0][0]
        for duel, _ in challenge.answers[1:]:
            if not at_most(self.worth(best), self.worth(duel)):
                best = duel
        return best

    def row(self, duel: int, direction: Direction | None = None) -> Row:
        """Return how the value of a duel depends on distances, for its optimal coupling (discounted)."""
        if duel == SAME:
            return {}
        lifted = self.lifted(duel)
        direction = lifted.best if direction is None else direction
        if direction.value is None:
            return {}
        result: Row = {}
        multiplicative = self.arena.lifting.top is None
        factor = _double(self.arena.lifting.discount)
        for i, j, mass in direction.moves:
            position = self.arena.position(i, j)
            if position is None:
                continue
            weight = mass
            if multiplicative:
                ratio = self.values[position]
                if ratio is None:
                    continue
                weight = mass * direction.prices.get(j, fmpq(0)) * ratio / direction.value
            result[position] = result.get(position, 0.0) + factor * _double(weight)
        return result

    def equation(self, duel: int) -> tuple[fmpq, dict[int, fmpq]]:
        """Return an additive duel's cost as (constant, weights of positions), discounted, exactly."""
        weights: dict[int, fmpq] = {}
        if duel == SAME:
            return fmpq(0), weights
        direction = self.lifted(duel).directions[0]
        discount = self.arena.lifting.discount
        constant = sum((mass for _, mass in direction.given_up), fmpq(0))
        for i, j, mass in direction.moves:
            position = self.arena.position(i, j)
            if position is None:
                constant += mass
            else:
                weights[position] = weights.get(position, fmpq(0)) + discount * mass
        return constant * discount, weights

    def residual(self, position: int) -> float:
        """Return by how much the functional exceeds the table (by what factor, as a logarithm)."""
        fresh, old = self.value(position, up=False), self.values[position]
        if fresh is None or old is None:
            return 0.0 if fresh == old else math.inf
        if self.arena.lifting.top is None:
            return logarithm(fresh / old)
        return _double(fresh - old)

    def tight_challenges(self, position: int, slack: fmpq) -> Iterable[Challenge]:
        """Yield the challenges that are worth the most, or almost."""
        most = self.raw(position)
        for challenge in self.arena.challenges[position]:
            if self.close(self.arena.answered(challenge, self.worth), most, slack):
                yield challenge

    def tight_rows(self, challenge: Challenge, slack: fmpq) -> list[Row]:
        """Return the rows of the answers to a challenge that cost the least, or almost."""
        least = self.arena.answered(challenge, self.worth)
        return [self.row(duel) for duel, _ in challenge.answers if self.close(least, self.worth(duel), slack)]

    def close(self, low: Value, high: Value, slack: fmpq) -> bool:
        """Tell whether a value is no less than another, or almost."""
        if low is None or high is None:
            return low is None
        least = high * (1 - slack) if self.arena.lifting.top is None else high - slack
        return bool(low >= least)
