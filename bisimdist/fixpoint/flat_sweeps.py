"""Sweeps over flat tables, pair by pair; numba can compile them.

They work on the states number `low` to `high` - 1 of the order of the chain, so that whoever calls them can
stop in between, and take the places of the plans from `at` on.
"""

from __future__ import annotations

from math import floor
from typing import NamedTuple

from bisimdist.fixpoint.flat_plan import Array, Chain, Room, make_plan

__all__ = [
    "ABSENT",
    "OPEN",
    "SETTLED",
    "TURNED",
    "ZERO",
    "Plans",
    "close",
    "follow",
    "improve",
    "pay",
    "reach",
    "violations",
]


class Plans(NamedTuple):
    """A plan for every pair; the moves of (s, t) have as many places as both rows have targets, less one."""

    cell: Array
    mass: Array
    """Mass 1 being 1; 0 in places not used."""
    lost: Array
    """By pair: the mass given up."""
    state: Array
    """By pair: `ABSENT`, `ZERO`, `OPEN`, `SETTLED` or `TURNED`."""


ABSENT, ZERO, OPEN, SETTLED, TURNED = 0, 1, 2, 3, 4
"""A pair that nothing asked depends on; one at distance 0; one with a choice of plans from its larger state
to its smaller; one with none in the direction taken; one with a choice in the other direction."""


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
    cost: float = plans.lost[pair] * one
    for k in range(at, at + places):
        cost += plans.mass[k] * table[plans.cell[k]]
    return cost


def _places(s: int, t: int, chain: Chain) -> int:
    """Return how many moves a plan of a pair may have."""
    start = chain.start
    places: int = start[s + 1] - start[s] + start[t + 1] - start[t] - 3
    return places


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
    plans without a choice are not looked at again. With `both` the dearer direction of a pair is looked for,
    otherwise the one that was taken last is kept. Returns where the places end, and by how much a distance
    differs at most from what was found.
    """
    change = 0.0
    for k in range(low, high):
        late = chain.order[k]
        for place in range(chain.first[late], chain.turn[late]):
            s, t = max(late, chain.peer[place]), min(late, chain.peer[place])
            pair = chain.base[s] + t
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
                turned = state == TURNED and not both
                a, b = (t, s) if turned else (s, t)
                count, cost, lost, unit, choice = make_plan(a, b, chain, room, table, one)
                _keep(count, lost, unit, room, plans, pair, at, places)
                if both:
                    count, back, lost, unit, chosen = make_plan(t, s, chain, room, table, one)
                    if back > cost:
                        _keep(count, lost, unit, room, plans, pair, at, places)
                        cost, choice, turned = back, chosen, True
                plans.state[pair] = (TURNED if turned else OPEN) if choice else SETTLED
                value = cost / unit
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
    for k in range(low, high):
        late = chain.order[k]
        for place in range(chain.first[late], chain.turn[late]):
            s, t = max(late, chain.peer[place]), min(late, chain.peer[place])
            pair = chain.base[s] + t
            if plans.state[pair] == ABSENT:
                continue
            places = _places(s, t, chain)
            if plans.state[pair] != ZERO:
                value = _followed(plans, table, one, pair, at, places) + extra
                value = min(max(floor(value), 0.0), one)
                change = max(change, abs(value - table[pair]))
                table[pair] = value
            at += places
    return at, change


def pay(low: int, high: int, chain: Chain, room: Room, plans: Plans, table: Array) -> tuple[int, int]:
    """Open the pairs at distance 0 all of whose plans of a direction cost something, where open pairs cost 1.

    Returns how many there are, and how many places the plans of all pairs have.
    """
    found = places = 0
    for k in range(low, high):
        late = chain.order[k]
        for place in range(chain.first[late], chain.turn[late]):
            s, t = max(late, chain.peer[place]), min(late, chain.peer[place])
            pair = chain.base[s] + t
            if plans.state[pair] == ABSENT:
                continue
            places += _places(s, t, chain)
            if plans.state[pair] == ZERO:
                cost = make_plan(s, t, chain, room, table, 1.0)[1]
                if chain.p != chain.q and cost == 0.0:
                    cost = make_plan(t, s, chain, room, table, 1.0)[1]
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
    base, kind, start, target, states = chain.base, chain.kind, chain.start, chain.target, len(chain.first)
    node, width = room.node, room.width
    while depth > 0 and limit > 0:
        depth -= 1
        limit -= 1
        s, t = stack[depth] // states, stack[depth] % states
        a, b = start[s], start[t]
        sources = sinks = 0
        while kind[target[a]] >= 0 or kind[target[b]] >= 0:
            x = min(target[a], target[b])
            here = there = 0.0
            if target[a] == x:
                here = chain.mass[a] * chain.whole[t]
                a += 1
            if target[b] == x:
                there = chain.mass[b] * chain.whole[s]
                b += 1
            if here > there:
                node[sources] = x
                sources += 1
            elif here < there:
                node[width + sinks] = x
                sinks += 1
            if kind[min(target[a], target[b])] != kind[x]:
                for k in range(sources):
                    for m in range(sinks):
                        i, j = max(node[k], node[width + m]), min(node[k], node[width + m])
                        if state[base[i] + j] == ABSENT:
                            state[base[i] + j] = ZERO
                            stack[depth] = i * states + j
                            depth += 1
                sources = sinks = 0
    return depth


def violations(
    low: int, high: int, chain: Chain, room: Room, plans: Plans, lower: Array, upper: Array, one: float
) -> int:
    """Count the pairs at which the tables are not proved to be bounds, all rounding allowed for.

    It is proved where every direction costs no more than the upper table says, at the values of this table,
    and some direction more than the lower table says, at the values of that one.
    """
    wrong = 0
    for k in range(low, high):
        late = chain.order[k]
        for place in range(chain.first[late], chain.turn[late]):
            s, t = max(late, chain.peer[place]), min(late, chain.peer[place])
            pair = chain.base[s] + t
            if plans.state[pair] == ABSENT:
                continue
            if upper[pair] < one:
                _, cost, _, unit, _ = make_plan(s, t, chain, room, upper, one)
                if chain.p != chain.q:
                    cost = max(cost, make_plan(t, s, chain, room, upper, one)[1])
                wrong += cost > 0.0 and cost / unit + 1.0 > upper[pair]
            if lower[pair] > 0.0:
                _, cost, _, unit, _ = make_plan(s, t, chain, room, lower, one)
                enough = cost / unit - 1.0 > lower[pair]
                if not enough and chain.p != chain.q:
                    enough = make_plan(t, s, chain, room, lower, one)[1] / unit - 1.0 > lower[pair]
                wrong += not enough
    return wrong


def close(low: int, high: int, matrix: Array, skewed: Array, best: Array) -> float:
    """Find what third states k leave of the rows `low` to `high` of a class: ``d_ik + skewed_kj``.

    It is written into the first rows of `best`. Returns the largest change.
    """
    size = len(matrix)
    for i in range(low, high):
        best[i - low] = matrix[i]
    for k in range(size):
        onward = skewed[k]
        for i in range(low, high):
            here = matrix[i, k]
            row = best[i - low]
            for j in range(size):
                there = here + onward[j]
                row[j] = there if there < row[j] else row[j]
    change = 0.0
    for i in range(low, high):
        for j in range(size):
            change = max(change, matrix[i, j] - best[i - low, j])
    return change
