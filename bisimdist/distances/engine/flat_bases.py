"""Optimal bases of all pairs of flat tables as bytes, as compact tables have them; for numba.

See docs/certificates/compact.md: a code for each state where the two rows differ, 0 for a root, k for what
hangs from the k-th state of its class on the other side.
"""

from __future__ import annotations

from typing import NamedTuple

from bisimdist.distances.engine.flat_plan import Array, Chain, Room, forest, make_plan
from bisimdist.distances.engine.flat_sweeps import ABSENT

TURNED, OWN = 1, 2
"""What a pair says first: its lower bound is about the other direction; it has a basis of its own."""

NIBBLES, BYTES = 1 << 4, 1 << 8  # codes of fewer nodes than this take half a byte, or a byte


class Bases(NamedTuple):
    """Room for the codes of three bases, and for the numbers of nodes: the sources, then the sinks."""

    code: Array
    spot: Array


def _program(
    s: int, t: int, chain: Chain, room: Room, table: Array, one: float, code: Array, spot: Array
) -> int:
    """Write the codes of an optimal basis of one direction of a pair; return how many there are."""
    kind, start, target, p, q = chain.kind, chain.start, chain.target, chain.p, chain.q
    a, b = start[s], start[t]
    raise_s, raise_t = chain.whole[t], chain.whole[s]
    if raise_s == raise_t:
        raise_s = raise_t = 1.0
    count = sources = sinks = 0
    i, j = target[a], target[b]
    now = kind[min(i, j)]
    while now >= 0:
        x = min(i, j)
        excess = 0.0
        if i == x:
            excess += q * chain.mass[a] * raise_s
            a += 1
            i = target[a]
        if j == x:
            excess -= p * chain.mass[b] * raise_t
            b += 1
            j = target[b]
        if excess != 0.0:
            code[count] = 0
            if excess > 0.0:
                room.node[sources] = x
                room.amount[sources] = p * excess
                spot[sources] = count
                sources += 1
            else:
                room.node[room.width + sinks] = x
                room.amount[room.width + sinks] = -q * excess
                spot[room.width + sinks] = count
                sinks += 1
            count += 1
        following = kind[min(i, j)]
        if following != now:
            now = following
            if sources > 0 and sinks > 0:
                forest(sources, sinks, room, chain.base, chain.half, table, one)
                for v in range(sources + sinks):
                    above = room.tree[v]
                    if v < sources:
                        code[spot[v]] = above - sources + 1 if above >= 0 else 0
                    else:
                        code[spot[room.width + v - sources]] = above + 1
            sources = sinks = 0
    return count


def _pack(code: Array, count: int, out: Array, at: int) -> int:
    """Append codes to the bytes; return where these end."""
    if count < NIBBLES:
        for k in range(0, count, 2):
            out[at] = code[k] + (code[k + 1] << 4 if k + 1 < count else 0)
            at += 1
        return at
    for k in range(count):
        out[at] = code[k] & 255
        at += 1
        if count >= BYTES:
            out[at] = code[k] >> 8
            at += 1
    return at


def write_bases(
    low: int,
    high: int,
    chain: Chain,
    room: Room,
    work: Bases,
    state: Array,
    lower: Array,
    upper: Array,
    one: float,
    out: Array,
) -> int:
    """Write what proves the bounds of the pairs of the states `low` to `high` - 1; return how many bytes."""
    at = 0
    skewed = chain.p != chain.q
    for s in range(low, high):
        for t in range(chain.first[s], s):
            pair = chain.base[s] + t
            if state[pair] == ABSENT:
                continue
            first = at
            out[first] = 0
            at += 1
            forth = back = -1
            if upper[pair] < one:
                forth = _program(t, s, chain, room, upper, one, work.code[0], work.spot)
                at = _pack(work.code[0], forth, out, at)
                if skewed:
                    back = _program(s, t, chain, room, upper, one, work.code[1], work.spot)
                    at = _pack(work.code[1], back, out, at)
            if lower[pair] > 0.0:
                turned = False
                if skewed:
                    _, cost, _, unit, _ = make_plan(t, s, chain, room, lower, one)
                    turned = not cost / unit - 1.0 > lower[pair]
                i, j, known, there = (s, t, back, 1) if turned else (t, s, forth, 0)
                count = _program(i, j, chain, room, lower, one, work.code[2], work.spot)
                same = known == count
                for k in range(count):
                    same = same and work.code[2, k] == work.code[there, k]
                if turned:
                    out[first] |= TURNED
                if not same:
                    out[first] |= OWN
                    at = _pack(work.code[2], count, out, at)
    return at
