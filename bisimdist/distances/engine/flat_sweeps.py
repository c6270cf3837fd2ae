"""Sweeps over flat tables, pair by pair; numba can compile them.

They work on the states number `low` to `high` - 1 of the order of the chain, so that whoever calls them can
stop in between, and take the places of the plans from `at` on.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

from bisimdist.distances.engine.flat_plan import SIMPLE, Array, Chain, Room, make_plan, number


class Plans(NamedTuple):
    """A plan for every pair; the moves of (s, t) have as many places as both rows have targets, less one."""

    cell: Array
    mass: Array  # mass 1 being 1; 0 in places not used
    lost: Array  # by pair: the mass given up
    state: Array  # by pair: `ABSENT`, `ZERO`, `SETTLED`, or `OPEN` and what is taken


ABSENT, ZERO, SETTLED, OPEN = 0, 1, 2, 3
"""A pair that nothing asked depends on; one at distance 0; one with no choice of plans in what is taken; one
with a choice, `OPEN` plus the number of the side (see `_side`)."""


def index(place: int) -> int:
    """Return a place in an array that does not count from its end; machine code then need not ask.

    Where distances are waited for, as in `follow`, a third fewer instructions are as much less time.
    """
    return place


def _keep(
    count: int, lost: float, unit: float, room: Room, plans: Plans, pair: int, at: int, places: int
) -> None:
    """Write the plan that was made last into the places of a pair."""
    plans.lost[pair] = lost / unit
    for k in range(places):
        plans.cell[at + k] = room.cell[k] if k < count else 0
        plans.mass[at + k] = room.mass[k] / unit if k < count else 0.0


def _followed(plans: Plans, table: Array, one: float, pair: int, at: int, places: int) -> float:
    """Return what the plan of a pair costs, about."""
    cost: float = plans.lost[index(pair)] * one
    for k in range(at, at + places):
        cost += plans.mass[index(k)] * table[index(plans.cell[index(k)])]
    return cost


def _places(s: int, t: int, chain: Chain) -> int:
    """Return how many moves a plan of a pair may have."""
    places: int = max(chain.long[index(s)] + chain.long[index(t)] - 1, 0)
    return places


def _sides(s: int, t: int, chain: Chain) -> int:
    """Return how many sides a pair has: one for everything asked, and each direction if that counts."""
    row = chain.row
    if SIMPLE:
        return 2 if chain.p != chain.q else 1
    here, there = row[s + 1] - row[s], row[t + 1] - row[t]
    asked: int = here * there if chain.crossed else min(here, there)
    return asked * 2 if chain.p != chain.q and chain.half == 0 else asked


def _side(s: int, t: int, side: int, chain: Chain) -> tuple[int, int]:
    """Return from which row to which a side leads."""
    row, turned = chain.row, False
    if SIMPLE:
        return (t, s) if side == 1 else (s, t)
    if chain.p != chain.q and chain.half == 0:
        side, turned = side // 2, side % 2 == 1
    x, y = row[s] + side, row[t] + side
    if chain.crossed:
        there = row[t + 1] - row[t]
        x, y = row[s] + side // there, row[t] + side % there
    return (y, x) if turned else (x, y)


def _pair(late: int, step: int, twice: int, chain: Chain) -> tuple[int, int, int]:
    """Return a pair of a state and one before it, with its number; ordered ones come `twice`."""
    peer = chain.peer[index(step >> twice)]
    s, t = max(late, peer), min(late, peer)
    if step & twice:
        s, t = t, s
    if SIMPLE:
        return s, t, chain.base[index(s)] + t
    return s, t, number(s, t, True, chain.base, chain.half)


def improve(
    low: int,
    high: int,
    at: int,
    chain: Chain,
    room: Room,
    plans: Plans,
    both: bool,
    at_once: bool,
    table: Array,
    one: float,
    extra: float,
) -> tuple[int, float]:
    """Make plans optimal, and `at_once` the distances what they cost, `extra` added.

    Otherwise the table stays as it is, so that the pairs may be shared out among any number of workers, and
    plans without a choice are not looked at again. With `both` the dearest side of a pair is looked for,
    otherwise the one that was taken last is kept. Returns where the places end, and by how much a distance
    differs at most from what was found.
    """
    change = 0.0
    twice = 1 if not SIMPLE and chain.half > 0 else 0
    for k in range(low, high):
        late = chain.order[k]
        for step in range(chain.first[late] << twice, chain.turn[late] << twice):
            s, t, pair = _pair(late, step, twice, chain)
            state = plans.state[pair]
            if state == ABSENT:
                continue
            places = _places(s, t, chain)
            if not at_once and (state == ZERO or (state == SETTLED and not both)):
                value = table[pair] - extra
            elif state == ZERO:
                value = -one
            elif state == SETTLED and not both:
                value = _followed(plans, table, one, pair, at, places)
            else:
                taken = 0 if both else state - OPEN
                x, y = _side(s, t, taken, chain)
                count, cost, lost, unit, choice = make_plan(x, y, chain, room, table, one)
                _keep(count, lost, unit, room, plans, pair, at, places)
                value = cost / unit
                for side in range(1, _sides(s, t, chain) if both else 1):
                    x, y = _side(s, t, side, chain)
                    count, cost, lost, unit, chosen = make_plan(x, y, chain, room, table, one)
                    if cost / unit > value:
                        _keep(count, lost, unit, room, plans, pair, at, places)
                        value, choice, taken = cost / unit, chosen, side
                plans.state[pair] = OPEN + taken if choice else SETTLED
            value = min(max(floor(value + extra), 0.0), one)
            change = max(change, abs(value - table[pair]))
            if at_once:
                table[pair] = value
            at += places
    return at, change


def follow(
    low: int, high: int, at: int, chain: Chain, plans: Plans, table: Array, one: float, extra: float
) -> tuple[int, float]:
    """Make the distances what the plans that there are cost, `extra` added; each counts when it is known.

    Returns where the places end, and the largest change of a distance.
    """
    change = 0.0
    twice = 1 if not SIMPLE and chain.half > 0 else 0
    for k in range(low, high):
        late = chain.order[k]
        for step in range(chain.first[late] << twice, chain.turn[late] << twice):
            s, t, pair = _pair(late, step, twice, chain)
            if plans.state[index(pair)] == ABSENT:
                continue
            places = _places(s, t, chain)
            if plans.state[index(pair)] != ZERO:
                value = _followed(plans, table, one, pair, at, places) + extra
                value = min(max(floor(value), 0.0), one)
                change = max(change, abs(value - table[index(pair)]))
                table[index(pair)] = value
            at += places
    return at, change


def pay(low: int, high: int, chain: Chain, room: Room, plans: Plans, table: Array) -> tuple[int, int]:
    """Open the pairs at distance 0 all of whose plans of a side cost something, where open pairs cost 1.

    Returns how many there are, and how many places the plans of all pairs have.
    """
    found = places = 0
    twice = 1 if not SIMPLE and chain.half > 0 else 0
    for k in range(low, high):
        late = chain.order[k]
        for step in range(chain.first[late] << twice, chain.turn[late] << twice):
            s, t, pair = _pair(late, step, twice, chain)
            if plans.state[pair] == ABSENT:
                continue
            places += _places(s, t, chain)
            if plans.state[pair] == ZERO:
                cost, side, sides = 0.0, 0, _sides(s, t, chain)
                while cost == 0.0 and side < sides:
                    x, y = _side(s, t, side, chain)
                    cost = make_plan(x, y, chain, room, table, 1.0)[1]
                    side += 1
                if cost > 0.0:
                    plans.state[pair] = OPEN
                    table[pair] = 1.0
                    found += 1
    return found, places


def reach(chain: Chain, room: Room, state: Array, stack: Array, depth: int, limit: int) -> int:
    """Go on with the search for all pairs that direct plans at alpha = 1 reach, by `limit` pairs at most.

    The first `depth` entries of the stack are pairs ``s n + t`` that were found and not looked at. Returns
    how many there are in the end.
    """
    kind, start, target, states = chain.kind, chain.start, chain.target, len(chain.first)
    node, width = room.node, room.width
    while depth > 0 and limit > 0:
        depth -= 1
        limit -= 1
        s, t = stack[depth] // states, stack[depth] % states
        for side in range(_sides(s, t, chain)):
            x, y = _side(s, t, side, chain)
            a, b = start[x], start[y]
            sources = sinks = 0
            while kind[target[a]] >= 0 or kind[target[b]] >= 0:
                i = min(target[a], target[b])
                here = there = 0.0
                if target[a] == i:
                    here = chain.mass[a] * chain.whole[y]
                    a += 1
                if target[b] == i:
                    there = chain.mass[b] * chain.whole[x]
                    b += 1
                if here > there:
                    node[sources] = i
                    sources += 1
                elif here < there:
                    node[width + sinks] = i
                    sinks += 1
                if kind[min(target[a], target[b])] != kind[i]:
                    for k in range(sources):
                        for m in range(sinks):
                            depth = _found(node[k], node[width + m], chain, state, stack, depth)
                    sources = sinks = 0
    return depth


def _found(i: int, j: int, chain: Chain, state: Array, stack: Array, depth: int) -> int:
    """Put a pair on the stack if it was not found before; return how many there are."""
    pair = number(i, j, True, chain.base, chain.half)
    if state[pair] == ABSENT:
        state[pair] = ZERO
        stack[depth] = i * len(chain.first) + j
        depth += 1
    return depth


def violations(
    low: int, high: int, chain: Chain, room: Room, plans: Plans, lower: Array, upper: Array, one: float
) -> int:
    """Count the pairs at which the tables are not proved to be bounds, all rounding allowed for.

    It is proved where every side costs no more than the upper table says, at the values of this table, and
    some side more than the lower table says, at the values of that one.
    """
    wrong = 0
    twice = 1 if not SIMPLE and chain.half > 0 else 0
    for k in range(low, high):
        late = chain.order[k]
        for step in range(chain.first[late] << twice, chain.turn[late] << twice):
            s, t, pair = _pair(late, step, twice, chain)
            if plans.state[pair] == ABSENT:
                continue
            proved, enough = True, lower[pair] == 0.0
            for side in range(_sides(s, t, chain)):
                x, y = _side(s, t, side, chain)
                if upper[pair] < one:
                    _, cost, _, unit, _ = make_plan(x, y, chain, room, upper, one)
                    proved = proved and (cost == 0.0 or cost / unit + 1.0 <= upper[pair])
                if not enough:
                    _, cost, _, unit, _ = make_plan(x, y, chain, room, lower, one)
                    enough = cost / unit - 1.0 > lower[pair]
            wrong += not (proved and enough)
    return wrong


def close(low: int, high: int, matrix: Array, skewed: Array, reach: Array, best: Array) -> float:
    """Find what third states k leave of the rows `low` to `high` of a class: ``d_ik + skewed_kj``.

    Those that are at least as far from i as `reach` says for its row leave nothing less. It is written into
    the first rows of `best`. Returns the largest change.
    """
    size = len(matrix)
    for i in range(low, high):
        for j in range(size):
            best[i - low, j] = matrix[i, j]
    for k in range(size):
        onward = skewed[k]
        for i in range(low, high):
            here = matrix[i, k]
            if here < reach[i - low]:
                row = best[i - low]
                for j in range(size):
                    there = here + onward[j]
                    row[j] = there if there < row[j] else row[j]
    change = 0.0
    for i in range(low, high):
        for j in range(size):
            change = max(change, matrix[i, j] - best[i - low, j])
    return change
