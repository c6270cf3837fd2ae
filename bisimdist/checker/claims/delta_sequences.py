"""Sequences of actions that are fixed beforehand (rule D11 of docs/certificates/delta.md).

Who has fixed what is asked faces many signed vectors at once, one for every sequence of labels; those in
proportion to each other are one, with a weight. What an adaptive analyst gains bounds each of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.claims.delta import DeltaGraph, key_of
from bisimdist.checker.claims.delta_document import Claim
from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import LOOK, Counted, RuleViolation, common, fraction_work, spend

Vector = tuple[tuple[str, int], ...]  # a signed vector by state, without common factor

Front = Mapping[Vector, Fraction]  # where an analyst may be, with weights


def _own(vector: Vector) -> int:
    return max(0, sum(value for _, value in counted(vector)))


@dataclass(frozen=True)
class Sequences:
    """The sequences of an unrolled model."""

    chain: Chain  # the model; nobody is asked for ever
    # returns what is proved of a vector from above, for any analyst; None for nothing
    most: Callable[[Vector], Fraction | None]

    def gain(self, vector: Vector, asked: Sequence[str]) -> Fraction:
        """Return what a sequence gains on a vector; it ends where the next action is not on offer."""
        front: Front = {vector: Fraction(1)}
        certain = Fraction(0)
        for action in counted(asked):
            front, more = self._after(front, action)
            certain += more
        return certain + sum(weight * _own(vector) for vector, weight in counted(front.items()))

    def stay_below(self, vector: Vector, bound: Fraction) -> bool:
        """Tell whether every sequence gains at most a bound, as far as is proved."""
        work: list[tuple[Front, Fraction]] = [({vector: Fraction(1)}, Fraction(0))]
        while work:
            spend(LOOK)
            front, certain = work.pop()
            if (
                certain + sum(weight * self._above(vector) for vector, weight in counted(front.items()))
                <= bound
            ):
                continue
            if not front:
                return False
            for action in counted(self.chain.arms):
                following, more = self._after(front, action)
                work.append((following, certain + more))
        return True

    def _above(self, vector: Vector) -> Fraction:
        proved = self.most(vector)
        return Fraction(sum(max(0, value) for _, value in counted(vector))) if proved is None else proved

    def _after(self, front: Front, action: str) -> tuple[dict[Vector, Fraction], Fraction]:
        """Return where an action leads, and what was gained where it is not on offer."""
        rows = self.chain.rows_of(action)
        following: dict[Vector, Fraction] = {}
        certain = Fraction(0)
        for vector, weight in counted(front.items()):
            if not vector or vector[0][0] not in rows:
                certain += weight * _own(vector)
                continue
            bits = max(value.bit_length() for _, value in counted(vector)) + weight.denominator.bit_length()
            spend(fraction_work(bits, sum(len(rows[state]) for state, _ in counted(vector))))
            parts: dict[str, dict[str, Fraction]] = {}
            for state, value in counted(vector):
                for target, p in counted(rows[state].items()):
                    part = parts.setdefault(self.chain.labels[target], {})
                    part[target] = part.get(target, Fraction(0)) + value * p
            for part in counted(parts.values()):
                found, factor = _primitive({state: value for state, value in counted(part.items()) if value})
                following[found] = following.get(found, Fraction(0)) + weight * factor
        return following, certain


def _primitive(entries: Mapping[str, Fraction]) -> tuple[Vector, Fraction]:
    """Return a vector in integers without common factor, and the factor that was taken out; 0 of nothing."""
    scale = common(value.denominator for value in counted(entries.values()))
    whole = {state: int(value * scale) for state, value in counted(entries.items())}
    divisor = math.gcd(*whole.values())
    return tuple(
        all_of(sorted((state, value // divisor) for state, value in counted(whole.items())))
    ), Counted.ratio(divisor, scale)


class Blind(DeltaGraph):
    """The same for who has fixed beforehand what is asked (rule D11)."""

    def at_most(self, pair: tuple[str, str], bound: Fraction, where: str) -> bool:
        """Tell whether one direction is proved to be at most a bound."""
        if self.chain.labels[pair[0]] != self.chain.labels[pair[1]]:
            return super().at_most(pair, bound, where)
        most = bound * self.alpha_upper.denominator
        if not Sequences(self.chain, self._proved).stay_below(self._start(pair), most):
            raise RuleViolation(f"{where}: D11: a sequence may gain more than the upper bound")
        return True

    def _start(self, pair: tuple[str, str]) -> Vector:
        """Return the vector of a direction, or of the other one of equal value where that has a node."""
        roots = [key_of(self._root(way, self.alpha_upper)) for way in counted(self._ways(pair))]
        return next((root for root in counted(roots) if root in self.number), roots[0])

    def _proved(self, vector: Vector) -> Fraction | None:
        number = self.number.get(vector)
        return None if number is None else self.nodes[number].upper

    def gained(self, claim: Claim, pair: tuple[str, str], where: str) -> Fraction:
        if self.chain.labels[pair[0]] != self.chain.labels[pair[1]]:
            return super().gained(claim, pair, where)
        root = key_of(self._root(pair, self.alpha_lower))
        found = Sequences(self.chain, self._proved).gain(root, claim.sequence)
        return found / self.alpha_lower.denominator
