"""Certificates with compact tables that a rule must refuse, and what they claim falsely."""

from __future__ import annotations

from dataclasses import replace

from tests.checker.brute import digest
from tests.checker.packed import NONE, Packed, Row, chain, codes, merging, numeral, pair, text
from tests.checker.packed_parts import (
    BY_TWO,
    DEEP,
    DETOUR,
    EMPTY,
    EXACT,
    FULL,
    HALF,
    HALVES,
    ROOMY,
    ROUND,
    STATES,
    THREE,
    WHOLE,
    above,
    coupled,
    going_round,
    merged,
    of_two,
    shortcut,
    three,
    told,
)

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


def through(row: Row, *others: str) -> Packed:
    """Say that s and t are at distance 0, by how far z is from states of its class before it."""
    between = " ".join(f"{state}:b" for state in ("u", "v", "y", *others, "z"))
    model = chain(
        f"s:a t:a {between} w:c x:d",
        s={"v": "1/2", "w": "1/2"},
        t={"z": "1/2", "w": "1/2"},
        v=HALF,
        **dict.fromkeys(("u", "y", *others, "z"), WHOLE),
    )
    rows = [NONE, pair(0), *[NONE] * (3 + len(others)), row, NONE, NONE]
    return Packed(model, [("s", "t")], rows, bytes([0]) + codes(1, 0) + bytes(len(row.upper)))


HIGH = {"v": "13/60", "w": "47/60"}
BETWEEN, FALSEHOOD = through(Row(((0, 1), (1, 1)), (0, 0))), "that s and t are at distance 0; it is 1/4"
CUT = {"name": "cut", "cut": {"s": "1/2"}, "before": digest(HALVES), "after": digest(HALVES)}

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
    "Q3-skewed": (
        Packed(
            TWINS, [("s", "t")], [NONE, pair(0), *[NONE] * 4], bytes(3), "2", head=merging(TWINS, {"v": "u"})
        ),
        "that s and t are at distance 0 at alpha = 2; it is 1/18, as twins may differ by the factor",
    ),
    "Q1-unknown-state": (
        replace(merged(z="x", y="x"), claims=[("s", "t")]),
        "that a state is merged that there is not",
    ),
    "Q2-other-labels": (
        Packed(HALVES, [("w", "x")], [NONE] * 5, b"", head=merging(HALVES, {"x": "w"})),
        "that w and x are at distance 0; it is 1",
    ),
    "Q1-merged-into-merged": (merged(z="x", x="w"), "that a state stands for another which is merged itself"),
    "S2-cut": (
        replace(EXACT, head={"steps": [CUT]}),
        "that s and t are at distance 1/4, though half of the runs from s are cut off",
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
        replace(told(2, None, 4, 3), records=bytes([2]) + codes(0, 0)),
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
    "B3-between-two-that-are-listed": (BETWEEN, FALSEHOOD),
    "B3-beside-one-that-is-listed": (through(Row(((3, 1),), (0,)), "c"), FALSEHOOD),
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
    "B3-between-two-in-three-bytes": (replace(BETWEEN, width=3), FALSEHOOD),
    "B3-between-two-and-one-is-longer": (replace(BETWEEN, denominator=256), FALSEHOOD),
    "B3-of-two-a-unit-more": (
        of_two(3, 1),
        "that s and t are at most 48/256 apart; it is 49/256",
    ),
    "B5-shortcut-that-costs": (
        shortcut(22, 21, rank=0, distances=((1,), (7, 0)), model=chain(BY_TWO, **DETOUR | {"i": HIGH})),
        "that s and t are at least 21/60 apart; mass goes round for 1/60, and 121/360 is enough",
    ),
    "B5-shortcut-beside-twins": (
        shortcut(
            43,
            42,
            rank=0,
            distances=((8,), (14, 0), (0, -8, -14)),
            model=chain(
                "s:a t:a i:b k:b j:b l:b v:c w:d",
                **DETOUR | {"i": HIGH, "k": {"v": "3/40", "w": "37/40"}, "l": HIGH},
            ),
            denominator=120,
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
    "B5-shortcut-that-saves-one-unit": (
        shortcut(
            22,
            21,
            distances=((5,), (6, 0)),
            model=chain(BY_TWO, **DETOUR | {"k": {"v": "7/120", "w": "113/120"}}),
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
"""By name of the file: it, and what it claims falsely."""
