"""Independent, uniform numbers that what was drawn is made of, and how they are divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

from bisimdist.programs.control import Outside, SplitInterval

MOST_VALUES = 1 << 16  # so many values of one draw are told apart at most

Variable: TypeAlias = tuple[int, tuple[tuple[int, ...], ...]]
"""What is known of a number that was drawn: a constant, and of each leaf its factor and number of values.

Two leaves that were compared with one another are not independent any more. Of the first, the second number
is that of the pairs of both; of the other it is 1. Then follow the number of values of each, which one it is
(-1 the lower, 1 the higher, 0 if they are equal), and what only these two have: a number of the comparison.
"""


class Leaf:
    """A uniform number ``0, …, count - 1``: the `place`-th of the variable with a number."""

    __slots__ = ("high", "order", "pair", "place", "variable")
    low = 0

    def __init__(self, variable: int, place: int, count: int, order: int = 0, pair: int = -1) -> None:
        self.variable = variable
        self.place = place
        self.high = count - 1
        self.order = order
        self.pair = pair
        """The number of its comparison with another one; -1 if there was none."""

    def part(self, _: int) -> Any:
        """Tell its values apart."""
        if self.high >= MOST_VALUES:
            raise Outside(
                f"a draw has {self.high + 1} values that the program tells apart",
                f"at most {MOST_VALUES} are looked at",
            )
        raise Split(self, tuple(range(1, self.high + 1)))


class Split(SplitInterval):
    """A leaf has to be divided before the run can go on.

    leaf: which leaf.
    cuts: where parts of it begin.
    period: instead: it is taken apart into its remainder and its quotient by this number.
    other: instead: it is compared with this leaf, which has as many values.
    """

    def __init__(
        self, leaf: Leaf, cuts: tuple[int, ...] = (), period: int = 0, other: Leaf | None = None
    ) -> None:
        super().__init__(leaf.variable, cuts)
        self.leaf = leaf
        self.period = period
        self.other = other

    def parts(self, variables: Sequence[Variable]) -> Iterator[tuple[Variable, ...]]:
        """Yield the parts of what is known: together they are all of it, and no two overlap."""
        where, place = self.leaf.variable, self.leaf.place
        if self.other is not None:
            other = self.other.variable, self.other.place
            pair = 1 + max(leaf[-1] if len(leaf) > 2 else 0 for _, leaves in variables for leaf in leaves)
            for order in (-1, 0, 1):
                every = 0, self.leaf.high + 1
                yield from _ordered(variables, (where, place), other, every, order, pair)
            return
        if self.leaf.pair >= 0:
            yield from self._halves(variables)
            return
        const, leaves = variables[where]
        factor, count = leaves[place]
        before, after = leaves[:place], leaves[place + 1 :]
        made: list[Variable] = []
        if self.period:
            whole = count // self.period
            both = (factor, self.period), (factor * self.period, whole)
            halves = (part for part in both if part[1] > 1)
            made.append((const, (*before, *halves, *after)))
            marks = [whole * self.period, count]
        else:
            marks = [0, *self.cuts, count]
        for low, high in pairwise(marks):
            if low < high:
                own = ((factor, high - low),) if high - low > 1 else ()
                made.append((const + factor * low, (*before, *own, *after)))
        for one in made:
            yield (*variables[:where], one, *variables[where + 1 :])

    def _halves(self, variables: Sequence[Variable]) -> Iterator[tuple[Variable, ...]]:
        """Divide a leaf, and the one that it was compared with at the same number."""
        leaf = self.leaf
        one = leaf.variable, leaf.place
        places = ((where, k) for where, (_, leaves) in enumerate(variables) for k in range(len(leaves)))
        (other,) = (
            (where, k)
            for where, k in places
            if (where, k) != one and variables[where][1][k][4:] == (leaf.pair,)
        )
        middle = self.cuts[0] if 0 < len(self.cuts) < 3 else (leaf.high + 1) // 2
        halves = (0, middle), (middle, leaf.high + 1)
        for half in halves:
            yield from _ordered(variables, one, other, half, leaf.order, leaf.pair)
        if leaf.order:
            (low, high), (bottom, top) = halves[:: -leaf.order]
            yield _changed(variables, {one: (low, (high - low,)), other: (bottom, (top - bottom,))})


def _ordered(  # noqa: PLR0913, PLR0917
    variables: Sequence[Variable],
    one: tuple[int, int],
    other: tuple[int, int],
    both: tuple[int, int],
    order: int,
    pair: int,
) -> Iterator[tuple[Variable, ...]]:
    """Yield the part where two leaves have values in the same range, and the first has this order."""
    count = both[1] - both[0]
    pairs = count * (count - 1) // 2 if order else count
    if pairs:
        yield _changed(
            variables,
            {one: (both[0], (pairs, count, order, pair)), other: (both[0], (1, count, -order, pair))},
        )


def _changed(
    variables: Sequence[Variable], changes: Mapping[tuple[int, int], tuple[int, tuple[int, ...]]]
) -> tuple[Variable, ...]:
    """Return variables where leaves begin at other values, and are what is said after their factor."""
    made = []
    for where, (const, leaves) in enumerate(variables):
        own = []
        begin = const
        for place, leaf in enumerate(leaves):
            offset, rest = changes.get((where, place), (0, leaf[1:]))
            begin += leaf[0] * offset
            if rest != (1,) and rest[1:3] != (1, 0):
                own.append((leaf[0], *rest))
        made.append((begin, tuple(own)))
    return tuple(made)
