"""Shapes of documents, each said once: a class with a field for every key, and what reads the field.

What reads a value takes it with how errors speak of it, and refuses what is malformed. Whole documents are
read in two steps: what they say, then how they prove it, so that a verdict can name the claims of what proves
nothing; a proof is `raw` in the first step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from fractions import Fraction
from functools import cache
from typing import Any, Self, TypeVar, dataclass_transform

from bisimdist.checker.core.reading import (
    MalformedCertificate,
    choice,
    item,
    items,
    mapping,
    rational,
    record,
    shown,
)

__all__ = [
    "FRAME",
    "Bound",
    "Reader",
    "Shape",
    "bound",
    "depth",
    "either",
    "flag",
    "key",
    "listed",
    "named",
    "one_of",
    "or_null",
    "raw",
    "row",
]

FRAME = ("format", "version", "kind")
"""The keys that say of what kind a document is, if it has one."""

_DEPTH = re.compile("0|[1-9][0-9]{0,8}")

Bound = Fraction | None
"""None is infinity."""

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
    for part in fields(shape):
        if part.metadata:
            name = part.metadata["key"] or part.name
            reads[name] = part.name, part.metadata["read"]
            free = part.default is MISSING and part.default_factory is MISSING
            (required if free else optional).append(name)
    return reads, tuple(required), tuple(optional)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(key,))
@dataclass(frozen=True, kw_only=True)
class Shape:
    """An object of a document; `where` says which, and its keys are those of the fields, and no others.

    Classes that come from it are frozen dataclasses.
    """

    where: str

    def __init_subclass__(cls) -> None:
        """Make a dataclass of the class."""
        dataclass(frozen=True, kw_only=True)(cls)

    @classmethod
    def read(cls, value: object, where: str) -> Self:
        """Read the object, its fields in their order."""
        reads, required, optional = _keys(cls)  # type: ignore[arg-type]
        data = record(value, where, required, optional)
        found = {
            name: read(data[at], f"{at!r} of {where}") for at, (name, read) in reads.items() if at in data
        }
        return cls(where=where, **found)

    @classmethod
    def whole(cls, document: Mapping[str, object]) -> Self:
        """Read a document beside the keys of its frame, which has to be there."""
        for at in FRAME[:2]:
            if at not in document:
                raise MalformedCertificate(f"the certificate has no {at!r}")
        return cls.read({at: part for at, part in document.items() if at not in FRAME}, "the certificate")


def raw(value: object, where: str) -> Any:
    """Leave a value for later."""
    del where
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


def depth(value: object, where: str) -> int:
    """Read a number of steps."""
    text = item(value, where)
    if not _DEPTH.fullmatch(text):
        raise MalformedCertificate(f"{where} is {shown(text)}; expected a natural number")
    return int(text)


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
            for n, entry in enumerate(items(value, where), first)
        ]

    return entries


def named(read: Reader[Value]) -> Reader[dict[str, Value]]:
    """Return what reads an object of any keys."""
    return lambda value, where: {
        name: read(entry, f"{shown(name)} of {where}") for name, entry in mapping(value, where).items()
    }


def row(*reads: Reader[Any]) -> Reader[tuple[Any, ...]]:
    """Return what reads an array of so many entries."""

    def entries(value: object, where: str) -> tuple[Any, ...]:
        parts = items(value, where)
        if len(parts) != len(reads):
            raise MalformedCertificate(f"{where} has {len(parts)} entries; expected {len(reads)}")
        return tuple(read(part, where) for read, part in zip(reads, parts, strict=True))

    return entries
