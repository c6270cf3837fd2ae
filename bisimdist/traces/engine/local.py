"""Improving a sequence by exchanging single observations, in exact arithmetic, up to a local maximum."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from flint import fmpq

from bisimdist.progress import NEVER, Deadline
from bisimdist.traces.engine.integers import IntegerModel
from bisimdist.traces.engine.layers import Word

MAX_SWEEPS = 8

_Pair = tuple[list[int], list[int]]


def improved_word(
    model: IntegerModel,
    first: Sequence[fmpq],
    second: Sequence[fmpq],
    word: Word,
    *,
    deadline: Deadline = NEVER,
) -> Word:
    """Exchange single observations as long as that raises Pr(word | first) / Pr(word | second).

    ``word``: a sequence that is possible from the second distribution.
    returns: a sequence of the same length with at least the ratio.
    """
    scale = lcm(*(int(value.q) for value in (*first, *second)))
    starts = ([int((value * scale).p) for value in first], [int((value * scale).p) for value in second])
    current = list(word)
    for _ in range(MAX_SWEEPS):
        if not _sweep(model, starts, current, deadline):
            break
    return tuple(current)


def _sweep(model: IntegerModel, starts: _Pair, word: list[int], deadline: Deadline) -> bool:
    """Go through the word once; tell whether anything was exchanged."""
    after = _suffixes(model, word)
    changed = False
    ahead, behind = starts
    for position in range(len(word)):
        if deadline.passed():
            return False
        best = word[position]
        most = _chances(model, ahead, behind, best, after[position])
        for symbol in range(model.symbols):
            found = _chances(model, ahead, behind, symbol, after[position])
            if found[1] > 0 and found[0] * most[1] > most[0] * found[1]:
                best, most = symbol, found
        changed = changed or best != word[position]
        word[position] = best
        if position < len(word) - 1:
            ahead, behind = (model.moved(model.emitted(side, best), position + 1) for side in (ahead, behind))
    return changed


def _chances(
    model: IntegerModel, ahead: Sequence[int], behind: Sequence[int], symbol: int, after: Sequence[int]
) -> tuple[int, int]:
    one = two = 0
    for state, weight in model.emissions[symbol]:
        if after[state]:
            one += ahead[state] * weight * after[state]
            two += behind[state] * weight * after[state]
    return one, two


def _suffixes(model: IntegerModel, word: Sequence[int]) -> list[list[int]]:
    """Return for each position what a state before the next step is worth for the rest of the word."""
    after = [[1] * model.size]
    for symbol in reversed(word[1:]):
        made = [0] * model.size
        for state, weight in model.emissions[symbol]:
            made[state] = weight * after[-1][state]
        after.append([sum(weight * made[target] for target, weight in row) for row in model.steps])
    after.reverse()
    return after
