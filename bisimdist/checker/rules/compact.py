"""Certificates of distances in format 2: bases, from which couplings and potentials are worked out.

The rules are named G, B and L as in ``docs/certificates/compact.md``; why they prove the claims is in
``docs/theory/compact-certificates.md``. Throughout, alpha = p/q; a program is about m = mu_s and m' = mu_t.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from importlib import import_module
from typing import BinaryIO, NamedTuple, NoReturn

from bisimdist.checker.core.chain import ONLY, Chain, given_chain, own_chain, read_model
from bisimdist.checker.core.compact_tables import Numbered, Said, Tables
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    Skew,
    decode,
    integer,
    item,
    mapping,
    natural,
    rational,
    record,
    shown,
    spend,
)
from bisimdist.checker.core.shape import (
    Between,
    CheckReport,
    Claim,
    Shape,
    judged,
    key,
    listed,
    named,
    one_of,
    read_frame,
)
from bisimdist.checker.core.stream import Stream
from bisimdist.checker.core.tables import DIRECTIONS, Coupling, Setting, check_coupling
from bisimdist.checker.rules.distance import (
    Costs,
    LowerEntry,
    check_progress,
    check_witness,
    costs_with_shortcuts,
    extends,
)

FIRST = b"bisimdist-certificate 2"

TURNED, OWN, COUPLED, WITNESSED = 1, 2, 4, 8
"""What a pair says first: its lower bound is about the other direction; it has a basis of its own; couplings,
or a potential, stand there as in format 1."""

PAIR, NODE, COMPARED = 2_000, 2_000, 500
"""What it costs to look at a pair, at a node of a basis, and at two potentials, with numbers of one digit."""

DIGIT = 5
"""What a digit costs. A product of long numbers costs both lengths."""

NIBBLES, BYTES, PAIRS = 1 << 4, 1 << 8, 1 << 16
"""Codes of fewer nodes than this take half a byte, a byte, or two; of more, four."""


class _Head(Shape):
    """What stands before the tables."""

    distance: str = key(one_of(*DIRECTIONS))
    alpha: Fraction = key(rational)
    said: list[Between] = key(listed(Between.read, "claim"), "claims")
    model: dict[str, object] = key(read_model)
    digest: str = key(item)
    denominator: int = key(integer)
    width: int = key(natural)
    gap: int = key(natural)
    ranks: int = key(lambda value, where: natural(value, where, 2))
    merged: dict[str, str] = key(named(item), default_factory=dict)

    def __post_init__(self) -> None:
        """Demand tables that have numbers."""
        if self.denominator <= 0 or not self.width:
            raise MalformedCertificate("the denominator, or the width of the numbers, is not positive")

    def claim(self, said: Between, upper: Fraction, lower: Fraction | None = None) -> Claim:
        """Return a claim: that the tables are right about its pair."""
        return Claim(said.source, said.target, self.distance, self.alpha, upper, lower)

    def stand(self, said: Between) -> tuple[str, str]:
        """Return which states stand for those of a claim."""
        return self.merged.get(said.source, said.source), self.merged.get(said.target, said.target)


def check_file(source: bytes | BinaryIO, model: object | None) -> CheckReport:
    """Check a certificate in format 2."""
    stream = Stream(source)
    if stream.line() != FIRST:
        raise MalformedCertificate(f"the first line is not {FIRST.decode()!r}")
    document = read_frame(decode(stream.line(), numbers=False), known=2)
    if "kind" in document:
        raise MalformedCertificate("certificates in format 2 are about distances, and name no kind")
    head = _Head.whole(document)
    if not head.said:
        raise MalformedCertificate("the list of claims is empty")
    for said in head.said:
        for name in (said.source, said.target):
            if name not in mapping(head.model["states"], "the model's states"):
                raise MalformedCertificate(
                    f"{said.where} names {shown(name)}, which is no state of the model"
                )
    given = given_chain(model)
    claims = [head.claim(said, Fraction(1)) for said in head.said]  # until the tables are read

    def check() -> None:
        alpha = Skew.of(head.alpha, "G4: alpha")
        chain = own_chain(head.model, head.digest, given)
        if head.merged:
            chain = _rest(chain, head.merged, alpha)
        setting = Setting(chain, alpha, ordered=head.distance == "lbd")
        tables = Tables(Numbered(setting), head.denominator, ordered=setting.ordered)
        tables.read(stream, head.width, head.gap, ranked=bool(head.ranks))
        claims[:] = [head.claim(said, *tables.bounds(*head.stand(said))) for said in head.said]
        _Check(setting, tables, stream).run()

    report = judged((), check, about=("lmc", head.digest))
    return replace(report, claims=tuple(claims))


def _rest(chain: Chain, stands: dict[str, str], alpha: Skew) -> Chain:
    """Return the chain without the states that are merged: M1 to M3."""
    if not stands.keys().isdisjoint(stands.values()):
        raise MalformedCertificate("a state that stands for another one is merged itself")
    merging = import_module("bisimdist.checker.core.merging")  # which nothing else opens
    whole = merging.merged(chain, stands, alpha)
    labels = {state: label for state, label in whole.labels.items() if state not in stands}
    return Chain(labels, {ONLY: {state: whole.rows[state] for state in labels}})


class Program(NamedTuple):
    """What is to be moved in one direction of a pair, with the states where there is something."""

    nodes: list[int]
    excess: list[int]
    """By node: q m(x) - p m'(x) in units of 1 / `unit`. Nodes with more than 0 are sources, others sinks."""
    unit: int
    opposite: list[list[int]]
    """By node: the nodes of its class that are on the other side."""


class Basis(NamedTuple):
    """A forest: by node the one that it hangs from, or -1; and an order, from what hangs to the roots."""

    parent: list[int]
    order: list[int]


def program_of(states: Numbered, s: int, t: int) -> Program:
    """Make the program of a direction."""
    c, unit = states.difference(s, t)
    kind = states.kind
    marks = [kind[x] if excess > 0 else ~kind[x] for x, excess in c.items()]
    sides: dict[int, list[int]] = {}
    for number, mark in enumerate(marks):
        if mark in sides:
            sides[mark].append(number)
        else:
            sides[mark] = [number]
    return Program(list(c), list(c.values()), unit, [sides.get(~mark, []) for mark in marks])


def basis_of(program: Program, codes: Sequence[int]) -> Basis:
    """Make the forest: code 0 is a root, k hangs from the k-th node of its class's other side: B1."""
    parent = []
    waiting = [0] * len(codes)
    for code, opposite in zip(codes, program.opposite, strict=True):
        if not code:
            parent.append(-1)
            continue
        if code > len(opposite):
            raise RuleViolation("B1: a node hangs from one that is not there")
        above = opposite[code - 1]
        parent.append(above)
        waiting[above] += 1
    order = [node for node, hanging in enumerate(waiting) if not hanging]
    for node in order:  # which grows
        above = parent[node]
        if above >= 0:
            waiting[above] -= 1
            if not waiting[above]:
                order.append(above)
    if len(order) < len(codes):
        raise RuleViolation("B1: the basis goes round in a circle")
    return Basis(parent, order)


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
        self.both = not tables.ordered and self.p > self.q  # at alpha = 1 directions are mirror images
        self.costs: dict[int, Costs | None] = {}
        self.equals = self._equals()

    def _equals(self) -> dict[int, dict[str, list[tuple[str, str, int]]]]:
        """Return by value and state the ordered pairs with a rank."""
        equals: dict[int, dict[str, list[tuple[str, str, int]]]] = defaultdict(lambda: defaultdict(list))
        names = self.states.names
        for x, y, _, below, rank in self.tables.pairs() if self.tables.ranks else ():
            for i, j in self.setting.orders((names[x], names[y])) if rank else ():
                for state in (i, j):
                    equals[below][state].append((i, j, rank))
        return equals

    def run(self) -> None:
        """Check all pairs."""
        names = self.states.names
        for s, t, above, below, rank in self.tables.pairs():
            try:
                self._pair(s, t, above, below, rank)
            except RuleViolation as violation:
                raise RuleViolation(f"the pair [{shown(names[s])}, {shown(names[t])}]: {violation}") from None
        self.stream.end()

    def _pair(self, s: int, t: int, above: int, below: int, rank: int) -> None:
        """Check what is said of one pair: first why it is not more, then why it is not less."""
        spend(PAIR + self.products)
        flags = self.stream.take(1)[0]
        known = (COUPLED if above < self.one else 0) | (WITNESSED | OWN if below else 0)
        known |= TURNED if below and self.both else 0
        if flags & ~known or flags & (OWN | WITNESSED) == OWN | WITNESSED:
            raise MalformedCertificate(f"a pair says first {flags}, which says nothing")
        programs = [program_of(self.states, s, t)]
        if self.both:
            programs.append(program_of(self.states, t, s))
        bases = [] if above == self.one else self._above(programs, (s, t), above, flags)
        if below:
            turned = flags & TURNED
            if flags & OWN:
                bases = [self._basis(programs[turned])] * len(programs)
            ends = (t, s) if turned else (s, t)
            strict = self._below(programs[turned], bases[turned:], ends, below, flags)
            if rank:
                self._progress(programs[turned], ends, below, rank)
            elif not strict:
                raise RuleViolation("B6: the pair has no rank, and its potential proves only the bound")

    def _above(self, programs: list[Program], pair: tuple[int, int], above: int, flags: int) -> list[Basis]:
        """Check the upper bound; return the bases of the directions."""
        if flags & COUPLED:
            self._couplings(pair, above)
            return []
        bases = []
        for program in programs:
            bases.append(self._basis(program))
            self.pay(program, bases[-1], above)
        return bases

    def _below(
        self, program: Program, bases: list[Basis], pair: tuple[int, int], below: int, flags: int
    ) -> bool:
        """Check the lower bound; return whether the potential proves more."""
        if flags & WITNESSED:
            return self._witness(pair)
        if not bases:
            raise MalformedCertificate("a pair has no basis for its lower bound")
        return self.gain(program, bases[0], below)

    def _text(self) -> object:
        """Read JSON, whose length stands before it."""
        text = self.stream.take(self.stream.number())
        spend(len(text) * (COMPARED + self.longer))
        return decode(text, numbers=False)

    def _couplings(self, ends: tuple[int, int], above: int) -> None:
        """Check couplings as format 1 does."""
        upper, pair = Said(self.tables, upper=True), self._named(ends)
        ways = {"forward": pair, "backward": pair[::-1]} if self.both else {"forward": pair}
        data = record(self._text(), "what a pair says", tuple(ways))
        for direction, way in ways.items():
            coupling = Coupling.read(data[direction], direction)
            check_coupling(self.setting, upper, self.setting.difference(way, ONLY), above, coupling)

    def _named(self, ends: tuple[int, int]) -> tuple[str, str]:
        return self.states.names[ends[0]], self.states.names[ends[1]]

    def _entry(self, ends: tuple[int, int], rank: int = 0, **more: object) -> LowerEntry:
        """Return what is said of the lower bound of a pair, as format 1 would."""
        said: dict[str, object] = {"pair": list(self._named(ends)), "value": "", "witness": {}, **more}
        if rank:
            said["rank"] = rank
        return LowerEntry.read(said, "what a pair says")

    def _witness(self, ends: tuple[int, int]) -> bool:
        """Check a potential as format 1 does; return whether it gains more than the lower bound."""
        data = record(self._text(), "what a pair says", ("witness",))
        entry = self._entry(ends, witness=data["witness"])
        return check_witness(self.setting, self.lower, entry, self.costs)

    def _progress(self, program: Program, ends: tuple[int, int], below: int, rank: int) -> None:
        """Check L7."""
        node = self.stream.number()
        if node > len(program.nodes):
            raise MalformedCertificate("what is stuck is no node")
        said = {"stuck": self.states.names[program.nodes[node - 1]]} if node else self._text()
        entry = self._entry(ends, rank, progress=said)
        progress, partners = entry.progress, self.equals[below]
        if progress is not None:
            check_progress(self.setting, entry, progress, partners)

    def _basis(self, program: Program) -> Basis:
        """Read a basis: a code for each node."""
        count, unit = len(program.nodes), program.unit.bit_length() // 30
        whole = unit * (unit + self.skew + self.digits)
        spend(count * (NODE + whole + self.products + count * (COMPARED + self.products)))
        if count < NIBBLES:
            packed = self.stream.take((count + 1) // 2)
            codes = [half for byte in packed for half in (byte & 15, byte >> 4)]
            if count % 2 and codes.pop():
                raise MalformedCertificate("half a byte that stands for nothing is not 0")
            return basis_of(program, codes)
        width = 1 if count < BYTES else 2 if count < PAIRS else 4
        taken = self.stream.take(count * width)
        return basis_of(
            program, [int.from_bytes(taken[k : k + width], "little") for k in range(0, count * width, width)]
        )

    def pay(self, program: Program, basis: Basis, bound: int) -> None:
        """Check that what the basis moves costs no more than the upper bound: B2, B3."""
        p, q, above, parent = self.p, self.q, self.tables.above, basis.parent
        nodes, excess, unit, _ = program
        flow = [p * amount if amount > 0 else -q * amount for amount in excess]
        cost = 0
        for v in basis.order:
            moved, u = flow[v], parent[v]
            if moved < 0:
                raise RuleViolation(f"B2: {shown(self.states.names[nodes[v]])} moves less than nothing")
            if u >= 0:
                flow[u] -= moved
                cost += moved * (above(nodes[v], nodes[u]) if excess[v] > 0 else above(nodes[u], nodes[v]))
            elif excess[v] > 0:
                cost += moved * self.one
        if cost > bound * p * q * unit:
            raise RuleViolation("B3: what is moved costs more than the upper bound")

    def gain(self, program: Program, basis: Basis, bound: int) -> bool:
        """Check that the potential gains the lower bound; return whether it gains more: B4 to B6."""
        p, q, one, below, parent = self.p, self.q, self.one, self.tables.below, basis.parent
        nodes, excess, unit, _ = program
        f = [0] * len(nodes)  # of a source f, of a sink alpha f, in units of 1 / N
        total = 0
        for v in reversed(basis.order):
            u = parent[v]
            if excess[v] > 0:
                f[v] = value = one if u < 0 else f[u] + below(nodes[v], nodes[u])
                inside = value <= one  # and not below 0, as that from which it hangs is not
                total += p * value * excess[v]
            else:
                f[v] = value = 0 if u < 0 else f[u] - below(nodes[u], nodes[v])
                inside = value >= 0  # and f not above 1
                total += q * value * excess[v]
            if not inside:
                name = shown(self.states.names[nodes[v]])
                raise RuleViolation(f"B4: the potential at {name} leaves [0, 1]")
        if p > q:
            self._compare(program, f)
        else:
            self._differ(program, f)
        needed = bound * p * q * unit
        if total < needed:
            raise RuleViolation("B6: the potential gains less than the lower bound")
        return total > needed

    def _differ(self, program: Program, f: Sequence[int]) -> None:
        """Check for alpha = 1 that potentials differ by no more than the lower table says: B4."""
        below, nodes = self.tables.below, program.nodes
        for v, excess in enumerate(program.excess):
            if excess > 0:
                for u in program.opposite[v]:
                    if f[v] - f[u] > below(nodes[v], nodes[u]):
                        self._refuse(nodes[v], nodes[u])

    def _compare(self, program: Program, f: Sequence[int]) -> None:
        """Check the same for alpha > 1, of all states of the program that are of one class: B4, B5."""
        p, q, below, kind = self.p, self.q, self.tables.below, self.states.kind
        by_class: dict[int, list[tuple[int, int]]] = {}
        for x, value, excess in zip(program.nodes, f, program.excess, strict=True):
            by_class.setdefault(kind[x], []).append((x, p * value if excess > 0 else q * value))
        for number, known in by_class.items():
            for x, first in known:
                for y, second in known:
                    if x != y and q * first - p * second > p * q * below(x, y):
                        self._refuse(x, y)
            costs = self._shortcuts(number)
            if costs is None:
                continue
            f_of = {self.states.names[x]: value for x, value in known}
            if not extends(self.setting, costs, f_of, p):
                raise RuleViolation("B5: the potential does not extend to the other states of a class")

    def _refuse(self, x: int, y: int) -> NoReturn:
        names = shown(self.states.names[x]), shown(self.states.names[y])
        raise RuleViolation(f"B4: the potential differs by more than the table allows at {', '.join(names)}")

    def _shortcuts(self, kind: int) -> Costs | None:
        """Return what `extends` needs of a class, or None where every potential extends."""
        if kind not in self.costs:
            self.costs[kind] = costs_with_shortcuts(self.setting, self.lower, self.setting.classes[kind])
        return self.costs[kind]
