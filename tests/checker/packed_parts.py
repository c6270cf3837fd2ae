"""Models, and what makes certificates about them, for several files with compact tables."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.checker.packed import NONE, Document, Packed, Row, chain, codes, merging, numeral, pair, text

STATES, THREE = "s:a t:a u:b v:b w:c x:d", "s:a t:a u:b v:b y:b w:c x:d"
WHOLE, HALF = {"w": "1"}, {"w": "1/2", "x": "1/2"}
HALVES = chain(STATES, s={"u": "3/4", "v": "1/4"}, t={"u": "1/4", "v": "3/4"}, u=WHOLE, v=HALF)
"""s and t are at distance 1/4, u and v at distance 1/2."""

EXACT = Packed(
    HALVES,
    [("s", "t")],
    [NONE, pair(1, rank=1), NONE, pair(2, rank=1), NONE, NONE],
    # of s and t: u hangs from v, and is stuck; of u and v: both are roots, and w is stuck
    bytes([0]) + codes(1, 0) + numeral(1) + bytes([0]) + codes(0, 0) + numeral(1),
    ranks=1,
)


def above(st: int, uv: int, record: bytes, **more: Any) -> Packed:
    """Say in quarters that s and t, and u and v, are at most so far apart."""
    rows = [NONE, pair(st, st), NONE, pair(uv, uv), NONE, NONE]
    return replace(EXACT, rows=rows, records=record + bytes([0]) + codes(0, 0), gap=1, ranks=0, **more)


def three(model: Document, distances: tuple[int, int, int], lower: int, record: bytes) -> Packed:
    """Say in sixteenths that s and t are at least so far apart, and how far u and v, u and y, v and y are."""
    first, *others = ((8 * d, d) for d in distances)
    row = Row(((0, 2),), tuple(d for d, _ in others), tuple(gap for _, gap in others))
    rows = [NONE, pair(16, 16 - lower), NONE, pair(*first), row, NONE, NONE]
    rest = [bytes([0]) + (codes(0, 0) if d else b"") for d in distances]
    return Packed(model, [("s", "t")], rows, record + b"".join(rest), denominator=16, gap=1)


DETOUR: dict[str, Any] = {
    "s": {"w": "3/5", "j": "2/5"},
    "t": {"i": "1/6", "w": "1/2", "v": "1/3"},
    "i": {"v": "1/5", "w": "4/5"},
    "k": {"v": "1/10", "w": "9/10"},
    "j": {"v": "1/20", "w": "19/20"},
}
BY_TWO = "s:a t:a i:b k:b j:b v:c w:d"
SHORTCUT = chain(BY_TWO, **DETOUR)
"""At alpha = 2 mass goes from i to j through k for nothing: s and t are at distance 1/3, not 7/20."""

AROUND = {
    "forward": {"moves": [["j", "i", "1/6"]], "given_up": [["j", "7/30"]]},
    "backward": {"moves": [["i", "k", "1/6"], ["k", "j", "1/3"]], "given_up": [["v", "1/3"]]},
}


def shortcut(
    st: int,
    lower: int,
    flags: int = 1,
    basis: bytes = b"",
    *,
    rank: int = 1,
    distances: tuple[tuple[int, ...], ...] = ((0,), (6, 0)),
    **more: Any,
) -> Packed:
    """Say in sixtieths that s and t are at most and at least so far apart.

    By row, the distances are those of k, of j, ... from the states before it; less than 0 says that the lower
    bound is about the other direction.
    """
    rows = [
        Row(((0, len(row)),), tuple(map(abs, row)), (0,) * len(row), tuple(int(d != 0) for d in row))
        for row in distances
    ]
    if flags & 4:
        upper, basis = text(AROUND), text({"witness": {"v": "1"}})
    else:
        upper = codes(1, 0, 0, 0) * 2
    records = [bytes([flags]) + upper + basis + numeral(1) * rank]
    records += [bytes([d < 0]) + codes(0, 0) * 2 + numeral(1) * (d != 0) for row in distances for d in row]
    packed = Packed(
        SHORTCUT,
        [("s", "t")],
        [NONE, Row(((0, 1),), (st,), (st - lower,), (rank,)), NONE, *rows, NONE, NONE],
        b"".join(records),
        "2",
        denominator=60,
        gap=1,
        ranks=1,
    )
    return replace(packed, **more)


ROUND = chain("p:a q:a", p={"p": "1"}, q={"q": "1"})
"""Both states do the same for ever, and are at distance 0."""


def going_round(rank: int = 0, reason: bytes = b"") -> Packed:
    record = bytes([2]) + codes(1, 0) + reason
    return Packed(ROUND, [("p", "q")], [NONE, pair(4, rank=rank)], record, ranks=1 if rank else 0)


def told(flag: int, data: object, upper: int, lower: int, size: int = 0) -> Packed:
    """Say in quarters, by a text of at least so many bytes, how far u and v are apart."""
    rows = [NONE, NONE, NONE, pair(upper, upper - lower), NONE, NONE]
    return Packed(HALVES, [("u", "v")], rows, bytes([flag]) + text(data, size), gap=1)


def coupled(upper: int, *given: tuple[str, str]) -> Packed:
    return told(4, {"forward": {"moves": [], "given_up": given}}, upper, 0)


ALIKE = chain(
    f"{STATES} z:d p:e q:e",
    s={"u": "3/4", "v": "1/4"},
    t={"u": "1/4", "v": "3/4"},
    u=WHOLE,
    v={"w": "1/2", "x": "1/4", "z": "1/4"},
    p=WHOLE,
    q={"x": "1"},
)
"""The same, but that half of the mass that goes to x goes to z, which is like x; p and q are apart."""


def merged(alpha: str = "1", **stands: str) -> Packed:
    return replace(
        EXACT, model=ALIKE, head=merging(ALIKE, stands), alpha=alpha, rows=[*EXACT.rows, NONE, NONE]
    )


DEEP = chain(THREE, s={"u": "1"}, t={"v": "1/2", "y": "1/2"}, u=WHOLE, v=HALF, y=WHOLE)
FULL = chain(THREE, s={"u": "1/2", "y": "1/2"}, t={"v": "1/4", "x": "3/4"}, u=WHOLE, v=WHOLE, y=HALF)
EMPTY = chain(THREE, s={"u": "1/2", "x": "1/2"}, t={"v": "1/2", "y": "1/2"}, u=WHOLE, v=WHOLE, y=HALF)
ROOMY = chain(
    STATES, s={"u": "3/4", "w": "1/4"}, t={"u": "1/4", "v": "1/4", "w": "1/4", "x": "1/4"}, u=WHOLE, v=HALF
)
APART = chain(THREE, s={"u": "1/2", "y": "1/2"}, t={"v": "1"}, u=WHOLE, v=WHOLE, y=HALF)
SIXTEENTHS = chain(
    "s:a t:a u:b v:b y:b z:b w:c x:d",
    s={"u": "7/16", "y": "9/16"},
    t={"v": "7/16", "z": "9/16"},
    u=WHOLE,
    v={"w": "9/16", "x": "7/16"},
    y={"x": "1"},
    z={"x": "1"},
)


def of_two(upper: int, first: int) -> Packed:
    """Say in sixteenths that s and t are at most so far apart, by what two sources hang from."""
    return Packed(
        SIXTEENTHS,
        [("s", "t")],
        [NONE, pair(upper, upper), NONE, pair(7, 7), NONE, Row(((2, 1),), (0,), (0,)), NONE, NONE],
        bytes([0]) + codes(0, first, 0, 2) + bytes([0]) + codes(0, 0) + bytes([0]),
        denominator=16,
        gap=1,
    )
