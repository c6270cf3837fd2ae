"""Chains whose probabilities lie in intervals: the interactive model that nature asks.

What it is, and how its states and actions are called, is written in docs/certificate-spec.md; that its
distances and deltas bound those of every chain in the intervals, in docs/theory/intervals.md.
"""

from __future__ import annotations

import json
from collections import ChainMap
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import product
from typing import ClassVar

from bisimdist.checker.core.chain import Chain, Rows
from bisimdist.checker.core.counting import all_of, counted, joined
from bisimdist.checker.core.partition import reached
from bisimdist.checker.core.reading import (
    ENTRY,
    LOOK,
    MalformedCertificate,
    RuleViolation,
    decimal_rational,
    digest_of,
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
class Intervals(Chain):
    """A chain whose probabilities are only known to lie in intervals; it has no rows of its own."""

    open: ClassVar[bool] = True
    boxes: Mapping[str, Box] = field(kw_only=True)

    def digest(self) -> str:
        rows = {
            state: {
                target: decimal_rational(low)
                if low == high
                else [decimal_rational(low), decimal_rational(high)]
                for target, (low, high) in counted(box.items())
            }
            for state, box in counted(self.boxes.items())
        }
        return digest_of({"kind": "lmc", "states": dict(all_of(self.labels)), "transitions": rows})


@dataclass(frozen=True)
class Worlds(Chain):
    """The model that nature asks: by state the vertices of its row, in order.

    `arms` has the first vertices of all states, then the second ones of those that have several, and so on.
    """

    natural: ClassVar[bool] = True
    vertices: Mapping[str, tuple[Vertex, ...]] = field(kw_only=True)
    second: Mapping[str, str] = field(kw_only=True)
    first: dict[str, Vertex] = field(kw_only=True)

    def offered(self, *states: str) -> list[str]:
        """Return what nature may choose for states: every vertex of each."""
        free = sorted(state for state in counted(set(all_of(states))) if len(self.vertices[state]) > 1)
        count = 1
        for state in counted(free):
            count *= len(self.vertices[state])
            spend(count * fraction_work(0))
        numbers = product(*(range(len(self.vertices[state])) for state in counted(free)))
        return [_name(dict(all_of(zip(free, chosen, strict=True)))) for chosen in counted(numbers)]

    def rows_of(self, action: str) -> Rows:
        """Return the rows of an action; a state of which it says nothing has its first vertex."""
        try:
            chosen = json.loads(action) if action else {}
        except (ValueError, RecursionError):
            return {}
        if not isinstance(chosen, dict) or not all(
            state in self.vertices and type(k) is int and 0 <= k < len(self.vertices[state])
            for state, k in counted(chosen.items())
        ):
            return {}
        return ChainMap({state: self.vertices[state][k] for state, k in counted(chosen.items())}, self.first)

    def digest(self) -> str:
        """Return the digest of the vertices, by number."""
        rows = {
            state: {
                str(k): {target: decimal_rational(p) for target, p in counted(vertex.items())}
                for k, vertex in counted(enumerate(vertices))
            }
            for state, vertices in counted(self.vertices.items())
        }
        return digest_of({"kind": "worlds", "states": dict(all_of(self.labels)), "transitions": rows})

    def mirrored(self, source: str, target: str) -> bool:
        """Tell whether two states are one state in two worlds."""
        return self.second.get(source) == target


def _name(chosen: Mapping[str, int]) -> str:
    return joined(json.dumps(chosen, sort_keys=True, separators=(",", ":")))


def read_intervals(document: Mapping[str, object]) -> Intervals:
    """Make the chain from plain data."""
    if document.get("kind") != "lmc":
        raise MalformedCertificate(f"the model's kind is {shown(document.get('kind'))}; expected 'lmc'")
    labels = named(item)(document.get("states"), "the model's states")
    given = named(named(read_ends))(document.get("transitions"), "the model's transitions")
    if not labels:
        raise RuleViolation("G1: the model has no state")
    return Intervals(labels, {}, boxes=rows_in(given, labels))


def read_ends(value: object, where: str) -> tuple[Fraction, Fraction]:
    """Read a probability, or the two ends of an interval."""
    low, high = row(model_number, model_number)(value if isinstance(value, list) else [value, value], where)
    return low, high


def rows_in(given: Mapping[str, Box], labels: Mapping[str, str]) -> dict[str, Box]:
    """Return the intervals of every state (rule G1)."""
    for state in counted(given):
        if state not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(state)}, which is no state of the model")
    return {state: _box(given.get(state, {}), labels, f"state {shown(state)}") for state in counted(labels)}


def _box(box: Box, labels: Mapping[str, str], where: str) -> Box:
    """Return the intervals of a row, as narrow as those of the other successors make them."""
    for target, (low, high) in counted(box.items()):
        if target not in labels:
            raise RuleViolation(f"G1: the transitions name {shown(target)}, which is no state of the model")
        if not 0 <= low <= high <= 1:
            raise RuleViolation(f"G1: {where} has an interval that is none within [0, 1]")
    least, most = (sum((ends[k] for ends in counted(box.values())), Fraction(0)) for k in (0, 1))
    if not least <= 1 <= most:
        raise RuleViolation(f"G1: no probabilities of {where} sum to 1")
    narrow = {
        t: (max(low, 1 - most + high), min(high, 1 - least + low)) for t, (low, high) in counted(box.items())
    }
    return {target: ends for target, ends in counted(narrow.items()) if ends[1]}


def _vertices(box: Box) -> tuple[Vertex, ...]:
    """Return the distributions with at most one probability that is no end of its interval, in order."""
    found: dict[tuple[tuple[str, Fraction], ...], None] = {}
    for free, (low, high) in counted(box.items()):
        others = [target for target in counted(sorted(all_of(box))) if target != free]
        partial: list[tuple[Vertex, Fraction]] = [({}, Fraction(1))]
        least, most = (
            low + sum(box[t][0] for t in counted(others)),
            high + sum(box[t][1] for t in counted(others)),
        )
        for target in counted(others):
            least, most = least - box[target][0], most - box[target][1]
            spend(len(partial) * fraction_work(0))
            hold(len(partial) * len(others) * ENTRY)
            partial = [
                ({**chosen, target: end}, rest - end)
                for chosen, rest in counted(partial)
                for end in counted(set(all_of(box[target])))
                if least <= rest - end <= most
            ]
        for chosen, rest in counted(partial):
            found[tuple((t, p) for t, p in counted(sorted(all_of({**chosen, free: rest}.items()))) if p)] = (
                None
            )
    return tuple(all_of(map(dict, sorted(all_of(found)))))


def worlds(chain: Intervals, *, apart: bool) -> Worlds:
    """Return the model that nature asks, with one world, or two that are `apart`."""
    labels, boxes = chain.labels, chain.boxes
    vertices = {state: _vertices(box) for state, box in counted(boxes.items())}
    before: dict[str, list[str]] = {state: [] for state in counted(labels)}
    for state, box in counted(boxes.items()):
        for target in counted(box):
            before[target].append(state)
    free = [state for state in counted(labels) if len(vertices[state]) > 1]
    rough = set(all_of(reached(free, before.__getitem__)))
    copied = dict.fromkeys(state for state in counted(labels) if state in rough) if apart else {}
    mark = "'"
    while any(state + mark in labels for state in counted(copied)):
        spend(LOOK)
        mark += "'"
    second = {state: state + mark if state in copied else state for state in counted(labels)}
    all_vertices = {
        **vertices,
        **{
            second[state]: tuple(
                {second[t]: p for t, p in counted(vertex.items())} for vertex in counted(vertices[state])
            )
            for state in counted(copied)
        },
    }
    arms: dict[str, dict[str, Vertex]] = {"0": {}}
    for state, found in counted(all_vertices.items()):
        for k, vertex in counted(enumerate(found)):
            arms.setdefault(str(k), {})[state] = vertex
    all_labels = {**labels, **{second[state]: labels[state] for state in counted(copied)}}
    return Worlds(
        all_labels,
        arms,
        True,
        vertices=all_vertices,
        second=second,
        first=arms["0"],
    )
