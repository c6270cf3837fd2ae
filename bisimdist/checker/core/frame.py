"""What is said of a certificate of another kind than distances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["OtherReport"]


@dataclass(frozen=True)
class OtherReport:
    """The verdict on a certificate of another kind.

    Parameters
    ----------
    valid
        Whether the certificate proves all of its claims.
    claims
        The claims as plain data (texts, numbers as exact texts).
    reason
        Which rule fails, in words; empty if the certificate is valid.
    about
        What the claims are about where that is not the model of the document: its kind and its digest.
    """

    valid: bool
    claims: tuple[Mapping[str, object], ...]
    reason: str = ""
    about: tuple[str, str] | None = None
