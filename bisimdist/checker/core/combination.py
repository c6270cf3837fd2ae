"""Inequalities between integers, proved by combining those that are known (rule J9 of ``coupling``)."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from bisimdist.checker.core.counting import counted
from bisimdist.checker.core.flowchart import Form
from bisimdist.checker.core.reading import MalformedCertificate, RuleViolation, items, rational, shown
from bisimdist.checker.core.shape import named


def impossible(value: object) -> bool:
    """Return whether a proof says that what is known contradicts itself."""
    return isinstance(value, dict) and "impossible" in value


def listing(value: object, length: int) -> list[Any]:
    """Return the parts of a proof, of which there have to be so many."""
    entries = items(value, "a proof")
    if len(entries) != length:
        raise MalformedCertificate(f"a proof has {len(entries)} parts; expected {length}")
    return entries


def combined(known: Sequence[Form], multipliers: object) -> dict[str, Fraction]:
    """Return the combination of forms that are at least 0 with multipliers that are not negative."""
    total: dict[str, Fraction] = {}
    for number, value in counted(named(rational)(multipliers, "multipliers").items()):
        if not number.isascii() or not number.isdecimal() or len(number) > 9 or int(number) >= len(known):
            raise MalformedCertificate(f"there is no inequality {shown(number)}")
        if value < 0:
            raise RuleViolation("J9: a multiplier is negative")
        for name, factor in counted(known[int(number)].items()):
            total[name] = value * factor + total.get(name, 0)
    return total


def entailed(known: Sequence[Form], claim: Form, multipliers: object, rule: str) -> None:
    """Check that a form, whose values are integers, is at least 0: that it is more than -1."""
    total = combined(known, multipliers)
    for name in counted({**claim, **total}):
        left = claim.get(name, 0) - total.get(name, 0)
        if left if name else left <= -1:
            raise RuleViolation(rule)
