"""Chains whose probabilities lie in intervals: the interactive model that nature asks.

What it is, and how its states and actions are called, is written in docs/certificate-spec.md; that its
distances and deltas bound those of every chain in the intervals, in docs/theory/intervals.md.
"""

from __future__ import annotations

import hashlib
import json
from collections import ChainMap
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import ClassVar

from bisimdist.checker.core.chain import ONLY, Chain, Rows
from bisimdist.checker.core.reading import (
    ENTRY,
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    fraction_work,
    hold,
    item,
    model_number,
    shown,
    spend,
)
from bisimdist.checker.core.shape import named, row

Box = Mapping[str, tuple[Fraction, Fraction]]
Vertex = Mapping[str, Fraction]


@dataclass(frozen=True)
class Worlds(Chain):
    """The model that nature asks: by state the vertices of its row, in order.

    `arms` has the first vertices of all states, then the second ones of those that have several, and so on.
    """

    natural: ClassVar[bool] = True
    vertices: Mapping[str, tuple[Vertex, ...]] = field(kw_only=True)
    second: Mapping[str, str] = field(kw_only=True)
    first: dict[str, Vertex] = field(kw_only=True)
    boxes: Mapping[str, Box] = field(kw_only=True)
    known_as: str = field(kw_only=True)

    @property
    def names(self) -> Collection[str]:
        """The states of the chain."""
        return self.second.keys()

    def offered(self, *states: str) -> list[str]:
        """Return what nature may choose for states: every vertex of each."""
        free = sorted(state for state in set(states) if len(self.vertices[state]) > 1)
        count = 1
        for state in free:
            count *= len(self.vertices[state])
            spend(count * fraction_work(0))
        numbers = product(*(range(len(self.vertices[state])) for state in free))
        return [_name(dict(zip(free, chosen, strict=True))) for chosen in numbers]

    def rows_of(self, action: str) -> Rows:
        """Return the rows of an action; a state of which it says nothing has its first vertex."""
        try:
            chosen = json.loads(action) if action else {}
        except (ValueError, RecursionError):
            return {}
        if not isinstance(chosen, dict) or not all(
            state in self.vertices and type(k) is int and 0 <= k < len(self.vertices[state])
            for state, k in chosen.items()
        ):
            return {}
        return ChainMap({state: self.vertices[state][k] for state, k in chosen.items()}, self.first)

    def digest(self) -> str:
        """Return the digest of the intervals."""
        return self.known_as

    def member(self, rows: Mapping[str, Mapping[str, Fraction]]) -> Chain:
        """Return a chain in the intervals by the rows that these leave open (rule D12)."""
        whole = {}
        for state, box in self.boxes.items():
            row = rows.get(state, {target: low for target, (low, high) in box.items() if low == high})
            inside = all(low <= row.get(target, 0) <= high for target, (low, high) in box.items())
            if not inside or not row.keys() <= box.keys() or sum(row.values()) != 1:
                raise RuleViolation(f"D12: the row of state {shown(state)} is not one of the intervals")
            whole[state] = {target: p for target, p in row.items() if p}
        return Chain({state: self.labels[state] for state in self.boxes}, {ONLY: whole})

    def places(self, source: str, target: str) -> tuple[str, str]:
        """Return where two states of the chain are: the first in one world, the second in the other."""
        return source, self.second[target]


def _name(chosen: Mapping[str, int]) -> str:
    return json.dumps(chosen, sort_keys=True, separators=(",", ":"))


def read_worlds(document: Mapping[str, object], *, apart: bool) -> Worlds:
    """Make the model that nature asks from plain data of a chain in intervals."""
    if document.get("kind") != "lmc":
        raise MalformedCertificate(f"the model's kind is {shown(document.get('kind'))}; expected 'lmc'")
    labels = named(item)(document.get("states"), "the model's states")
    given = named(named(_ends))(document.get("transitions"), "the model's transitions")
    if not labels:
        raise RuleViolation("G1: the model has no state")
    for state in given:
        if state not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(state)}, which is no state of the model")
    boxes = {state: _box(given.get(state, {}), labels, f"state {shown(state)}") for state in labels}
    canonical = {
        "kind": "lmc",
        "states": labels,
        "transitions": {
            state: {
                target: decimal_rational(low)
                if low == high
                else [decimal_rational(low), decimal_rational(high)]
                for target, (low, high) in box.items()
            }
            for state, box in boxes.items()
        },
    }
    text = json.dumps(canonical, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    digest = "sha256:" + hashlib.sha256(text.encode("ascii")).hexdigest()
    return _worlds(labels, boxes, digest, apart=apart)


def _ends(value: object, where: str) -> tuple[Fraction, Fraction]:
    """Read a probability, or the two ends of an interval."""
    low, high = row(model_number, model_number)(value if isinstance(value, list) else [value, value], where)
    return low, high


def _box(box: Box, labels: Mapping[str, str], where: str) -> Box:
    """Return the intervals of a row, as narrow as those of the other successors make them."""
    for target, (low, high) in box.items():
        if target not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(target)}, which is no state of the model")
        if not 0 <= low <= high <= 1:
            raise RuleViolation(f"G1: {where} has an interval that is none within [0, 1]")
    least, most = (sum((ends[k] for ends in box.values()), Fraction(0)) for k in (0, 1))
    if not least <= 1 <= most:
        raise RuleViolation(f"G1: no probabilities of {where} sum to 1")
    narrow = {t: (max(low, 1 - most + high), min(high, 1 - least + low)) for t, (low, high) in box.items()}
    return {target: ends for target, ends in narrow.items() if ends[1]}


def _vertices(box: Box) -> tuple[Vertex, ...]:
    """Return the distributions with at most one probability that is no end of its interval, in order."""
    found: dict[tuple[tuple[str, Fraction], ...], None] = {}
    for free, (low, high) in box.items():
        others = [target for target in sorted(box) if target != free]
        partial: list[tuple[Vertex, Fraction]] = [({}, Fraction(1))]
        least, most = low + sum(box[t][0] for t in others), high + sum(box[t][1] for t in others)
        for target in others:
            least, most = least - box[target][0], most - box[target][1]
            spend(len(partial) * fraction_work(0))
            hold(len(partial) * len(others) * ENTRY)
            partial = [
                ({**chosen, target: end}, rest - end)
                for chosen, rest in partial
                for end in set(box[target])
                if least <= rest - end <= most
            ]
        for chosen, rest in partial:
            found[tuple((t, p) for t, p in sorted({**chosen, free: rest}.items()) if p)] = None
    return tuple(map(dict, sorted(found)))


def _worlds(labels: Mapping[str, str], boxes: Mapping[str, Box], digest: str, *, apart: bool) -> Worlds:
    vertices = {state: _vertices(box) for state, box in boxes.items()}
    rough = {state for state in labels if len(vertices[state]) > 1}
    size = -1
    while size < len(rough):
        size = len(rough)
        rough |= {state for state, box in boxes.items() if not rough.isdisjoint(box)}
    copied = [state for state in labels if state in rough] if apart else []
    mark = "'"
    while any(state + mark in labels for state in copied):
        mark += "'"
    second = {state: state + mark if state in copied else state for state in labels}
    all_vertices = {
        **vertices,
        **{
            second[state]: tuple({second[t]: p for t, p in vertex.items()} for vertex in vertices[state])
            for state in copied
        },
    }
    count = max(map(len, all_vertices.values()))
    arms = {
        str(k): {state: found[k] for state, found in all_vertices.items() if k < len(found)}
        for k in range(count)
    }
    all_labels = {**labels, **{second[state]: labels[state] for state in copied}}
    return Worlds(
        all_labels,
        arms,
        True,
        vertices=all_vertices,
        second=second,
        first=arms["0"],
        boxes=boxes,
        known_as=digest,
    )
