"""What is no certificate with compact tables."""

from __future__ import annotations

from dataclasses import replace

from tests.checker.packed import NONE, Packed, Row, chain, codes, numeral, pair
from tests.checker.packed_correct import CORRECT
from tests.checker.packed_parts import DEEP, EXACT, HALVES, ROUND, above, going_round, three, told

MALFORMED: dict[str, Packed] = {
    "cut-short": replace(EXACT, records=EXACT.records[:-1]),
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
    "no-width": replace(CORRECT["no-pairs"], layout={"width": 0}),
    "negative-width": replace(EXACT, layout={"width": -1}),
    "ranks-of-two": replace(EXACT, ranks=2),
    "earlier-line": replace(EXACT, magic=b"bisimdist-certificate 2\n"),
    "version": replace(EXACT, head={"version": 2}),
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
    "interactive": replace(EXACT, model={**HALVES, "kind": "interactive"}),
    "flag-without-an-upper-bound": replace(CORRECT["witnessed"], records=bytes([18]) + codes(0, 0)),
    "coupled-without-a-text": replace(CORRECT["witnessed"], records=bytes([6]) + codes(0, 0)),
    "turned-without-a-lower-bound": replace(above(4, 4, b""), alpha="2", records=bytes([1, 0])),
    "head-without-an-end": replace(EXACT, alpha="1/2", rows=[], records=b"", line=b" "),
    "rank-of-64-bits": replace(EXACT, rows=[NONE, pair(1, rank=2**63), *EXACT.rows[2:]]),
    "goes-on-after-a-part": replace(told(8, {"witness": {"w": "1"}}, 4, 1, (1 << 16) - 14), end=b"\0"),
    "model-without-states": replace(EXACT, head={"model": {"kind": "lmc", "states": [], "transitions": {}}}),
    "all-pairs-lbd": replace(EXACT, distance="lbd", head={"claims": "all"}),
    "second-bound-above-one": Packed(
        DEEP, [("s", "t")], [NONE] * 4 + [Row(((0, 2),), (4, 5), (4, 5)), NONE, NONE], bytes(2), gap=1
    ),
    "bound-above-one": Packed(HALVES, [("s", "t")], [NONE, pair(5, 5), *[NONE] * 4], bytes([0]), gap=1),
    "all-pairs-of-one-state": Packed(chain("s:a"), [], [NONE], b"", head={"claims": "all"}),
    "claims-in-a-word": replace(EXACT, head={"claims": "every"}),
    "couplings-of-both": told(
        4, {side: {"moves": [], "given_up": [["w", "1/2"]]} for side in ("forward", "backward")}, 2, 0
    ),
}
"""By name of the file."""
