"""Certificates with compact tables that must be accepted."""

from __future__ import annotations

from dataclasses import replace

from tests.checker.packed import NONE, Packed, Row, chain, codes, merging, numeral, pair, text
from tests.checker.packed_parts import (
    ALIKE,
    APART,
    DEEP,
    EXACT,
    FULL,
    HALF,
    HALVES,
    ROOMY,
    THREE,
    WHOLE,
    above,
    coupled,
    merged,
    of_two,
    shortcut,
    three,
    told,
)


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

BY_TEXT = numeral(0) + text({"common": "u"})
BARE = bytes([2]) + codes(9, 9, 9)
FOUR = {state: {own: "7/8", "z": "1/8"} for state, own in zip("ikjl", "vwxy", strict=True)}
"""States that are at distance 7/8."""

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
    "all-pairs-merged": replace(merged(z="x"), head={**merging(ALIKE, {"z": "x"}), "claims": "all"}),
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
    "nearest-first-whatever-is-said": three(DEEP, (1, 0, 1), 3, BARE),
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
    "nearest-first-until-a-sink-is-full": three(FULL, (0, 1, 1), 11, bytes([2]) + codes(9, 9, 9, 9)),
    "a-node-that-is-not-there": of_two(7, 3),
    "all-pairs-of-two-states": Packed(chain("s:a t:b"), [], [NONE, NONE], b"", "0x2", head={"claims": "all"}),
}
"""By name of the file."""
ONE_SINK = CORRECT["sources-apart-at-one"]
CORRECT |= {
    "nearest-first-to-one-sink": replace(ONE_SINK, records=BARE + ONE_SINK.records[3:]),
    "apart-in-long-parts": replace(
        ONE_SINK,
        model=chain(
            THREE,
            s={"u": f"{(3**90 - 1) // 2}/{3**90}", "y": f"{(3**90 + 1) // 2}/{3**90}"},
            t={"v": "1"},
            u=WHOLE,
            v=WHOLE,
            y=HALF,
        ),
        rows=[NONE, pair(16, 14), *ONE_SINK.rows[2:]],
    ),
}
