"""The tables of a certificate in format 2: bounds on pairs of numbered states, packed row by row."""

from __future__ import annotations

import math
import sys
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import repeat
from operator import le

from bisimdist.checker.core.reading import OPERATION, MalformedCertificate, common, shown, spend
from bisimdist.checker.core.stream import Stream
from bisimdist.checker.core.tables import Bounds, Setting

ARRAYS = {1: "B", 2: "H", 4: "I", 8: "Q"}
"""The arrays of Python that hold numbers of so many bytes."""

SHORT = 128
"""All rows have one denominator, where that has no more bits."""

MOVE = 100
"""What it costs to look at one entry of a row."""


class Numbered:
    """The states by number, class by class, in the order of the first states of the classes."""

    def __init__(self, setting: Setting) -> None:
        self.names = [state for members in setting.classes for state in members]
        self.number = {state: number for number, state in enumerate(self.names)}
        self.kind: list[int] = []
        self.place: list[int] = []
        """By state: its place in its class."""
        self.size: list[int] = []
        """By state: how many states its class has."""
        for kind, members in enumerate(setting.classes):
            self.kind += [kind] * len(members)
            self.place += range(len(members))
            self.size += [len(members)] * len(members)
        rows = [setting.chain.rows[state] for state in self.names]
        self.whole = [common(part.denominator for part in row.values()) for row in rows]
        shared = 1
        for whole in self.whole:
            shared = math.lcm(shared, whole)
            if shared.bit_length() > SHORT:
                break
        else:
            self.whole = [shared] * len(rows)
        self.rows = [
            [(self.number[x], part.numerator * (whole // part.denominator)) for x, part in row.items()]
            for row, whole in zip(rows, self.whole, strict=True)
        ]
        self.p, self.q = setting.p, setting.q

    def difference(self, s: int, t: int) -> tuple[dict[int, int], int]:
        """Return by state ``q m(x) - p m'(x)`` where that is not 0, in a unit, and what 1 is in that unit."""
        here, there, unit = self.q, self.p, self.whole[s]
        if unit != self.whole[t]:
            unit = math.lcm(unit, self.whole[t])
            here *= unit // self.whole[s]
            there *= unit // self.whole[t]
        digits = 1 + (unit.bit_length() + here.bit_length() + there.bit_length()) // 30
        spend(MOVE * (len(self.rows[s]) + len(self.rows[t])) * digits)
        c = {x: here * mass for x, mass in self.rows[s]}
        for x, mass in self.rows[t]:
            c[x] = c.get(x, 0) - there * mass
        return {x: c[x] for x in sorted(c) if c[x]}, unit


class _Some:
    """The numbers of the pairs of a row of which some are listed; the others have one number."""

    __slots__ = ("numbers", "other", "places")

    def __init__(self, places: Sequence[int], numbers: Sequence[int], other: int) -> None:
        self.places, self.numbers, self.other = places, numbers, other

    def __getitem__(self, place: int) -> int:
        at = bisect_left(self.places, place)
        if at < len(self.places) and self.places[at] == place:
            return self.numbers[at]
        return self.other


def _row(partners: Sequence[int], numbers: Sequence[int], most: int, other: int, width: int) -> Packed:
    """Return the numbers of a row; where most are listed and it fits, with the other number for the rest."""
    if len(partners) == most:
        return numbers
    if 2 * len(partners) < most or width not in ARRAYS or other >> 8 * width:
        return _Some(partners, numbers, other)
    full = array(ARRAYS[width], [other]) * most
    for place, number in zip(partners, numbers, strict=True):
        full[place] = number
    return full


Lookup = Callable[[int, int], int]
Packed = Sequence[int] | _Some
"""By the place of the second state in its class."""


class Tables:
    """An upper and a lower table.

    Of unordered pairs row x has those of x and states before it. Pairs that are not listed have 1 and 0.
    """

    def __init__(self, states: Numbered, one: int, *, ordered: bool) -> None:
        self.states = states
        self.denominator = one
        self.ordered = ordered
        self.partners: list[Sequence[int]] = []
        """By state: the places of the states that it is listed with."""
        self.upper: list[Packed] = []
        self.gap: list[Packed] = []
        """By state and place: by how much the lower bound is less than the upper one."""
        self.above, self.below = self.lookups()
        self.ranks: list[Sequence[int]] = []
        """None at all, if no pair has a rank."""

    def read(self, stream: Stream, width: int, gap: int, *, ranked: bool) -> None:
        """Read all rows; numbers have `width` and `gap` bytes, and ranks follow if there are any."""
        for x in range(len(self.states.names)):
            partners = self._partners(stream, x)
            upper = self._numbers(stream, len(partners), width)
            below = self._numbers(stream, len(partners), gap) if gap else bytes(len(partners))
            if max(upper, default=0) > self.denominator or not all(map(le, below, upper)):
                name = shown(self.states.names[x])
                raise MalformedCertificate(f"the row of state {name} has a bound that is not in [0, 1]")
            if ranked:
                self.ranks.append([stream.number() for _ in partners])
            self.partners.append(partners)
            most = self._most(x)
            one = self.denominator
            self.upper.append(_row(partners, upper, most, one, width))
            self.gap.append(_row(partners, below, most, one, width))

    def _most(self, x: int) -> int:
        """Return how many states a state may be listed with."""
        return self.states.size[x] if self.ordered else self.states.place[x]

    def _partners(self, stream: Stream, x: int) -> Sequence[int]:
        """Read which states a state is listed with, as runs: how many are left out, how many are not."""
        most = self._most(x)
        runs: list[range] = []
        end = 0
        for _ in range(stream.number()):
            begin = end + stream.number()
            end = begin + stream.number()
            if not begin < end <= most:
                raise MalformedCertificate("a row has a run that is empty or too long")
            runs.append(range(begin, end))
        if self.ordered and any(self.states.place[x] in run for run in runs):
            raise MalformedCertificate("a row lists a state with itself")
        if len(runs) == 1:
            return runs[0]
        return array("I", (place for run in runs for place in run))

    @staticmethod
    def _numbers(stream: Stream, count: int, width: int) -> Sequence[int]:
        """Read numbers of `width` bytes, the lowest first."""
        if width not in ARRAYS:
            return [int.from_bytes(stream.take(width), "little") for _ in range(count)]
        result = array(ARRAYS[width], stream.take(width * count))
        if sys.byteorder != "little":
            result.byteswap()
        return result

    def lookups(self) -> tuple[Lookup, Lookup]:
        """Return what gives the upper and the lower bound of two states of one class, as numerators."""
        place, ordered, upper, gap = self.states.place, self.ordered, self.upper, self.gap

        def above(x: int, y: int) -> int:
            return upper[y][place[x]] if x < y and not ordered else upper[x][place[y]]

        def below(x: int, y: int) -> int:
            if x < y and not ordered:
                x, y = y, x
            at = place[y]
            return upper[x][at] - gap[x][at]

        return above, below

    def bounds(self, source: str, target: str) -> tuple[Fraction, Fraction]:
        """Return the upper and the lower bound on the distance of two states by name."""
        sides = (Said(self, upper=upper).at(source, target) for upper in (True, False))
        upper, lower = (Fraction(side, self.denominator) for side in sides)
        return upper, lower

    def pairs(self) -> Iterator[tuple[int, int, int, int, int]]:
        """Yield the listed pairs, unordered ones from the earlier state, with both bounds and rank."""
        for x, partners in enumerate(self.partners):
            first = x - self.states.place[x]
            upper, gap = self.upper[x], self.gap[x]
            for place, rank in zip(partners, self.ranks[x] if self.ranks else repeat(0), strict=False):
                bound = upper[place]
                s, t = (x, first + place) if self.ordered else (first + place, x)
                yield s, t, bound, bound - gap[place], rank


class Said(Bounds):
    """What one of the tables says of two states by name, for the rules that it shares with format 1."""

    def __init__(self, tables: Tables, *, upper: bool = False) -> None:
        self.states = tables.states
        self.denominator = tables.denominator
        self.bound = tables.above if upper else tables.below

    def near(self, i: str, members: Sequence[str]) -> dict[str, int]:
        """Return by other state of the class of one the numerator of the bound where it is not 0."""
        spend(len(members) * OPERATION)
        return {k: cost for k in members if (cost := self.at(i, k))}

    def at(self, i: str, j: str) -> int:
        """Return the numerator of the bound for two states."""
        if i == j:
            return 0
        x, y = self.states.number[i], self.states.number[j]
        return self.bound(x, y) if self.states.kind[x] == self.states.kind[y] else self.denominator
