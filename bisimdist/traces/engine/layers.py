"""Does a budget hold at a length: signed information states, layer by layer, with a proof.

For a budget c the pair (pi, tau) becomes one signed vector v = pi - c tau. A word w violates the budget if
and only if the total of v after w is positive. Only the direction of v matters, so that vectors that agree
up to a positive factor merge. Multiplication with non-negative matrices keeps the order of vectors, so that a
vector with no positive entry needs no successors, and neither does one below a positive multiple of another.
What is kept is the proof: see docs/theory/hmm.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import gcd, lcm
from typing import TypeAlias

import numpy as np
from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.progress import UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.integers import IntegerModel, Vector, normalised

Word: TypeAlias = tuple[int, ...]  # an observation sequence, as indices

Cover: TypeAlias = tuple[int, int, int] | None
"""(index in the next layer, numerator, denominator) of what is above a successor; None: nothing positive."""

MAX_WIDTH = 20_000  # how many vectors a layer may hold
MAX_WORDS = 200  # how many violating words are returned at most

SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class LayerProof:
    """A proof that no word of the lengths in question has a positive total."""

    # for each position some vectors; the first layer holds the start vector
    layers: tuple[tuple[Vector, ...], ...]
    # for each position but the last, vector and observation: which multiple of which vector of the next layer
    # is at least the successor
    covers: tuple[tuple[tuple[Cover, ...], ...], ...]

    @property
    def size(self) -> int:
        """How many vectors there are in all."""
        return sum(len(layer) for layer in self.layers)


def signed_start(pi: Sequence[fmpq], tau: Sequence[fmpq], ratio: fmpq) -> Vector:
    """Return pi - ratio tau as integers, up to a positive factor."""
    values = [p - ratio * t for p, t in zip(pi, tau, strict=True)]
    scale = lcm(*(int(value.q) for value in values))
    return normalised(int((value * scale).p) for value in values)


def decide_layers(
    model: IntegerModel,
    start: Vector,
    *,
    limits: Limits = UNBOUNDED,
    bits: int | None = None,
    exact_word: Word = (),
) -> tuple[Word, ...] | LayerProof:
    """Return words whose total is positive, some if there is one, or a proof that there is none.

    ``start``: the signed start vector (see `signed_start`).
    ``bits``: rounds the entries of vectors up to so many bits. A proof is still one; a word that is returned
        may have a total that is not positive.
    ``exact_word``: the vectors after its prefixes are not rounded: the word that comes closest to violating
        the budget.
    """
    first = tuple(value if state in model.live[0] else 0 for state, value in enumerate(start))
    layers: list[list[Vector]] = [[normalised(first)]]
    covers: list[tuple[tuple[Cover, ...], ...]] = []
    origins: list[list[tuple[int, int]]] = [[(-1, -1)]]
    along = 0  # the index of the vector after the prefix of the exact word, -1 where it was pruned
    for position in range(model.length):
        limits.progress("positions", position, model.length)
        last = position == model.length - 1
        found: dict[Vector, tuple[int, int]] = {}
        successors: list[list[tuple[Vector, int] | None]] = []
        words: list[Word] = []
        path: Vector = ()
        for index, vector in enumerate(layers[-1]):
            limits.deadline.check()
            row: list[tuple[Vector, int] | None] = []
            for symbol in range(model.symbols):
                masses = model.emitted(vector, symbol)
                if (last or model.up_to) and sum(mass for _, mass in masses) > 0:
                    words.append(_traced(origins, index, symbol))
                    if len(words) == MAX_WORDS:
                        return tuple(words)
                moved = [] if last else model.moved(masses, position + 1)
                if not moved or max(moved) <= 0:
                    row.append(None)
                    continue
                if min(moved) >= 0:
                    word = _traced(origins, index, symbol)
                    return (*words, word + _continued(model, moved, position + 1))
                kept_exact = index == along and exact_word[position : position + 1] == (symbol,)
                direction, factor = _direction(moved, None if kept_exact else bits)
                if kept_exact:
                    path = direction
                row.append((direction, factor))
                found.setdefault(direction, (index, symbol))
            successors.append(row)
        if words:
            return tuple(words)
        if last:
            break
        if len(found) > 10 * MAX_WIDTH:
            raise LimitError(f"{len(found)} information states at position {position + 1} are too many")
        kept, above = _pruned(sorted(found, key=lambda vector: vector != path), limits.deadline)
        along = 0 if path and kept[0] == path else -1
        if len(kept) > MAX_WIDTH:
            raise LimitError(
                f"{len(kept)} information states at position {position + 1} are more than the "
                f"{MAX_WIDTH} allowed"
            )
        covers.append(
            tuple(
                tuple(
                    None
                    if step is None
                    else (above[step[0]][0], above[step[0]][1] * step[1], above[step[0]][2])
                    for step in row
                )
                for row in successors
            )
        )
        layers.append(kept)
        origins.append([found[vector] for vector in kept])
    return LayerProof(tuple(tuple(layer) for layer in layers), tuple(covers))


def _direction(moved: Sequence[int], bits: int | None) -> tuple[Vector, int]:
    """Return a vector and a factor whose product is at least a vector: equal to it where bits is None."""
    shift = 0
    if bits is not None:
        shift = max(max(abs(value) for value in moved).bit_length() - bits, 0)
    rounded = [-(-value >> shift) for value in moved] if shift else moved
    divisor = gcd(*rounded)
    if divisor > 1:
        rounded = [value // divisor for value in rounded]
    return tuple(rounded), divisor << shift


def _traced(origins: Sequence[Sequence[tuple[int, int]]], index: int, symbol: int) -> Word:
    word = [symbol]
    for layer in reversed(origins[1:]):
        index, before = layer[index]
        word.append(before)
    return tuple(reversed(word))


def _continued(model: IntegerModel, vector: Sequence[int], position: int) -> Word:
    """Return the rest of a word for a vector without negative entries: any that is possible will do."""
    word: list[int] = []
    current: Sequence[int] = vector
    while True:
        if model.up_to:  # one more observation will do, whatever comes after it
            return next((o,) for o in range(model.symbols) if model.emitted(current, o))
        for symbol in range(model.symbols):
            masses = model.emitted(current, symbol)
            if not masses:
                continue
            if position == model.length - 1:
                return (*word, symbol)
            moved = model.moved(masses, position + 1)
            if any(moved):
                word.append(symbol)
                current = normalised(moved)
                position += 1
                break


def _pruned(
    vectors: list[Vector], deadline: Deadline
) -> tuple[list[Vector], dict[Vector, tuple[int, int, int]]]:
    """Keep vectors such that each one is at most a positive multiple of a kept one; say which and how."""
    if len(vectors) <= 1:
        return vectors, {vector: (i, 1, 1) for i, vector in enumerate(vectors)}
    floats = _floats(vectors)
    # What is kept first dominates the most: large positive parts against small negative ones.
    weight = np.maximum(floats, 0).sum(axis=1) / (np.maximum(-floats, 0).sum(axis=1) + 1e-300)
    weight[0] = np.inf  # the vector of the exact word comes first
    order = np.argsort(-weight, kind="stable")
    kept: list[Vector] = []
    above: dict[Vector, tuple[int, int, int]] = {}
    table = np.empty_like(floats)
    for number in order:
        if len(kept) % 64 == 0:
            deadline.check()
        vector = vectors[number]
        cover = _dominated(vector, floats[number], kept, table[: len(kept)])
        if cover is None:
            table[len(kept)] = floats[number]
            above[vector] = (len(kept), 1, 1)
            kept.append(vector)
        else:
            above[vector] = cover
    return kept, above


def _floats(vectors: Sequence[Vector]) -> np.ndarray:
    """Return the vectors in binary floats, each scaled to a largest entry of one; only to guess with."""
    rows = []
    for vector in vectors:
        bits = max(max(abs(value) for value in vector).bit_length() - 1000, 0)
        row = np.array([float(value >> bits) for value in vector])
        rows.append(row / np.abs(row).max())
    return np.array(rows)


def _dominated(
    vector: Vector, row: np.ndarray, kept: Sequence[Vector], table: np.ndarray
) -> tuple[int, int, int] | None:
    """Return which multiple of which kept vector is at least this one, if there is one."""
    if not len(kept):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient = row / table
    low = np.where(table > 0, quotient, 0.0).max(axis=1, initial=0.0)
    high = np.where(table < 0, quotient, np.inf).min(axis=1, initial=np.inf)
    possible = (low <= high * (1 + SLACK) + SLACK) & ~((table == 0) & (row > 0)).any(axis=1)
    for index in np.flatnonzero(possible)[:8]:
        factor = domination_factor(vector, kept[index])
        if factor is not None:
            return int(index), *factor
    return None


def domination_factor(vector: Vector, above: Vector) -> tuple[int, int] | None:
    """Return a factor f >= 0, as numerator and denominator, with vector <= f above, if there is one."""
    low_p, low_q = 0, 1
    high_p, high_q = 1, 0
    for x, y in zip(vector, above, strict=True):
        if y > 0:
            if x * low_q > low_p * y:
                low_p, low_q = x, y
        elif x > 0:
            return None
        elif y < 0 and -x * high_q < high_p * -y:
            high_p, high_q = -x, -y
    return (low_p, low_q) if low_p * high_q <= high_p * low_q else None
