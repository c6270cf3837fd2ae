"""The files of ``tests/certificates/*/compact``, put together byte by byte.

``python -m tests.checker.packed_files`` writes those that are said here.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from tests.checker.brute import digest
from tests.checker.corpus import FOLDER
from tests.checker.packed import NONE, Document, Packed, Row, chain, codes, numeral, pair, text

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


SHORTCUT = chain(
    "s:a t:a i:b k:b j:b v:c w:d",
    s={"w": "3/5", "j": "2/5"},
    t={"i": "1/6", "w": "1/2", "v": "1/3"},
    i={"v": "1/5", "w": "4/5"},
    k={"v": "1/10", "w": "9/10"},
    j={"v": "1/20", "w": "19/20"},
)
"""At alpha = 2 mass goes from i to j through k for nothing: s and t are at distance 1/3, not 7/20."""


AROUND = {
    "forward": {"moves": [["j", "i", "1/6"]], "given_up": [["j", "7/30"]]},
    "backward": {"moves": [["i", "k", "1/6"], ["k", "j", "1/3"]], "given_up": [["v", "1/3"]]},
}


def shortcut(st: int, lower: int, flags: int = 1, basis: bytes = b"") -> Packed:
    """Say in sixtieths that s and t are at most and at least so far apart."""
    rows = [
        NONE,
        Row(((0, 1),), (st,), (st - lower,), (1,)),
        NONE,
        Row(((0, 1),), (0,), (0,), (0,)),
        Row(((0, 2),), (6, 0), (0, 0), (1, 0)),
        NONE,
        NONE,
    ]
    upper = codes(1, 0, 0, 0) + codes(1, 0, 0, 0)
    if flags & 4:
        upper, basis = text(AROUND), text({"witness": {"v": "1"}})
    records = [
        bytes([flags]) + upper + basis + numeral(1),
        bytes([0]) + codes(0) + codes(0, 0),
        bytes([0]) + codes(0, 0) + codes(0, 0) + numeral(1),
        bytes([0]) + codes(0) + codes(0, 0),
    ]
    return Packed(SHORTCUT, [("s", "t")], rows, b"".join(records), "2", denominator=60, gap=1, ranks=1)


ROUND = chain("p:a q:a", p={"p": "1"}, q={"q": "1"})
"""Both states do the same for ever, and are at distance 0."""


def going_round(rank: int = 0, reason: bytes = b"") -> Packed:
    record = bytes([2]) + codes(1, 0) + reason
    return Packed(ROUND, [("p", "q")], [NONE, pair(4, rank=rank)], record, ranks=1 if rank else 0)


def told(flag: int, data: object, upper: int, lower: int, size: int = 0) -> Packed:
    """Say in quarters, by a text of at least so many bytes, how far u and v are apart."""
    rows = [NONE, NONE, NONE, pair(upper, upper - lower), NONE, NONE]
    return Packed(HALVES, [("u", "v")], rows, bytes([flag]) + text(data, size), gap=1)


def apart(count: int, one: int) -> list[Row]:
    """Say of s and t alone that they are at least 1/4 apart."""
    row = Row(((0, 1),), (one,), (one - one // 4,))
    return [NONE, row, *[NONE] * (count + 2)]


def crowd(count: int, alpha: str = "1") -> Packed:
    """Say how far states are apart, by a function on two of a class of many."""
    many = {f"u{k}": {"v": "1/2", "w": "1/2"} for k in range(count)}
    labels = " ".join(["s:a", "t:a", *(f"{name}:b" for name in many), "v:c", "w:d"])
    model = chain(labels, s={"u0": "1/2", "v": "1/2"}, t={"u1": "1/2", "w": "1/2"}, **many)
    record = bytes([8]) + text({"witness": {"u0": "0", "u1": "0", "v": "1", "w": "0"}})
    return Packed(model, [("s", "t")], apart(count, 4), record, alpha, gap=1)


LONG = "0x1" + "0" * 3500
"""An alpha whose powers are long."""

FINE = 4**1500
"""A denominator of many digits."""


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
    return replace(EXACT, model=ALIKE, head={"merged": stands}, alpha=alpha, rows=[*EXACT.rows, NONE, NONE])


TWINS = chain(
    "s:a t:a u:b v:b w:b x:c y:d",
    s={"u": "2/3", "w": "1/3"},
    t={"u": "1/6", "v": "1/6", "w": "2/3"},
    u={"x": "1/6", "y": "5/6"},
    v={"x": "1/6", "y": "5/6"},
    w={"x": "2/3", "y": "1/3"},
)


def beside(alpha: str) -> Packed:
    """Say in 128ths how far s and t are apart, by a source beyond what the table allows."""
    model = chain(
        THREE,
        s={"u": "1/4", "x": "3/4"},
        t={"v": "1/4", "y": "3/4"},
        u=WHOLE,
        v={"w": "1/4", "x": "3/4"},
        y={"w": "3/4", "x": "1/4"},
    )
    row = Row(((0, 2),), (128, 128), (128 - 31, 128 - 15))
    rows = [NONE, pair(128, 128 - 107), NONE, pair(128, 128 - 46), row, NONE, NONE]
    records = bytes([2]) + codes(1, 0, 0, 0) + (bytes([3]) + codes(0, 0)) * 2 + bytes([2]) + codes(0, 0)
    return Packed(model, [("s", "t")], rows, records, alpha, denominator=128, gap=1)


DEEP = chain(THREE, s={"u": "1"}, t={"v": "1/2", "y": "1/2"}, u=WHOLE, v=HALF, y=WHOLE)
FULL = chain(THREE, s={"u": "1/2", "y": "1/2"}, t={"v": "1/4", "x": "3/4"}, u=WHOLE, v=WHOLE, y=HALF)
EMPTY = chain(THREE, s={"u": "1/2", "x": "1/2"}, t={"v": "1/2", "y": "1/2"}, u=WHOLE, v=WHOLE, y=HALF)
ROOMY = chain(
    STATES, s={"u": "3/4", "w": "1/4"}, t={"u": "1/4", "v": "1/4", "w": "1/4", "x": "1/4"}, u=WHOLE, v=HALF
)
APART = chain(THREE, s={"u": "1/2", "y": "1/2"}, t={"v": "1"}, u=WHOLE, v=WHOLE, y=HALF)
BY_TEXT = numeral(0) + text({"common": "u"})
CORRECT: dict[str, Packed] = {
    "exact": EXACT,
    "from-above": above(1, 2, bytes([0]) + codes(1, 0)),
    "coupled": coupled(2, ("w", "1/2")),
    "witnessed": told(8, {"witness": {"w": "1"}}, 4, 1),
    "reason-in-words": replace(
        EXACT, records=bytes([0]) + codes(1, 0) + BY_TEXT + bytes([0]) + codes(0, 0) + numeral(1)
    ),
    "merged": replace(merged(z="x"), claims=[("s", "t"), ("x", "z"), ("p", "q")]),
    "all-pairs": replace(EXACT, head={"claims": "all"}),
    "all-pairs-merged": replace(merged(z="x"), head={"merged": {"z": "x"}, "claims": "all"}),
    "all-pairs-of-long-numbers": replace(
        replace(crowd(3), denominator=FINE, width=376, gap=376, rows=apart(3, FINE)), head={"claims": "all"}
    ),
    "no-pairs": Packed(HALVES, [("s", "s"), ("s", "u")], [NONE] * 6, b""),
    "unlisted": replace(
        EXACT,
        rows=[NONE, pair(2, 2), *[NONE] * 4],
        records=bytes([0]) + codes(1, 0),
        gap=1,
        ranks=0,
    ),
    "unlisted-lbd": Packed(
        chain(
            THREE,
            s={"v": "1/2", "w": "1/2"},
            t={"y": "1/2", "w": "1/2"},
            u=WHOLE,
            v=HALF,
            y=WHOLE,
        ),
        [("s", "t"), ("t", "s")],
        [Row(((1, 1),), (2,), (2,)), NONE, NONE, Row(((0, 1),), (2,), (2,)), NONE, NONE, NONE],
        bytes([0]) + codes(1, 0) + bytes([0]) + codes(0, 0),
        distance="lbd",
        gap=1,
    ),
    "around": shortcut(20, 20, 13),
    "sources-apart-at-one": replace(
        three(APART, (0, 1, 1), 3, bytes([2]) + codes(1, 0, 1)),
        rows=[NONE, pair(16, 13), NONE, pair(0), Row(((0, 2),), (8, 8), (8, 1)), NONE, NONE],
    ),
    "roomy": replace(
        EXACT,
        model=ROOMY,
        rows=[NONE, pair(3, rank=1), NONE, pair(4, rank=1), NONE, NONE],
        records=bytes([0]) + codes(0, 1, 0) + numeral(1) + bytes([0]) + codes(0, 0) + numeral(1),
        denominator=8,
    ),
    "shortcut": shortcut(21, 20, 9, text({"witness": {"v": "1"}})),
    "text-of-127-bytes": told(8, {"witness": {"w": "1"}}, 4, 1, 127),
    "text-of-128-bytes": told(8, {"witness": {"w": "1"}}, 4, 1, 128),
    "crowd-at-one": replace(crowd(210), denominator=FINE, width=376, gap=376, rows=apart(210, FINE)),
    "crowd-at-long-alpha": crowd(30, LONG),
    "crowd-at-three-thousand-bits": crowd(130, "0x1" + "0" * 750),
}
"""Certificates that must be accepted."""

INCORRECT: dict[str, tuple[Packed, str]] = {
    "G1-row-sum": (
        replace(EXACT, model=chain(STATES, **{**HALVES["transitions"], "x": {"x": "1/2"}})),
        "that a chain whose row of x sums to 1/2 has distances",
    ),
    "G2-another-model": (EXACT, "that s and t of the other chain are at distance 1/4; they are alike"),
    "G3-digest": (
        replace(EXACT, head={"digest": digest(ROUND)}),
        "that it is about the chain with another digest",
    ),
    "G4-alpha-below-one": (
        Packed(HALVES, [("s", "s")], [NONE] * 6, b"", "1/2"),
        "that s is at distance 0 from itself at alpha = 1/2",
    ),
    "M1-skewed": (
        Packed(TWINS, [("s", "t")], [NONE, pair(0), *[NONE] * 4], bytes(3), "2", head={"merged": {"v": "u"}}),
        "that s and t are at distance 0 at alpha = 2; it is 1/18, as twins may differ by the factor",
    ),
    "M2-unknown-state": (
        replace(merged(z="x", y="x"), claims=[("s", "t")]),
        "that a state is merged that there is not",
    ),
    "M3-other-labels": (
        Packed(HALVES, [("w", "x")], [NONE] * 5, b"", head={"merged": {"x": "w"}}),
        "that w and x are at distance 0; it is 1",
    ),
    "B3-circle": (
        above(0, 2, bytes([0]) + codes(1, 1)),
        "that s and t are at distance 0; it is 1/4",
    ),
    "B3-no-such-node": (
        above(0, 2, bytes([0]) + codes(2, 0)),
        "that s and t are at distance 0; it is 1/4",
    ),
    "B3-more-than-there-is-room": (
        above(1, 2, bytes([0]) + codes(1, 0, 0), model=ROOMY),
        "that s and t are at most 1/4 apart; it is 3/8",
    ),
    "B3-costs-more": (
        above(1, 1, bytes([0]) + codes(1, 0)),
        "that u and v are at most 1/4 apart; it is 1/2",
    ),
    "B3-moves-cost-more": (
        above(0, 2, bytes([0]) + codes(1, 0)),
        "that s and t are at distance 0; it is 1/4",
    ),
    "B6-source-and-sink": (
        three(DEEP, (1, 0, 1), 6, bytes([2]) + codes(1, 0, 0)),
        "that s and t are at least 3/8 apart; it is 1/4",
    ),
    "B6-above-one": (
        three(FULL, (0, 1, 1), 13, bytes([2]) + codes(0, 1, 1, 0)),
        "that s and t are at least 13/16 apart; it is 3/4",
    ),
    "B6-below-zero": (
        three(EMPTY, (0, 1, 1), 10, bytes([2]) + codes(1, 0, 1, 0)),
        "that s and t are at least 5/8 apart; it is 1/2",
    ),
    "B5-shortcut": (shortcut(21, 21), "that s and t are at distance 7/20; it is 1/3"),
    "B6-gains-less": (
        told(2, None, 4, 3),
        "that u and v are at least 3/4 apart; it is 1/2",
    ),
    "B6-goes-round": (going_round(), "that p and q are at distance 1; it is 0"),
    "L7-not-stuck": (going_round(1, numeral(1)), "that p and q are at distance 1; it is 0"),
    "L7-not-common": (
        going_round(1, numeral(0) + text({"common": "p"})),
        "that p and q are at distance 1; it is 0",
    ),
    "L7-no-function": (
        going_round(1, numeral(0) + text({"classes": [], "states": {"p": "1"}})),
        "that p and q are at distance 1; it is 0",
    ),
    "U3-nothing-moves": (coupled(1), "that u and v are at most 1/4 apart; it is 1/2"),
    "U4-costs-more": (coupled(1, ("w", "1/2")), "that u and v are at most 1/4 apart; it is 1/2"),
    "B3-between-two-that-are-listed": (
        Packed(
            chain(
                "s:a t:a u:b v:b y:b z:b w:c x:d",
                s={"v": "1/2", "w": "1/2"},
                t={"z": "1/2", "w": "1/2"},
                u=WHOLE,
                v=HALF,
                y=WHOLE,
                z=WHOLE,
            ),
            [("s", "t")],
            [NONE, pair(0), NONE, NONE, NONE, Row(((0, 1), (1, 1)), (0, 0)), NONE, NONE],
            bytes([0]) + codes(1, 0) + bytes(2),
        ),
        "that s and t are at distance 0; it is 1/4",
    ),
    "B3-beside-one-that-is-listed": (
        Packed(
            chain(
                "s:a t:a u:b v:b y:b c:b z:b w:c x:d",
                s={"v": "1/2", "w": "1/2"},
                t={"z": "1/2", "w": "1/2"},
                u=WHOLE,
                v=HALF,
                y=WHOLE,
                c=WHOLE,
                z=WHOLE,
            ),
            [("s", "t")],
            [NONE, pair(0), NONE, NONE, NONE, NONE, Row(((3, 1),), (0,)), NONE, NONE],
            bytes([0]) + codes(1, 0) + bytes(1),
        ),
        "that s and t are at distance 0; it is 1/4",
    ),
    "B6-source-and-sink-at-more-than-one": (
        replace(
            three(DEEP, (1, 0, 1), 6, b""),
            alpha="3/2",
            records=bytes([2]) + codes(1, 0, 0) + bytes([1, 0, 0]) + bytes(3) + bytes(3),
        ),
        "that s and t are at least 3/8 apart at alpha = 3/2; it is 1/4",
    ),
    "B6-of-one-unit": (
        three(
            chain(THREE, s={"u": "1/2", "x": "1/2"}, t={"v": "1/2", "y": "1/2"}, u=WHOLE, v=HALF, y=WHOLE),
            (1, 0, 1),
            10,
            bytes([2]) + codes(1, 0, 0, 0),
        ),
        "that s and t are at least 5/8 apart; it is 1/2",
    ),
    "U4-at-the-lower-table": (
        replace(
            EXACT,
            rows=[NONE, pair(0), NONE, pair(2, 2), NONE, NONE],
            records=bytes([4])
            + text({"forward": {"moves": [["u", "v", "1/2"]], "given_up": []}})
            + bytes([0])
            + codes(0, 0),
            gap=1,
            ranks=0,
        ),
        "that s and t are at distance 0; it is 1/4",
    ),
    "U4-backward": (shortcut(19, 15, 13), "that s and t are at most 19/60 apart; it is 1/3"),
    "B6-a-sink-below": (
        replace(
            three(EMPTY, (0, 1, 1), 10, bytes([2]) + codes(1, 0, 1, 0)),
            alpha="3/2",
            records=bytes([2]) + codes(1, 0, 1, 0) + bytes(1) + bytes(2) + bytes(1) + bytes(2),
        ),
        "that s and t are at least 5/8 apart at alpha = 3/2; it is 1/2",
    ),
    "B6-a-source-too-high": (
        beside("2"),
        "that s and t are at least 107/128 apart at alpha = 2; it is 104/128",
    ),
    "B6-a-source-too-high-at-three-halves": (
        beside("3/2"),
        "that s and t are at least 107/128 apart at alpha = 3/2; it is 104/128",
    ),
    "B6-a-unit-below-zero": (
        Packed(
            chain(
                THREE,
                s={"u": "1/4", "x": "3/4"},
                t={"v": "3/8", "y": "5/8"},
                u=WHOLE,
                v=WHOLE,
                y={"w": "1/4", "x": "3/4"},
            ),
            [("s", "t")],
            [NONE, pair(2), NONE, pair(0), Row(((0, 2),), (2, 2), (1, 1)), NONE, NONE],
            bytes([2]) + codes(1, 0, 1, 0) + bytes([0]) + (bytes([2]) + codes(0, 0)) * 2,
            denominator=2,
            gap=1,
        ),
        "that s and t are at distance 1; it is 3/4",
    ),
    "B3-a-unit-more": (
        Packed(
            chain(STATES, s={"u": "3/4", "v": "1/4"}, t={"u": "1/2", "v": "1/2"}, u=WHOLE, v=HALF),
            [("s", "t")],
            [NONE, pair(0), NONE, pair(1, 1), NONE, NONE],
            bytes([0]) + codes(1, 0) + bytes([0]) + codes(0, 0),
            denominator=2,
            gap=1,
        ),
        "that s and t are at distance 0; it is 1/8",
    ),
    "L2-unknown-state": (
        replace(told(8, {"witness": {"w": "0", "x": "0", "z": "1"}}, 4, 3), alpha="3/2"),
        "that u and v are at least 3/4 apart at alpha = 3/2; it is 1/2",
    ),
    "B6-at-more-than-one": (
        Packed(
            HALVES,
            [("u", "v")],
            [NONE, NONE, NONE, pair(16, 6), NONE, NONE],
            bytes([3]) + codes(0, 0),
            "3/2",
            gap=1,
            denominator=16,
        ),
        "that u and v are at least 5/8 apart at alpha = 3/2; it is 1/2",
    ),
    "B6-a-sink-counts": (
        replace(
            above(16, 8, b""),
            model=ROOMY,
            rows=[NONE, pair(16, 9), NONE, pair(8, 0), NONE, NONE],
            records=bytes([2]) + codes(0, 1, 0) + bytes([0]) + codes(0, 0) + b"",
            denominator=16,
        ),
        "that s and t are at least 7/16 apart; it is 3/8",
    ),
    "B6-a-sink-counts-at-more-than-one": (
        Packed(
            ROOMY,
            [("s", "t")],
            [NONE, pair(32, 23), NONE, pair(17, 2), NONE, NONE],
            bytes([2]) + codes(0, 1, 0, 0) + bytes([1]) + codes(0, 0) + codes(0, 0),
            "3/2",
            gap=1,
            denominator=32,
        ),
        "that s and t are at least 9/32 apart at alpha = 3/2; it is 1/4",
    ),
    "L6-gains-less": (
        replace(
            EXACT,
            rows=[NONE, NONE, NONE, pair(3, rank=1), NONE, NONE],
            claims=[("u", "v")],
            records=bytes([8]) + codes(0, 0) + text({"witness": {"w": "1"}}) + numeral(1),
        ),
        "that u and v are at least 3/4 apart; it is 1/2",
    ),
}
"""Certificates that a rule must refuse, and what they claim falsely."""
BETWEEN, FALSEHOOD = INCORRECT["B3-between-two-that-are-listed"]
INCORRECT["B3-between-two-in-three-bytes"] = replace(BETWEEN, width=3), FALSEHOOD
INCORRECT["B3-between-two-and-one-is-longer"] = replace(BETWEEN, denominator=256), FALSEHOOD
INCORRECT["B6-gains-less"] = (
    replace(INCORRECT["B6-gains-less"][0], records=bytes([2]) + codes(0, 0)),
    INCORRECT["B6-gains-less"][1],
)


def cut(packed: Packed, count: int) -> Packed:
    return replace(packed, records=packed.records[:-count])


MALFORMED: dict[str, Packed] = {
    "cut-short": cut(EXACT, 1),
    "goes-on": replace(EXACT, end=b"\0"),
    "without-tables": replace(EXACT, rows=[], records=b""),
    "empty-run": replace(EXACT, rows=[Row(((0, 0),)), *EXACT.rows[1:]]),
    "run-too-long": replace(EXACT, rows=[NONE, Row(((0, 2),), (1, 1), (), (1, 1)), *EXACT.rows[2:]]),
    "with-itself": Packed(ROUND, [("p", "q")], [Row(((0, 1),), (0,)), NONE], b"\0", distance="lbd"),
    "more-than-one": replace(EXACT, rows=[NONE, pair(5, rank=1), *EXACT.rows[2:]]),
    "less-than-nothing": replace(EXACT, gap=1, rows=[NONE, pair(1, 2, 1), NONE, pair(2, 0, 1), NONE, NONE]),
    "long-number": replace(EXACT, rows=[], records=b"\xff" * 9 + b"\1"),
    "no-denominator": replace(CORRECT["no-pairs"], denominator=0),
    "negative-denominator": replace(CORRECT["no-pairs"], denominator=-1),
    "no-width": replace(CORRECT["no-pairs"], head={"width": 0}),
    "negative-width": replace(EXACT, head={"width": -1}),
    "ranks-of-two": replace(EXACT, ranks=2),
    "version": replace(EXACT, head={"version": 1}),
    "kind": replace(EXACT, head={"kind": "delta"}),
    "no-claims": replace(EXACT, claims=[]),
    "claim-about-no-state": replace(EXACT, claims=[("s", "z")]),
    "claim-from-no-state": replace(EXACT, claims=[("z", "t")]),
    "claim-with-a-bound": replace(EXACT, head={"claims": [{"from": "s", "to": "t", "upper": "1/4"}]}),
    "unknown-flag": replace(EXACT, records=bytes([16]) + EXACT.records[1:]),
    "turned-at-one": replace(EXACT, records=bytes([1]) + EXACT.records[1:]),
    "own-and-witnessed": told(10, {"witness": {"w": "1"}}, 4, 1),
    "own-basis-of-nothing": above(1, 2, bytes([2]) + codes(1, 0)),
    "witness-of-nothing": above(1, 2, bytes([8]) + codes(1, 0)),
    "coupled-at-one": told(4, {"forward": {"moves": [], "given_up": []}}, 4, 1),
    "no-basis-below": told(4, {"forward": {"moves": [], "given_up": [["w", "1/2"]]}}, 2, 1),
    "bare-number": told(8, {"witness": {"w": 1}}, 4, 1),
    "second-more-than-one": replace(
        three(DEEP, (1, 0, 1), 3, bytes([2]) + codes(1, 0, 0)),
        rows=[NONE, pair(16, 13), NONE, pair(8, 1), Row(((0, 2),), (0, 17), (0, 10)), NONE, NONE],
    ),
    "both-ways-lbd": replace(
        CORRECT["unlisted-lbd"], records=bytes([1]) + CORRECT["unlisted-lbd"].records[1:]
    ),
    "half-a-byte": three(DEEP, (1, 0, 1), 3, bytes([2, 1, 16])),
    "stuck-is-no-node": replace(EXACT, records=bytes([0]) + codes(1, 0) + numeral(3)),
    "text-of-nothing": going_round(1, numeral(0) + numeral(0)),
    "text-with-more": told(8, {"witness": {"w": "1"}, "value": "1"}, 4, 1),
    "couplings-of-both": coupled(2, ("w", "1/2")),
    "merged-into-merged": merged(z="x", x="w"),
    "interactive": replace(EXACT, model={**HALVES, "kind": "interactive"}),
    "flag-without-an-upper-bound": replace(
        told(8, {"witness": {"w": "1"}}, 4, 1), records=bytes([18]) + codes(0, 0)
    ),
    "coupled-without-a-text": replace(
        told(8, {"witness": {"w": "1"}}, 4, 1), records=bytes([6]) + codes(0, 0)
    ),
    "turned-without-a-lower-bound": replace(above(4, 4, b""), alpha="2", records=bytes([1, 0])),
    "head-without-an-end": replace(EXACT, alpha="1/2", rows=[], records=b"", line=b" "),
    "rank-of-64-bits": replace(EXACT, rows=[NONE, pair(1, rank=2**63), *EXACT.rows[2:]]),
    "goes-on-after-a-part": replace(told(8, {"witness": {"w": "1"}}, 4, 1, (1 << 16) - 14), end=b"\0"),
    "model-without-states": replace(EXACT, head={"model": {"kind": "lmc", "states": [], "transitions": {}}}),
}
"""What is no certificate."""
MALFORMED["all-pairs-lbd"] = replace(EXACT, distance="lbd", head={"claims": "all"})
BARE = bytes([2]) + codes(9, 9, 9)
CORRECT |= {
    "nearest-first-whatever-is-said": three(DEEP, (1, 0, 1), 3, BARE),
    "nearest-first-to-one-sink": replace(
        CORRECT["sources-apart-at-one"], records=BARE + CORRECT["sources-apart-at-one"].records[3:]
    ),
    "nearest-first-of-two": above(1, 2, bytes([0]) + codes(7, 7)),
    "nearest-first-beside-a-shortcut": replace(
        three(DEEP, (1, 0, 1), 3, b""),
        rows=[NONE, pair(16, 13), NONE, pair(8, 1), Row(((0, 2),), (0, 8), (0, 8)), NONE, NONE],
        records=BARE + bytes([0]) + codes(0, 0) + bytes([0, 0]) + codes(0, 0),
    ),
    "nearest-first-at-three-halves": replace(
        three(DEEP, (1, 0, 1), 3, b""),
        alpha="3/2",
        records=BARE
        + bytes([1])
        + codes(0, 0) * 2
        + bytes([0])
        + codes(0) * 2
        + bytes([0])
        + codes(0, 0) * 2,
    ),
    "apart-in-long-parts": replace(
        CORRECT["sources-apart-at-one"],
        model=chain(
            THREE,
            s={"u": f"{(3**90 - 1) // 2}/{3**90}", "y": f"{(3**90 + 1) // 2}/{3**90}"},
            t={"v": "1"},
            u=WHOLE,
            v=WHOLE,
            y=HALF,
        ),
        rows=[NONE, pair(16, 14), *CORRECT["sources-apart-at-one"].rows[2:]],
    ),
}
SIXTEENTHS = chain(
    "s:a t:a u:b v:b y:b z:b w:c x:d",
    s={"u": "7/16", "y": "9/16"},
    t={"v": "7/16", "z": "9/16"},
    u=WHOLE,
    v={"w": "9/16", "x": "7/16"},
    y={"x": "1"},
    z={"x": "1"},
)
INCORRECT |= {
    "B3-of-two-a-unit-more": (
        Packed(
            SIXTEENTHS,
            [("s", "t")],
            [NONE, pair(3, 3), NONE, pair(7, 7), NONE, Row(((2, 1),), (0,), (0,)), NONE, NONE],
            bytes([0]) + codes(0, 1, 0, 2) + bytes([0]) + codes(0, 0) + bytes([0]),
            denominator=16,
            gap=1,
        ),
        "that s and t are at most 48/256 apart; it is 49/256",
    ),
    "B5-shortcut-that-costs": (
        replace(
            shortcut(22, 21),
            model=chain(
                "s:a t:a i:b k:b j:b v:c w:d",
                **{**SHORTCUT["transitions"], "i": {"v": "13/60", "w": "47/60"}},
            ),
            rows=[
                NONE,
                Row(((0, 1),), (22,), (1,), (0,)),
                NONE,
                Row(((0, 1),), (1,), (0,), (1,)),
                Row(((0, 2),), (7, 0), (0, 0), (1, 0)),
                NONE,
                NONE,
            ],
            records=bytes([1])
            + codes(1, 0, 0, 0) * 2
            + (bytes([0]) + codes(0, 0) * 2 + numeral(1)) * 2
            + bytes([0])
            + codes(0)
            + codes(0, 0),
        ),
        "that s and t are at least 21/60 apart; mass goes round for 1/60, and 121/360 is enough",
    ),
    "B5-shortcut-beside-twins": (
        Packed(
            chain(
                "s:a t:a i:b k:b j:b l:b v:c w:d",
                **{x: SHORTCUT["transitions"][x] for x in "st"},
                i={"v": "13/60", "w": "47/60"},
                k={"v": "3/40", "w": "37/40"},
                j={"v": "1/20", "w": "19/20"},
                l={"v": "13/60", "w": "47/60"},
            ),
            [("s", "t")],
            [
                NONE,
                Row(((0, 1),), (43,), (1,), (0,)),
                NONE,
                Row(((0, 1),), (8,), (0,), (1,)),
                Row(((0, 2),), (14, 0), (0, 0), (1, 0)),
                Row(((0, 3),), (0, 8, 14), (0, 0, 0), (0, 1, 1)),
                NONE,
                NONE,
            ],
            bytes([1])
            + codes(1, 0, 0, 0) * 2
            + (bytes([0]) + codes(0, 0) * 2 + numeral(1)) * 2
            + (bytes([0]) + codes(0, 0) * 2) * 2
            + (bytes([1]) + codes(0, 0) * 2 + numeral(1)) * 2,
            "2",
            denominator=120,
            gap=1,
            ranks=1,
        ),
        "that s and t are at least 42/120 apart; mass goes round for 8/120, and 124/360 is enough",
    ),
    "B6-goes-round-in-halves": (
        Packed(
            chain("p:a q:a r:b", p={"p": "1"}, q={"q": "1"}, r={"p": "1/2", "q": "1/2"}),
            [("p", "q")],
            [NONE, pair(4), NONE],
            bytes([2]) + codes(1, 0),
        ),
        "that p and q are at distance 1; it is 0",
    ),
}
INCORRECT |= {
    "B5-shortcut-that-saves-one-unit": (
        replace(
            shortcut(22, 21),
            model=chain(
                "s:a t:a i:b k:b j:b v:c w:d",
                **{**SHORTCUT["transitions"], "k": {"v": "7/120", "w": "113/120"}},
            ),
            rows=[
                NONE,
                Row(((0, 1),), (22,), (1,), (1,)),
                NONE,
                Row(((0, 1),), (5,), (0,), (1,)),
                Row(((0, 2),), (6, 0), (0, 0), (1, 0)),
                NONE,
                NONE,
            ],
            records=bytes([1])
            + codes(1, 0, 0, 0) * 2
            + numeral(1)
            + (bytes([0]) + codes(0, 0) * 2 + numeral(1)) * 2
            + bytes([0])
            + codes(0)
            + codes(0, 0),
        ),
        "that s and t are at least 21/60 apart; mass goes round for 5/60 where it goes straight for 6/60, "
        "and 125/360 is enough",
    ),
    "B6-a-sink-below-zero": (
        Packed(
            chain(
                "s:a t:a u:b v:b y:b z:b w:c x:d e:e f:f",
                s={"u": "1/4", "y": "1/4", "w": "1/2"},
                t={"v": "1/2", "z": "1/2"},
                u={"w": "1/2", "x": "1/2"},
                v={"w": "1/2", "x": "1/2"},
                y={"w": "1/2", "e": "1/2"},
                z={"x": "1/2", "f": "1/2"},
            ),
            [("s", "t")],
            [
                NONE,
                Row(((0, 1),), (8,), (2,), (0,)),
                NONE,
                Row(((0, 1),), (0,), (0,), (0,)),
                Row(((0, 2),), (4, 4), (0, 0), (1, 1)),
                Row(((0, 3),), (4, 4, 8), (0, 0, 0), (1, 1, 1)),
                *[NONE] * 4,
            ],
            bytes([2])
            + codes(1, 0, 1, 1, 0)
            + bytes([0])
            + (bytes([0]) + codes(0, 0) + numeral(1)) * 4
            + bytes([2])
            + codes(0, 0, 0, 0)
            + numeral(1),
            denominator=8,
            gap=1,
            ranks=1,
        ),
        "that s and t are at least 6/8 apart; it is 5/8",
    ),
    "B6-no-more-than-the-bound-where-rows-meet": (  # and what is false has no record
        replace(
            EXACT,
            claims=[("u", "v")],
            rows=[NONE, pair(4, 2), NONE, pair(4, 0), NONE, NONE],
            records=bytes([2]) + codes(0, 0),
            gap=1,
            ranks=0,
        ),
        "that u and v are at distance 1; it is 1/2",
    ),
    "L7-falls-faster-than-alpha": (
        replace(
            going_round(1, numeral(0) + text({"classes": [], "states": {"p": "2", "q": "1"}})), alpha="3/2"
        ),
        "that p and q are at distance 1; it is 0",
    ),
}
CORRECT["a-node-that-is-not-there"] = replace(
    INCORRECT["B3-of-two-a-unit-more"][0],
    rows=[NONE, pair(7, 7), *INCORRECT["B3-of-two-a-unit-more"][0].rows[2:]],
    records=bytes([0]) + codes(0, 3, 0, 2) + bytes([0]) + codes(0, 0) + bytes([0]),
)
FOUR = {state: {own: "7/8", "z": "1/8"} for state, own in zip("ikjl", "vwxy", strict=True)}
"""States that are at distance 7/8."""

CORRECT |= {
    "nearest-first-where-a-third-state-is-as-far": Packed(
        chain(
            "s:a t:a i:b k:b j:b l:b v:c w:d x:e y:f z:g", s={"i": "1"}, t={"k": "1/2", "j": "1/2"}, **FOUR
        ),
        [("s", "t")],
        [
            NONE,
            pair(16, 13),
            NONE,
            pair(16, 14),
            Row(((0, 2),), (16, 16), (11, 14)),
            Row(((0, 3),), (16, 16, 16), (12, 14, 15)),
            *[NONE] * 5,
        ],
        BARE + (bytes([2]) + codes(0, 0, 0)) * 6,
        "3/2",
        denominator=16,
        gap=1,
    ),
    "nearest-first-where-all-are-near": above(
        1, 2, bytes([0]) + codes(7, 7) * 2, alpha="3/2", end=codes(0, 0)
    ),
    "nearest-first-where-a-twin-is-as-far": Packed(
        chain(
            "s:a t:a i:b k:b j:b v:c w:d x:e y:f z:g",
            s={"i": "9/16", "v": "7/16"},
            t={"k": "1/4", "j": "1/2", "y": "1/4"},
            **{state: FOUR[state] for state in "ikj"},
        ),
        [("s", "t")],
        [NONE, pair(4, 2), NONE, NONE, Row(((0, 2),), (4, 4), (3, 3)), *[NONE] * 5],
        bytes([2]) + codes(9, 9, 9, 9, 9) + (bytes([2]) + codes(0, 0, 0)) * 2,
        "3/2",
        gap=1,
    ),
}
CORRECT["nearest-first-until-a-sink-is-full"] = three(FULL, (0, 1, 1), 11, bytes([2]) + codes(9, 9, 9, 9))
MALFORMED["second-bound-above-one"] = Packed(
    DEEP, [("s", "t")], [NONE] * 4 + [Row(((0, 2),), (4, 5), (4, 5)), NONE, NONE], bytes(2), gap=1
)
MALFORMED["bound-above-one"] = Packed(
    HALVES, [("s", "t")], [NONE, pair(5, 5), *[NONE] * 4], bytes([0]), gap=1
)
ONE = chain("s:a")
MALFORMED["all-pairs-of-one-state"] = Packed(ONE, [], [NONE], b"", head={"claims": "all"})
CORRECT["all-pairs-of-two-states"] = Packed(
    chain("s:a t:b"), [], [NONE, NONE], b"", "0x2", head={"claims": "all"}
)
MALFORMED["claims-in-a-word"] = replace(EXACT, head={"claims": "every"})
MALFORMED["couplings-of-both"] = told(
    4, {side: {"moves": [], "given_up": [["w", "1/2"]]} for side in ("forward", "backward")}, 2, 0
)
OTHER = chain(STATES, s={"u": "1/2", "v": "1/2"}, t={"u": "1/2", "v": "1/2"}, u=WHOLE, v=HALF)


def main() -> None:
    """Write the files."""
    for folder in ("correct", "incorrect", "malformed"):
        (FOLDER / folder / "compact").mkdir(exist_ok=True)
    for name, packed in CORRECT.items():
        (FOLDER / "correct" / "compact" / f"{name}.compact").write_bytes(packed.content())
    for name, (packed, _) in INCORRECT.items():
        (FOLDER / "incorrect" / "compact" / f"{name}.compact").write_bytes(packed.content())
    for name, packed in MALFORMED.items():
        (FOLDER / "malformed" / "compact" / f"{name}.compact").write_bytes(packed.content())
    lines = [f"{name}: {falsehood}\n" for name, (_, falsehood) in INCORRECT.items()]
    said = FOLDER / "incorrect" / "compact" / "falsehoods.txt"
    lines += [
        line for line in said.read_text(encoding="utf-8").splitlines(keepends=True) if "-drawn-" in line
    ]
    said.write_text("".join(lines), encoding="utf-8")
    model = FOLDER / "incorrect" / "compact" / "G2-another-model.model"
    model.write_text(json.dumps(OTHER) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
