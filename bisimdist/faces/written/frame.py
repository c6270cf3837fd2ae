"""What all certificates begin with."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from bisimdist.exact.scale import Value
from bisimdist.faces.written.numbers import value_text

Document = dict[str, object]  # plain data that ``json.dumps`` writes


class _Model(Protocol):
    def canonical(self) -> dict[str, object]: ...
    def digest(self) -> str: ...


@runtime_checkable
class _Made(Protocol):
    def provenance(self) -> dict[str, object]: ...


def frame(model: _Model, kind: str | None = None) -> Document:
    """Return what every certificate about a model begins with: the program, too, that it was made of."""
    program = model.provenance() if isinstance(model, _Made) else {}
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        **({} if kind is None else {"kind": kind}),
        **({"program": program} if program else {}),
        "model": model.canonical(),
        "digest": model.digest(),
    }


def document(kind: str, model: _Model, **rest: object) -> Document:
    """Return a certificate of some kind about a model, in the format of ``docs/certificate-spec.md``."""
    return {**frame(model, kind), **rest}


def bounds_claim(source: str, target: str, lower: Value, upper: Value) -> Document:
    """Return the claim that a distance of two states is between two bounds."""
    return {"from": source, "to": target, "upper": value_text(upper), "lower": value_text(lower)}
