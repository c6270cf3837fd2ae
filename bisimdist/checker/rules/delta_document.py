"""The shape of a certificate of kind ``delta``: everything read and typed, nothing of it believed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

from bisimdist.checker.core.chain import ONLY
from bisimdist.checker.core.document import Table, UpperEntry, read_upper_table
from bisimdist.checker.core.quantities import Amount, Share, Skew
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    integer,
    item,
    items,
    natural,
    rational,
    record,
    shown,
    strings,
)

__all__ = [
    "Automaton",
    "Ceiling",
    "DeltaClaim",
    "DeltaDocument",
    "DeltaNode",
    "OwnBound",
    "Said",
    "by_pair",
    "read_delta_document",
    "read_said",
]

MOST_ROUNDS = 100_000

Quantity = TypeVar("Quantity", Amount, Share, Skew)


@dataclass(frozen=True)
class Automaton:
    """An event: by node where labels lead, to a node, ``"accept"`` or ``"reject"``.

    In an interactive model nodes ask an action before they read a label, but for the root.
    """

    root: int | str
    nodes: tuple[Mapping[str, int | str], ...]
    asks: tuple[str, ...]


@dataclass(frozen=True)
class DeltaClaim:
    """That delta of a pair lies between two bounds; a positive lower one has a direction."""

    source: str
    target: str
    lower: Fraction
    upper: Fraction
    direction: tuple[str, ...]
    event: Automaton | None
    probabilities: tuple[Fraction, Fraction] | None


@dataclass(frozen=True)
class OwnBound:
    """A coupling that bounds a node from above; an empty one gives all positive mass up.

    With `covers`, negative masses cover the positive ones at the rates of the ratios.
    """

    complement: bool
    moves: tuple[tuple[str, str, Amount], ...]
    given_up: tuple[tuple[str, Amount], ...]
    covers: tuple[tuple[str, str, Amount], ...] | None = None


@dataclass(frozen=True)
class DeltaNode:
    """A signed vector with what follows it, by action and label, and what is claimed of its value."""

    vector: Mapping[str, int]
    then: Mapping[str, Mapping[str, int]] | None
    ask: str
    upper: Fraction | None
    bound: OwnBound | None
    lower: Fraction | None
    stop: bool


@dataclass(frozen=True)
class Ceiling:
    """Bounds on pairs of states, and the table that proves them."""

    alpha: Skew
    distance: str
    bounds: Mapping[tuple[str, str], Share]
    upper: Table[UpperEntry]


@dataclass(frozen=True)
class Said:
    """What a document says: claims for every alpha from one to another, whatever these are."""

    alpha_lower: Fraction
    alpha_upper: Fraction
    claims: tuple[DeltaClaim, ...]


@dataclass(frozen=True)
class DeltaDocument:
    """How a document proves what it says; `model` is still plain data."""

    model: dict[str, object]
    digest: str
    merged: tuple[tuple[str, ...], ...]
    alpha_lower: Skew
    alpha_upper: Skew
    rounds: int | None
    nodes: tuple[DeltaNode, ...]
    ceiling: Ceiling | None
    ratios: Mapping[tuple[str, str], Skew]


def read_said(document: object) -> Said:
    """Read what a document says.

    Raises
    ------
    MalformedCertificate
        If it does not have the shape of a certificate of kind ``delta``.
    """
    needed = ("format", "version", "kind", "model", "digest", "merged", "alpha", "claims", "nodes")
    whole = record(document, "the certificate", needed, ("ceiling", "ratios", "rounds"))
    asked = is_interactive(whole)
    if "rounds" in whole and not asked:
        raise MalformedCertificate("there are rounds, but the model is not interactive")
    alpha = record(whole["alpha"], "alpha", ("lower", "upper"))
    claims = items(whole["claims"], "the list of claims")
    return Said(
        alpha_lower=rational(alpha["lower"], "alpha of the lower bounds"),
        alpha_upper=rational(alpha["upper"], "alpha of the upper bounds"),
        claims=tuple(_claim(claim, f"claim {k}", asked) for k, claim in enumerate(claims, 1)),
    )


def read_delta_document(whole: Mapping[str, Any], said: Said) -> DeltaDocument:
    """Read how a document proves what it says.

    Raises
    ------
    MalformedCertificate
        If it does not have the shape of a certificate of kind ``delta``.
    RuleViolation
        If a number is none of those that are allowed where it stands.
    """
    nodes, asked = items(whole["nodes"], "the list of nodes"), is_interactive(whole)
    merged = []
    for group in items(whole["merged"], "the merged states"):
        names = tuple(item(name, "a merged state") for name in items(group, "a group of merged states"))
        if not names:
            raise MalformedCertificate("a group of merged states is empty")
        merged.append(names)
    return DeltaDocument(
        model=record(whole["model"], "the model", ("kind", "states", "transitions")),
        digest=item(whole["digest"], "the digest"),
        merged=tuple(merged),
        alpha_lower=Skew.of(said.alpha_lower, "D2: alpha of the lower bounds"),
        alpha_upper=Skew.of(said.alpha_upper, "D2: alpha of the upper bounds"),
        rounds=natural(whole["rounds"], "the number of rounds", MOST_ROUNDS + 1)
        if "rounds" in whole
        else None,
        nodes=tuple(_node(node, f"node {k}", len(nodes), asked) for k, node in enumerate(nodes)),
        ceiling=_ceiling(whole["ceiling"], asked) if "ceiling" in whole else None,
        ratios=by_pair(whole.get("ratios", []), "the ratios", Skew, "D9"),
    )


def is_interactive(whole: Mapping[str, Any]) -> bool:
    """Tell whether a certificate says to be about an interactive model."""
    model = whole["model"]
    return isinstance(model, dict) and model.get("kind") == "interactive"


def _claim(value: object, where: str, asked: bool) -> DeltaClaim:
    claim = record(value, where, ("from", "to", "lower", "upper"), ("direction", "event", "probabilities"))
    probabilities = None
    if "probabilities" in claim:
        first, second = strings(claim["probabilities"], f"the probabilities of {where}", 2)
        probabilities = (
            rational(first, f"a probability of {where}"),
            rational(second, f"a probability of {where}"),
        )
    return DeltaClaim(
        item(claim["from"], where),
        item(claim["to"], where),
        rational(claim["lower"], f"the lower bound of {where}"),
        rational(claim["upper"], f"the upper bound of {where}"),
        tuple(strings(claim["direction"], f"the direction of {where}", 2)) if "direction" in claim else (),
        _automaton(claim["event"], f"the event of {where}", asked) if "event" in claim else None,
        probabilities,
    )


def _automaton(value: object, where: str, asked: bool) -> Automaton:
    event = record(value, where, ("root", "nodes"))
    nodes = items(event["nodes"], where)
    asks = [ONLY] * len(nodes)
    if asked:
        parts = [record(node, f"a node of {where}", ("then",), ("ask",)) for node in nodes]
        asks = [item(part["ask"], where) if "ask" in part else ONLY for part in parts]
        nodes = [part["then"] for part in parts]
    return Automaton(
        _target(event["root"], len(nodes), where),
        tuple(
            {label: _target(target, len(nodes), where) for label, target in _mapping(node, where).items()}
            for node in nodes
        ),
        tuple(asks),
    )


def _target(value: object, count: int, where: str) -> int | str:
    if isinstance(value, str):
        return choice(value, where, ("accept", "reject"))
    return natural(value, where, count)


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected an object")
    return value


def _node(value: object, where: str, count: int, asked: bool) -> DeltaNode:
    optional = ("then", "upper", "bound", "lower", "stop", *(("ask",) if asked else ()))
    node = record(value, where, ("vector",), optional)
    vector = {
        state: integer(entry, f"an entry of {where}")
        for state, entry in _mapping(node["vector"], f"the vector of {where}").items()
    }
    if not vector:
        raise MalformedCertificate(f"the vector of {where} is empty")
    then = None
    if "then" in node:
        arms = _mapping(node["then"], f"what follows {where}") if asked else {ONLY: node["then"]}
        then = {
            action: {
                label: natural(child, where, count)
                for label, child in _mapping(arm, f"what follows {where}").items()
            }
            for action, arm in arms.items()
        }
    if node.get("stop", True) is not True:
        raise MalformedCertificate(f"'stop' of {where} is not true")
    return DeltaNode(
        vector,
        then,
        item(node["ask"], f"what {where} asks") if "ask" in node else ONLY,
        rational(node["upper"], f"the upper bound of {where}") if "upper" in node else None,
        _own_bound(node["bound"], f"the coupling of {where}") if "bound" in node else None,
        rational(node["lower"], f"the lower bound of {where}") if "lower" in node else None,
        "stop" in node,
    )


def _own_bound(value: object, where: str) -> OwnBound:
    bound = record(value, where, (), ("complement", "moves", "given_up", "covers"))
    if "covers" in bound and ("moves" in bound or "given_up" in bound):
        raise MalformedCertificate(f"{where} has both 'covers' and a coupling")
    complement = bound.get("complement", False)
    if not isinstance(complement, bool):
        raise MalformedCertificate(f"'complement' of {where} is neither true nor false")
    moves: Sequence[Any] = items(bound.get("moves", []), where)
    given_up: Sequence[Any] = items(bound.get("given_up", []), where)
    return OwnBound(
        complement,
        _moves(moves, where, Amount, "D6"),
        tuple(
            (i, Amount.read(amount, where, "D6"))
            for i, amount in (strings(part, where, 2) for part in given_up)
        ),
        _moves(items(bound["covers"], where), where, Amount, "D9") if "covers" in bound else None,
    )


def _moves(
    value: Sequence[Any], where: str, quantity: type[Quantity], rule: str
) -> tuple[tuple[str, str, Quantity], ...]:
    entries = (strings(move, where, 3) for move in value)
    return tuple((i, j, quantity.read(amount, where, rule)) for i, j, amount in entries)


def _ceiling(value: object, asked: bool) -> Ceiling:
    ceiling = record(value, "the ceiling", ("alpha", "distance", "bounds", "upper"))
    distance = choice(ceiling["distance"], "the distance of the ceiling", ("bd", "lbd"))
    return Ceiling(
        Skew.read(ceiling["alpha"], "alpha of the ceiling", "D6"),
        distance,
        by_pair(ceiling["bounds"], "the bounds of the ceiling", Share, "D6"),
        read_upper_table(ceiling["upper"], distance, interactive=asked),
    )


def by_pair(
    value: object, where: str, quantity: type[Quantity], rule: str
) -> dict[tuple[str, str], Quantity]:
    """Read numbers of ordered pairs, each of which is named once."""
    found: dict[tuple[str, str], Quantity] = {}
    for i, j, number in _moves(items(value, where), where, quantity, rule):
        if (i, j) in found:
            raise MalformedCertificate(f"{where} name [{shown(i)}, {shown(j)}] twice")
        found[i, j] = number
    return found
