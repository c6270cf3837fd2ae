"""How the work on an answer ended."""

from __future__ import annotations

from enum import Enum

__all__ = ["Status"]


class Status(Enum):
    """How the work on an answer ended; the bounds are certified in every case."""

    EXACT = "exact"
    """Every bound is the distance itself."""
    BRACKET = "bracket"
    """The bounds are as close as the precision that was asked for."""
    UPPER = "upper"
    """The upper bounds are the best of direct couplings; the distance itself needs too many pairs."""
    LIMIT = "limit"
    """A limit or an interruption ended the work; the bounds are the best ones known by then."""
