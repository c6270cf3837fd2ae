"""States that come twice: nature chooses in each of two worlds on its own what it has a say in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bisimdist.models.labelled import Row
from bisimdist.models.reach import all_reached


@dataclass(frozen=True, slots=True)
class SecondWorld:
    """The states of a model and, behind them, what some of them are in a second world."""

    # the names of all: a copy has as many apostrophes more as it takes to make them different
    names: tuple[str, ...]
    origin: tuple[int, ...]  # by state the state that it is or is a copy of
    second: tuple[int, ...]

    @classmethod
    def of(cls, names: Sequence[str], after: Iterable[Iterable[int]], free: Iterable[int]) -> SecondWorld:
        """Copy what leads to states in which nature may choose, themselves included.

        ``after``: by state the states that may follow.

        >>> SecondWorld.of("stu", [[1, 2], [], []], [1])
        SecondWorld(names=('s', 't', 'u', "s'", "t'"), origin=(0, 1, 2, 0, 1), second=(3, 4, 2, 3, 4))
        """
        size = len(names)
        before: list[list[int]] = [[] for _ in names]
        for state, targets in enumerate(after):
            for target in targets:
                before[target].append(state)
        copied = sorted(all_reached(free, before.__getitem__))
        copies = range(size, size + len(copied))
        moved = dict(zip(copied, copies, strict=True))
        return cls(
            (*names, *_unused([names[state] for state in copied], names)),
            (*range(size), *copied),
            (*(moved.get(state, state) for state in range(size)), *copies),
        )

    def row(self, state: int, row: Row) -> Row:
        """Return what a row of the origin of a state is for the state itself: it stays in its world."""
        if self.origin[state] == state:
            return row
        return tuple(sorted((self.second[target], p) for target, p in row))


def _unused(names: Sequence[str], taken: Iterable[str]) -> list[str]:
    """Return names with as many apostrophes as it takes to make them new."""
    mark = "'"
    while not {name + mark for name in names}.isdisjoint(taken):
        mark += "'"
    return [name + mark for name in names]
