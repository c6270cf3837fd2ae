"""Certificates of distances with compact tables: bases, from which couplings and potentials are worked out.

The rules are named G, B and L as in ``docs/certificates/compact.md``; why they prove the claims is in
``docs/theory/compact-certificates.md``. Throughout, alpha = p/q; a program is about m = mu_s and m' = mu_t.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from importlib import import_module
from operator import add, mul
from typing import Any, BinaryIO

from bisimdist.checker.claims.distance import (
    AboutDistance,
    Costs,
    LowerEntry,
    check_progress,
    check_witness,
    costs_with_shortcuts,
    extends,
)
from bisimdist.checker.core.chain import ONLY, Chain, given_chain, own_chain
from bisimdist.checker.core.compact_tables import MOVE, Numbered, Row, Said, Side, Tables
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    Skew,
    decode,
    integer,
    mapping,
    natural,
    record,
    shown,
    spend,
    text_of,
)
from bisimdist.checker.core.shape import Between, CheckReport, Claim, Shape, judged, key, listed, read_frame
from bisimdist.checker.core.stream import Stream
from bisimdist.checker.core.tables import Coupling, Setting, check_coupling
from bisimdist.checker.steps.step import Proved, step_of, walked

FIRST = b"bisimdist-certificate compact"

TURNED, OWN, COUPLED, WITNESSED = 1, 2, 4, 8
"""What a pair says first: its lower bound is about the other direction; it has a basis of its own; couplings,
or a potential, stand there as in JSON."""

PAIR, NODE, COMPARED = 2_000, 2_000, 500
"""What it costs to look at a pair, at a node of a basis, and at two potentials, with numbers of one digit."""

DIGIT = 5  # what a digit costs. A product of long numbers costs both lengths.

NIBBLES, BYTES, PAIRS = 1 << 4, 1 << 8, 1 << 16
"""Codes of fewer nodes than this take half a byte, a byte, or two; of more, four."""


def _said(value: object, where: str) -> list[Between] | None:
    """Read claims; None is about all pairs."""
    return None if value == "all" else listed(Between.read, "claim")(value, where)


class _Layout(Shape):
    """How numbers stand in the tables."""

    denominator: int = key(integer)
    width: int = key(natural)
    gap: int = key(natural)
    ranks: int = key(lambda value, where: natural(value, where, 2))

    def __post_init__(self) -> None:
        """Demand tables that have numbers."""
        if self.denominator <= 0 or not self.width:
            raise MalformedCertificate("the denominator, or the width of the numbers, is not positive")


class _Head(AboutDistance):
    """What stands before the tables."""

    said: list[Between] | None = key(_said, "claims")
    compact: _Layout = key(_Layout.read)
    steps: list[Any] = key(listed(step_of, "step"), default_factory=list)

    def __post_init__(self) -> None:
        """Demand claims that tables can hold."""
        if self.said is None and self.distance != "bd":
            raise MalformedCertificate("claims about all pairs are about bd")

    def claim(self, said: Between, upper: Fraction, lower: Fraction | None = None) -> Claim:
        """Return a claim: that the tables are right about its pair."""
        return Claim(said.source, said.target, self.distance, self.alpha, upper, lower)


def check_file(source: bytes | BinaryIO, model: object | None) -> CheckReport:
    """Check a certificate with compact tables."""
    stream = Stream(source)
    if stream.line() != FIRST:
        raise MalformedCertificate(
            f"an earlier version wrote this certificate, or it is none: the first line is not {FIRST!r}; "
            "make it again: run its command with --certificate"
        )
    document = read_frame(decode(stream.line(), numbers=False))
    if "kind" in document:
        raise MalformedCertificate("compact tables are about distances, which name no kind")
    head = _Head.whole(document)
    states = mapping(head.model["states"], "the model's states")
    if not head.said and (head.said is not None or len(states) < 2):
        raise MalformedCertificate("the list of claims is empty")
    for said in counted(head.said or ()):
        for name in (said.source, said.target):
            if name not in states:
                raise MalformedCertificate(
                    f"{said.where} names {shown(name)}, which is no state of the model"
                )
    given = given_chain(model)
    claims: Sequence[Claim] = [head.claim(said, Fraction(1)) for said in counted(head.said or ())]

    def check() -> None:
        nonlocal claims
        alpha = Skew.of(head.alpha, "G4: alpha")
        chain = own_chain(head.model, head.digest, given)
        inside, rest = _placed(head, chain)
        setting = Setting(rest, alpha, ordered=head.distance == "lbd")
        layout = head.compact
        tables = Tables(Numbered(setting), layout.denominator, ordered=setting.ordered)
        tables.read(stream, layout.width, layout.gap, ranked=bool(layout.ranks))
        if head.said is None:
            everything = import_module("bisimdist.checker.claims.all_claims")  # which nothing else opens
            claims = everything.AllClaims(tables, head.alpha, chain.labels, inside)
        else:
            claims = [
                head.claim(said, *tables.bounds(inside[said.source], inside[said.target]))
                for said in counted(head.said)
            ]
        _Check(setting, tables, stream).run()

    report = judged((), check, about=("lmc", head.digest))
    return replace(report, claims=tuple(all_of(claims)) if isinstance(claims, list) else claims)


def _placed(head: _Head, chain: Chain) -> tuple[Mapping[str, str], Chain]:
    """Take the steps, through which all claims have to come back as they are, and place the states."""
    about = {"distance": head.distance, "alpha": text_of(head.alpha)}
    names = tuple(all_of(chain.labels))
    places = names
    for way in counted(walked(head.steps, chain, "the head")):
        if not way.same:
            raise RuleViolation("S2: bounds in tables come back as they are, or not at all")
        way.back(Proved(about, places, {}))
        places, chain = way.place(places), way.chain
    return dict(counted(zip(names, places, strict=True))), chain


Block = tuple[int, list[int], list[int], list[int], list[int], list[int], list[int], int]
"""A class that has sources and sinks of a program: its number; the sources, their places and what each has;
the sinks, their places and what each takes; and how many nodes of the program are in the classes before."""

Program = tuple[int, int, list[Block], int]
"""What is to be moved in a direction of a pair: what 1 is in its unit, what all sources have, the classes
that have sources and sinks, and how many nodes there are."""

Steps = list[tuple[int, int, bool]]
"""A source and a sink by place, and whether the source hangs from the sink: from what hangs to the roots."""

STAR: Steps = []  # of one source, or of one sink, nothing has to be said

Basis = list[Steps]  # by block how its nodes hang together

Saves = Callable[[Block, Steps], int]


def program_of(whole: int, total: int, here: Side, there: Side, nodes: int) -> Program:
    """Return the program of sources and sinks."""
    blocks = []
    for kind, (sources, places, have, before) in counted(here.items()):
        if kind in there:
            sinks, others, take, after = there[kind]
            blocks.append((kind, sources, places, have, sinks, others, take, before + after))
    return whole, total, blocks, nodes


def saved_by(costs: Iterable[int], amounts: Iterable[int], mass: int, one: int) -> int:
    """Return how much less than 1 each it costs to move between one state and others: the nearest first."""
    saved = 0
    for cost, amount in counted(sorted(all_of(zip(costs, amounts, strict=True)))):
        if amount >= mass:
            return saved + mass * (one - cost)
        saved += amount * (one - cost)
        mass -= amount
    return saved


@lru_cache(1 << 14)
def steps_of(is_source: tuple[bool, ...], codes: int, bits: int) -> Steps:
    """Return how the nodes of a class hang together, which a code for each says, the first one lowest.

    Code k hangs from the k-th node of the other side; where there is none, or one comes back, nothing hangs.
    """
    sides = [[node for node, up in counted(enumerate(is_source)) if up == side] for side in (False, True)]
    above: dict[int, int] = {}
    waiting = [0] * len(is_source)
    for node, up in counted(enumerate(is_source)):
        code = codes >> bits * node & (1 << bits) - 1
        if 0 < code <= len(sides[not up]):
            above[node] = sides[not up][code - 1]
            waiting[above[node]] += 1
    order = [node for node, hanging in counted(enumerate(waiting)) if not hanging]
    steps = []
    for node in counted(order):  # which grows
        if node in above:
            source, sink = (node, above[node]) if is_source[node] else (above[node], node)
            steps.append((sides[True].index(source), sides[False].index(sink), is_source[node]))
            waiting[above[node]] -= 1
            if not waiting[above[node]]:
                order.append(above[node])
    return steps


class _Check:
    """Goes through the listed pairs, and what proves them, in their order."""

    def __init__(self, setting: Setting, tables: Tables, stream: Stream) -> None:
        self.setting = setting
        self.tables = tables
        self.stream = stream
        self.states = tables.states
        self.p, self.q = setting.p, setting.q
        self.one = tables.denominator
        self.digits = self.one.bit_length() // 30
        self.skew = (self.p.bit_length() + self.q.bit_length()) // 30
        self.longer = DIGIT * (self.digits + self.skew)
        self.products = self.longer + self.skew * (self.skew + self.digits)
        self.lower = Said(tables)
        self.skewed = self.p > self.q
        self.both = self.skewed and not tables.ordered  # at alpha = 1 directions are mirror images
        self.costs: dict[int, Costs | None] = {}
        self.equals = self._equals()

    def _equals(self) -> dict[int, dict[str, list[tuple[str, str, int]]]]:
        """Return by value and state the ordered pairs with a rank."""
        equals: dict[int, dict[str, list[tuple[str, str, int]]]] = defaultdict(lambda: defaultdict(list))
        names = self.states.names
        for x, y, _, below, rank in counted(self.tables.pairs() if self.tables.ranks else ()):
            for i, j in counted(self.setting.orders((names[x], names[y])) if rank else ()):
                for state in (i, j):
                    equals[below][state].append((i, j, rank))
        return equals

    def run(self) -> None:
        names = self.states.names
        for s, t, above, below, rank in counted(self.tables.pairs()):
            try:
                self._pair(s, t, above, below, rank)
            except RuleViolation as violation:
                raise RuleViolation(f"the pair [{shown(names[s])}, {shown(names[t])}]: {violation}") from None
        self.stream.end()

    def _pair(self, s: int, t: int, above: int, below: int, rank: int) -> None:
        """Check what is said of one pair: first why it is not more, then why it is not less."""
        spend(PAIR + self.products)
        flags = self.stream.take(1)[0]
        if flags:
            self._sensible(flags, above, below)
        mirrored = self.both and self.states.apart(s, t)
        ways = [self.program(s, t)]
        if self.both:
            needed = flags & TURNED or not mirrored
            ways.append(self.program(t, s) if needed else (*ways[0][:2], [], ways[0][3]))
        bases: list[Basis] = []
        if flags & COUPLED:
            self._couplings((s, t), above)
        elif above < self.one:
            for way in counted(ways):
                bases.append(self._basis(way))
                if len(bases) == 1 or not mirrored:
                    self.pay(way, bases[-1], above)
        if below:
            turned = flags & TURNED
            self._below(ways[turned], bases[turned:], (t, s) if turned else (s, t), (below, rank, flags))

    def _sensible(self, flags: int, above: int, below: int) -> None:
        """Demand that flags say something."""
        known = (COUPLED if above < self.one else 0) | (WITNESSED | OWN if below else 0)
        known |= TURNED if below and self.both else 0
        if flags & ~known or flags & (OWN | WITNESSED) == OWN | WITNESSED:
            raise MalformedCertificate(f"a pair says first {flags}, which says nothing")

    def _below(
        self, way: Program, bases: list[Basis], ends: tuple[int, int], said: tuple[int, int, int]
    ) -> None:
        """Check the lower bound."""
        below, rank, flags = said
        if flags & WITNESSED:
            strict = self._witness(ends)
        elif bases or flags & OWN:
            strict = self.gain(way, self._basis(way) if flags & OWN else bases[0], below)
        else:
            raise MalformedCertificate("a pair has no basis for its lower bound")
        if rank:
            self._progress(ends, below, rank)
        elif not strict:
            raise RuleViolation("B6: the pair has no rank, and its potential proves only the bound")

    def program(self, s: int, t: int) -> Program:
        """Return what is to be moved in a direction.

        Where rows have no state in common, sources have what one says, and sinks take what the other says.
        """
        states = self.states
        whole = states.shared
        if whole and states.support[s].isdisjoint(states.support[t]):
            nodes = len(states.support[s]) + len(states.support[t])
            spend(MOVE * nodes)
            return program_of(whole, whole, states.sides[s], states.sides[t], nodes)
        c, unit = states.difference(s, t)
        p, q = self.p, self.q
        here = [(x, p * excess) for x, excess in counted(c.items()) if excess > 0]
        there = ((x, -q * excess) for x, excess in counted(c.items()) if excess < 0)
        total = sum(have for _, have in counted(here))
        return program_of(p * q * unit, total, states.side(here), states.side(there), len(c))

    def _text(self) -> object:
        """Read JSON, whose length stands before it."""
        text = self.stream.take(self.stream.number())
        spend(len(text) * (COMPARED + self.longer))
        return decode(text, numbers=False)

    def _couplings(self, ends: tuple[int, int], above: int) -> None:
        """Check couplings as those in JSON."""
        upper, pair = Said(self.tables, upper=True), self._named(ends)
        ways = {"forward": pair, "backward": pair[::-1]} if self.both else {"forward": pair}
        data = record(self._text(), "what a pair says", tuple(all_of(ways)))
        for direction, way in counted(ways.items()):
            coupling = Coupling.read(data[direction], direction)
            check_coupling(self.setting, upper, self.setting.difference(way, ONLY), above, coupling)

    def _named(self, ends: tuple[int, int]) -> tuple[str, str]:
        return self.states.names[ends[0]], self.states.names[ends[1]]

    def _entry(self, ends: tuple[int, int], rank: int = 0, **more: object) -> LowerEntry:
        """Return what is said of the lower bound of a pair, as JSON would."""
        said: dict[str, object] = {
            "pair": list(all_of(self._named(ends))),
            "value": "",
            "witness": {},
            **more,
        }
        if rank:
            said["rank"] = rank
        return LowerEntry.read(said, "what a pair says")

    def _witness(self, ends: tuple[int, int]) -> bool:
        """Check a potential as one in JSON; return whether it gains more than the lower bound."""
        data = record(self._text(), "what a pair says", ("witness",))
        entry = self._entry(ends, witness=data["witness"])
        return check_witness(self.setting, self.lower, entry, self.costs)

    def _progress(self, ends: tuple[int, int], below: int, rank: int) -> None:
        node = self.stream.number()
        nodes = [*self.states.difference(*ends)[0]] if node else []
        if node > len(nodes):
            raise MalformedCertificate("what is stuck is no node")
        said = {"stuck": self.states.names[nodes[node - 1]]} if node else self._text()
        entry = self._entry(ends, rank, progress=said)
        progress, partners = entry.progress, self.equals[below]
        if progress is not None:
            check_progress(self.setting, entry, progress, partners)

    def _basis(self, program: Program) -> Basis:
        """Read a basis, a code for each node, and return how the nodes of each class hang together."""
        whole, _, blocks, nodes = program
        unit = whole.bit_length() // 30
        longer = self.products + unit * (unit + self.skew + self.digits)
        spend(nodes * (NODE + longer + nodes * (COMPARED + self.products)))
        bits = 4 if nodes < NIBBLES else 8 if nodes < BYTES else 16 if nodes < PAIRS else 32
        codes = int.from_bytes(self.stream.take((nodes * bits + 7) // 8), "little")
        if codes >> nodes * bits:
            raise MalformedCertificate("half a byte that stands for nothing is not 0")
        basis = []
        for kind, sources, _, _, sinks, _, _, before in counted(blocks):
            if (len(sources) == 1 or len(sinks) == 1) and not (self.skewed and self._shortcuts(kind)):
                basis.append(STAR)
                continue
            both = sorted(all_of(sources + sinks))
            own = codes >> bits * before & (1 << bits * len(both)) - 1
            steps = steps_of if len(both) < NIBBLES else steps_of.__wrapped__
            basis.append(steps(tuple(all_of(map(sources.__contains__, both))), own, bits))
        return basis

    def _least(self, program: Program, basis: Basis, table: Sequence[Row], block_saves: Saves) -> int:
        """Return what is to be paid: 1 for what sources have, less what is saved."""
        one = self.one
        _, total, blocks, _ = program
        saved = 0
        for block, steps in counted(zip(blocks, basis, strict=True)):
            _, sources, _, have, _, places, take, _ = block
            if steps is not STAR:
                saved += block_saves(block, steps)
            elif len(sources) > 1:
                place = places[0]
                saved += saved_by([table[x][place] for x in counted(sources)], have, take[0], one)
            elif len(places) > 1:
                row = table[sources[0]]
                saved += saved_by([row[y] for y in counted(places)], take, have[0], one)
            else:
                moved = have[0] if have[0] < take[0] else take[0]
                saved += moved * (one - table[sources[0]][places[0]])
        return total * one - saved

    def pay(self, program: Program, basis: Basis, bound: int) -> None:
        """Check that what can be moved along the basis leaves no more than the upper bound to pay: B3."""
        if self._least(program, basis, self.tables.upper, self._moved) > bound * program[0]:
            raise RuleViolation("B3: what is moved costs more than the upper bound")

    def _moved(self, block: Block, steps: Steps) -> int:
        """Return what is saved by moving along a basis as much as there is and has room."""
        _, sources, _, have, _, places, take, _ = block
        upper, one = self.tables.upper, self.one
        left, room = have[:], take[:]
        saved = 0
        for i, j, _ in counted(steps):
            moved = left[i] if left[i] < room[j] else room[j]
            left[i] -= moved
            room[j] -= moved
            saved += moved * (one - upper[sources[i]][places[j]])
        return saved

    def gain(self, program: Program, basis: Basis, bound: int) -> bool:
        """Check that a potential gains the lower bound; return whether it gains more: B5, B6."""
        gained = self._least(program, basis, self.tables.lower, self._lost)
        if gained < bound * program[0]:
            raise RuleViolation("B6: the potential gains less than the lower bound")
        return gained > bound * program[0]

    def _lost(self, block: Block, steps: Steps) -> int:
        """Return how much less than all that sources have the potential of a basis gains in a class.

        Here f is the potential of the sources, and g is alpha times that of the sinks.
        """
        kind, sources, _, have, sinks, places, take, _ = block
        lower, one = self.tables.lower, self.one
        costs = [[*map(lower[x].__getitem__, places)] for x in counted(sources)]
        f, g = [one] * len(sources), [0] * len(sinks)
        for i, j, up in counted(reversed(steps)):
            if up:
                f[i] = g[j] + costs[i][j]
            else:
                rest = f[i] - costs[i][j]
                g[j] = rest if rest > 0 else 0
        f = [min(one, *map(add, row, g)) for row in counted(costs)]
        shortcuts = self._shortcuts(kind) if self.skewed else None
        if shortcuts is not None:
            names = self.states.names
            f_of = {names[x]: self.p * value for x, value in counted(zip(sources, f, strict=True))}
            f_of |= {names[x]: self.q * value for x, value in counted(zip(sinks, g, strict=True))}
            if not extends(self.setting, shortcuts, f_of, self.p):
                raise RuleViolation("B5: the potential does not extend to the other states of a class")
        lost: int = one * sum(all_of(have)) - sum(all_of(map(mul, f, have))) + sum(all_of(map(mul, g, take)))
        return lost

    def _shortcuts(self, kind: int) -> Costs | None:
        """Return what `extends` needs of a class, or None where every potential extends."""
        if kind not in self.costs:
            self.costs[kind] = costs_with_shortcuts(self.setting, self.lower, self.setting.classes[kind])
        return self.costs[kind]
