"""Bisimilar states that stand for each other at alpha = 1: rules M1 to M3, as in the specification."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from bisimdist.checker.core.chain import Chain
from bisimdist.checker.core.reading import RuleViolation, Skew, shown


def merged(chain: Chain, stands: Mapping[str, str], alpha: Skew) -> Chain:
    """Return the chain that enters, for each of the states that are named, the one that stands for it."""
    if alpha != 1:
        raise RuleViolation("M1: states are merged, and alpha is not 1")
    chain.known((*stands, *stands.values()), "M2: what is merged")
    arms = {
        action: {state: _summed(row, stands) for state, row in rows.items()}
        for action, rows in chain.arms.items()
    }
    for state, other in stands.items():
        same = chain.labels[state] == chain.labels[other]
        if not same or any(rows.get(state) != rows.get(other) for rows in arms.values()):
            raise RuleViolation(f"M3: {shown(state)} and {shown(other)} are merged and not alike")
    return Chain(chain.labels, arms, chain.interactive)


def _summed(row: Mapping[str, Fraction], stands: Mapping[str, str]) -> dict[str, Fraction]:
    total: dict[str, Fraction] = {}
    for target, p in row.items():
        entered = stands.get(target, target)
        total[entered] = total[entered] + p if entered in total else p
    return total
