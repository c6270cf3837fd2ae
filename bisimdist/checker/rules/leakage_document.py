"""The shape of a certificate of kind ``leakage``: everything read and typed, nothing of it believed yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.quantities import Amount, Mass, Skew
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    integer,
    item,
    items,
    mapping,
    natural,
    rational,
    record,
    shown,
    strings,
)
from bisimdist.checker.rules.delta_document import by_pair

__all__ = [
    "INFINITE",
    "Bound",
    "Chord",
    "Growth",
    "Leader",
    "LeakageClaim",
    "LeakageDocument",
    "LeakageNode",
    "read_claims",
    "read_leakage_document",
]

INFINITE = "inf"
Bound = Fraction | None
"""None is infinity."""


@dataclass(frozen=True)
class LeakageClaim:
    """That a measure of some states lies between two bounds; with a prior the states are secrets."""

    states: tuple[str, ...]
    prior: tuple[Fraction, ...] | None
    lower: Bound
    upper: Bound


@dataclass(frozen=True)
class Chord:
    """That the ratio of the two rows lies between two numbers, whatever follows."""

    most: Amount
    least: Mass


@dataclass(frozen=True)
class Leader:
    """That a row (0 for the row of zeros) stays ahead of all others, whatever follows."""

    row: int
    covers: Mapping[int, tuple[tuple[str, str, Amount], ...]]


@dataclass(frozen=True)
class Growth:
    """By how much a bound grows from one round to the next."""

    start: Fraction
    step: Amount


@dataclass(frozen=True)
class LeakageNode:
    """Masses with what follows them and what is claimed of their value."""

    rows: Mapping[str, tuple[int, ...]]
    then: Mapping[str, int] | None
    upper: Fraction | None
    bound: Chord | Leader | str | None
    lower: Fraction | str | None
    stop: bool
    weight: Amount | None
    growth: Growth | None


@dataclass(frozen=True)
class LeakageDocument:
    """How a document proves what it says; `model` is still plain data."""

    model: dict[str, object]
    digest: str
    merged: tuple[tuple[str, ...], ...]
    nodes: tuple[LeakageNode, ...]
    cycles: tuple[tuple[int, int], ...]
    ratios: Mapping[tuple[str, str], Skew]


def read_claims(document: object) -> tuple[dict[str, Any], tuple[LeakageClaim, ...]]:
    """Read what a document says.

    Raises
    ------
    MalformedCertificate
        If it does not have the shape of a certificate of kind ``leakage``.
    """
    needed = ("format", "version", "kind", "model", "digest", "merged", "measure", "claims", "nodes")
    whole = record(document, "the certificate", needed, ("gains", "cycles", "ratios"))
    claims = items(whole["claims"], "the list of claims")
    return whole, tuple(_claim(claim, f"claim {k}") for k, claim in enumerate(claims, 1))


def _claim(value: object, where: str) -> LeakageClaim:
    claim = record(value, where, ("states", "lower", "upper"), ("prior",))
    prior = None
    if "prior" in claim:
        parts = items(claim["prior"], f"the prior of {where}")
        prior = tuple(rational(p, f"a probability of {where}") for p in parts)
    return LeakageClaim(
        tuple(item(state, where) for state in items(claim["states"], f"the states of {where}")),
        prior,
        _bound(claim["lower"], f"the lower bound of {where}"),
        _bound(claim["upper"], f"the upper bound of {where}"),
    )


def _bound(value: object, where: str) -> Bound:
    return None if value == INFINITE else rational(value, where)


def read_leakage_document(whole: Mapping[str, Any]) -> LeakageDocument:
    """Read how a document proves what it says.

    Raises
    ------
    MalformedCertificate
        If it does not have the shape of a certificate of kind ``leakage``.
    RuleViolation
        If a number is none of those that are allowed where it stands.
    """
    nodes = items(whole["nodes"], "the list of nodes")
    merged = []
    for group in items(whole["merged"], "the merged states"):
        names = tuple(item(name, "a merged state") for name in items(group, "a group of merged states"))
        if not names:
            raise MalformedCertificate("a group of merged states is empty")
        merged.append(names)
    cycles = []
    for entry in items(whole.get("cycles", []), "the cycles"):
        ends = items(entry, "a cycle")
        if len(ends) != 2:
            raise MalformedCertificate("a cycle is not said by its first and its last node")
        cycles.append((natural(ends[0], "a cycle", len(nodes)), natural(ends[1], "a cycle", len(nodes))))
    return LeakageDocument(
        model=record(whole["model"], "the model", ("kind", "states", "transitions")),
        digest=item(whole["digest"], "the digest"),
        merged=tuple(merged),
        nodes=tuple(_node(node, f"node {k}", len(nodes)) for k, node in enumerate(nodes)),
        cycles=tuple(cycles),
        ratios=by_pair(whole.get("ratios", []), "the ratios", Skew, "D9"),
    )


def _node(value: object, where: str, count: int) -> LeakageNode:
    optional = ("then", "upper", "bound", "lower", "stop", "weight", "grows")
    node = record(value, where, ("rows",), optional)
    rows = {
        state: tuple(
            integer(entry, f"an entry of {where}") for entry in items(column, f"a column of {where}")
        )
        for state, column in mapping(node["rows"], f"the rows of {where}").items()
    }
    lengths = {len(column) for column in rows.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise MalformedCertificate(f"the rows of {where} are empty, or not of one length")
    then = None
    if "then" in node:
        then = {
            label: natural(child, where, count)
            for label, child in mapping(node["then"], f"what follows {where}").items()
        }
    if node.get("stop", True) is not True:
        raise MalformedCertificate(f"'stop' of {where} is not true")
    lower: Fraction | str | None = None
    if "lower" in node:
        infinite = node["lower"] == INFINITE
        lower = INFINITE if infinite else rational(node["lower"], f"the lower bound of {where}")
    growth = None
    if "grows" in node:
        start, step = strings(node["grows"], f"the growth of {where}", 2)
        growth = Growth(
            rational(start, f"the growth of {where}"), Amount.read(step, f"the growth of {where}", "V7")
        )
    return LeakageNode(
        rows,
        then,
        rational(node["upper"], f"the upper bound of {where}") if "upper" in node else None,
        _own_bound(node["bound"], f"the bound of {where}") if "bound" in node else None,
        lower,
        "stop" in node,
        Amount.read(node["weight"], f"the weight of {where}", "V6") if "weight" in node else None,
        growth,
    )


def _own_bound(value: object, where: str) -> Chord | Leader | str:
    if isinstance(value, str):
        return choice(value, where, ("columns", "rest"))
    if isinstance(value, dict) and "most" in value:
        chord = record(value, where, ("most",), ("least",))
        return Chord(Amount.read(chord["most"], where, "V5"), Mass.read(chord.get("least", "0"), where, "V5"))
    leader = record(value, where, ("ahead", "covers"))
    covers = {}
    for entry in items(leader["covers"], where):
        if len(items(entry, where)) != 2:
            raise MalformedCertificate(f"{where} is {shown(value)}; expected rows with their moves")
        moves = (strings(move, where, 3) for move in items(entry[1], where))
        covers[natural(entry[0], where)] = tuple((i, j, Amount.read(w, where, "D9")) for i, j, w in moves)
    return Leader(natural(leader["ahead"], where), covers)
