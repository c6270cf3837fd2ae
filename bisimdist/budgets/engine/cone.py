"""Invariants for all lengths: a polyhedral cone of functions that is closed under every observation.

The cone holds every h_x and, with a function h, also ``o(., x) P h`` for every observation x; so it holds
h_w for every sequence w. A linear inequality between two information states needs to be checked on its
generators only. See ``docs/theory/hmm-proofs.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.linear.simplex import nonnegative_combination
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.numeric import Function, NumericModel

MAX_GENERATORS = 60
MAX_ENTRIES = 6_000  # how many entries, generators times states, a cone may have before the search gives up

WIDENINGS = (fmpq(101, 100), fmpq(11, 10), fmpq(3, 2), fmpq(3))
DEPTHS = (1, 2, 3)

Combination = Mapping[int, fmpq]


@dataclass(frozen=True, slots=True)
class Cone:
    """A closed cone by its generators, with the proof that it is closed."""

    generators: tuple[Function, ...]  # functions that are not negative
    # for each generator the sequence w of which it is h_w up to scale, or None where it is none
    words: tuple[tuple[int, ...] | None, ...]
    # for each observation x that can occur, h_x as a combination of generators
    starts: Mapping[int, Combination]
    # for each generator and each observation x, the function ``o(., x) P h`` as a combination
    steps: Mapping[tuple[int, int], Combination]

    @property
    def exact(self) -> bool:
        """Whether every generator belongs to a sequence, so that the worst ratio is attained."""
        return all(word is not None for word in self.words)


def _scaled(function: Function) -> tuple[Function, fmpq]:
    total = sum(function, fmpq(0))
    return tuple(value / total for value in function), total


def worst_ratio(model: NumericModel, functions: Sequence[Function]) -> tuple[fmpq | None, int | None]:
    """Return the largest ratio of the two expectations, either way, and the place of its function.

    A ratio of None is infinite; the place is None where every ratio is one or undefined.
    """
    worst, where = fmpq(1), None
    for place, function in enumerate(functions):
        one, two = model.probabilities(function)
        if one == two:
            continue
        if one == 0 or two == 0:
            return None, place
        ratio = max(one / two, two / one)
        if ratio > worst:
            worst, where = ratio, place
    return worst, where


def find_cone(model: NumericModel, *, limits: Limits = UNBOUNDED) -> Cone | None:
    """Find a closed cone: the one that all h_w generate, if it is finite, else a wider one."""
    cone = generated_cone(model, limits=limits)
    if cone is not None or len(model) > MAX_GENERATORS:
        return cone
    for depth in DEPTHS:
        for widening in WIDENINGS:
            cone = widened_cone(model, depth, widening, deadline=limits.deadline)
            if cone is not None:
                return cone
    return None


def generated_cone(model: NumericModel, *, limits: Limits = UNBOUNDED) -> Cone | None:
    """Return the cone that all h_w generate, or None where no small number of them does.

    A function that is a combination of earlier ones adds nothing, nor do the functions that come from it.
    """
    generators: list[Function] = []
    words: list[tuple[int, ...]] = []
    starts: dict[int, Combination] = {}
    steps: dict[tuple[int, int], Combination] = {}

    def written(function: Function, word: tuple[int, ...]) -> Combination | None:
        if not any(function):
            return {}
        normal, total = _scaled(function)
        found = nonnegative_combination(generators, normal, deadline=limits.deadline) if generators else None
        if found is None:
            if len(generators) >= MAX_GENERATORS or len(generators) * len(model) > MAX_ENTRIES:
                return None
            generators.append(normal)
            words.append(word)
            found = {len(generators) - 1: fmpq(1)}
        return {place: amount * total for place, amount in found.items()}

    for symbol in model.symbols:
        found = written(model.seen(symbol), (symbol,))
        if found is None:
            return None
        starts[symbol] = found
    place = 0
    while place < len(generators):
        limits.progress("generators of the cone", place, None)
        for symbol in model.symbols:
            found = written(model.before(symbol, generators[place]), (symbol, *words[place]))
            if found is None:
                return None
            steps[place, symbol] = found
        place += 1
    return Cone(tuple(generators), tuple(words), starts, steps)


def widened_cone(
    model: NumericModel, depth: int, widening: fmpq, *, deadline: Deadline = NEVER
) -> Cone | None:
    """Return a cone around the functions of the sequences up to a length, if it is closed.

    Every generator is moved away from the middle of all of them by the factor `widening`, which leaves room
    where the functions of longer sequences only converge.
    """
    layer = [model.seen(symbol) for symbol in model.symbols]
    found = {_scaled(function)[0] for function in layer if any(function)}
    for _ in range(depth - 1):
        layer = [model.before(symbol, function) for symbol in model.symbols for function in layer]
        layer = list({_scaled(function)[0] for function in layer if any(function)})
        found.update(layer)
        if len(found) > MAX_GENERATORS:
            return None
    points = sorted(found)
    middle = tuple(sum(values, fmpq(0)) / len(points) for values in zip(*points, strict=True))
    generators = []
    for point in points:
        moved = tuple(max(m + widening * (v - m), fmpq(0)) for v, m in zip(point, middle, strict=True))
        if moved not in generators:
            generators.append(moved)
    starts: dict[int, Combination] = {}
    steps: dict[tuple[int, int], Combination] = {}
    for symbol in model.symbols:
        combination = nonnegative_combination(generators, model.seen(symbol), deadline=deadline)
        if combination is None:
            return None
        starts[symbol] = combination
        for place, generator in enumerate(generators):
            combination = nonnegative_combination(
                generators, model.before(symbol, generator), deadline=deadline
            )
            if combination is None:
                return None
            steps[place, symbol] = combination
    return Cone(tuple(generators), tuple(None for _ in generators), starts, steps)
