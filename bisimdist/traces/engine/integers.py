"""A model without parameters as integer matrices, and vectors up to a positive factor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TypeAlias

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM

Vector: TypeAlias = tuple[int, ...]  # a signed mass for each state, up to a positive factor


def normalised(entries: Iterable[int]) -> Vector:
    """Divide by the greatest common divisor: the representative of a vector up to a positive factor."""
    values = tuple(entries)
    divisor = gcd(*values)
    return tuple(value // divisor for value in values) if divisor > 1 else values


def _common(entries: Iterable[fmpq]) -> int:
    denominator = 1
    for entry in entries:
        q = int(entry.q)
        denominator = denominator * q // gcd(denominator, q)
    return denominator


@dataclass(frozen=True, slots=True)
class IntegerModel:
    """A model whose probabilities were multiplied by common denominators, with its lengths resolved.

    Every step and every emission multiplies a vector by one positive factor, the same for all states, so
    that signs and ratios are those of the model.
    """

    # size, symbols and length: the numbers of states and of observations, and the length of the sequences
    size: int
    symbols: int
    length: int
    up_to: bool  # whether shorter sequences count too
    steps: tuple[tuple[tuple[int, int], ...], ...]  # for each state its successors with positive integers
    # for each observation the states that make it, with positive integers
    emissions: tuple[tuple[tuple[int, int], ...], ...]
    scale: int  # what a step and an emission together are multiplied by
    # for each position the states from which the rest of a sequence that counts can be made
    live: tuple[frozenset[int], ...]

    @classmethod
    def from_model(cls, model: HMM, length: int, *, up_to: bool = False) -> IntegerModel:
        """Resolve a model without parameters."""
        if model.parametric:
            raise UsageError("the model has parameters; expected one without (give them values)")
        if length < 1:
            raise UsageError(f"the length is {length}; expected at least 1")
        by_step = _common(value for row in model.rows for _, value in _rationals(row))
        steps = tuple(
            tuple((target, int((value * by_step).p)) for target, value in _rationals(row))
            for row in model.rows
        )
        by_emission = _common(value for row in model.emissions for _, value in _rationals(row))
        made: list[list[tuple[int, int]]] = [[] for _ in model.observations]
        for state, row in enumerate(model.emissions):
            for symbol, value in _rationals(row):
                made[symbol].append((state, int((value * by_emission).p)))
        everything = frozenset(range(len(model)))
        live = [everything]
        for _ in range(length - 1):
            after = live[-1]
            before = frozenset(s for s, row in enumerate(steps) if any(t in after for t, _ in row))
            if up_to or before == after:
                live += [after] * (length - len(live))
                break
            live.append(before)
        live.reverse()
        return cls(
            len(model),
            len(model.observations),
            length,
            up_to,
            steps,
            tuple(map(tuple, made)),
            by_step * by_emission,
            tuple(live),
        )

    def start(self, row: SparseRow) -> tuple[fmpq, ...]:
        """Return a distribution as a dense vector."""
        values = [fmpq(0)] * self.size
        for state, value in _rationals(row):
            values[state] = value
        return tuple(values)

    def emitted(self, vector: Sequence[int], symbol: int) -> list[tuple[int, int]]:
        """Return the states with the signed mass that makes the symbol; unscaled by any common factor."""
        return [(s, vector[s] * weight) for s, weight in self.emissions[symbol] if vector[s]]

    def moved(self, masses: Sequence[tuple[int, int]], position: int) -> list[int]:
        """Return the signed mass before the emission at a position, on the states that are live there."""
        result = [0] * self.size
        live = self.live[position]
        for state, mass in masses:
            for target, weight in self.steps[state]:
                if target in live:
                    result[target] += mass * weight
        return result


def _rationals(row: SparseRow) -> Iterable[tuple[int, fmpq]]:
    for index, value in row:
        if not isinstance(value, fmpq):
            raise UsageError("the model has parameters; expected one without (give them values)")
        yield index, value
