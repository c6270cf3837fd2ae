"""Writes formulae of the trace logic with their probabilities (docs/certificates/trace-formulae.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.certificates.numbers import rational_text
from bisimdist.errors import LimitError
from bisimdist.logic.linear import ProbabilisticFormula, TraceFormula
from bisimdist.models.ends import Completed

__all__ = ["ProvedTraceFormula", "listing_certificate", "trace_formulae_certificate"]

MAX_BITS = 400_000_000
"""How long all the numbers of a listing may be."""

Entry = dict[str, object]


@dataclass(frozen=True, slots=True)
class ProvedTraceFormula:
    """A formula with the probability of its trace, and whether it is satisfied."""

    formula: TraceFormula
    probability: fmpq
    satisfied: bool


def _document(completed: Completed, claims: list[Entry]) -> Entry:
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "trace-formulae",
        "model": completed.original.canonical(),
        "digest": completed.original.digest(),
        "ends": completed.shown.value,
        "claims": claims,
    }


def trace_formulae_certificate(
    completed: Completed, state: str, proved: Iterable[ProvedTraceFormula]
) -> Entry:
    """Return the certificate of whether a state satisfies formulae."""
    return _document(
        completed,
        [
            {
                "state": state,
                "formula": str(claim.formula),
                "probability": rational_text(claim.probability),
                "satisfied": claim.satisfied,
            }
            for claim in proved
        ],
    )


def listing_certificate(
    completed: Completed,
    state: str,
    depth: int | None,
    formulae: Sequence[ProbabilisticFormula],
    *,
    complete: bool,
) -> Entry:
    """Return the certificate of the formulae of a state, as the tree of their traces.

    Parameters
    ----------
    completed
        The automaton.
    state
        The name of the state.
    depth
        How long formulae may be; None for any length.
    formulae
        The formulae, each after the one whose trace is shorter by the last action.
    complete
        Whether these are all.

    Raises
    ------
    LimitError
        If the numbers are too long.
    """
    numbers: dict[tuple[str, ...], int] = {(): 0}
    entries: list[list[object]] = []
    bits = 0
    for formula in formulae:
        trace = formula.linear.actions
        if not trace:
            continue
        bits += formula.probability.height_bits()
        if bits > MAX_BITS:
            raise LimitError("the proof would take numbers that are too long")
        entries.append([numbers[trace[:-1]], trace[-1], rational_text(formula.probability)])
        numbers[trace] = len(entries)
    claim: Entry = {
        "state": state,
        "depth": None if depth is None else str(depth),
        "traces": entries,
        "complete": complete,
    }
    return _document(completed, [claim])
