"""What all certificates begin with."""

from __future__ import annotations

from typing import Protocol

from bisimdist.certificates.numbers import value_text
from bisimdist.exact.scale import Value

__all__ = ["Document", "bounds_claim", "document"]

Document = dict[str, object]
"""Plain data that ``json.dumps`` writes."""


class _Model(Protocol):
    def canonical(self) -> dict[str, object]: ...
    def digest(self) -> str: ...


def document(kind: str, model: _Model, **rest: object) -> Document:
    """Return a certificate of some kind about a model, in the format of ``docs/certificate-spec.md``."""
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": kind,
        "model": model.canonical(),
        "digest": model.digest(),
        **rest,
    }


def bounds_claim(source: str, target: str, lower: Value, upper: Value) -> Document:
    """Return the claim that a distance of two states is between two bounds."""
    return {"from": source, "to": target, "upper": value_text(upper), "lower": value_text(lower)}
