"""The running products from which a position is won, for one window [1/V, V].

The winning products of a position are finitely many closed intervals as long as the work is finite. What is
found is a relation, possibly of infinitely many triples, that is an amortised bisimulation, so V is an upper
bound even where no finite relation proves it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from flint import fmpq

from bisimdist.automata.engine.game import SAME, Arena, Duel
from bisimdist.automata.engine.staircase import Staircase
from bisimdist.progress import NEVER, Deadline

ONE = fmpq(1)
MAX_PIECES = 40
MAX_ROUNDS = 200

Interval = tuple[fmpq, fmpq]  # the ends of a closed interval of running products
Credits = tuple[Interval, ...]  # disjoint intervals, ascending


def joined(intervals: Sequence[Interval]) -> Credits:
    """Return the union of closed intervals.

    >>> joined([(fmpq(2), fmpq(3)), (fmpq(1), fmpq(2)), (fmpq(5), fmpq(5))])
    ((1, 3), (5, 5))
    """
    result: list[Interval] = []
    for low, high in sorted(intervals):
        if result and low <= result[-1][1]:
            result[-1] = result[-1][0], max(high, result[-1][1])
        else:
            result.append((low, high))
    return tuple(result)


def meet(first: Credits, second: Credits) -> Credits:
    """Return the intersection of two unions of intervals."""
    result: list[Interval] = []
    i = j = 0
    while i < len(first) and j < len(second):
        low, high = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if low <= high:
            result.append((low, high))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return tuple(result)


def contains(credits: Credits, value: fmpq) -> bool:
    """Tell whether a running product is in one of the intervals."""
    return any(low <= value <= high for low, high in credits)


def window_of(stairs: Staircase, window: fmpq) -> Credits:
    """Return the running products from which a staircase is won in the window [1/V, V]."""
    return joined([(q / window, window / p) for p, q in stairs if p * q <= window * window])


def hold_window(
    arena: Arena, starts: Mapping[int, Credits], start: int, window: fmpq, *, deadline: Deadline = NEVER
) -> dict[int, Credits] | None:
    """Find an amortised bisimulation inside a window that holds at a position from the running product 1.

    ``starts``: for each position running products outside of which it is lost; positions that are missing are
        lost.
    returns: the winning running products by position; None where the start is lost, or nothing settled in
        time.
    """
    held = {position: credits for position, credits in starts.items() if credits}
    full: Credits = ((1 / window, window),)
    dirty = set(held)
    for _ in range(MAX_ROUNDS):
        if not dirty:
            return held
        needs: dict[int, Credits] = {}
        changed = set()
        for position in sorted(dirty):
            if deadline.passed():
                return None
            after = held.get(position, ())
            for challenge in arena.challenges[position]:
                pieces: list[Interval] = []
                for number, _ in challenge.answers:
                    if number not in needs:
                        needs[number] = _won(arena.duels[number], held, full)
                    pieces += needs[number]
                after = meet(after, joined(pieces))
            if after != held.get(position, ()):
                if (position == start and not contains(after, ONE)) or len(after) > MAX_PIECES:
                    return None
                held[position] = after
                changed.add(position)
        dirty = {
            user
            for position in changed
            for number in arena.entries[position]
            for user in arena.users[number]
            if held.get(user)
        }
    return None


def _won(duel: Duel, held: Mapping[int, Credits], full: Credits) -> Credits:
    """Return the running products from which some bijection of a duel leads to won positions."""
    if not duel.left and not duel.right:
        return full
    before: list[Credits] = []
    for edge in duel.edges:
        credits = full if edge.position == SAME else held.get(edge.position, ())
        moved = tuple((low / edge.ratio, high / edge.ratio) for low, high in credits)
        before.append(meet(moved, full))
    if len(duel.left) == len(duel.right) == 1:
        return before[0] if before and duel.left == duel.right else ()
    ends = sorted({end for credits in before for interval in credits for end in interval})

    def won(credit: fmpq) -> bool:
        return duel.holds(
            [edge for edge, credits in zip(duel.edges, before, strict=True) if contains(credits, credit)]
        )

    # Which edges are usable changes at the ends alone; all sets are closed, and so is what is won.
    pieces = [(end, end) for end in ends if won(end)]
    pieces += [(low, high) for low, high in pairwise(ends) if won((low + high) / 2)]
    return joined(pieces)
