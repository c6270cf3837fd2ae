"""A parametric model over common denominators, and the polynomials that its observation sequences compare.

Every entry becomes a polynomial: the information states of a pair over one common denominator, the
observation probabilities over another, the transition probabilities over a third. All three are positive
inside the box of the parameters, and they are the same on both sides of the comparison, so that
``C Pr(w|tau) - Pr(w|pi)`` has the sign of a polynomial.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from flint import fmpq, fmpq_mpoly, fmpq_mpoly_ctx, fmpz

from bisimdist.errors import UsageError
from bisimdist.models.entries import SparseRow
from bisimdist.models.hmm import HMM
from bisimdist.models.polynomial import cleared, common_denominator, parameter_ring
from bisimdist.progress import NEVER, Deadline

Vector = dict[int, fmpq_mpoly]
Cleared = list[tuple[int, fmpq_mpoly]]


@dataclass(frozen=True, slots=True)
class Difference:
    """A polynomial that must not be negative, and where it comes from."""

    # C Pr(w|tau) - Pr(w|pi), or the same with the sides swapped, up to a positive factor
    polynomial: fmpq_mpoly
    word: tuple[int, ...]  # one of the observation sequences that it belongs to, as indices
    swapped: bool  # whether the sides are swapped


@dataclass(frozen=True, slots=True)
class ClearedPair:
    """Two information states of a model with polynomials for entries."""

    ring: fmpq_mpoly_ctx  # the ring of the polynomials
    first: Cleared  # first and second: the information states over the denominator `initial`
    second: Cleared
    # emissions and rows: the other entries over `emission` and `transition`
    emissions: list[dict[int, fmpq_mpoly]]
    rows: list[Cleared]
    initial: fmpq_mpoly  # initial, emission and transition: the denominators, positive inside the box
    emission: fmpq_mpoly
    transition: fmpq_mpoly

    @classmethod
    def of(cls, model: HMM, first: str, second: str) -> ClearedPair:
        """Bring a pair of information states of a model over common denominators."""
        ring = parameter_ring(model.parameter_names)
        middle = [(low + high) / 2 for low, high in model.box]
        one, two = model.distribution(first), model.distribution(second)
        initial = _common(ring, (one, two), middle)
        emission = _common(ring, model.emissions, middle)
        transition = _common(ring, model.rows, middle)
        return cls(
            ring,
            _cleared(one, initial),
            _cleared(two, initial),
            [dict(_cleared(row, emission)) for row in model.emissions],
            [_cleared(row, transition) for row in model.rows],
            initial,
            emission,
            transition,
        )

    @property
    def denominators(self) -> tuple[fmpq_mpoly, fmpq_mpoly, fmpq_mpoly]:
        """The three denominators: of information states, observations, transitions."""
        return self.initial, self.emission, self.transition


def _common(ring: fmpq_mpoly_ctx, rows: Iterable[SparseRow], middle: list[fmpq]) -> fmpq_mpoly:
    return common_denominator(ring, (entry for row in rows for _, entry in row), middle)


def _cleared(row: SparseRow, denominator: fmpq_mpoly) -> Cleared:
    return [(index, cleared(entry, denominator)) for index, entry in row]


def _observed(model: ClearedPair, vector: Iterable[tuple[int, fmpq_mpoly]], observation: int) -> Vector:
    result = {}
    for state, mass in vector:
        seen = model.emissions[state].get(observation)
        if seen is not None:
            result[state] = mass * seen
    return result


def _moved(model: ClearedPair, vector: Vector) -> Vector:
    result: Vector = {}
    for state, mass in vector.items():
        for target, weight in model.rows[state]:
            result[target] = result[target] + mass * weight if target in result else mass * weight
    return {state: mass for state, mass in result.items() if mass}


def _scaled(first: Vector, second: Vector) -> tuple[Vector, Vector]:
    """Divide both vectors by the content of all their coefficients, which is positive."""
    above, below = fmpz(0), fmpz(1)
    for mass in (*first.values(), *second.values()):
        for coefficient in mass.coeffs():
            above = above.gcd(coefficient.p)
            below = below.lcm(coefficient.q)
    if above == 0:
        return first, second
    factor = fmpq(below, above)
    return {s: m * factor for s, m in first.items()}, {s: m * factor for s, m in second.items()}


Key = tuple[tuple[tuple[int, str], ...], tuple[tuple[int, str], ...]]


def _key(first: Vector, second: Vector) -> Key:
    return (
        tuple((s, str(first[s])) for s in sorted(first)),
        tuple((s, str(second[s])) for s in sorted(second)),
    )


def differences(
    model: ClearedPair, ratio: fmpq, length: int, symbols: int, *, deadline: Deadline = NEVER
) -> Iterator[Difference]:
    """Yield every polynomial that must not be negative, each once, for all sequences of a length.

    The forward recursion is shared between sequences, and prefixes whose two vectors are the same up to a
    positive factor are one.

    symbols: how many observations there are to choose from.
    Raises LimitError if the deadline passes. Raises UsageError if no sequence of the length is possible at
        all.
    """
    layer: dict[Key, tuple[Vector, Vector, tuple[int, ...]]] = {}
    starts: list[tuple[Vector, Vector, tuple[int, ...]]] = [(dict(model.first), dict(model.second), ())]
    for step in range(length):
        deadline.check()
        layer = {}
        for first, second, word in starts:
            if step:
                first, second = _moved(model, first), _moved(model, second)  # noqa: PLW2901
            for symbol in range(symbols):
                deadline.check()
                one = _observed(model, first.items(), symbol)
                two = _observed(model, second.items(), symbol)
                if not one and not two:
                    continue
                one, two = _scaled(one, two)
                layer.setdefault(_key(one, two), (one, two, (*word, symbol)))
        starts = list(layer.values())
    if not starts:
        raise UsageError(
            f"no sequence of {length} observations is possible from either distribution: "
            "every budget would hold, and mean nothing"
        )
    seen: set[str] = set()
    zero = model.ring.constant(0)
    for first, second, word in starts:
        one, two = sum(first.values(), zero), sum(second.values(), zero)
        for swapped, polynomial in ((False, ratio * two - one), (True, ratio * one - two)):
            text = str(polynomial)
            if polynomial and text not in seen:
                seen.add(text)
                yield Difference(polynomial, word, swapped)
