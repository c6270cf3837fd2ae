"""Certificates with compact tables put together byte by byte; nothing of the project is used."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from tests.checker.brute import digest

Document = dict[str, Any]
MAGIC = b"bisimdist-certificate compact\n"


def numeral(number: int) -> bytes:
    """Write seven bits a byte, the lowest first."""
    return bytes([number]) if number < 128 else bytes([number % 128 + 128]) + numeral(number // 128)


def codes(*numbers: int) -> bytes:
    """Write a basis of fewer than 16 nodes."""
    pairs = zip(numbers[::2], (*numbers[1::2], 0), strict=False)
    return bytes(low + 16 * high for low, high in pairs)


def text(data: object, size: int = 0) -> bytes:
    """Write JSON with its length, and blanks up to a size."""
    raw = json.dumps(data).ljust(size).encode()
    return numeral(len(raw)) + raw


def chain(labels: str, **rows: Mapping[str, str]) -> Document:
    """Make a model of states ``s:a``; a state without a row loops."""
    states = dict(part.split(":") for part in labels.split())
    return {"kind": "lmc", "states": states, "transitions": {s: rows.get(s, {s: "1"}) for s in states}}


def merging(model: Document, stands: Mapping[str, str]) -> Document:
    """Make the head of a certificate in which states stand for others."""
    rows: dict[str, dict[str, str]] = {}
    for state, row in model["transitions"].items():
        if state not in stands:
            sums: dict[str, Fraction] = {}
            for target, p in row.items():
                target = stands.get(target, target)  # noqa: PLW2901
                sums[target] = sums.get(target, Fraction(0)) + Fraction(p)
            rows[state] = {target: str(p) for target, p in sums.items()}
    labels = {state: label for state, label in model["states"].items() if state not in stands}
    after = digest({"kind": "lmc", "states": labels, "transitions": rows})
    step = {"name": "quotient", "classes": dict(stands), "before": digest(model), "after": after}
    return {"steps": [step]}


@dataclass(frozen=True)
class Row:
    """What stands in the tables of a state: its runs, then its numbers."""

    runs: tuple[tuple[int, int], ...] = ()
    upper: tuple[int, ...] = ()
    gap: tuple[int, ...] = ()
    ranks: tuple[int, ...] = ()


@dataclass(frozen=True)
class Packed:
    """A certificate by its parts; rows stand in the order of the states by class."""

    model: Document
    claims: Sequence[tuple[str, str]]
    rows: Sequence[Row]
    records: bytes
    alpha: str = "1"
    distance: str = "bd"
    denominator: int = 4
    width: int = 1
    gap: int = 0
    ranks: int = 0
    layout: Mapping[str, object] = field(default_factory=dict)
    head: Mapping[str, object] = field(default_factory=dict)
    magic: bytes = MAGIC
    line: bytes = b"\n"
    end: bytes = b""

    def content(self) -> bytes:
        head = {
            "format": "bisimdist-certificate",
            "version": 1,
            "model": self.model,
            "digest": digest(self.model),
            "distance": self.distance,
            "alpha": self.alpha,
            "claims": [{"from": s, "to": t} for s, t in self.claims],
            "compact": {
                "denominator": str(self.denominator),
                "width": self.width,
                "gap": self.gap,
                "ranks": self.ranks,
                **self.layout,
            },
            **self.head,
        }
        body = b"".join(self._row(row) for row in self.rows)
        return self.magic + json.dumps(head).encode() + self.line + body + self.records + self.end

    def _row(self, row: Row) -> bytes:
        runs = b"".join(numeral(part) for run in row.runs for part in run)
        upper = b"".join(number.to_bytes(self.width, "little") for number in row.upper)
        gap = b"".join(number.to_bytes(self.gap, "little") for number in row.gap if self.gap)
        return numeral(len(row.runs)) + runs + upper + gap + b"".join(map(numeral, row.ranks))


NONE = Row()


def pair(upper: int, gap: int = 0, rank: int = 0) -> Row:
    """Make the row of the second state of a class of two."""
    return Row(((0, 1),), (upper,), (gap,), (rank,) if rank else ())
