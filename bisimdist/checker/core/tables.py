"""The rules of the two tables, named U1 ... U4 and L1 ... L7 as in the specification.

Throughout, alpha = p/q; an entry is about a pair (s, t), m is mu_s, m' is mu_t, and c_i = m(i) - alpha m'(i).
A table of bd speaks of unordered pairs; a table of lbd of ordered ones, and (s, t) says nothing of (t, s).
The values of a table may have thousands of digits: they stay integers over the table's denominator N, every
comparison is multiplied out, and no fraction of that size is ever reduced.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.document import Coupling, LowerEntry, Progress, Table, UpperEntry
from bisimdist.checker.core.quantities import Skew
from bisimdist.checker.core.reading import RuleViolation, shown

__all__ = ["Bounds", "Setting", "check_lower", "check_upper"]

Partners = Mapping[str, list[tuple[str, str, int]]]
"""By state the ordered pairs (i, j) that it takes part in, with the ranks of their entries."""

Costs = dict[str, dict[str, int]]


class Setting:
    """A chain with its classes, alpha, and whether the distance is one of ordered pairs."""

    def __init__(self, chain: Chain, alpha: Skew, *, ordered: bool = False) -> None:
        self.chain = chain
        self.alpha = alpha
        self.ordered = ordered
        self.p, self.q = alpha.numerator, alpha.denominator
        self.classes = chain.classes()
        self.kind = {state: number for number, members in enumerate(self.classes) for state in members}

    def known(self, states: Iterable[str], where: str) -> None:
        """Demand that every name is a state."""
        for state in states:
            if state not in self.kind:
                raise RuleViolation(f"{where} names {shown(state)}, which is no state of the model")

    def orders(self, pair: tuple[str, str]) -> tuple[tuple[str, str], ...]:
        """Return the ordered pairs that an entry of a table speaks of."""
        return (pair,) if self.ordered else (pair, pair[::-1])

    def difference(self, pair: tuple[str, str], action: str) -> dict[str, Fraction]:
        """Return c_i = m(i) - alpha m'(i) where it is not zero; nowhere, if that is not on offer."""
        here, there = (self.chain.arms.get(action, {}).get(state, {}) for state in pair)
        c = defaultdict(Fraction, here)
        for state, probability in there.items():
            c[state] -= self.alpha * probability
        return {state: value for state, value in c.items() if value}


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
        rule, interval = ("L1", "(0, 1]") if name == "lower" else ("U1", "[0, 1]")
        for number, entry in enumerate(table.entries, 1):
            s, t = entry.pair
            where = f"{place(name, number, entry.pair)}: {rule}"
            setting.known(entry.pair, where)
            if s == t or self.kind[s] != self.kind[t]:
                raise RuleViolation(f"{where}: only two different states of one class may be listed")
            if (s, t) in self.listed:
                raise RuleViolation(f"{where}: the pair is listed twice")
            if not 0 <= entry.value <= self.denominator or (name == "lower" and entry.value == 0):
                raise RuleViolation(f"{where}: the value is outside of {interval}")
            for pair in setting.orders(entry.pair):
                self.listed[pair] = entry.value

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
    for number, entry in enumerate(table.entries, 1):
        where = place("upper", number, entry.pair)
        for action in setting.chain.offered(entry.pair[0]):
            if action not in entry.couplings:
                raise RuleViolation(f"{where}: U5: the action {shown(action)} has no couplings")
            directions = entry.couplings[action]
            for direction, pair in zip(("forward", "backward"), setting.orders(entry.pair), strict=False):
                try:
                    c = setting.difference(pair, action)
                    check_coupling(setting, upper, c, entry.value, directions[direction])
                except RuleViolation as violation:
                    raise RuleViolation(f"{where}, {direction}: {violation}") from None
    return upper


def check_coupling(
    setting: Setting, upper: Bounds, c: Mapping[str, Fraction], value: int, coupling: Coupling
) -> None:
    """Check one direction of an entry: by weak duality the lifting is at most the cost of the coupling."""
    surplus = defaultdict(Fraction, {state: -mass for state, mass in c.items()})
    costs = []  # (amount, numerator of the cost of one unit)
    for i, j, amount in coupling.moves:
        setting.known((i, j), "U2: a move")
        if i == j:
            raise RuleViolation(f"U2: a move from {shown(i)} to itself")
        surplus[i] += amount
        surplus[j] -= setting.alpha * amount
        costs.append((amount, upper.at(i, j)))
    for i, amount in coupling.given_up:
        setting.known((i,), "U2: a given-up mass")
        surplus[i] += amount
        costs.append((amount, upper.denominator))
    for state, excess in surplus.items():
        if excess < 0:
            raise RuleViolation(f"U3: at {shown(state)} the coupling carries less away than it has to")
    unit = math.lcm(*(amount.denominator for amount, _ in costs))
    if sum(amount.numerator * (unit // amount.denominator) * cost for amount, cost in costs) > unit * value:
        raise RuleViolation("U4: the coupling costs more than the value")


def sides(c: Mapping[str, Fraction]) -> tuple[set[str], set[str]]:
    """Return the states that count for the value, and those that count against it."""
    sinks = {state for state, value in c.items() if value < 0}
    return set(c) - sinks, sinks


def check_lower(setting: Setting, table: Table[LowerEntry]) -> Bounds:
    """Check that the table is a post-fixed point that no mass can hold up, so that it bounds from below."""
    lower = Bounds(setting, table, "lower", unlisted=0)
    equals: dict[int, Partners] = defaultdict(lambda: defaultdict(list))  # the pairs of equal value
    for entry in table.entries:
        for i, j in setting.orders(entry.pair):
            for state in (i, j):
                equals[entry.value][state].append((i, j, entry.rank))
    costs: dict[int, Costs | None] = {}
    for number, entry in enumerate(table.entries, 1):
        try:
            strict = check_witness(setting, lower, entry, costs)
            if entry.progress is not None:
                check_progress(setting, entry, entry.progress, equals[entry.value])
            elif not strict:
                raise RuleViolation(
                    "L7: the entry has no progress, and the witness proves no more than the value"
                )
        except RuleViolation as violation:
            raise RuleViolation(f"{place('lower', number, entry.pair)}: {violation}") from None
    return lower


def check_witness(setting: Setting, lower: Bounds, entry: LowerEntry, costs: dict[int, Costs | None]) -> bool:
    """Check that f proves the lifting to be at least the value; return whether it proves more."""
    p, q, kind, N = setting.p, setting.q, setting.kind, lower.denominator
    setting.known(entry.witness, "L2: the witness")
    c = setting.difference(entry.pair, entry.action)
    f, scale = evaluate(setting, lower, entry.witness)  # integers over N * scale
    for x, value in f.items():
        if not 0 <= value <= N * scale:
            raise RuleViolation(f"L2: f is outside of [0, 1] at {shown(x)}")
    touched = {kind[x] for x in f}
    sources, sinks = sides(c)
    for x in sinks:
        if kind[x] in touched and x not in f:
            raise RuleViolation(f"L3: f has no value at {shown(x)}, which counts against it")
    for x in f:
        for y in f:
            needed = kind[x] == kind[y] and (p > q or (x in sources and y in sinks))
            if needed and q * f[x] - p * f[y] > q * scale * lower.at(x, y):
                raise RuleViolation(f"L4: f differs by more than the table allows at {shown(x)}, {shown(y)}")
    if p > q:
        for number in sorted(touched):
            if number not in costs:
                costs[number] = costs_with_shortcuts(setting, lower, setting.classes[number])
            within = costs[number]
            if within is not None and not extends(setting, within, f, scale):
                raise RuleViolation("L5: f does not extend to the other states of a class")
    unit = math.lcm(*(value.denominator for value in c.values()))
    total = sum(f[x] * c[x].numerator * (unit // c[x].denominator) for x in c if x in f)
    if total < entry.value * scale * unit:
        raise RuleViolation("L6: f proves less than the value")
    return total > entry.value * scale * unit


def evaluate(
    setting: Setting, lower: Bounds, witness: Mapping[str, Fraction | tuple[str, str]]
) -> tuple[dict[str, int], int]:
    """Return f as integers, and the scale: f(x) is the integer over N * scale."""
    p, q, N = setting.p, setting.q, lower.denominator
    parts: dict[str, tuple[int, int]] = {}  # x: (n, e) for f(x) = n / (N e)
    for start in witness:
        path: dict[str, None] = {}
        x = start
        while x not in parts:
            spec = witness[x]
            path[x] = None
            if isinstance(spec, Fraction):
                whole, rest = divmod(N, spec.denominator)
                parts[x] = (spec.numerator * N, spec.denominator) if rest else (spec.numerator * whole, 1)
            elif spec[1] not in witness or spec[1] in path:
                raise RuleViolation(
                    f"L2: f at {shown(x)} refers to {shown(spec[1])}: not in the witness, or in a circle"
                )
            else:
                x = spec[1]
        for x in reversed(path):
            spec = witness[x]
            if isinstance(spec, tuple):
                relation, y = spec
                n, e = parts[y]
                if relation == "above":
                    parts[x] = p * n + q * e * lower.at(x, y), q * e
                else:
                    parts[x] = q * (n - e * lower.at(y, x)), p * e
    scale = math.lcm(*(e for _, e in parts.values()))
    return {x: n * (scale // e) for x, (n, e) in parts.items()}, scale


def costs_with_shortcuts(setting: Setting, lower: Bounds, members: list[str]) -> Costs | None:
    """Return L inside a class, refined for `extends`; None if L(i,j) <= L(i,k) + alpha L(k,j) throughout.

    In that case there is no shortcut, and every f extends.
    """
    near = {i: [setting.q * lower.at(i, k) for k in members] for i in members}
    far = {j: [setting.p * lower.at(k, j) for k in members] for j in members}
    for (i, j), value in lower.listed.items():
        if i in near and any(setting.q * value > a + b for a, b in zip(near[i], far[j], strict=True)):
            fine = setting.p ** len(members)
            return {x: {k: lower.at(x, k) * fine for k in members} for x in members}
    return None


def extends(setting: Setting, costs: Costs, f: Mapping[str, int], scale: int) -> bool:
    """Return whether f extends to a class: the least extension, grown along paths, raises no value of f.

    All numbers are finer by p to the number of states, so that every division is exact: no path is longer.
    """
    p, q = setting.p, setting.q
    F = {k: f.get(k, 0) * p ** len(costs) for k in costs}
    waiting = dict.fromkeys(costs)
    while waiting:
        x = max(waiting, key=F.__getitem__)  # final: what still grows, grows to no more than F(x) / alpha
        del waiting[x]
        for k in waiting:
            rest = F[x] - costs[x][k] * scale
            if rest > F[k] and q * rest > p * F[k]:
                if k in f:
                    return False
                F[k] = -(-q * rest // p)
    return True


def check_progress(setting: Setting, entry: LowerEntry, progress: Progress, partners: Partners) -> None:
    """Check L7: no coupling keeps all mass among ranked pairs of the same value and at least this rank."""
    alpha, kind, c = setting.alpha, setting.kind, setting.difference(entry.pair, entry.action)
    if progress.stuck is not None:
        held = any(rank >= entry.rank for _, _, rank in partners.get(progress.stuck, ()))
        if progress.stuck not in c or held:
            raise RuleViolation(f"L7: {shown(progress.stuck)} is not stuck")
        return
    if progress.common is not None:
        s, t = entry.pair
        rows = setting.chain.arms.get(entry.action, {})
        if alpha > 1 or not all(progress.common in rows.get(state, {}) for state in (s, t)):
            raise RuleViolation(f"L7: alpha is not 1, or {shown(progress.common)} is no common successor")
        return
    setting.known([state for state, _ in progress.classes], "L7: the progress")
    setting.known(progress.states, "L7: the progress")
    default = {kind[state]: value for state, value in progress.classes}
    if len(default) < len(progress.classes):
        raise RuleViolation("L7: y is given twice for a class")

    def y(state: str) -> Fraction:
        return progress.states.get(state, default.get(kind[state], Fraction(0)))

    sources, sinks = sides(c)
    for x in progress.states:
        for i, j, rank in partners.get(x, ()):
            needed = rank >= entry.rank and (alpha > 1 or (i in sources and j in sinks))
            if needed and y(i) > alpha * y(j):
                raise RuleViolation(f"L7: y is more than alpha times as large at {shown(i)} as at {shown(j)}")
    if sum(y(state) * value for state, value in c.items()) <= 0:
        raise RuleViolation("L7: the sum of y c is not positive")
