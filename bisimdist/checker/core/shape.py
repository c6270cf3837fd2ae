"""Shapes of documents, each said once: a class with a field for every key, and what reads the field.

What reads a value takes it with how errors speak of it, and refuses what is malformed. Whole documents are
read in two steps: what they say, then how they prove it, so that a verdict can name the claims of what proves
nothing; a proof is `raw` in the first step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cache
from typing import Any, Self, TypeVar, dataclass_transform

from bisimdist.checker.core.counting import all_of, counted
from bisimdist.checker.core.reading import (
    MalformedCertificate,
    RuleViolation,
    choice,
    item,
    items,
    mapping,
    rational,
    record,
    shown,
    text_of,
)

FRAME = ("format", "version", "kind")  # the keys that say of what kind a document is, if it has one

_DEPTH = re.compile("0|[1-9][0-9]{0,8}")

Bound = Fraction | None  # None is infinity

Value = TypeVar("Value")
Reader = Callable[[object, str], Value]


def key(read: Reader[Any], name: str = "", **default: Any) -> Any:
    """Return a field: its reader, the key where that is another name, and a default if it may be left out."""
    return field(metadata={"read": read, "key": name}, **default)


@cache
def _keys(shape: Any) -> tuple[dict[str, tuple[str, Reader[Any]]], tuple[str, ...], tuple[str, ...]]:
    reads: dict[str, tuple[str, Reader[Any]]] = {}
    required: list[str] = []
    optional: list[str] = []
    for part in counted(fields(shape)):
        if part.metadata:
            name = part.metadata["key"] or part.name
            reads[name] = part.name, part.metadata["read"]
            free = part.default is MISSING and part.default_factory is MISSING
            (required if free else optional).append(name)
    return reads, tuple(all_of(required)), tuple(all_of(optional))


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key,))
@dataclass(frozen=True, kw_only=True)
class Shape:
    """An object of a document; `where` says which, and its keys are those of the fields, and no others."""

    where: str

    def __init_subclass__(cls) -> None:
        """Make a frozen dataclass of the class."""
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def read(cls, value: object, where: str) -> Self:
        reads, required, optional = _keys(cls)  # type: ignore[arg-type]
        data = record(value, where, required, optional)
        found = {
            name: read(data[at], f"{at!r} of {where}")
            for at, (name, read) in counted(reads.items())
            if at in data
        }
        return cls(where=where, **found)

    @classmethod
    def whole(cls, document: Mapping[str, object]) -> Self:
        """Read a document beside the keys of its frame."""
        said = {at: part for at, part in counted(document.items()) if at not in FRAME}
        if "program" in said:
            Source.read(said.pop("program"), "'program' of the certificate")
        return cls.read(said, "the certificate")

    def data(self) -> dict[str, object]:
        """Return the object as plain data, its keys in the order of the fields."""
        reads, required, _ = _keys(type(self))  # type: ignore[arg-type]
        said = {at: getattr(self, name) for at, (name, _) in counted(reads.items())}
        return {at: _plain(x) for at, x in counted(said.items()) if at in required or x is not None}


class Depth(int):
    """A number of steps, which documents write as a text."""


def _plain(value: Any) -> object:
    if isinstance(value, list | tuple):
        return [_plain(part) for part in counted(value)]
    if isinstance(value, Fraction):
        return text_of(value)
    return str(int(value)) if isinstance(value, Depth) else value


def raw(value: object, _: str) -> Any:
    """Leave a value for later."""
    return value


def flag(value: object, where: str) -> bool:
    """Read true or false."""
    if not isinstance(value, bool):
        raise MalformedCertificate(f"{where} is {shown(value)}; expected true or false")
    return value


def truth(value: object, where: str) -> bool:
    """Read what may only be true."""
    if value is not True:
        raise MalformedCertificate(f"{where} is {shown(value)}; expected true, or nothing")
    return value


def bound(value: object, where: str) -> Bound:
    """Read a number that may be infinite."""
    return None if value == "inf" else rational(value, where)


def depth(value: object, where: str) -> Depth:
    """Read a number of steps."""
    text = item(value, where)
    if not _DEPTH.fullmatch(text):
        raise MalformedCertificate(f"{where} is {shown(text)}; expected a natural number")
    return Depth(text)


def or_null(read: Reader[Value]) -> Reader[Value | None]:
    """Return what reads null as well."""
    return lambda value, where: None if value is None else read(value, where)


def either(test: Callable[[dict[str, Any]], bool], one: type[Shape], other: type[Shape]) -> Reader[Any]:
    """Return what reads one shape where an object passes a test, and else the other."""
    return lambda value, where: (one if isinstance(value, dict) and test(value) else other).read(value, where)


def one_of(*known: str) -> Reader[str]:
    """Return what reads one of some names."""
    return lambda value, where: choice(value, where, known)


def listed(read: Reader[Value], each: str = "", first: int = 1) -> Reader[list[Value]]:
    """Return what reads an array, and speaks of its entries by number."""

    def entries(value: object, where: str) -> list[Value]:
        return [
            read(entry, f"{each} {n}" if each else f"entry {n} of {where}")
            for n, entry in counted(enumerate(items(value, where), first))
        ]

    return entries


def named(read: Reader[Value]) -> Reader[dict[str, Value]]:
    """Return what reads an object of any keys."""
    return lambda value, where: {
        name: read(entry, f"{shown(name)} of {where}")
        for name, entry in counted(mapping(value, where).items())
    }


def row(*reads: Reader[Any]) -> Reader[tuple[Any, ...]]:
    """Return what reads an array of so many entries."""

    def entries(value: object, where: str) -> tuple[Any, ...]:
        parts = items(value, where)
        if len(parts) != len(reads):
            raise MalformedCertificate(f"{where} has {len(parts)} entries; expected {len(reads)}")
        return tuple(read(part, where) for read, part in counted(zip(reads, parts, strict=True)))

    return entries


class Source(Shape):
    """Which program a model was made of: information, from which nothing follows."""

    function: str = key(item)
    observe: str = key(item)
    sources: dict[str, str] = key(named(item))
    replay: dict[str, str] | None = key(named(item), default=None)


@dataclass(frozen=True)
class Claim:
    """That the distance of two states of the model is at most `upper` and, where given, at least `lower`.

    Of a chain in intervals it is the distance for the worst that nature picks, ``each-step`` or ``fixed``.
    """

    source: str
    target: str
    distance: str
    alpha: Fraction
    upper: Fraction
    lower: Fraction | None = None
    nature: str | None = None

    @property
    def exact(self) -> bool:
        return self.lower == self.upper

    def as_dict(self) -> dict[str, str | bool]:
        """Return the claim as plain data; integers beyond 4000 digits are hexadecimal."""
        return {
            "from": self.source,
            "to": self.target,
            "distance": self.distance,
            "alpha": text_of(self.alpha),
            "upper": text_of(self.upper),
            **({} if self.lower is None else {"lower": text_of(self.lower)}),
            "exact": self.exact,
            **({} if self.nature is None else {"nature": self.nature}),
        }


@dataclass(frozen=True)
class CheckReport:
    """The verdict on a certificate.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims about distances, as they stand in the certificate; if it is not valid, nothing is known
        of them. Empty for certificates of other kinds.
    reason
        Which rule of which entry fails; empty if the certificate is valid.
    kind
        The kind of the certificate: ``"distance"``, or one of `bisimdist.checker.claims.KINDS`.
    other_claims
        The claims of a certificate of another kind, as plain data. Empty for distances.
    digest
        The digest of the model, as it stands in the certificate, or of what the claims are about instead.
    model_kind
        The kind of the model, as it stands in the certificate, or what the claims are about instead.
    program
        Of a model that was made of a program its function, what is seen, the digests of its sources by file,
        and by input how likely runs are cut off, as they stand in the certificate.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> import json
    >>> proof = json.dumps(bisimdist.bound(chain, 1).certificate())
    >>> bisimdist.check_certificate(proof).valid
    True
    """

    valid: bool
    claims: Sequence[Claim]
    reason: str = ""
    kind: str = "distance"
    other_claims: tuple[Mapping[str, object], ...] = ()
    digest: str | None = None
    model_kind: str | None = None
    program: Mapping[str, object] | None = None

    def plain_claims(self) -> tuple[Mapping[str, object], ...]:
        """Return the claims as plain data, whatever they are about."""
        return (*(claim.as_dict() for claim in counted(self.claims)), *self.other_claims)


def judged(
    claims: Iterable[Mapping[str, object]],
    check: Callable[[], object],
    about: tuple[str | None, str | None] = (None, None),
    distances: tuple[Claim, ...] = (),
) -> CheckReport:
    """Return the verdict on claims: what `check` does not refuse is proved.

    The claims are about the model of the document, or about what a kind and a digest say instead.
    """
    said, valid, reason = tuple(all_of(claims)), True, ""
    try:
        check()
    except RuleViolation as violation:
        valid, reason = False, str(violation)
    return CheckReport(valid, distances, reason, other_claims=said, model_kind=about[0], digest=about[1])


def read_frame(document: object) -> dict[str, object]:
    """Return a decoded document that says to be a certificate, of whatever kind."""
    if not isinstance(document, dict) or document.get("format") != "bisimdist-certificate":
        raise MalformedCertificate('the document is not an object with "format": "bisimdist-certificate"')
    version = document.get("version")
    if version != 1 or isinstance(version, bool):
        raise MalformedCertificate(f"the version is {shown(version)}; this checker knows version 1")
    return document


def model_kind(document: Mapping[str, object]) -> object:
    """Return which kind of model a certificate says to be about."""
    model = document.get("model")
    return model.get("kind") if isinstance(model, dict) else getattr(model, "kind", None)


class Between(Shape):
    """A claim about two states."""

    source: str = key(item, "from")
    target: str = key(item, "to")


class BetweenBounds(Between):
    """That what is called the distance of two states lies between two bounds, which may be infinite."""

    upper: Bound = key(bound)
    lower: Bound = key(bound)

    def data(self) -> dict[str, object]:
        upper, lower = ("inf" if side is None else text_of(side) for side in (self.upper, self.lower))
        return {"from": self.source, "to": self.target, "upper": upper, "lower": lower}


class Finite(BetweenBounds):
    """That it lies between two numbers."""

    upper: Fraction = key(rational)
    lower: Fraction = key(rational)


def at_most(first: Bound, second: Bound) -> bool:
    """Tell whether a bound is at most another."""
    return second is None or (first is not None and first <= second)
