"""Sequences of actions that are fixed beforehand (rule D11 of docs/certificates/delta.md).

Who has fixed what is asked faces many signed vectors at once, one for every sequence of labels; those in
proportion to each other are one, with a weight. What an adaptive analyst gains bounds each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.reading import fraction_work, spend

Vector = tuple[tuple[str, int], ...]
"""A signed vector by state, without common factor."""

Front = Mapping[Vector, Fraction]
"""Where an analyst may be, with weights."""


def _own(vector: Vector) -> int:
    return max(0, sum(value for _, value in vector))


@dataclass(frozen=True)
class Sequences:
    """The sequences of an unrolled model.

    Parameters
    ----------
    chain
        The model; nobody is asked for ever.
    most
        Returns what is proved of a vector from above, for any analyst; None for nothing.
    """

    chain: Chain
    most: Callable[[Vector], Fraction | None]

    def gain(self, vector: Vector, asked: Sequence[str]) -> Fraction:
        """Return what a sequence gains on a vector; it ends where the next action is not on offer."""
        front: Front = {vector: Fraction(1)}
        certain = Fraction(0)
        for action in asked:
            front, more = self._after(front, action)
            certain += more
        return certain + sum(weight * _own(vector) for vector, weight in front.items())

    def stay_below(self, vector: Vector, bound: Fraction) -> bool:
        """Tell whether every sequence gains at most a bound, as far as is proved."""
        work: list[tuple[Front, Fraction]] = [({vector: Fraction(1)}, Fraction(0))]
        while work:
            front, certain = work.pop()
            if certain + sum(weight * self._above(vector) for vector, weight in front.items()) <= bound:
                continue
            if not front:
                return False
            for action in self.chain.arms:
                following, more = self._after(front, action)
                work.append((following, certain + more))
        return True

    def _above(self, vector: Vector) -> Fraction:
        proved = self.most(vector)
        return Fraction(sum(max(0, value) for _, value in vector)) if proved is None else proved

    def _after(self, front: Front, action: str) -> tuple[dict[Vector, Fraction], Fraction]:
        """Return where an action leads, and what was gained where it is not on offer."""
        rows = self.chain.rows_of(action)
        following: dict[Vector, Fraction] = {}
        certain = Fraction(0)
        for vector, weight in front.items():
            if not vector or vector[0][0] not in rows:
                certain += weight * _own(vector)
                continue
            bits = max(value.bit_length() for _, value in vector) + weight.denominator.bit_length()
            spend(fraction_work(bits, sum(len(rows[state]) for state, _ in vector)))
            parts: dict[str, dict[str, Fraction]] = {}
            for state, value in vector:
                for target, p in rows[state].items():
                    part = parts.setdefault(self.chain.labels[target], {})
                    part[target] = part.get(target, Fraction(0)) + value * p
            for part in parts.values():
                found, factor = _primitive({state: value for state, value in part.items() if value})
                following[found] = following.get(found, Fraction(0)) + weight * factor
        return following, certain


def _primitive(entries: Mapping[str, Fraction]) -> tuple[Vector, Fraction]:
    """Return a vector in integers without common factor, and the factor that was taken out; 0 of nothing."""
    scale = math.lcm(*(value.denominator for value in entries.values()))
    whole = {state: int(value * scale) for state, value in entries.items()}
    common = math.gcd(*whole.values())
    return tuple(sorted((state, value // common) for state, value in whole.items())), Fraction(common, scale)


def with_rounds(model: Chain, name: str, rounds: int) -> str:
    """Return what a state of a model is called where so many actions may still be asked."""
    return f"{name}@{rounds}" if model.offered(name) else f"{name}@"


def unrolled(model: Chain, rounds: int) -> Chain:
    """Return the model whose states and labels say how many actions are left: none are on offer at 0.

    A state that offers nothing anyway has one copy.
    """
    entries = sum(1 + len(row) for rows in model.arms.values() for row in rows.values())
    spend((rounds + 1) * (entries + len(model.labels)) * fraction_work(0, 2))
    labels = {}
    for state, label in model.labels.items():
        for left in range(rounds + 1):
            name = with_rounds(model, state, left)
            labels[name] = label + name[len(state) :]
    arms = {
        action: {
            with_rounds(model, state, left): {
                with_rounds(model, target, left - 1): p for target, p in row.items()
            }
            for state, row in rows.items()
            for left in range(1, rounds + 1)
        }
        for action, rows in model.arms.items()
    }
    return Chain(labels, arms, interactive=True)
