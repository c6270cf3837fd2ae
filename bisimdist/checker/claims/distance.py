"""Certificates of distances: bounds on bd and lbd of a model (docs/certificate-spec.md).

The rules are named G, U, L and C as in the specification; why they prove the claims is in
``docs/theory/certificates.md``.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from heapq import heappop, heappush
from itertools import chain, repeat
from math import isqrt
from typing import Any

from bisimdist.checker.core.chain import ONLY, Chain, given_chain, own_chain, read_asked, read_model
from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    LOOK,
    OVERHEAD,
    MalformedCertificate,
    Mass,
    RuleViolation,
    Skew,
    choice,
    common,
    hold,
    item,
    natural,
    product_work,
    rational,
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
    model_kind,
    named,
    one_of,
    raw,
    row,
)
from bisimdist.checker.core.tables import (
    DIRECTIONS,
    PAIR,
    Bounds,
    Setting,
    Table,
    check_upper,
    place,
    read_table,
    read_upper_table,
)


class _Said(Between):
    """A claim."""

    upper: Fraction = key(rational)
    lower: Fraction | None = key(rational, default=None)


class AboutDistance(Shape):
    """What certificates of distances are about."""

    distance: str = key(one_of(*DIRECTIONS))
    alpha: Fraction = key(rational)
    model: Any = key(read_model)
    digest: str = key(item)


class _Document(AboutDistance):
    """A certificate of a distance."""

    said: list[_Said] = key(listed(_Said.read, "claim"), "claims")
    upper: Any = key(raw)
    lower: Any = key(raw, default_factory=lambda: {"pairs": []})

    def claims(self) -> list[Claim]:
        """Return the claims, each with the distance that it is about."""
        shared = self.distance, self.alpha
        return [Claim(c.source, c.target, *shared, c.upper, c.lower) for c in counted(self.said)]


def check_document(document: dict[str, object], model: object | None = None) -> CheckReport:
    """Check a certificate of a distance."""
    whole = _Document.whole(document)
    if not whole.said:
        raise MalformedCertificate("the list of claims is empty")
    asked = model_kind(document) == "interactive"
    given = given_chain(model, read_asked)
    return judged((), lambda: _check(whole, given, asked=asked), distances=tuple(all_of(whole.claims())))


def _check(whole: _Document, given: Chain | None, *, asked: bool) -> None:
    alpha = Skew.of(whole.alpha, "G4: alpha")
    upper_table = read_upper_table(whole.upper, whole.distance, interactive=asked)
    lower_table = read_lower_table(whole.lower, interactive=asked)
    chain = own_chain(whole.model, whole.digest, given, read_asked)
    setting = Setting(chain, alpha, ordered=whole.distance == "lbd")
    upper, lower = check_upper(setting, upper_table), check_lower(setting, lower_table)
    for claim in counted(whole.said):
        where = f"{claim.where}, [{shown(claim.source)}, {shown(claim.target)}]: C1"
        chain.known((claim.source, claim.target), where)
        pair = claim.source, claim.target
        if not upper.at(*pair) <= claim.upper * upper.denominator <= upper.denominator:
            raise RuleViolation(f"{where}: the upper bound is less than the table's, or more than 1")
        if claim.lower is not None and not 0 <= claim.lower * lower.denominator <= lower.at(*pair):
            raise RuleViolation(f"{where}: the lower bound is more than the table's, or less than 0")


Partners = Mapping[str, list[tuple[str, str, int]]]
"""By state the ordered pairs (i, j) that it takes part in, with the ranks of their entries."""

Costs = dict[str, dict[str, int]]
Value = Fraction | tuple[str, str]


def _value_of_f(spec: object, where: str) -> Value:
    if isinstance(spec, str):
        return rational(spec, where)
    relation, other = PAIR(spec, where)
    return choice(relation, where, ("above", "below")), other


def _rank(value: object, where: str) -> int:
    rank = natural(value, where)
    if rank < 1:
        raise MalformedCertificate(f"{where} is 0; expected an integer of at least 1")
    return rank


class Progress(Shape):
    """Why mass cannot stay for ever: one of a stuck state, a common state, or a function y."""

    stuck: str | None = key(item, default=None)
    common: str | None = key(item, default=None)
    classes: list[tuple[str, Mass]] | None = key(listed(row(item, Mass.by("L7"))), default=None)
    states: dict[str, Fraction] | None = key(named(rational), default=None)

    def __post_init__(self) -> None:
        y = None if self.classes is None and self.states is None else "y"
        if [self.stuck, self.common, y].count(None) != 2:
            raise MalformedCertificate(
                f"{self.where} is not one of 'stuck', 'common', or 'classes' with 'states'"
            )


class LowerEntry(Shape):
    """A pair, in the direction that the maximiser takes, with its lower bound and the function behind it.

    In `witness` a state has a rational, or ``("above", y)`` or ``("below", y)``. An entry of rank 0 has no
    """

    pair: tuple[str, str] = key(PAIR)
    value: object = key(raw)
    witness: Mapping[str, Value] = key(named(_value_of_f))
    rank: int = key(_rank, default=0)
    progress: Progress | None = key(Progress.read, default=None)  # it must be strict
    action: str = ONLY

    def __post_init__(self) -> None:
        """Demand both a rank and progress, or neither."""
        if bool(self.rank) != (self.progress is not None):
            raise MalformedCertificate(
                f"{self.where} has only one of 'rank' and 'progress'; expected both or neither"
            )


class AskedEntry(LowerEntry):
    """An entry that says which action the maximiser asks."""

    action: str = key(item)


def read_lower_table(value: object, *, interactive: bool) -> Table[LowerEntry]:
    """Read the lower table of a distance."""
    return read_table(value, "the lower table", (AskedEntry if interactive else LowerEntry).read)


def sides(c: Mapping[str, Fraction]) -> tuple[set[str], set[str]]:
    """Return the states that count for the value, and those that count against it."""
    sinks = {state for state, value in counted(c.items()) if value < 0}
    return set(all_of(c)) - sinks, sinks


def check_lower(setting: Setting, table: Table[LowerEntry]) -> Bounds:
    """Check that the table is a post-fixed point that no mass can hold up, so that it bounds from below."""
    lower = Bounds(setting, table, "lower", unlisted=0)
    equals: dict[int, Partners] = defaultdict(lambda: defaultdict(list))  # the pairs of equal value
    for entry in counted(table.entries):
        for i, j in counted(setting.orders(entry.pair)):
            for state in (i, j):
                equals[lower.at(i, j)][state].append((i, j, entry.rank))
    costs: dict[int, Costs | None] = {}
    for number, entry in counted(enumerate(table.entries, 1)):
        try:
            strict = check_witness(setting, lower, entry, costs)
            if entry.progress is not None:
                check_progress(setting, entry, entry.progress, equals[lower.at(*entry.pair)])
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
    for x, number in counted(f.items()):
        if not 0 <= number <= N * scale:
            raise RuleViolation(f"L2: f is outside of [0, 1] at {shown(x)}")
    touched = {kind[x] for x in counted(f)}
    sources, sinks = sides(c)
    for x in counted(sinks):
        if kind[x] in touched and x not in f:
            raise RuleViolation(f"L3: f has no value at {shown(x)}, which counts against it")
    bits = max(all_of(map(int.bit_length, (scale, *f.values()))))
    spend(len(f) ** 2 * (LOOK + product_work(bits + N.bit_length(), p.bit_length())))
    for x in counted(f):
        for y in counted(f):
            needed = kind[x] == kind[y] and (p > q or (x in sources and y in sinks))
            if needed and q * f[x] - p * f[y] > q * scale * lower.at(x, y):
                raise RuleViolation(f"L4: f differs by more than the table allows at {shown(x)}, {shown(y)}")
    if p > q:
        for number in counted(sorted(all_of(touched))):
            if number not in costs:
                costs[number] = costs_with_shortcuts(setting, lower, setting.classes[number])
            within = costs[number]
            if within is not None and not extends(setting, within, f, scale):
                raise RuleViolation("L5: f does not extend to the other states of a class")
    value, unit = lower.at(*entry.pair), common(part.denominator for part in counted(c.values()))
    total = sum(f[x] * c[x].numerator * (unit // c[x].denominator) for x in counted(c) if x in f)
    if total < value * scale * unit:
        raise RuleViolation("L6: f proves less than the value")
    return total > value * scale * unit


def evaluate(
    setting: Setting, lower: Bounds, witness: Mapping[str, Fraction | tuple[str, str]]
) -> tuple[dict[str, int], int]:
    """Return f as integers, and the scale: f(x) is the integer over N * scale."""
    p, q, N = setting.p, setting.q, lower.denominator
    parts: dict[str, tuple[int, int]] = {}  # x: (n, e) for f(x) = n / (N e)
    for start in counted(witness):
        path: dict[str, None] = {}
        x = start
        while x not in parts:
            spend(LOOK)
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
        for x in counted(reversed(path)):
            spec = witness[x]
            if isinstance(spec, tuple):
                relation, y = spec
                n, e = parts[y]
                spend(product_work(n.bit_length() + N.bit_length(), p.bit_length() + e.bit_length(), 4))
                hold(n.bit_length() + e.bit_length() + p.bit_length())
                if relation == "above":
                    parts[x] = p * n + q * e * lower.at(x, y), q * e
                else:
                    parts[x] = q * (n - e * lower.at(y, x)), p * e
    scale = common(e for _, e in counted(parts.values()))
    spend(product_work(scale.bit_length(), N.bit_length() + scale.bit_length(), len(parts)))
    hold(len(parts) * scale.bit_length())
    return {x: n * (scale // e) for x, (n, e) in counted(parts.items())}, scale


def costs_with_shortcuts(setting: Setting, lower: Bounds, members: list[str]) -> Costs | None:
    """Return L inside a class where it is not 0; None if there is no shortcut.

    There is none if L(i,j) <= L(i,k) + alpha L(k,j) throughout; every f extends then.
    """
    near = {i: lower.near(i, members) for i in counted(members)}
    far = {i: {} for i in counted(members)} if setting.ordered else near
    for i, here in counted(near.items() if setting.ordered else ()):
        for k, cost in counted(here.items()):
            far[k][i] = cost
    if not _has_shortcut(setting, near, far):
        return None
    hold(len(members) ** 2 * setting.p.bit_length())  # for `extends`
    spend(len(members) ** 2 * LOOK)
    return {
        i: {k: here[k] for k in counted(sorted(all_of(here), key=here.__getitem__))}
        for i, here in counted(near.items())
    }


def _has_shortcut(setting: Setting, near: Costs, far: Costs) -> bool:
    """Tell whether it is nearer through a third state, which is nearer by as much as the last step takes."""
    p, q, others = setting.p, setting.q, len(near) - 1
    least = {
        j: p * min(all_of(there.values()), default=0) if len(there) == others else 0
        for j, there in counted(far.items())
    }
    bits = max(
        (cost.bit_length() for here in counted(near.values()) for cost in counted(here.values())), default=0
    )
    look = LOOK + product_work(p.bit_length(), bits)
    spend(look * len(near))
    for i, here in counted(near.items()):
        if any(len(here) + len(far[j]) <= others for j in counted(here)):
            return True  # a third state is at no distance from either
        spend(look * len(near))
        costs = sorted((q * here.get(k, 0), k) for k in counted(near) if k != i) if here else []
        for direct, j in counted(costs):
            if costs[0][0] + least[j] < direct:
                nearer = costs[: bisect_left(costs, (direct - least[j],))]
                spend(look * len(nearer))
                if any(cost + p * far[j].get(k, 0) < direct for cost, k in counted(nearer)):
                    return True
    return False


def extends(setting: Setting, costs: Costs, f: Mapping[str, int], scale: int) -> bool:
    """Return whether f extends to a class: the least extension, grown along paths, raises no value of f.

    All numbers are finer by p to the number of states, so that every division is exact: no path is longer.
    """
    p, q = setting.p, setting.q
    digits = len(costs) * p.bit_length() // 30
    spend(
        4 * digits * isqrt(digits)
        + digits * sum(1 + number.bit_length() // 30 for number in counted(f.values()))
    )
    fine = p ** len(costs)
    unit = fine * scale
    F = {k: f[k] * fine for k in counted(f.keys() & costs.keys())}
    bits = unit.bit_length() + max(all_of(map(int.bit_length, f.values())), default=0)
    heap = sorted((-value, k) for k, value in counted(F.items()))
    apart = set(all_of(costs))  # what is at a distance from all that came before
    while heap and heap[0][0]:  # what is at 0 raises nothing
        value, x = heappop(heap)  # final: what still grows, grows to no more than F(x) / alpha
        if -value != F[x]:
            continue
        here = costs[x]
        spend(len(costs) * OVERHEAD)
        beside = apart - here.keys()  # from what came before it is no further to all others
        apart &= here.keys()
        for k, cost in counted(chain(zip(beside, repeat(0)), here.items())):
            spend(LOOK + product_work(bits, p.bit_length()))
            rest = F[x] - cost * unit
            if rest <= 0:
                break  # the others are further
            if q * rest > p * F.get(k, 0):
                if k in f:
                    return False
                F[k] = -(-q * rest // p)
                heappush(heap, (-F[k], k))
    return True


def check_progress(setting: Setting, entry: LowerEntry, progress: Progress, partners: Partners) -> None:
    """Check L7: no coupling keeps all mass among ranked pairs of the same value and at least this rank."""
    p, q, kind, c = setting.p, setting.q, setting.kind, setting.difference(entry.pair, entry.action)
    if progress.stuck is not None:
        spend(LOOK * len(partners.get(progress.stuck, ())))
        held = any(rank >= entry.rank for _, _, rank in counted(partners.get(progress.stuck, ())))
        if progress.stuck not in c or held:
            raise RuleViolation(f"L7: {shown(progress.stuck)} is not stuck")
        return
    if progress.common is not None:
        rows = setting.chain.rows_of(entry.action)
        if p > q or not all(progress.common in rows.get(state, {}) for state in counted(entry.pair)):
            raise RuleViolation(f"L7: alpha is not 1, or {shown(progress.common)} is no common successor")
        return
    classes, states = progress.classes or [], progress.states or {}
    setting.known([*(state for state, _ in counted(classes)), *states], "L7: the progress")
    default = {kind[state]: value for state, value in counted(classes)}
    if len(default) < len(classes):
        raise RuleViolation("L7: y is given twice for a class")

    said: dict[Any, Fraction] = {**default, **states}
    unit = common(value.denominator for value in counted(said.values()))
    hold(unit.bit_length() * len(said))
    number = {at: value.numerator * (unit // value.denominator) for at, value in counted(said.items())}

    def y(state: str) -> int:
        return number.get(state, number.get(kind[state], 0))

    sources, sinks = sides(c)
    bits = max(all_of(map(int.bit_length, number.values())), default=0)
    spend(
        (LOOK + product_work(bits, p.bit_length())) * sum(len(partners.get(x, ())) for x in counted(states))
    )
    for x in counted(states):
        for i, j, rank in counted(partners.get(x, ())):
            needed = rank >= entry.rank and (p > q or (i in sources and j in sinks))
            if needed and q * y(i) > p * y(j):
                raise RuleViolation(f"L7: y is more than alpha times as large at {shown(i)} as at {shown(j)}")
    if sum(y(state) * value for state, value in counted(c.items())) <= 0:
        raise RuleViolation("L7: the sum of y c is not positive")
