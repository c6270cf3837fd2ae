"""The schema of certificates, made of the shapes that the checker reads: the only place that says them."""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from fractions import Fraction
from functools import reduce
from importlib import import_module
from importlib.util import find_spec
from operator import or_
from typing import Any, Union, get_args, get_origin, get_type_hints

from bisimdist.checker.claims import KINDS
from bisimdist.checker.core.shape import FRAME, Shape, Source
from bisimdist.checker.steps import STEPS
from bisimdist.checker.steps.step import StepShape

Schema = dict[str, Any]

_DIGITS = "[+-]?(0x[0-9a-fA-F]+|[0-9]+)"
NUMBER: Schema = {"type": "string", "pattern": f"^{_DIGITS}(/{_DIGITS})?$"}
INTEGER: Schema = {"anyOf": [{"type": "integer"}, {"type": "string", "pattern": f"^{_DIGITS}$"}]}
DISTANCE = "bisimdist.checker.claims.distance"
REDUCED = "bisimdist.checker.steps.reduced"


class _Shapes:
    """Collects the shapes that documents are made of."""

    def __init__(self) -> None:
        self.found: Schema = {}

    def of(self, hint: Any) -> Schema:
        """Return what a value of a type looks like; of what nothing is said, anything."""
        origin, parts = get_origin(hint), get_args(hint)
        if origin in {Union, types.UnionType}:
            others = [self.of(part) for part in parts if part is not type(None)]
            return {"anyOf": [*others, {"enum": [None, "inf"]}] if type(None) in parts else others}
        if origin is tuple and Ellipsis not in parts:
            count = len(parts)
            return {
                "type": "array",
                "prefixItems": [self.of(part) for part in parts],
                "minItems": count,
                "maxItems": count,
            }
        if origin in {list, tuple, Sequence}:
            return {"type": "array", "items": self.of(parts[0])}
        if origin in {dict, Mapping}:
            return {"type": "object", "additionalProperties": self.of(parts[1])}
        return self._plain(hint)

    def _plain(self, hint: Any) -> Schema:
        if not isinstance(hint, type):
            return {}
        if hint is StepShape:
            return {"anyOf": [self._named(import_module(home).Step) for home in STEPS.values()]}
        if issubclass(hint, Shape):
            return {"anyOf": [self._named(shape) for shape in _family(hint)]}
        simple: dict[type, Schema] = {bool: {"type": "boolean"}, int: INTEGER, str: {"type": "string"}}
        return NUMBER if issubclass(hint, Fraction) else simple.get(hint, {})

    def _named(self, shape: type[Shape]) -> Schema:
        name = f"{shape.__module__.rpartition('.')[2]}.{shape.__name__.lstrip('_')}"
        if name not in self.found:
            self.found[name] = {}  # shapes may hold themselves
            self.found[name] = self._object(shape)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, shape: type[Shape]) -> Schema:
        hints = get_type_hints(shape)
        known = {_key(part): part for part in fields(shape) if part.metadata}
        return {
            "type": "object",
            "required": [key for key, part in known.items() if _required(part)],
            "properties": {
                key: {} if _rewritten(part.metadata["read"]) else self.of(hints[part.name])
                for key, part in known.items()
            },
            "additionalProperties": False,
        }

    def document(self, shape: type[Shape]) -> Schema:
        """Return the name of a whole document, which has the keys of its frame too."""
        named = self._named(shape)
        whole = self.found[named["$ref"].removeprefix("#/$defs/")]
        made_of = {"program": self._named(Source)}
        whole["properties"] = {**{key: {} for key in FRAME}, **made_of, **whole["properties"]}
        return named


def _rewritten(read: Any) -> bool:
    """Tell whether a value is rewritten before it is read: then its type does not say how it is written."""
    if read.__name__ == "<lambda>" and "<locals>" not in read.__qualname__:
        return True
    inside = [cell.cell_contents for cell in read.__closure__ or ()]
    return any(isinstance(part, types.FunctionType) and _rewritten(part) for part in inside)


def _key(part: Field[Any]) -> str:
    return str(part.metadata["key"] or part.name)


def _required(part: Field[Any]) -> bool:
    return part.default is MISSING and part.default_factory is MISSING


def _family(shape: type[Shape]) -> Iterator[type[Shape]]:
    """Yield a shape and those of its file that extend it."""
    yield shape
    for child in shape.__subclasses__():
        if child.__module__ == shape.__module__:
            yield from _family(child)


def _documents(home: str) -> list[type[Shape]]:
    """Return the shapes of whole documents of one kind."""
    there = [module for module in (home, f"{home}_document") if find_spec(module)]
    named: dict[str, Any] = reduce(or_, (vars(import_module(module)) for module in there))
    whole = [
        thing
        for name, thing in named.items()
        if name.endswith("Document") and isinstance(thing, type) and issubclass(thing, Shape)
    ]
    return list(dict.fromkeys(shape for thing in whole for shape in _family(thing)))


def _of_kind(kind: str | None, home: str) -> list[type[Shape]]:
    """Return the shapes of certificates of one kind, of those with steps, too, where it has any."""
    taken = import_module(REDUCED).KINDS
    return [*_documents(home), *(_documents(REDUCED) if kind in taken else ())]


def schema() -> Schema:
    """Return the schema of certificates of all kinds."""
    shapes = _Shapes()
    kinds = [
        {
            "if": {"properties": {"kind": {"const": kind}}, "required": ["kind"]},
            "then": {"anyOf": [shapes.document(shape) for shape in _of_kind(kind, home)]},
        }
        for kind, home in KINDS.items()
    ]
    distances = {"anyOf": [shapes.document(shape) for shape in _of_kind(None, DISTANCE)]}
    return {
        "type": "object",
        "required": ["format", "version"],
        "properties": {
            "format": {"const": "bisimdist-certificate"},
            "version": {"type": "integer"},
            "kind": {"enum": list(KINDS)},
        },
        "allOf": [*kinds, {"if": {"not": {"required": ["kind"]}}, "then": distances}],
        "$defs": shapes.found,
    }
