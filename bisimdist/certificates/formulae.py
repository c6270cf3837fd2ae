"""Writes why states are bisimilar, or a formula that tells them apart (docs/certificates/formulae.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bisimdist.logic.formula import StateFormula
from bisimdist.logic.formula_printer import formula_text
from bisimdist.models.pa import PA

__all__ = ["ProvedDistinction", "distinction_certificate"]

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class ProvedDistinction:
    """A pair of states with the formula that tells them apart; None where they are bisimilar."""

    source: int
    target: int
    formula: StateFormula | None


def distinction_certificate(
    automaton: PA, proved: Sequence[ProvedDistinction], classes: Iterable[int]
) -> Entry:
    """Return the certificate.

    Parameters
    ----------
    automaton
        The automaton.
    proved
        The pairs.
    classes
        The class of each state under bisimilarity; written where a pair is bisimilar.
    """
    names = automaton.states
    claims: list[Entry] = []
    for pair in proved:
        entry: Entry = {"from": names[pair.source], "to": names[pair.target]}
        if pair.formula is None:
            entry["bisimilar"] = True
        else:
            entry |= {
                "bisimilar": False,
                "formula": formula_text(pair.formula),
                "depth": str(pair.formula.depth),
            }
        claims.append(entry)
    result: Entry = {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "distinguishing-formula",
        "model": automaton.canonical(),
        "digest": automaton.digest(),
        "claims": claims,
    }
    if any(pair.formula is None for pair in proved):
        members: dict[int, list[str]] = {}
        for name, block in zip(names, classes, strict=True):
            members.setdefault(block, []).append(name)
        result["classes"] = list(members.values())
    return result
