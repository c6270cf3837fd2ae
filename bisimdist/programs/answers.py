"""What the random source may answer, and how a part of very many answers is divided where it matters."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from flint import fmpq

from bisimdist.programs.control import ListValues, Outside, SplitInterval
from bisimdist.programs.interval import plain
from bisimdist.programs.laws import Law
from bisimdist.programs.machine_source import Request
from bisimdist.programs.noise import Choices, Drawn, Noise, Undecided
from bisimdist.programs.states import State

FEW = 8  # a draw of at most so many values is looked at value by value

MOST_LISTED = 1 << 16  # so many values of one draw are told apart at most

_CURRENT = -1

Bounds = dict[int, tuple[int, int]]
Branch = tuple[Any, Bounds, int | fmpq, tuple[int, ...]]
"""What the source answers, the bounds of remembered intervals, the weight, and what is chosen about noise."""
Listed = Iterable[tuple[Any, int, int]]  # values with their weights, numbered


@dataclass(slots=True, eq=False)
class Value:
    """A value that is drawn as it is."""

    value: Any


class _Part:
    """Noise with what is known of it."""

    __slots__ = ("known",)

    def __init__(self, low: float, high: float, law: Law) -> None:
        self.known = (low, high, law)


def values_of(request: Request) -> Listed | None:
    """Return what the source may answer, with the weights, where that is not too much or has no end."""
    if request.values is not None:
        return zip(request.values, request.weights, itertools.count(), strict=False)
    if request.noise or (request.step == 1 and request.count > FEW):
        return None
    if request.count > MOST_LISTED:
        raise Outside(
            f"a draw has {request.count} values in steps of {request.step}", "draw k, and compute with it"
        )
    last = request.start + request.count * request.step
    values = range(request.start, last, request.step)
    return zip(values, itertools.repeat(1), itertools.count(), strict=False)


def parts_of(request: Request, cuts: Iterable[int] = ()) -> Iterator[tuple[Any, int | fmpq]]:
    """Yield noise, or intervals of values between cuts, with their weights."""
    if request.noise:
        for chance, low, high, law in request.noise:
            yield _Part(low, high, law), chance
        return
    low, high = request.start, request.start + request.count
    marks = sorted({low, high, *(cut for cut in cuts if low < cut < high)})
    for lower, upper in itertools.pairwise(marks):
        yield (lower, upper), upper - lower


def value_of(answer: Any, choices: Choices) -> Any:
    """Return what the program is given for an answer."""
    if type(answer) is tuple:
        return plain(_CURRENT, *answer)
    if type(answer) is Value:
        return answer.value
    low, high, law = answer.known
    return Noise(Drawn(low, high, law, choices))


def divided(asked: Undecided | SplitInterval | ListValues, branch: Branch, state: State) -> list[Branch]:
    """Return the parts of a branch that the program tells apart; those of an interval in descending order.

    Raises Outside if there are too many.
    """
    answer, bounds, weight, made = branch
    if isinstance(asked, Undecided):
        return [
            (answer, bounds, fmpq(weight) * chance, (*made, number))
            for number, chance in enumerate(asked.chances)
            if chance
        ]
    if isinstance(asked, SplitInterval):
        return _split(asked.index, asked.cuts, branch, state)
    low, high = _range_of(asked.index, answer, bounds, state)
    if high - low > MOST_LISTED:
        raise Outside(
            f"a draw has {high - low} values that the program tells apart",
            f"at most {MOST_LISTED} are looked at: compare it with constants, or draw from fewer",
        ) from asked
    return _split(asked.index, range(low + 1, high), branch, state)


def _range_of(index: int, answer: Any, bounds: Bounds, state: State) -> tuple[int, int]:
    if index == _CURRENT:
        return answer  # type: ignore[no-any-return]
    return bounds.get(index) or state.contents[index][1:]


def _split(index: int, cuts: Sequence[int], branch: Branch, state: State) -> list[Branch]:
    """Divide an interval between cuts."""
    answer, bounds, weight, made = branch
    low, high = _range_of(index, answer, bounds, state)
    marks = sorted({low, high, *(cut for cut in cuts if low < cut < high)}, reverse=True)
    parts: list[Branch] = []
    for upper, lower in itertools.pairwise(marks):
        share: int | fmpq
        if index == _CURRENT:
            share = (
                weight * (upper - lower) // (high - low)
                if isinstance(weight, int)
                else weight * fmpq(upper - lower, high - low)
            )
            parts.append(((lower, upper), bounds, share, made))
        else:
            share = fmpq(weight) * fmpq(upper - lower, high - low)
            parts.append((answer, {**bounds, index: (lower, upper)}, share, made))
    return parts
