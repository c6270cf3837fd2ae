"""How a question is settled that has a yes or no for an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

Settled: TypeAlias = bool | None
"""True: answered and, where a property was asked, it holds; False: it is violated; None: not decided."""


def verdict_word(verdict: Settled) -> str:
    """Return how a verdict is called."""
    return "unknown" if verdict is None else "holds" if verdict else "violated"


def joint(verdicts: Iterable[Settled]) -> Settled:
    """Return whether all hold: one that is violated decides, then one that is not known."""
    known = set(verdicts)
    return False if False in known else None if None in known else True
