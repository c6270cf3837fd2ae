"""The tables of distances, and what bounds a distance from above: rules U1 to U5, as in the specification.

Throughout, alpha = p/q; an entry is about a pair (s, t), m is mu_s, m' is mu_t, and c_i = m(i) - alpha m'(i).
A table of bd speaks of unordered pairs; a table of lbd of ordered ones, and (s, t) says nothing of (t, s).
The values of a table may have thousands of digits: they stay integers over the table's denominator N, every
comparison is multiplied out, and no fraction of that size is ever reduced.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Generic, Protocol, TypeVar

from bisimdist.checker.core.chain import ONLY, Chain
from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.reading import (
    Amount,
    MalformedCertificate,
    RuleViolation,
    Skew,
    common,
    hold,
    integer,
    item,
    items,
    product_work,
    rational,
    record,
    shown,
    spend,
)
from bisimdist.checker.core.shape import Reader, Shape, key, listed, named, row

DIRECTIONS = {"bd": ("forward", "backward"), "lbd": ("forward",)}  # lbd: of the ordered pair alone
PAIR = row(item, item)


class _Listed(Protocol):
    """An entry of a table: its pair, and its value as it is written."""

    @property
    def pair(self) -> tuple[str, str]: ...

    @property
    def value(self) -> object: ...


Entry = TypeVar("Entry", bound=_Listed)


@dataclass(frozen=True)
class Table(Generic[Entry]):
    """The entries of one table, and their values as numerators over one denominator."""

    denominator: int
    values: list[int]
    entries: list[Entry]


class Coupling(Shape):
    """Flows (i, j, w) and masses (i, w) that are given up at cost 1."""

    moves: list[tuple[str, str, Amount]] = key(listed(row(item, item, Amount.by("U2"))))
    given_up: list[tuple[str, Amount]] = key(listed(row(item, Amount.by("U2"))))


@dataclass(frozen=True)
class UpperEntry:
    """A pair with its couplings, by action and direction; where pairs are ordered there is none backward."""

    pair: tuple[str, str]
    value: object
    couplings: Mapping[str, Mapping[str, Coupling]]


def read_upper_table(value: object, distance: str, *, interactive: bool) -> Table[UpperEntry]:
    """Read the upper table of a distance; in an interactive model it has couplings by action."""
    directions = DIRECTIONS[distance]

    def arm(value: object, where: str) -> dict[str, Coupling]:
        parts = record(value, where, directions)
        return {name: Coupling.read(part, f"{name} of {where}") for name, part in counted(parts.items())}

    def entry(value: object, where: str) -> UpperEntry:
        data = record(value, where, ("pair", "value", *(("actions",) if interactive else directions)))
        pair = PAIR(data["pair"], f"the pair of {where}")
        if interactive:
            return UpperEntry(pair, data["value"], named(arm)(data["actions"], f"the actions of {where}"))
        return UpperEntry(
            pair, data["value"], {ONLY: arm({name: data[name] for name in counted(directions)}, where)}
        )

    return read_table(value, "the upper table", entry)


def read_table(value: object, where: str, entry: Reader[Entry]) -> Table[Entry]:
    """Read a table; its values become integers over its denominator, or over the least that serves all."""
    data = record(value, where, ("pairs",), ("denominator",))
    entries = [
        entry(part, f"entry {n} of {where}") for n, part in counted(enumerate(items(data["pairs"], where), 1))
    ]
    said = f"a value of {where}"
    if "denominator" in data:
        denominator = integer(data["denominator"], f"the denominator of {where}")
        if denominator <= 0:
            raise MalformedCertificate(f"the denominator of {where} is not positive")
        return Table(denominator, [integer(part.value, said) for part in counted(entries)], entries)
    values = [rational(part.value, said) for part in counted(entries)]
    denominator = common(number.denominator for number in counted(values))
    hold(denominator.bit_length() * len(values))
    spend(
        product_work(denominator.bit_length(), denominator.bit_length() // max(1, len(values)), len(values))
    )
    numerators = [number.numerator * (denominator // number.denominator) for number in counted(values)]
    return Table(denominator, numerators, entries)


class Setting:
    """A chain with its classes, alpha, and whether the distance is one of ordered pairs."""

    def __init__(self, chain: Chain, alpha: Skew, *, ordered: bool = False) -> None:
        self.chain = chain
        self.alpha = alpha
        self.ordered = ordered
        self.p, self.q = alpha.numerator, alpha.denominator
        self.classes = chain.classes()
        self.kind = {
            state: number
            for number, members in counted(enumerate(self.classes))
            for state in counted(members)
        }

    def known(self, states: Iterable[str], where: str) -> None:
        """Demand that every name is a state."""
        for state in counted(states):
            if state not in self.kind:
                raise RuleViolation(f"{where} names {shown(state)}, which is no state of the model")

    def orders(self, pair: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the ordered pairs that an entry of a table speaks of."""
        return (pair,) if self.ordered else (pair, pair[::-1])

    def difference(self, pair: tuple[str, str], action: str) -> dict[str, Fraction]:
        """Return c_i = m(i) - alpha m'(i) where it is not zero; nowhere, if that is not on offer."""
        here, there = (self.chain.rows_of(action).get(state, {}) for state in counted(pair))
        c = defaultdict(Fraction, here)
        for state, probability in counted(there.items()):
            c[state] -= self.alpha * probability
        return {state: value for state, value in counted(c.items()) if value}


class Bounds:
    """What a table says of every pair of states, as numerators over its denominator N.

    Twice the same state has 0, states of different classes have N; a pair of one class that is not listed has
    N in an upper table and 0 in a lower one. Rules U1 and L1 are checked here.
    """

    def __init__(self, setting: Setting, table: Table[Any], name: str, unlisted: int) -> None:
        self.kind = setting.kind
        self.denominator = table.denominator
        self.unlisted = unlisted
        self.listed: dict[tuple[str, str], int] = {}
        self.beside: defaultdict[str, dict[str, int]] = defaultdict(dict)
        rule, interval = ("L1", "(0, 1]") if name == "lower" else ("U1", "[0, 1]")
        for number, (entry, value) in counted(enumerate(zip(table.entries, table.values, strict=True), 1)):
            s, t = entry.pair
            where = f"{place(name, number, entry.pair)}: {rule}"
            setting.known(entry.pair, where)
            if s == t or self.kind[s] != self.kind[t]:
                raise RuleViolation(f"{where}: only two different states of one class may be listed")
            if (s, t) in self.listed:
                raise RuleViolation(f"{where}: the pair is listed twice")
            if not 0 <= value <= self.denominator or (name == "lower" and value == 0):
                raise RuleViolation(f"{where}: the value is outside of {interval}")
            for pair in counted(setting.orders(entry.pair)):
                self.listed[pair] = value
                if name == "lower":
                    self.beside[pair[0]][pair[1]] = value

    def near(self, i: str, members: Sequence[str]) -> dict[str, int]:
        """Return by other state of the class of one the numerator of the bound where it is not 0."""
        del members
        return self.beside.get(i, {})

    def at(self, i: str, j: str) -> int:
        """Return the numerator of the bound for two states."""
        if i == j:
            return 0
        if self.kind[i] != self.kind[j]:
            return self.denominator
        return self.listed.get((i, j), self.unlisted)


def place(name: str, number: int, pair: tuple[str, str]) -> str:
    """Say where a rule failed."""
    return f"{name} table, entry {number}, pair [{shown(pair[0])}, {shown(pair[1])}]"


def check_upper(setting: Setting, table: Table[UpperEntry]) -> Bounds:
    """Check that the table is a pre-fixed point, so that it bounds the distance from above."""
    upper = Bounds(setting, table, "upper", unlisted=table.denominator)
    for number, entry in counted(enumerate(table.entries, 1)):
        where = place("upper", number, entry.pair)
        for action in counted(setting.chain.offered(*entry.pair)):
            if action not in entry.couplings:
                raise RuleViolation(f"{where}: U5: the action {shown(action)} has no couplings")
            directions = entry.couplings[action]
            for direction, pair in zip(("forward", "backward"), setting.orders(entry.pair), strict=False):
                try:
                    c = setting.difference(pair, action)
                    check_coupling(setting, upper, c, upper.at(*entry.pair), directions[direction])
                except RuleViolation as violation:
                    raise RuleViolation(f"{where}, {direction}: {violation}") from None
    return upper


def check_coupling(
    setting: Setting, upper: Bounds, c: Mapping[str, Fraction], value: int, coupling: Coupling
) -> None:
    """Check one direction of an entry: by weak duality the lifting is at most the cost of the coupling."""
    surplus = defaultdict(Fraction, {state: -mass for state, mass in counted(c.items())})
    costs = []  # (amount, numerator of the cost of one unit)
    for i, j, amount in counted(coupling.moves):
        setting.known((i, j), "U2: a move")
        if i == j:
            raise RuleViolation(f"U2: a move from {shown(i)} to itself")
        surplus[i] += amount
        surplus[j] -= setting.alpha * amount
        costs.append((amount, upper.at(i, j)))
    for i, amount in counted(coupling.given_up):
        setting.known((i,), "U2: a given-up mass")
        surplus[i] += amount
        costs.append((amount, upper.denominator))
    for state, excess in counted(surplus.items()):
        if excess < 0:
            raise RuleViolation(f"U3: at {shown(state)} the coupling carries less away than it has to")
    unit = common(amount.denominator for amount, _ in counted(costs))
    if (
        sum(amount.numerator * (unit // amount.denominator) * cost for amount, cost in counted(costs))
        > unit * value
    ):
        raise RuleViolation("U4: the coupling costs more than the value")
