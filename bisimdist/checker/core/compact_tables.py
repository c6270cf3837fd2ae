"""Compact tables: bounds on pairs of numbered states, packed row by row."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from operator import le, sub
from typing import Any

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    OPERATION,
    MalformedCertificate,
    common,
    fraction_work,
    shown,
    spend,
)
from bisimdist.checker.core.stream import Stream
from bisimdist.checker.core.tables import Bounds, Setting

ARRAYS = {1: "B", 2: "H", 4: "I", 8: "Q"}  # the arrays of Python that hold numbers of so many bytes

SHORT = 128  # all rows have one denominator, where that has no more bits

DENSE = 32  # rows of a class are kept whole where at least one of so many pairs is listed

MOVE = 100  # what it costs to look at one entry of a row

Side = dict[int, tuple[list[int], list[int], list[int], int]]
"""By class: the states with mass there in the order of their numbers, their places, what each has; and how
many there are in the classes before."""


class Numbered:
    """The states by number, class by class, in the order of the first states of the classes."""

    def __init__(self, setting: Setting) -> None:
        self.names = [state for members in counted(setting.classes) for state in counted(members)]
        self.number = {state: number for number, state in counted(enumerate(self.names))}
        self.kind: list[int] = []
        self.place: list[int] = []
        """By state: its place in its class."""
        self.size: list[int] = []
        """By state: how many states its class has."""
        for kind, members in counted(enumerate(setting.classes)):
            self.kind += [kind] * len(members)
            self.place += range(len(members))
            self.size += [len(members)] * len(members)
        rows = [setting.chain.rows[state] for state in counted(self.names)]
        self.whole = [common(part.denominator for part in counted(row.values())) for row in counted(rows)]
        self.shared = 1
        """What is 1 in the unit that all rows have in common; 0, if there is none that is short."""
        for whole in counted(self.whole):
            self.shared = math.lcm(self.shared, whole)
            if self.shared.bit_length() > SHORT:
                self.shared = 0
                break
        else:
            self.whole = [self.shared] * len(rows)
        self.rows = [
            sorted(
                (self.number[x], part.numerator * (whole // part.denominator))
                for x, part in counted(row.items())
            )
            for row, whole in counted(zip(rows, self.whole, strict=True))
        ]
        self.support = [frozenset(x for x, _ in counted(row)) for row in counted(self.rows)]
        self.sides = list(all_of(map(self.side, self.rows))) if self.shared else []
        self.p, self.q = setting.p, setting.q

    def side(self, masses: Iterable[tuple[int, int]]) -> Side:
        """Return masses of states, in the order of their numbers, by class."""
        found: dict[int, list[tuple[int, int]]] = {}
        for x, mass in counted(masses):
            found.setdefault(self.kind[x], []).append((x, mass))
        result: Side = {}
        before = 0
        for kind, entries in counted(found.items()):
            states, amounts = ([entry[k] for entry in counted(entries)] for k in (0, 1))
            result[kind] = states, [self.place[x] for x in counted(states)], amounts, before
            before += len(entries)
        return result

    def apart(self, s: int, t: int) -> bool:
        """Tell whether two rows have no state in common."""
        return self.support[s].isdisjoint(self.support[t])

    def difference(self, s: int, t: int) -> tuple[dict[int, int], int]:
        """Return by state ``q m(x) - p m'(x)`` where that is not 0, in a unit, and what 1 is in that unit."""
        here, there, unit = self.q, self.p, self.whole[s]
        if unit != self.whole[t]:
            unit = math.lcm(unit, self.whole[t])
            here *= unit // self.whole[s]
            there *= unit // self.whole[t]
        digits = 1 + (unit.bit_length() + here.bit_length() + there.bit_length()) // 30
        spend(MOVE * (len(self.rows[s]) + len(self.rows[t])) * digits)
        c = {x: here * mass for x, mass in counted(self.rows[s])}
        for x, mass in counted(self.rows[t]):
            c[x] = c.get(x, 0) - there * mass
        return {x: c[x] for x in counted(sorted(all_of(c))) if c[x]}, unit


class Rest(dict[int, int]):
    """Numbers by the place of the second state, of which only few are listed; the others have one number."""

    def __init__(self, other: int) -> None:
        self.other = other

    def __missing__(self, place: int) -> int:
        """Return the number of those that are not listed."""
        return self.other


Row = Sequence[int] | Rest  # by the place of the second state in its class


def square_of(
    listed: Sequence[tuple[Sequence[int], Sequence[int]]], other: int, width: int, *, ordered: bool
) -> list[Row]:
    """Return what is said of the pairs of a class by both states; of each partners and numbers are given.

    Of unordered pairs the other state says the same. Rows are searched where only few pairs are listed.
    """
    size = len(listed)
    few = sum(len(partners) for partners, _ in counted(listed)) * DENSE < size * size
    fits = width in ARRAYS and not other >> 8 * width
    blank: Any = array(ARRAYS[width], [other]) if fits else [other]
    rows: list[Any] = [Rest(other) if few else blank * size for _ in counted(listed)]
    for place, (partners, numbers) in counted(enumerate(listed)):
        row = rows[place]
        for partner, number in counted(zip(partners, numbers, strict=True)):
            row[partner] = number
            if not ordered:
                rows[partner][place] = number
    return rows


class Tables:
    """An upper and a lower table.

    Of unordered pairs a file has the row of the later state. Pairs that are not listed have 1 and 0.
    """

    def __init__(self, states: Numbered, one: int, *, ordered: bool) -> None:
        self.states = states
        self.denominator = one
        self.ordered = ordered
        self.partners: list[Sequence[int]] = []
        """By state: the places of the states that it is listed with."""
        self.upper: list[Row] = []
        self.lower: list[Row] = []
        self.ranks: list[Sequence[int]] = []
        """None at all, if no pair has a rank."""

    def read(self, stream: Stream, width: int, gap: int, *, ranked: bool) -> None:
        """Read all rows; numbers have `width` and `gap` bytes, and ranks follow if there are any."""
        above: list[tuple[Sequence[int], Sequence[int]]] = []
        below: list[tuple[Sequence[int], Sequence[int]]] = []
        for x in counted(range(len(self.states.names))):
            partners = self._partners(stream, x)
            upper = self._numbers(stream, len(partners), width)
            less = self._numbers(stream, len(partners), gap) if gap else bytes(len(partners))
            if max(all_of(upper), default=0) > self.denominator or not all(all_of(map(le, less, upper))):
                name = shown(self.states.names[x])
                raise MalformedCertificate(f"the row of state {name} has a bound that is not in [0, 1]")
            if ranked:
                self.ranks.append([stream.number() for _ in counted(partners)])
            self.partners.append(partners)
            above.append((partners, upper))
            below.append((partners, list(all_of(map(sub, upper, less))) if gap else upper))
            if self.states.place[x] + 1 == self.states.size[x]:
                self.upper += square_of(above, self.denominator, width, ordered=self.ordered)
                self.lower += square_of(below, 0, width, ordered=self.ordered)
                above, below = [], []

    def _most(self, x: int) -> int:
        """Return how many states a state may be listed with."""
        return self.states.size[x] if self.ordered else self.states.place[x]

    def _partners(self, stream: Stream, x: int) -> Sequence[int]:
        """Read which states a state is listed with, as runs: how many are left out, how many are not."""
        most = self._most(x)
        runs: list[range] = []
        end = 0
        for _ in counted(range(stream.number())):
            begin = end + stream.number()
            end = begin + stream.number()
            if not begin < end <= most:
                raise MalformedCertificate("a row has a run that is empty or too long")
            runs.append(range(begin, end))
        if self.ordered and any(self.states.place[x] in run for run in counted(runs)):
            raise MalformedCertificate("a row lists a state with itself")
        if len(runs) == 1:
            return runs[0]
        return array("I", (place for run in counted(runs) for place in counted(run)))

    @staticmethod
    def _numbers(stream: Stream, count: int, width: int) -> Sequence[int]:
        """Read numbers of `width` bytes, the lowest first."""
        if width not in ARRAYS:
            return [int.from_bytes(stream.take(width), "little") for _ in counted(range(count))]
        result = array(ARRAYS[width], stream.take(width * count))
        if sys.byteorder != "little":
            result.byteswap()
        return result

    def bounds(self, source: str, target: str) -> tuple[Fraction, Fraction]:
        """Return the upper and the lower bound on the distance of two states by name."""
        spend(fraction_work(self.denominator.bit_length(), 2))
        sides = (Said(self, upper=upper).at(source, target) for upper in (True, False))
        upper, lower = (Fraction(side, self.denominator) for side in counted(sides))
        return upper, lower

    def pairs(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield the listed pairs, unordered ones from the earlier state, with both bounds and rank."""
        for x, partners in counted(enumerate(self.partners)):
            first = x - self.states.place[x]
            upper, lower = self.upper[x], self.lower[x]
            for place, rank in counted(
                zip(partners, self.ranks[x] if self.ranks else repeat(0), strict=False)
            ):
                s, t = (x, first + place) if self.ordered else (first + place, x)
                yield s, t, upper[place], lower[place], rank


class Said(Bounds):
    """What one of the tables says of two states by name, for the rules that it shares with tables in JSON."""

    def __init__(self, tables: Tables, *, upper: bool = False) -> None:
        self.states = tables.states
        self.denominator = tables.denominator
        self.table = tables.upper if upper else tables.lower

    def near(self, i: str, members: Sequence[str]) -> dict[str, int]:
        """Return by other state of the class of one the numerator of the bound where it is not 0."""
        spend(len(members) * OPERATION)
        row = self.table[self.states.number[i]]
        return {k: cost for place, k in counted(enumerate(members)) if (cost := row[place])}

    def at(self, i: str, j: str) -> int:
        """Return the numerator of the bound for two states."""
        if i == j:
            return 0
        x, y = self.states.number[i], self.states.number[j]
        same = self.states.kind[x] == self.states.kind[y]
        return self.table[x][self.states.place[y]] if same else self.denominator
