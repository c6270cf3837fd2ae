"""What is true of small systems, from the definitions alone, slowly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
from scipy.optimize import linprog

__all__ = [
    "Moves",
    "delta_asked",
    "delta_fixed",
    "delta_of",
    "distance",
    "gained_by",
    "in_two_worlds",
    "largest_ratio",
    "members",
    "vertices",
    "words",
]

Row = Mapping[str, Fraction]
Moves = Mapping[str, Mapping[str, Row]]
"""By state and action the row; a state that is not there ends runs."""
Labels = Mapping[str, str]
Vector = Mapping[str, Fraction]


def delta_of(labels: Labels, moves: Moves, pair: tuple[str, str], alpha: Fraction) -> Fraction:
    """Return the delta of a chain without cycles: its traces, one by one."""
    first, second = (dict(traces(labels, moves, state)) for state in pair)
    every = first.keys() | second.keys()
    zero = Fraction(0)
    return max(
        sum((max(zero, p.get(trace, zero) - alpha * q.get(trace, zero)) for trace in every), zero)
        for p, q in ((first, second), (second, first))
    )


def traces(labels: Labels, moves: Moves, start: str) -> Mapping[tuple[str, ...], Fraction]:
    """Return the probabilities of the whole traces of a chain."""
    found: dict[tuple[str, ...], Fraction] = {}
    waiting: list[tuple[tuple[str, ...], str, Fraction]] = [((labels[start],), start, Fraction(1))]
    while waiting:
        trace, state, mass = waiting.pop()
        rows = moves.get(state)
        if not rows:
            found[trace] = found.get(trace, Fraction(0)) + mass
            continue
        ((_, row),) = rows.items()
        waiting += [((*trace, labels[target]), target, mass * p) for target, p in row.items()]
    return found


def words(
    labels: Labels, moves: Moves, start: str, *, ends: bool | None = None
) -> Mapping[tuple[str, ...], Fraction]:
    """Return the probabilities of performing words, from a state of a system without choices and cycles.

    A state performs its label as it moves. With `ends` None those that do not move perform theirs too, and go
    on for ever; else they perform nothing, mass may be missing, and `ends` says whether an end is seen.
    """
    found: dict[tuple[str, ...], Fraction] = {}

    def add(word: tuple[str, ...], mass: Fraction) -> None:
        if mass:
            found[word] = found.get(word, Fraction(0)) + mass

    waiting: list[tuple[tuple[str, ...], str, Fraction]] = [((), start, Fraction(1))]
    while waiting:
        word, state, mass = waiting.pop()
        row = next(iter(moves.get(state, {}).values()), {})
        if row or ends is None:
            word = (*word, labels[state])
            add(word, mass)
        if ends:
            add((*word, "end"), mass * (1 - sum(row.values(), Fraction(0))))
        waiting += [(word, target, mass * p) for target, p in row.items()]
    return found


def largest_ratio(
    first: Mapping[tuple[str, ...], Fraction], second: Mapping[tuple[str, ...], Fraction], length: int | None
) -> Fraction | float:
    """Return the largest ratio of the probabilities of a word, of one length or of any."""
    both = [
        (first.get(word, Fraction(0)), second.get(word, Fraction(0)))
        for word in first.keys() | second.keys()
        if length in {None, len(word)}
    ]
    if any(not p or not q for p, q in both):
        return math.inf
    return max((max(p / q, q / p) for p, q in both), default=Fraction(1))


def delta_asked(
    labels: Labels, moves: Moves, pair: tuple[str, str], alpha: Fraction, rounds: int | None = None
) -> Fraction:
    """Return what an adaptive analyst gains, who stops when it likes, after so many actions at the latest."""
    return max(gain(labels, moves, {s: Fraction(1), t: -alpha}, rounds) for s, t in (pair, pair[::-1]))


def gain(labels: Labels, moves: Moves, vector: Vector, rounds: int | None) -> Fraction:
    """Return the value of signed masses on states of one label."""
    best = max(Fraction(0), sum(vector.values(), Fraction(0)))
    if rounds == 0:
        return best
    after = None if rounds is None else rounds - 1
    for action in offered(moves, vector):
        parts = step(labels, moves, vector, action)
        best = max(best, sum((gain(labels, moves, part, after) for part in parts.values()), Fraction(0)))
    return best


def offered(moves: Moves, vector: Vector) -> list[str]:
    """Return the actions of the states."""
    return list(dict.fromkeys(action for state in vector for action in moves.get(state, {})))


def step(labels: Labels, moves: Moves, vector: Vector, action: str) -> Mapping[str, dict[str, Fraction]]:
    """Return by label the masses that follow an action."""
    parts: dict[str, dict[str, Fraction]] = {}
    for state, mass in vector.items():
        for target, p in moves.get(state, {}).get(action, {}).items():
            part = parts.setdefault(labels[target], {})
            part[target] = part.get(target, Fraction(0)) + mass * p
    return parts


def delta_fixed(
    labels: Labels, moves: Moves, pair: tuple[str, str], alpha: Fraction, rounds: int
) -> Fraction:
    """Return what the best sequence of actions gains; it ends where the next one is not on offer."""
    actions = sorted({action for rows in moves.values() for action in rows})

    return max(
        gained_by(labels, moves, {s: Fraction(1), t: -alpha}, sequence)
        for s, t in (pair, pair[::-1])
        for length in range(rounds + 1)
        for sequence in product(actions, repeat=length)
    )


def gained_by(labels: Labels, moves: Moves, vector: Vector, sequence: Sequence[str]) -> Fraction:
    """Return what a sequence of actions gains; it ends where the next one is not on offer."""
    if not sequence or not any(sequence[0] in moves.get(state, {}) for state in vector):
        return max(Fraction(0), sum(vector.values(), Fraction(0)))
    parts = step(labels, moves, vector, sequence[0]).values()
    return sum((gained_by(labels, moves, part, sequence[1:]) for part in parts), Fraction(0))


Box = Mapping[str, tuple[Fraction, Fraction]]


def vertices(box: Box) -> list[Row]:
    """Return the vertices of a row of intervals."""
    found = []
    for free in box:
        others = [target for target in box if target != free]
        for ends in product(*(box[target] for target in others)):
            rest = 1 - sum(ends, Fraction(0))
            if box[free][0] <= rest <= box[free][1]:
                row = {**dict(zip(others, ends, strict=True)), free: rest}
                found.append({target: p for target, p in row.items() if p})
    return [dict(pairs) for pairs in dict.fromkeys(tuple(sorted(row.items())) for row in found)]


def members(boxes: Mapping[str, Box], grid: int = 4) -> Iterator[Moves]:
    """Yield chains in the intervals: the vertices, and mixtures of them."""
    names = list(boxes)
    options: list[list[Row]] = []
    for name in names:
        corners = vertices(boxes[name])
        weights = [w for w in product(range(grid + 1), repeat=len(corners)) if sum(w) == grid]
        rows = [mixed(corners, w, grid) for w in weights]
        options.append([dict(pairs) for pairs in dict.fromkeys(tuple(sorted(row.items())) for row in rows)])
    assert prod(map(len, options)) <= 5_000
    for chosen in product(*options):
        yield {name: {"": row} for name, row in zip(names, chosen, strict=True)}


def mixed(corners: Sequence[Row], weights: Sequence[int], total: int) -> Row:
    """Return a mixture of vertices."""
    row: dict[str, Fraction] = {}
    for corner, weight in zip(corners, weights, strict=True):
        for target, p in corner.items():
            row[target] = row.get(target, Fraction(0)) + p * Fraction(weight, total)
    return {target: p for target, p in row.items() if p}


def in_two_worlds(labels: Labels, boxes: Mapping[str, Box]) -> tuple[Labels, Moves]:
    """Return the game in which nature picks vertices anew at every step, in each world on its own.

    An action names a vertex for every state of both worlds, so that all choices are there. A state is one in
    both worlds where nature has no say in what comes after it.
    """
    rough = {state for state, box in boxes.items() if len(vertices(box)) > 1}
    while more := {state for state, box in boxes.items() if box.keys() & rough} - rough:
        rough |= more

    def named(state: str, world: str) -> str:
        return f"{state}{world}" if state in rough else state

    both = {named(state, world): label for state, label in labels.items() for world in "12"}
    corners = {
        named(state, world): [{named(t, world): p for t, p in row.items()} for row in vertices(box)]
        for state, box in boxes.items()
        for world in "12"
    }
    names = list(corners)
    moves: dict[str, dict[str, Row]] = {name: {} for name in names}
    for chosen in product(*(range(len(corners[name])) for name in names)):
        for name, number in zip(names, chosen, strict=True):
            moves[name][str(chosen)] = corners[name][number]
    return both, moves


def distance(
    labels: Labels,
    pair: tuple[str, str],
    alpha: Fraction,
    facing: Callable[[str, str], Sequence[tuple[Row, Row]]],
    depth: int = 5,
) -> float:
    """Return bd of a system without cycles of at most so many steps: its functional, iterated from 0.

    What two states do against each other is every pair of rows of `facing`; of two that end runs nothing.
    """
    names = list(labels)
    place = {name: k for k, name in enumerate(names)}
    d = np.array([[float(labels[i] != labels[j]) for j in names] for i in names])
    needed: set[tuple[str, str]] = set()
    waiting = [pair, pair[::-1]]
    while waiting:
        i, j = waiting.pop()
        if i == j or labels[i] != labels[j] or (i, j) in needed:
            continue
        needed.add((i, j))
        for here, there in facing(i, j):
            both = here.keys() | there.keys()
            waiting += [(x, y) for x in both for y in both]
    for _ in range(depth):
        new = d.copy()
        for i, j in needed:
            values = [lifting(d, place, here, there, alpha) for here, there in facing(i, j)]
            new[place[i], place[j]] = max(values, default=0.0)
        d = np.maximum(new, new.T)
    return float(d[place[pair[0]], place[pair[1]]])


def lifting(d: np.ndarray, place: Mapping[str, int], here: Row, there: Row, alpha: Fraction) -> float:
    """Return the larger of both directions of sup f(here) - alpha f(there), f(i) - alpha f(j) <= d(i, j)."""
    states = sorted(here.keys() | there.keys())
    best = 0.0
    for row, other in ((here, there), (there, here)):
        gains = [float(alpha * other.get(x, 0) - row.get(x, 0)) for x in states]  # linprog minimises
        above, limits = [], []
        for a, x in enumerate(states):
            for b, y in enumerate(states):
                if x != y:
                    line = np.zeros(len(states))
                    line[a], line[b] = 1, -float(alpha)
                    above.append(line)
                    limits.append(d[place[x], place[y]])
        found = linprog(gains, A_ub=above or None, b_ub=limits or None, bounds=[(0, 1)] * len(states))
        best = max(best, -found.fun)
    return best
