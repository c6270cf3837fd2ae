"""Certificates of kind ``metric``: the bijections of two rows, in groups of equal successors."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction

from bisimdist.checker.core.arena import Arena, Place
from bisimdist.checker.core.automaton import Automaton
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.flow import place
from bisimdist.checker.core.reading import LOOK, hold, spend

Group = tuple[Fraction, int]

MATCH = 4_000  # how many bits it takes to hold a way to match two groups


@dataclass(frozen=True)
class Match:
    """A group of successors on the left, one on the right, and what matching them multiplies by.

    `classes` are the classes of the two successors.
    """

    left: int
    right: int
    ratio: Fraction
    classes: tuple[int, int]

    @property
    def size(self) -> Fraction:
        """The larger one of the ratio and its inverse."""
        return max(self.ratio, 1 / self.ratio)


@dataclass(frozen=True)
class Pairing:
    """Two rows in groups of equal successors, and all ways to match a group with a group."""

    left: tuple[int, ...]
    right: tuple[int, ...]
    matches: tuple[Match, ...]


class Board(Arena):
    """The arena of bijections: classes are at distance 0, and shapes infinitely far if different."""

    def __init__(self, automaton: Automaton) -> None:
        super().__init__(
            automaton, lambda row, of: Counter((of[t], p) for t, p in counted(row.items())), "M4"
        )
        shapes = self.stable(lambda row, of: Counter(of[t] for t in counted(row)))
        self.shape_of = {self.classes[state]: shape for state, shape in counted(shapes.items())}
        self._pairings: dict[tuple[int, int], Pairing] = {}

    def pairing(self, left: int, right: int) -> Pairing:
        """Return the ways to match the rows of two transitions."""
        if (left, right) not in self._pairings:
            ours, theirs = self._groups(left), self._groups(right)
            spend(LOOK * len(ours) * len(theirs))
            hold(MATCH * len(ours) * len(theirs))
            matches = tuple(
                Match(i, j, p / q, (block, other))
                for i, (p, block) in counted(enumerate(ours))
                for j, (q, other) in counted(enumerate(theirs))
                if self.shape_of[block] == self.shape_of[other]
            )
            self._pairings[left, right] = Pairing(
                tuple(all_of(ours.values())), tuple(all_of(theirs.values())), matches
            )
        return self._pairings[left, right]

    def answered(self, place: Place, side: int, challenge: int) -> Iterator[tuple[int, Pairing]]:
        """Yield the answers to a challenge, each with the ways to match first and second state."""
        for m in counted(self.answers(challenge, place.states[1 - side])):
            yield m, self.pairing(challenge, m) if side == 0 else self.pairing(m, challenge)

    def _groups(self, transition: int) -> dict[Group, int]:
        row = self.automaton.transitions[transition][2]
        return dict(all_of(Counter((p, self.classes[target]) for target, p in counted(row.items()))))


def perfect(pairing: Pairing, matches: Iterable[Match]) -> bool:
    """Tell whether the successors can be matched one to one along some of the matches."""
    if sum(all_of(pairing.left)) != sum(all_of(pairing.right)):
        return False
    ways: list[list[int]] = [[] for _ in counted(pairing.left)]
    for match in counted(matches):
        ways[match.left].append(match.right)
    used: list[dict[int, int]] = [{} for _ in counted(pairing.right)]  # right: {left: how many}
    room = list(all_of(pairing.right))
    return all(place(i, need, ways, used, room) for i, need in counted(enumerate(pairing.left)))
