"""A plan for one pair of states, whose programs are made, solved and forgotten; numba can compile it.

No array is made here, and none counted: see `bisimdist.lp.compiled.machine_code`.

A table holds the distance of every pair of states of one class below the diagonal: ``base[i] + j`` for
``i > j``; where pairs are ordered, those above it come after all of these. Distances are whole numbers of
units, `one` of them being distance 1, and amounts of mass whole numbers of another unit, both as doubles
that hold them exactly; so do those of all sums and differences that decide something, and plans are feasible
and optimal without any rounding. What a plan costs is known up to half a unit of distance. See
docs/theory/brackets.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from bisimdist.lp.kernel import basis_flows, simplex

Array = Any  # numpy array of int64, float64 or uint8

SIMPLE = False  # whether every state has one row and pairs are unordered; compiled code of its own knows that


class Chain(NamedTuple):
    """A chain, or an interactive model, whose states are sorted by class, with the skew p / q."""

    order: Array  # the states so that those that others lead to come first, as far as nothing goes round;
    peer: Array  # the same of the states of every class, class by class;
    turn: Array  # and by state its place there
    first: Array  # by state: the first state of its class
    base: Array
    """By state: where its row of the table begins, less the number of the first state of its class."""
    kind: Array  # by state: its class; -1 for the number after the last state
    half: int  # where the pairs above the diagonal begin in a table; 0 where pairs are unordered
    row: Array  # by state: the first of its rows, of which it has one for everything that may be asked
    crossed: bool
    """Whether any two rows of two states face each other, and not only those that are asked the same."""
    long: Array  # by state: how many targets its longest row has
    start: Array  # by row: where it begins. Each row ends with the number after the last state as a target.
    target: Array
    mass: Array  # numerators over the denominator of the row
    whole: Array  # by row: its denominator
    p: float
    q: float


class Room(NamedTuple):
    """Room to work in; the states of one class in two rows are at most `width`."""

    width: int
    node: Array  # the sources, and from `width` on the sinks
    amount: Array  # what they hold, and what they take
    cost: Array
    tree: Array
    work: Array
    cell: Array  # the plan that was made last: which pairs it moves mass to,
    mass: Array  # and how much, in the unit of the amounts


def number(i: int, j: int, forth: bool, base: Array, half: int) -> int:
    """Return the number of the pair (i, j), or of (j, i) if not `forth`."""
    found: int = base[max(i, j)] + min(i, j)
    if not SIMPLE and (i < j) == forth:
        return found + half
    return found


def _share(
    one: int, many: int, shift: int, left: float, room: Room, base: Array, half: int, table: Array, at: int
) -> int:
    """Share what one state has among several of the other side, cheapest first."""
    node, amount, cost = room.node, room.amount, room.cost
    for k in range(many):
        j = node[shift + k]
        cost[k] = table[number(one, j, shift > 0, base, half)]
    while left > 0.0:
        best = -1
        for k in range(many):
            if cost[k] >= 0.0 and (best < 0 or cost[k] < cost[best]):
                best = k
        j = node[shift + best]
        room.cell[at] = number(one, j, shift > 0, base, half)
        room.mass[at] = min(left, amount[shift + best])
        left -= room.mass[at]
        cost[best] = -1.0
        at += 1
    return at


def _divide(
    one: int,
    other: int,
    many: int,
    shift: int,
    least: float,
    most: float,
    room: Room,
    base: Array,
    half: int,
    table: Array,
    at: int,
) -> int:
    """Divide what several states have, all of it, between two; the first gets from `least` to `most`."""
    node, amount, cost, part = room.node, room.amount, room.cost, room.work
    sent = 0.0
    for k in range(many):
        j = node[shift + k]
        here = table[number(one, j, shift > 0, base, half)]
        cost[k] = here - table[number(other, j, shift > 0, base, half)]
        part[k] = amount[shift + k] if cost[k] < 0.0 else 0.0
        sent += part[k]
    while sent > most or sent < least:
        # turn round what loses least by it
        back = sent > most
        best = -1
        for k in range(many):
            open_ = part[k] == (amount[shift + k] if back else 0.0) and (cost[k] < 0.0) == back
            if open_ and (best < 0 or abs(cost[k]) < abs(cost[best])):
                best = k
        change = min(amount[shift + best], sent - most if back else least - sent)
        part[best] += -change if back else change
        sent += -change if back else change
    for k in range(many):
        j = node[shift + k]
        if part[k] > 0.0:
            room.cell[at] = number(one, j, shift > 0, base, half)
            room.mass[at] = part[k]
            at += 1
        if part[k] < amount[shift + k]:
            room.cell[at] = number(other, j, shift > 0, base, half)
            room.mass[at] = amount[shift + k] - part[k]
            at += 1
    return at


def forest(sources: int, sinks: int, room: Room, base: Array, half: int, table: Array, one: float) -> None:
    """Find an optimal basis by the network simplex: the parents of the nodes, then an order for the flows."""
    width, node, amount = room.width, room.node, room.amount
    for a in range(sources):
        room.work[a] = amount[a] * (sources + 2.0) + 1.0
        room.work[2 * width + a] = one
        i = node[a]
        for b in range(sinks):
            j = node[width + b]
            room.cost[a * sinks + b] = table[number(i, j, True, base, half)]
    for b in range(sinks):
        room.work[width + b] = amount[width + b] * (sources + 2.0)
        room.work[3 * width + b] = 0.0
    parent = room.tree[: sources + sinks]
    parent[:] = -1
    simplex(
        sources,
        sinks,
        room.work,
        room.work[width:],
        room.cost,
        room.work[2 * width :],
        room.work[3 * width :],
        parent,
        room.tree[2 * width :],
        room.tree[4 * width :],
        room.work[4 * width :],
        room.work[6 * width :],
        0,
    )


def _transport(
    sources: int, sinks: int, room: Room, base: Array, half: int, table: Array, one: float, at: int
) -> int:
    """Solve a program of any size by the network simplex."""
    width, node, amount = room.width, room.node, room.amount
    nodes = sources + sinks
    forest(sources, sinks, room, base, half, table, one)
    parent, order, flow = room.tree, room.tree[2 * width :], room.work[4 * width :]
    basis_flows(sources, sinks, amount, amount[width:], parent, order, flow)
    for v in range(nodes):
        u = parent[v]
        if u >= 0 and flow[v] > 0.0:
            i = node[v] if v < sources else node[u]
            j = node[width + u - sources] if v < sources else node[width + v - sources]
            room.cell[at] = number(i, j, True, base, half)
            room.mass[at] = flow[v]
            at += 1
    return at


def _ship(
    sources: int,
    sinks: int,
    held: float,
    taken: float,
    room: Room,
    base: Array,
    half: int,
    table: Array,
    one: float,
    at: int,
) -> tuple[int, bool]:
    """Append the moves of an optimal plan of one class; tell whether there was a choice."""
    width, node, amount = room.width, room.node, room.amount
    if sources == 1:
        if held >= taken or sinks == 1:
            i = node[0]
            for b in range(sinks):
                j = node[width + b]
                room.cell[at + b] = number(i, j, True, base, half)
                room.mass[at + b] = min(held, amount[width + b])
            return at + sinks, False
        return _share(node[0], sinks, width, held, room, base, half, table, at), True
    if sinks == 1:
        if taken >= held:
            j = node[width]
            for a in range(sources):
                i = node[a]
                room.cell[at + a] = number(i, j, True, base, half)
                room.mass[at + a] = amount[a]
            return at + sources, False
        return _share(node[width], sources, 0, taken, room, base, half, table, at), True
    if sinks == 2 and held <= taken:
        least, most = held - amount[width + 1], amount[width]
        return _divide(
            node[width], node[width + 1], sources, 0, least, most, room, base, half, table, at
        ), True
    if sources == 2 and taken <= held:
        least, most = taken - amount[1], amount[0]
        return _divide(node[0], node[1], sinks, width, least, most, room, base, half, table, at), True
    return _transport(sources, sinks, room, base, half, table, one, at), True


def make_plan(
    s: int, t: int, chain: Chain, room: Room, table: Array, one: float
) -> tuple[int, float, float, float, bool]:
    """Make an optimal plan from one row to another.

    returns count, cost, lost, unit, choice: how many moves it has; what it costs and gives up, in the unit of
        the amounts, of which `unit` are mass 1; whether there was a choice.
    """
    kind, start, target, p, q = chain.kind, chain.start, chain.target, chain.p, chain.q
    base, half = chain.base, chain.half
    a, b = start[s], start[t]
    raise_s, raise_t = chain.whole[t], chain.whole[s]
    unit = raise_s * p * q
    if raise_s == raise_t:
        raise_s = raise_t = 1.0
    else:
        unit *= raise_t
    sources = sinks = at = 0
    held = taken = lost = 0.0
    choice = False
    i, j = target[a], target[b]
    now = kind[min(i, j)]
    while now >= 0:
        x = min(i, j)
        here = there = 0.0
        if i == x:
            here = chain.mass[a] * raise_s
            a += 1
            i = target[a]
        if j == x:
            there = chain.mass[b] * raise_t
            b += 1
            j = target[b]
        excess = q * here - p * there
        if excess > 0.0:
            room.node[sources] = x
            room.amount[sources] = p * excess
            held += p * excess
            sources += 1
        elif excess < 0.0:
            room.node[room.width + sinks] = x
            room.amount[room.width + sinks] = -q * excess
            taken -= q * excess
            sinks += 1
        following = kind[min(i, j)]
        if following != now:
            now = following
            lost += held
            if sources > 0 and sinks > 0:
                before = at
                at, chosen = _ship(sources, sinks, held, taken, room, base, half, table, one, at)
                choice |= chosen
                for k in range(before, at):
                    lost -= room.mass[k]
            sources = sinks = 0
            held = taken = 0.0
    cost = lost * one
    for k in range(at):
        cost += room.mass[k] * table[room.cell[k]]
    return at, cost, lost, unit, choice
