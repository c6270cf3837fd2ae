"""What compact tables say and what their rules ask, slowly, in rationals, after the specification.

Nothing of the checker is used. Bases and ranks are chosen here as well, at random and then well.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations, permutations, product

from flint import fmpq

from tests.checker import packed
from tests.checker.brute import Pair, Tiny

ZERO, ONE = fmpq(0), fmpq(1)

Codes = dict[str, int]
"""By node what it hangs from: the k-th node of its class on the other side."""


Block = tuple[list[str], dict[str, fmpq], dict[str, fmpq]]


def rational(number: Fraction) -> fmpq:
    """Return a number as one that is quicker."""
    return fmpq(number.numerator, number.denominator)


@dataclass
class Record:
    """What proves the bounds of a pair."""

    bases: list[Codes]
    turned: bool = False
    own: Codes | None = None
    rank: int = 0
    stuck: int = 0
    """Which node of the direction is, counted from 1."""


@dataclass
class Compact:
    """A compact certificate without words: tables in units of 1/one, and a record for each pair."""

    tiny: Tiny
    one: int
    upper: dict[Pair, int] = field(default_factory=dict)
    lower: dict[Pair, int] = field(default_factory=dict)
    records: dict[Pair, Record] = field(default_factory=dict)
    ranked: bool = False

    def __post_init__(self) -> None:
        tiny = self.tiny
        self.alpha = rational(tiny.alpha)
        groups: dict[str, list[str]] = {}
        for s in tiny.states:
            groups.setdefault(tiny.block[s], []).append(s)
        self.classes = list(groups.values())
        self.order = [s for members in self.classes for s in members]
        choose = permutations if tiny.ordered else combinations
        pairs = [pair for members in self.classes for pair in choose(members, 2)]
        row = 0 if tiny.ordered else 1
        self.pairs = sorted(pairs, key=lambda p: (self.order.index(p[row]), self.order.index(p[1 - row])))
        self.both = self.alpha > 1 and not tiny.ordered
        self.winding: dict[tuple[str, ...], bool] = {}
        self.programs: dict[Pair, list[Block]] = {}

    def copy(self) -> Compact:
        """Return it again, to change it."""
        records = {
            pair: replace(said, bases=[dict(codes) for codes in said.bases])
            for pair, said in self.records.items()
        }
        return Compact(self.tiny, self.one, dict(self.upper), dict(self.lower), records, self.ranked)

    def at(self, table: Mapping[Pair, int], i: str, j: str, unlisted: int) -> fmpq:
        """Return what a table says of two states."""
        if i == j:
            return ZERO
        if self.tiny.block[i] != self.tiny.block[j]:
            return ONE
        back = (i, j) if self.tiny.ordered else (j, i)
        return fmpq(table.get((i, j), table.get(back, unlisted)), self.one)

    def above(self, i: str, j: str) -> fmpq:
        return self.at(self.upper, i, j, self.one)

    def below(self, i: str, j: str) -> fmpq:
        return self.at(self.lower, i, j, 0)

    def nodes(self, way: Pair) -> dict[str, fmpq]:
        """Return the nodes of a program, and c."""
        c = self.tiny.c(*way)
        return {x: rational(c[x]) for x in self.order if c[x]}

    def blocks(self, way: Pair) -> list[Block]:
        """Return by class its members, what its sources have, and what its sinks take."""
        if way not in self.programs:
            c = self.nodes(way)
            self.programs[way] = [
                (
                    members,
                    {x: c[x] for x in members if c.get(x, ZERO) > 0},
                    {x: -c[x] / self.alpha for x in members if c.get(x, ZERO) < 0},
                )
                for members in self.classes
                if any(x in c for x in members)
            ]
        return self.programs[way]

    def shortcut(self, members: list[str]) -> bool:
        """Tell whether a class has a shortcut that counts."""
        if tuple(members) not in self.winding:
            self.winding[tuple(members)] = self.alpha > 1 and any(
                self.below(i, j) > self.below(i, k) + self.alpha * self.below(k, j)
                for i, k, j in permutations(members, 3)
            )
        return self.winding[tuple(members)]

    def hanging(self, sources: list[str], sinks: list[str], codes: Codes) -> list[Pair]:
        """Return what hangs from what, from what hangs to the roots."""
        up: dict[str, str] = {}
        both = [x for x in self.order if x in sources or x in sinks]
        for x in both:
            others = sinks if x in sources else sources
            if 0 < codes.get(x, 0) <= len(others):
                up[x] = others[codes[x] - 1]
        round_ = set()
        for x in both:
            y = up.get(x)
            for _ in both:
                if y == x:
                    round_.add(x)
                y = up.get(y) if y else None
        up = {x: y for x, y in up.items() if x not in round_}
        steps: list[Pair] = []
        ready = [x for x in both if x not in up.values()]
        while ready:
            x = ready.pop(0)
            if x in up:
                steps.append((x, up[x]))
                if {z for z in up if up[z] == up[x]} <= {hung for hung, _ in steps}:
                    ready.append(up[x])
        return steps

    def cost(self, way: Pair, codes: Codes) -> fmpq:
        """Return what it costs to move along a basis."""
        paid = ZERO
        for members, have, take in self.blocks(way):
            left, room = dict(have), dict(take)
            if 1 in {len(have), len(take)} and not self.shortcut(members):
                steps = sorted(product(have, take), key=lambda step: self.above(*step))
            else:
                hung = self.hanging(list(have), list(take), codes)
                steps = [(x, y) if x in have else (y, x) for x, y in hung]
            for i, j in steps:
                moved = min(left[i], room[j])
                left[i] -= moved
                room[j] -= moved
                paid += moved * self.above(i, j)
            paid += sum(left.values())
        return paid

    def gain(self, way: Pair, codes: Codes) -> fmpq | None:
        """Return what the potential of a basis gains, None if it does not extend."""
        gained = ZERO
        for members, have, take in self.blocks(way):
            if not have or not take:
                gained += sum(have.values())
            elif 1 in {len(have), len(take)} and not self.shortcut(members):
                gained += self.star(have, take)
            else:
                f, g = self.potential(have, take, codes)
                if self.shortcut(members) and not self.extends(members, f, g):
                    return None
                gained += sum(f[i] * have[i] for i in have) - sum(g[j] * take[j] for j in take)
        return gained

    def star(self, have: Mapping[str, fmpq], take: Mapping[str, fmpq]) -> fmpq:
        """Return the most that potentials gain where there is one source, or one sink: at a kink."""
        gains = []
        kinks = {ONE, *(self.below(i, j) for i in have for j in take)}
        for kink in kinks | {1 - kink for kink in kinks}:
            if len(have) == 1:
                f = dict.fromkeys(have, kink)
                g = {j: max(ZERO, *(f[i] - self.below(i, j) for i in have)) for j in take}
            else:
                g = dict.fromkeys(take, kink)
                f = {i: min(ONE, *(g[j] + self.below(i, j) for j in take)) for i in have}
            gains.append(sum(f[i] * have[i] for i in have) - sum(g[j] * take[j] for j in take))
        return max(gains)

    def potential(
        self, have: Mapping[str, fmpq], take: Mapping[str, fmpq], codes: Codes
    ) -> tuple[dict[str, fmpq], dict[str, fmpq]]:
        """Return the potential of a basis, at sinks times alpha."""
        f, g = dict.fromkeys(have, ONE), dict.fromkeys(take, ZERO)
        for x, y in reversed(self.hanging(list(have), list(take), codes)):
            if x in have:
                f[x] = g[y] + self.below(x, y)
            else:
                g[x] = max(ZERO, f[y] - self.below(y, x))
        return {i: min(ONE, *(g[j] + self.below(i, j) for j in take)) for i in have}, g

    def extends(self, members: list[str], f: Mapping[str, fmpq], g: Mapping[str, fmpq]) -> bool:
        """Tell whether a potential extends to a class."""
        given = {**f, **{j: value / self.alpha for j, value in g.items()}}
        values = {x: given.get(x, ZERO) for x in members}
        for _ in members:
            for x, y in permutations(members, 2):
                values[y] = max(values[y], (values[x] - self.below(x, y)) / self.alpha)
        return all(values[x] == value for x, value in given.items())

    def ways(self, pair: Pair) -> list[Pair]:
        return [pair, pair[::-1]] if self.both else [pair]

    def accepted(self) -> bool:
        """Tell whether every record obeys the rules."""
        self.winding.clear()
        return all(self.proved(pair, self.records[pair]) for pair in self.pairs if pair in self.upper)

    def proved(self, pair: Pair, record: Record) -> bool:
        ways = self.ways(pair)
        bound = fmpq(self.upper[pair], self.one)
        if bound < 1:
            disjoint = not self.tiny.rows[pair[0]].keys() & self.tiny.rows[pair[1]].keys()
            asked = list(zip(ways, record.bases, strict=True))[: 1 if disjoint else 2]
            if any(self.cost(way, codes) > bound for way, codes in asked):
                return False
        bound = fmpq(self.lower[pair], self.one)
        if not bound:
            return True
        way, basis = ways[record.turned], record.bases[record.turned] if record.own is None else record.own
        gained = self.gain(way, basis)
        if gained is None or gained < bound:
            return False
        return self.stuck(pair, record) if record.rank else gained > bound

    def stuck(self, pair: Pair, record: Record) -> bool:
        """Tell whether a node is in no pair of the same lower bound and at least the same rank."""
        node = list(self.nodes(self.ways(pair)[record.turned]))[record.stuck - 1]
        return not any(
            node in other and self.records[other].rank >= record.rank
            for other in self.upper
            if self.lower[other] == self.lower[pair]
        )

    def content(self, model: Tiny, claims: list[Pair], head: Mapping[str, object]) -> bytes:
        """Write it as bytes, about the chain or about one that it stands for."""
        width = (max([*self.upper.values(), 1]).bit_length() + 7) // 8
        rows = []
        for members in self.classes:
            for x in members:
                listed = [p for p in self.pairs if p in self.upper and p[0 if self.tiny.ordered else 1] == x]
                places = [members.index(p[1 if self.tiny.ordered else 0]) for p in listed]
                runs = tuple((b - a - 1, 1) for a, b in zip([-1, *places], places, strict=False))
                upper = tuple(self.upper[p] for p in listed)
                gap = tuple(self.upper[p] - self.lower[p] for p in listed)
                ranks = tuple(self.records[p].rank for p in listed) if self.ranked else ()
                rows.append(packed.Row(runs, upper, gap, ranks))
        return packed.Packed(
            model.model(),
            claims,
            rows,
            b"".join(self.record(p) for p in self.pairs if p in self.upper),
            str(self.tiny.alpha),
            "lbd" if self.tiny.ordered else "bd",
            self.one,
            width,
            width,
            int(self.ranked),
            head=head,
        ).content()

    def record(self, pair: Pair) -> bytes:
        """Write what proves the bounds of a pair."""
        said, ways = self.records[pair], self.ways(pair)
        below = self.lower[pair] > 0
        own = below and said.own is not None
        flags = (1 if below and said.turned else 0) + (2 if own else 0)
        parts = [bytes([flags])]
        if self.upper[pair] < self.one:
            parts += [self.basis(way, codes) for way, codes in zip(ways, said.bases, strict=True)]
        if own and said.own is not None:
            parts.append(self.basis(ways[said.turned], said.own))
        if below and said.rank:
            parts.append(packed.numeral(said.stuck))
        return b"".join(parts)

    def basis(self, way: Pair, codes: Codes) -> bytes:
        return packed.codes(*(codes.get(x, 0) for x in self.nodes(way)))

    # from here on: certificates that are nearly right

    def drawn(self, way: Pair, source: random.Random) -> Codes:
        """Draw a basis."""
        return {
            x: source.randint(0, len(take if x in have else have))
            for _, have, take in self.blocks(way)
            for x in (*have, *take)
        }

    def prove(self, pair: Pair, source: random.Random, tries: int) -> tuple[fmpq, fmpq]:
        """Choose bases, the best of some that are drawn; return what they cost, and what is gained."""
        ways = self.ways(pair)
        tried = [[self.drawn(way, source) for _ in range(tries)] for way in ways]
        bases = [
            min(codes, key=lambda basis, way=way: self.cost(way, basis))  # type: ignore[misc]
            for way, codes in zip(ways, tried, strict=True)
        ]
        found = [
            (self.gain(way, basis) or ZERO, turned, basis)
            for turned, (way, codes) in enumerate(zip(ways, tried, strict=True))
            for basis in codes
        ]
        gained, turned, own = max(found, key=lambda entry: entry[0])
        same = self.gain(ways[turned], bases[turned]) == gained and self.upper[pair] < self.one
        self.records[pair] = Record(bases, bool(turned), None if same else own)
        return max(self.cost(way, basis) for way, basis in zip(ways, bases, strict=True)), gained

    def settle(self, source: random.Random, *, ranked: bool, tries: int = 6, rounds: int = 12) -> None:
        """Raise upper and lower lower bounds, until what is drawn proves them, or for so many rounds."""
        self.ranked = ranked
        for _ in range(rounds):
            self.winding.clear()
            before = dict(self.upper), dict(self.lower)
            for pair in self.upper:
                cost, gained = (number * self.one for number in self.prove(pair, source, tries))
                self.upper[pair] = min(self.one, max(self.upper[pair], int(cost.ceil())))
                most = int(gained.floor() if ranked else gained.ceil() - 1)
                self.lower[pair] = max(0, min(self.lower[pair], most, self.upper[pair]))
            if (self.upper, self.lower) == before:
                break
        for pair in self.upper:
            self.sound_own(pair)
        if ranked:
            self.rank(source)

    def sound_own(self, pair: Pair) -> None:
        """Write the basis of the lower bound where there is no other one."""
        said = self.records[pair]
        if self.upper[pair] == self.one and said.own is None:
            said.own = said.bases[said.turned]

    def rank(self, source: random.Random) -> None:
        """Give ranks to pairs whose potential gains no more than their bound: those that are stuck first."""
        self.winding.clear()
        rest = set()
        for pair, said in self.records.items():
            basis = said.bases[said.turned] if said.own is None else said.own
            gained = self.gain(self.ways(pair)[said.turned], basis)
            if self.lower[pair] and gained is not None and gained * self.one <= self.lower[pair]:
                rest.add(pair)
        for rank in range(1, len(rest) + 1):
            found = {}
            for pair in rest:
                others = [p for p in rest if self.lower[p] == self.lower[pair]]
                way = self.ways(pair)[self.records[pair].turned]
                free = [n for n, x in enumerate(self.nodes(way), 1) if not any(x in p for p in others)]
                if free:
                    found[pair] = free[0]
            for pair, node in found.items():
                self.records[pair].rank, self.records[pair].stuck = rank, node
            rest -= found.keys()
        for pair in sorted(rest):
            nodes = self.nodes(self.ways(pair)[self.records[pair].turned])
            if nodes:
                self.records[pair].rank = source.randint(1, 4)
                self.records[pair].stuck = source.randint(1, len(nodes))
