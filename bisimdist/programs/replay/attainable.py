"""Outputs that another input cannot produce at all: counted in samples, decided by an inverse in brackets."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from flint import fmpq

from bisimdist.errors import LimitError
from bisimdist.programs.control import Outside
from bisimdist.programs.inputs import Input
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.draws import Law, Uniform
from bisimdist.programs.replay.lazy import Lazy
from bisimdist.programs.replay.loading import bound_call, imported
from bisimdist.programs.replay.node import Raised, enclosure, raised
from bisimdist.programs.replay.released import Leaf, Released
from bisimdist.programs.replay.search import Search, once
from bisimdist.programs.replay.tape import GivenUp, Played
from bisimdist.programs.request import Request

RUNS, DEEPEST = 5_000, 150.0
"""So many ways of the other input are looked at, and none that costs more bits."""

PARTS = 4_000
"""So many ranges of a draw are looked at for one output; where that is not enough, it is attainable."""


@dataclass(frozen=True, slots=True)
class Counted:
    """How many outputs of one input another one cannot produce.

    samples, outside: how many outputs were taken, and how many of them the other input has not.
    """

    samples: int
    outside: int
    missing: fmpq  # the mass of runs of the other input that were not looked at


_system_bytes = os.urandom
"""That of the system: what the program calls is caught."""


def _below(n: int) -> int:
    bits = n.bit_length()
    while True:
        found = int.from_bytes(_system_bytes((bits + 7) // 8), "big") >> (-bits % 8)
        if found < n:
            return found


class _Sampled(Played):
    """A run whose draws are random numbers."""

    def value(self, law: Law) -> int:
        if type(law) is Uniform:
            return _below(law.count)
        magnitude = 0
        top, bottom = int(law.ratio.p), int(law.ratio.q)  # type: ignore[union-attr]
        while True:
            while _below(bottom) < top:
                magnitude += 1
            if law.low == 0:
                return magnitude
            sign = _below(2)
            if magnitude or not sign:
                return -magnitude if sign else magnitude
            magnitude = 0


def unattainable(
    function: Callable[..., Any] | str, inputs: Sequence[Input], samples: int, request: Request
) -> tuple[Counted, Counted]:
    """Count outputs of each of two inputs that the other cannot produce.

    Raises ModelError if the program does something that is not a function of its input and its draws.
    """
    with caught(request.allowed) as work, imported(function, work) as program:
        call = bound_call(program.function)
        try:
            searches = [Search(lambda item=item: call(item.make())) for item in inputs]  # type: ignore[misc]
            for search in searches:
                search.work(RUNS, most=DEEPEST, deadline=request.deadline, progress=request.progress)
            found = []
            for k, item in enumerate(inputs):
                other = _Image(searches[1 - k])
                outside = 0
                for number in range(samples):
                    if number % 64 == 0:
                        request.deadline.check()
                        request.progress("samples", number, samples)
                    outside += not other.has(_sample(call, item))
                found.append(Counted(samples, outside, other.missing))
        except Outside as outside_error:
            raise outside_error.as_error(next(iter(program.files), ""), None) from None
    return found[0], found[1]


def _sample(call: Callable[[Any], Any], item: Input) -> Any:
    try:
        return once(_Sampled(()), lambda: call(item.make()))
    except GivenUp:
        raise LimitError("a run draws without end") from None


class _Image:
    """What an input can produce."""

    def __init__(self, search: Search) -> None:
        self.leaves = [leaf for leaf in search.leaves if leaf.released.nodes]
        self.ends = {end[-1][1] for end in search.ends}
        covered = sum((leaf.mass() for leaf in search.leaves), fmpq(0))
        self.missing = 1 - covered

    def has(self, value: Any) -> bool:
        """Tell whether a value can be produced; where that is not known, it can."""
        text = Released(value, (), (), ()).end_of(())[-1][1]
        if text in self.ends:
            return True
        return any(_reaches(leaf, value) for leaf in self.leaves)


def _reaches(leaf: Leaf, value: Any) -> bool:
    """Tell whether runs may release a number, for some of their draws."""
    released = leaf.released
    if type(released.value) is not Lazy or len(released.draws) != 1 or released.seen:
        return True
    if not isinstance(value, int | float) and not hasattr(value, "dtype"):
        return type(value) is Raised
    draw = released.draws[0]
    stack = leaf.ranges(draw)
    for _ in range(PARTS):
        if not stack:
            return False
        low, high = stack.pop()
        try:
            found = enclosure(released.value, {draw: low}, {draw: high})
        except Exception as error:
            raised(error)  # then these runs release no number
            continue
        if found is not None and (value < found[0] or found[1] < value):
            continue
        if low == high:
            if found is not None and found[0] == value:
                return True
            continue
        if inf in {abs(low), abs(high)}:
            return True
        middle = leaf.laws[draw].middle(low, high)
        stack += [(low, middle), (middle + 1, high)]
    return True
