"""Bounds for all traces at once: how many times more probable they are from one state than from another.

A table t with ``Pr(i, w) <= t(i, j) Pr(j, w)`` for all traces w but the empty one is proved like a pre-fixed
point. From the inequalities for w follow those for one more action in front: where the row of i is moved to
the row of j, between states of the same action, each unit that is moved from k to m costs the factor t(k, m).
For the empty trace the masses of the rows are compared. A bound on beliefs follows in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from flint import fmpq, fmpq_mat

from bisimdist.exact.doubles import as_double, from_double, simplest_within
from bisimdist.lp.multiplicative import lift_ratio
from bisimdist.progress import NEVER, UNBOUNDED, Deadline, Limits
from bisimdist.traces.engine.graph import Node
from bisimdist.traces.engine.system import Vector, WordSystem, mass_of

Pair = tuple[int, int]
Coupling = tuple[tuple[int, int, fmpq], ...]  # triples (k, m, w): how much of the mass at k is moved to m

MAX_PAIRS = 800
"""How many pairs there may be, after those have been struck out that have no bound whatever the numbers."""
MAX_MET = 50_000  # how many pairs there may be before that
ROUNDS = 80
LIFTS = 80_000  # how many optimal moves are computed before the proof, in all rounds together
INNER = 30
CEILING = 10**9
SETTLED = 1e-11
SLACK = 1e-9
INFLATIONS = (1e-9, 1e-6, 1e-3, 3e-2)
MAX_EXACT = 60  # up to how many pairs the exact values of the moves are solved for; their numerators are long

ONE = fmpq(1)


@dataclass(frozen=True, slots=True)
class TableEntry:
    """A bound on Pr(i, w) / Pr(j, w), and the moves from the row of i to that of j that prove it."""

    bound: fmpq
    moves: Coupling


@dataclass(frozen=True, slots=True)
class Lift:
    """A bound on two vectors, and the moves that prove it; None where there is none."""

    ratio: fmpq | None
    coupling: Coupling


def lifted(
    system: WordSystem,
    first: Mapping[int, fmpq],
    second: Mapping[int, fmpq],
    ratio: Callable[[int, int], fmpq | None],
    deadline: Deadline,
) -> Lift:
    """Return how many times more probable a trace can be from one vector of masses than from another.

    Whatever continues a trace begins with one action: mass is moved between states of the same action alone,
    and what cannot act at all needs not be moved.
    """
    bound = sum(first.values(), fmpq(0)) / sum(second.values(), fmpq(0))
    if ratio is unknown:
        return _staying(system, first, second, bound)
    coupling: list[tuple[int, int, fmpq]] = []
    for action in dict.fromkeys(system.actions[state] for state in first):
        if action is None:
            continue
        ones, others = (
            {state: mass for state, mass in side.items() if system.actions[state] == action}
            for side in (first, second)
        )
        if not others:
            return Lift(None, ())
        optimum = lift_ratio(ones, others, ratio, deadline=deadline)
        if optimum.ratio is None:
            return Lift(None, ())
        bound = max(bound, optimum.ratio)
        coupling += optimum.coupling
    return Lift(bound, tuple(coupling))


def unknown(_first: int, _second: int) -> fmpq | None:
    """Say of no pair of different states how far apart they are."""
    return None


def _staying(system: WordSystem, first: Mapping[int, fmpq], second: Mapping[int, fmpq], bound: fmpq) -> Lift:
    """Return the bound where no mass is moved."""
    acting = [state for state in first if system.actions[state] is not None]
    if any(state not in second for state in acting):
        return Lift(None, ())
    moves = tuple((state, state, first[state]) for state in acting)
    return Lift(max(bound, *(first[state] / second[state] for state in acting)) if acting else bound, moves)


@dataclass(slots=True)
class StateTable:
    """A table of bounds that has been proved."""

    system: WordSystem
    # by ordered pair of different classes; a pair that is missing has no bound
    entries: Mapping[Pair, TableEntry]
    refused: bool = False  # whether the table is empty because there were too many pairs to look for bounds
    lifts: dict[tuple[Vector, Vector], Lift] = field(default_factory=dict)

    def ratio(self, first: int, second: int) -> fmpq | None:
        """Return the bound of a pair of different classes; None where there is none."""
        entry = self.entries.get((first, second))
        return None if entry is None else entry.bound

    def lift(self, first: Vector, second: Vector, *, deadline: Deadline = NEVER) -> Lift:
        """Return how many times more probable a trace can be from one belief than from another."""
        key = first, second
        if key not in self.lifts:
            one, other = mass_of(first), mass_of(second)
            self.lifts[key] = lifted(
                self.system,
                {state: fmpq(value, one) for state, value in first},
                {state: fmpq(value, other) for state, value in second},
                self.ratio if self.entries else unknown,
                deadline,
            )
        return self.lifts[key]

    def knows(self, node: Node) -> bool:
        """Tell whether the bounds of a node have been computed before."""
        return (node.first, node.second) in self.lifts and (node.second, node.first) in self.lifts

    def bounds(self, node: Node, *, deadline: Deadline = NEVER) -> tuple[fmpq | None, fmpq | None]:
        """Return bounds on how much the quotient at a node may still grow and shrink, by factors."""
        return (
            self.lift(node.first, node.second, deadline=deadline).ratio,
            self.lift(node.second, node.first, deadline=deadline).ratio,
        )


def _row(system: WordSystem, state: int) -> dict[int, fmpq]:
    return {target: fmpq(weight, system.denominators[state]) for target, weight in system.rows[state]}


def _needed(system: WordSystem, starts: Iterable[tuple[Vector, Vector]], limit: int) -> list[Pair] | None:
    """Return the pairs of different classes between which mass may have to be moved; None if too many."""
    found: dict[Pair, None] = {}
    waiting: list[Pair] = []
    most = max(limit, MAX_MET)

    def meet(first: Iterable[int], second: Iterable[int]) -> None:
        for k in first:
            for m in second:
                if k == m or (k, m) in found or system.actions[k] is None:
                    continue
                if system.actions[k] == system.actions[m]:
                    found[k, m] = found[m, k] = None
                    waiting.append((k, m))

    for first, second in starts:
        meet([s for s, _ in first], [s for s, _ in second])
    while waiting and len(found) <= most:
        k, m = waiting.pop()
        meet([t for t, _ in system.rows[k]], [t for t, _ in system.rows[m]])
    if len(found) > most:
        return None
    left = _possible(system, found)
    return None if len(left) > limit else left


def _possible(system: WordSystem, pairs: Iterable[Pair]) -> list[Pair]:
    """Strike out the pairs of which some successor can be moved nowhere, until each one has somewhere."""
    rows = [sum(1 << target for target, _ in row) for row in system.rows]
    moving = [[t for t, _ in row if system.actions[t] is not None] for row in system.rows]
    places = [1 << state for state in range(len(system.rows))]  # where each class can be moved
    left = list(pairs)
    for k, m in left:
        places[k] |= 1 << m
    while True:
        kept = []
        for k, m in left:
            if all(places[t] & rows[m] for t in moving[k]):
                kept.append((k, m))
            else:
                places[k] &= ~(1 << m)
        if len(kept) == len(left):
            return left
        left = kept


def find_table(
    system: WordSystem,
    starts: Iterable[tuple[Vector, Vector]],
    *,
    limit: int = MAX_PAIRS,
    limits: Limits = UNBOUNDED,
) -> StateTable:
    """Find a table of bounds for the pairs that some beliefs rest on, as small as it gets.

    The least table is approached from below; short rationals just above it are then proved exactly.

    ``limit``: how many pairs of classes there may be that are not without bound from the outset.
    returns: without the pairs for which nothing was found; empty where there are too many pairs.
    """
    pairs = _needed(system, starts, limit)
    if pairs is None:
        return StateTable(system, {}, refused=True)
    iteration = _Iteration(system, pairs, limits)
    guess = iteration.run()
    best: dict[Pair, TableEntry] = {}
    for table in _candidates(iteration, guess):
        entries = _proved(system, table, limits)
        if len(entries) >= len(best):
            best = entries
        if len(entries) == len(table):
            break
    return StateTable(system, best)


def _candidates(iteration: _Iteration, guess: dict[Pair, float]) -> Iterator[dict[Pair, fmpq]]:
    """Yield tables to try: the exact value of the last moves, then short rationals just above the doubles."""
    if len(guess) <= MAX_EXACT:
        solved = iteration.solved()
        if solved is not None:
            yield solved
    for inflation in INFLATIONS:
        yield {pair: _rounded(value, inflation) for pair, value in guess.items()}


class _Iteration:
    """The table from below: optimal moves now and then, in between the values that they give, in doubles."""

    def __init__(self, system: WordSystem, pairs: list[Pair], limits: Limits) -> None:
        self.system = system
        self.limits = limits
        self.rows = {state: _row(system, state) for pair in pairs for state in pair}
        self.values: dict[Pair, float] = dict.fromkeys(pairs, 1.0)
        self.shares: dict[Pair, list[list[tuple[Pair | None, float]]]] = {}
        self.exact: dict[Pair, list[list[tuple[Pair | None, fmpq]]]] = {}
        self.seen: dict[Pair, list[float]] = {}

    def _unchanged(self, pair: Pair) -> bool:
        """Tell whether the values that the moves of a pair rest on are those for which they were found."""
        actions, (first, second) = self.system.actions, (self.rows[state] for state in pair)
        read = [
            self.values.get((k, m), 0.0)
            for k in first
            for m in second
            if k != m and actions[k] == actions[m] and actions[k] is not None
        ]
        before, self.seen[pair] = self.seen.get(pair), read
        if before is None:
            return False
        same = all(abs(new - old) <= SETTLED * new / 10 for new, old in zip(read, before, strict=True))
        if same:
            self.seen[pair] = before
        return same

    def _ratio(self, k: int, m: int) -> fmpq | None:
        value = self.values.get((k, m))
        return None if value is None else from_double(value)

    def _improve(self, pair: Pair) -> bool:
        """Take optimal moves for the values as they are; tell whether the pair lost its bound."""
        first, second = (self.rows[state] for state in pair)
        optimum = lifted(self.system, first, second, self._ratio, self.limits.deadline)
        if optimum.ratio is None or optimum.ratio > CEILING:
            del self.values[pair]
            return True
        shares: dict[int, list[tuple[Pair | None, fmpq]]] = {}
        for k, m, amount in optimum.coupling:
            shares.setdefault(m, []).append((None if k == m else (k, m), amount / second[m]))
        self.exact[pair] = list(shares.values())
        masses = sum(first.values(), fmpq(0)) / sum(second.values(), fmpq(0))
        self.exact[pair].append([(None, masses)])  # for the trace that ends here
        self.shares[pair] = [
            [(other, as_double(share)) for other, share in column] for column in self.exact[pair]
        ]
        self.values[pair] = max(1.0, as_double(optimum.ratio))
        return False

    def _evaluate(self) -> None:
        for _ in range(INNER):
            change = 0.0
            for pair in self.values:
                value = 1.0
                for column in self.shares[pair]:
                    value = max(value, self._worth(column))
                value = min(value, 1e9)
                change = max(change, abs(value - self.values[pair]) / value)
                self.values[pair] = value
            if change < SETTLED:
                return

    def solved(self) -> dict[Pair, fmpq] | None:
        """Return the exact values that the last moves give, if one system of equations decides them."""
        place = {pair: n for n, pair in enumerate(self.values)}
        size = len(place)
        if size == 0:
            return {}
        matrix = [[fmpq(0)] * size for _ in range(size)]
        right = [[fmpq(0)] for _ in range(size)]
        for pair, n in place.items():
            matrix[n][n] = ONE
            worth = [self._worth(column) for column in self.shares[pair]]
            if not worth or max(worth) <= 1 + SLACK:
                right[n][0] = ONE
                continue
            for other, share in self.exact[pair][worth.index(max(worth))]:
                if other is None:
                    right[n][0] += share
                elif other not in place:
                    return None
                else:
                    matrix[n][place[other]] -= share
        try:
            found = fmpq_mat(matrix).solve(fmpq_mat(right))
        except ZeroDivisionError:
            return None
        values = {pair: found[n, 0] for pair, n in place.items()}
        return values if min(values.values()) >= 1 else None

    def _worth(self, column: list[tuple[Pair | None, float]]) -> float:
        return sum(share * (1.0 if other is None else self.values.get(other, 1e9)) for other, share in column)

    def run(self) -> dict[Pair, float]:
        """Return the values where they have settled; pairs without bound are left out."""
        lifts = 0
        for number in range(ROUNDS):
            self.limits.progress("rounds of the table", number, None)
            lost, change = False, 0.0
            if lifts > LIFTS:
                break
            for pair in list(self.values):
                before = self.values[pair]
                if self._unchanged(pair):
                    continue
                lifts += 1
                if self._improve(pair):
                    lost = True
                else:
                    change = max(change, abs(self.values[pair] - before) / before)
            if not lost and change < SETTLED:
                break
            if number > 1:
                self._evaluate()
        return self.values


def _rounded(value: float, inflation: float) -> fmpq:
    """Return a short rational above a double, by nearly the same factor for all."""
    low, high = value * (1 + inflation), value * (1 + inflation) * (1 + inflation / 1000)
    return max(ONE, simplest_within(low, high))


def _proved(system: WordSystem, table: dict[Pair, fmpq], limits: Limits) -> dict[Pair, TableEntry]:
    """Return the entries that their moves prove; others are struck out until the rest needs none of them."""
    rows = {state: _row(system, state) for pair in table for state in pair}
    left = dict(table)
    entries: dict[Pair, TableEntry] = {}
    stale = set(left)
    while stale:
        struck = set()
        for pair in sorted(stale):
            lift = lifted(
                system, rows[pair[0]], rows[pair[1]], lambda k, m: left.get((k, m)), limits.deadline
            )
            if lift.ratio is None or lift.ratio > left[pair]:
                struck.add(pair)
            else:
                entries[pair] = TableEntry(left[pair], lift.coupling)
        limits.progress("pairs of the table", len(entries), len(table))
        for pair in struck:
            del left[pair]
            entries.pop(pair, None)
        stale = {pair for pair, entry in entries.items() if any((k, m) in struck for k, m, _ in entry.moves)}
    return entries
