"""The shape of a certificate, version 1: everything in it read and typed, nothing of it believed yet."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Generic, TypeVar

from bisimdist.checker.core.chain import ONLY
from bisimdist.checker.core.quantities import Amount, Mass, Skew
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    integer,
    item,
    items,
    rational,
    record,
    shown,
    strings,
    text_of,
)

__all__ = [
    "Certificate",
    "Claim",
    "Coupling",
    "LowerEntry",
    "Progress",
    "Table",
    "UpperEntry",
    "read_certificate",
    "read_claims",
    "read_frame",
    "read_upper_table",
]

MAX_TABLE_BITS = 1 << 33
"""A table without a denominator may need at most one gibibyte once its values have a common one."""

Pair = tuple[str, str]

_DIRECTIONS = {"bd": ("forward", "backward"), "lbd": ("forward",)}  # lbd: of the ordered pair alone
_LOWER_KEYS = ("pair", "value", "witness")
_REASON = ("rank", "progress")


@dataclass(frozen=True)
class Claim:
    """That the distance of two states of the model is at most `upper` and, where given, at least `lower`."""

    source: str
    target: str
    distance: str
    alpha: Fraction
    upper: Fraction
    lower: Fraction | None = None

    @property
    def exact(self) -> bool:
        """Whether the claim says what the distance is."""
        return self.lower == self.upper

    def as_dict(self) -> dict[str, str | bool]:
        """Return the claim as plain data; integers beyond 4000 digits are hexadecimal."""
        bounds = {"upper": text_of(self.upper)} | (
            {} if self.lower is None else {"lower": text_of(self.lower)}
        )
        head = {
            "from": self.source,
            "to": self.target,
            "distance": self.distance,
            "alpha": text_of(self.alpha),
        }
        return {**head, **bounds, "exact": self.exact}


@dataclass(frozen=True)
class Coupling:
    """Flows (i, j, w) and masses (i, w) that are given up at cost 1."""

    moves: list[tuple[str, str, Amount]]
    given_up: list[tuple[str, Amount]]


@dataclass(frozen=True)
class UpperEntry:
    """A pair with its upper bound (a numerator over the table's denominator) and its couplings.

    They come by action and direction. Where pairs are ordered there is no coupling backward.
    """

    pair: Pair
    value: int
    couplings: Mapping[str, Mapping[str, Coupling]]


@dataclass(frozen=True)
class Progress:
    """Why mass cannot stay for ever: one of a stuck state, a common state, or a function y."""

    stuck: str | None = None
    common: str | None = None
    classes: list[tuple[str, Mass]] = field(default_factory=list)
    states: dict[str, Fraction] = field(default_factory=dict)


@dataclass(frozen=True)
class LowerEntry:
    """A pair, in the direction that the maximiser takes, with its lower bound and the function behind it.

    In `witness` a state has a rational, or ``("above", y)`` or ``("below", y)``. An entry of rank 0 has no
    progress: it must be strict.
    """

    pair: Pair
    value: int
    witness: Mapping[str, Fraction | tuple[str, str]]
    rank: int
    progress: Progress | None
    action: str = ONLY


Entry = TypeVar("Entry", UpperEntry, LowerEntry)


@dataclass(frozen=True)
class Table(Generic[Entry]):
    """The entries of one table; their values are numerators over the denominator."""

    denominator: int
    entries: list[Entry]


@dataclass(frozen=True)
class Certificate:
    """A document that has the shape of a certificate; `model` is still plain data."""

    model: dict[str, object]
    digest: str
    distance: str
    alpha: Skew
    upper: Table[UpperEntry]
    lower: Table[LowerEntry]


def read_frame(document: object) -> dict[str, object]:
    """Return a decoded document that says to be a certificate of version 1, of whatever kind.

    Raises
    ------
    MalformedCertificate
        If it does not say so.
    """
    if not isinstance(document, dict) or document.get("format") != "bisimdist-certificate":
        raise MalformedCertificate('the document is not an object with "format": "bisimdist-certificate"')
    version = document.get("version")
    if version != 1 or isinstance(version, bool):
        raise MalformedCertificate(f"the version is {shown(version)}; this checker knows version 1")
    return document


def read_claims(document: Mapping[str, object]) -> tuple[Claim, ...]:
    """Read what a certificate of a distance says, whatever that is.

    Raises
    ------
    MalformedCertificate
        If the document has not the shape of such a certificate.
    """
    needed = ("format", "version", "model", "digest", "distance", "alpha", "claims", "upper")
    record(document, "the certificate", needed, ("lower",))
    distance = choice(document["distance"], "the distance", _DIRECTIONS)
    alpha = rational(document["alpha"], "alpha")
    claims = tuple(
        _claim(claim, distance, alpha) for claim in items(document["claims"], "the list of claims")
    )
    if not claims:
        raise MalformedCertificate("the list of claims is empty")
    return claims


def read_certificate(document: Mapping[str, Any]) -> Certificate:
    """Read how a certificate of a distance proves what it says.

    Raises
    ------
    MalformedCertificate
        If the document has not the shape of such a certificate.
    RuleViolation
        If a number is none of those that are allowed where it stands.
    """
    distance = choice(document["distance"], "the distance", _DIRECTIONS)
    model = record(document["model"], "the model", ("kind", "states", "transitions"))
    asked = model["kind"] == "interactive"
    lower_keys = ((*_LOWER_KEYS, "action") if asked else _LOWER_KEYS, _REASON)
    return Certificate(
        model=model,
        digest=item(document["digest"], "the digest"),
        distance=distance,
        alpha=Skew.read(document["alpha"], "alpha", "G4"),
        upper=read_upper_table(document["upper"], distance, interactive=asked),
        lower=_table(document.get("lower", {"pairs": []}), "the lower table", lower_keys, _lower_entry),
    )


def read_upper_table(value: object, distance: str, *, interactive: bool) -> Table[UpperEntry]:
    """Read the upper table of a distance; in an interactive model it has couplings by action."""
    directions = _DIRECTIONS[distance]

    def entry(value: Mapping[str, Any], bound: int, where: str) -> UpperEntry:
        source, target = strings(value["pair"], f"the pair of {where}", 2)
        arms = value["actions"] if interactive else {ONLY: {name: value[name] for name in directions}}
        if not isinstance(arms, dict):
            raise MalformedCertificate(f"the actions of {where} are not an object")
        couplings = {}
        for action, arm in arms.items():
            parts = record(arm, f"the couplings of {where}", directions)
            couplings[action] = {name: _coupling(part, f"{name} of {where}") for name, part in parts.items()}
        return UpperEntry((source, target), bound, couplings)

    return _table(
        value,
        "the upper table",
        (("pair", "value", *(("actions",) if interactive else directions)), ()),
        entry,
    )


def _claim(value: object, distance: str, alpha: Fraction) -> Claim:
    claim = record(value, "a claim", ("from", "to", "upper"), ("lower",))
    source, target = (item(claim[key], "a state of a claim") for key in ("from", "to"))
    upper = rational(claim["upper"], "the upper bound of a claim")
    lower = rational(claim["lower"], "the lower bound of a claim") if "lower" in claim else None
    return Claim(source, target, distance, alpha, upper, lower)


def _coupling(value: object, where: str) -> Coupling:
    coupling = record(value, where, ("moves", "given_up"))
    moves = [strings(move, f"a move of {where}", 3) for move in items(coupling["moves"], where)]
    return Coupling(
        [
            (i, j, Amount.read(amount, f"the move {shown(i)} to {shown(j)} of {where}", "U2"))
            for i, j, amount in moves
        ],
        [
            (i, Amount.read(amount, f"a given-up mass of {where}", "U2"))
            for i, amount in (strings(part, where, 2) for part in items(coupling["given_up"], where))
        ],
    )


def _lower_entry(entry: Mapping[str, Any], value: int, where: str) -> LowerEntry:
    source, target = strings(entry["pair"], f"the pair of {where}", 2)
    if not isinstance(entry["witness"], dict):
        raise MalformedCertificate(f"the witness of {where} is not an object")
    witness = {
        name: _value_of_f(spec, f"f at {shown(name)} in {where}") for name, spec in entry["witness"].items()
    }
    if ("rank" in entry) != ("progress" in entry):
        raise MalformedCertificate(f"{where} has only one of 'rank' and 'progress'; expected both or neither")
    rank = entry.get("rank", 0)
    if not isinstance(rank, int) or isinstance(rank, bool) or ("rank" in entry and rank < 1):
        raise MalformedCertificate(f"the rank of {where} is {shown(rank)}; expected an integer of at least 1")
    progress = _progress(entry["progress"], f"the progress of {where}") if "progress" in entry else None
    action = item(entry["action"], f"the action of {where}") if "action" in entry else ONLY
    return LowerEntry((source, target), value, witness, rank, progress, action)


def _value_of_f(spec: object, where: str) -> Fraction | tuple[str, str]:
    if isinstance(spec, str):
        return rational(spec, where)
    relation, other = strings(spec, where, 2)
    if relation not in ("above", "below"):
        raise MalformedCertificate(f"{where} is {shown(spec)}; expected 'above' or 'below' and a state")
    return relation, other


def _progress(value: object, where: str) -> Progress:
    progress = record(value, where, (), ("stuck", "common", "classes", "states"))
    if ("stuck" in progress) + ("common" in progress) + ("classes" in progress or "states" in progress) != 1:
        raise MalformedCertificate(f"{where} is not one of 'stuck', 'common', or 'classes' with 'states'")
    if "stuck" in progress:
        return Progress(stuck=item(progress["stuck"], where))
    if "common" in progress:
        return Progress(common=item(progress["common"], where))
    states = progress.get("states", {})
    if not isinstance(states, dict):
        raise MalformedCertificate(f"the states of {where} are not an object")
    return Progress(
        classes=[
            (name, Mass.read(number, where, "L7"))
            for name, number in (
                strings(entry, where, 2) for entry in items(progress.get("classes", []), where)
            )
        ],
        states={name: rational(number, where) for name, number in states.items()},
    )


def _table(
    value: object,
    where: str,
    keys: tuple[tuple[str, ...], tuple[str, ...]],
    build: Callable[[Mapping[str, Any], int, str], Entry],
) -> Table[Entry]:
    table = record(value, where, ("pairs",), ("denominator",))
    places = [f"entry {number} of {where}" for number in range(1, len(items(table["pairs"], where)) + 1)]
    entries = [record(entry, place, *keys) for entry, place in zip(table["pairs"], places, strict=True)]
    denominator, numerators = _over_one_denominator(table, entries, where)
    return Table(denominator, [build(*parts) for parts in zip(entries, numerators, places, strict=True)])


def _over_one_denominator(
    table: Mapping[str, Any], entries: list[dict[str, Any]], where: str
) -> tuple[int, list[int]]:
    """Return the values as integers over the table's denominator, or over the least that serves them all."""
    if "denominator" in table:
        denominator = integer(table["denominator"], f"the denominator of {where}")
        if denominator <= 0:
            raise MalformedCertificate(f"the denominator of {where} is not positive")
        return denominator, [integer(entry["value"], f"a value of {where}") for entry in entries]
    values = [rational(entry["value"], f"a value of {where}") for entry in entries]
    denominator = 1
    for value in values:
        denominator = math.lcm(denominator, value.denominator)
        if denominator.bit_length() * len(values) > MAX_TABLE_BITS:
            raise MalformedCertificate(f"the values of {where} have no common denominator of a usable size")
    return denominator, [value.numerator * (denominator // value.denominator) for value in values]
