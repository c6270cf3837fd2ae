"""Writes the proof of trace equivalence as plain data (docs/certificates/trace-equivalence.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flint import fmpq

from bisimdist.certificates.numbers import rational_text
from bisimdist.errors import LimitError
from bisimdist.models.ends import Completed
from bisimdist.models.pa import PA
from bisimdist.progress import NEVER, Deadline
from bisimdist.words.equivalence import TraceComparison
from bisimdist.words.rational_basis import BasisFunction, RationalBasis

__all__ = ["ProvedTraces", "trace_equivalence_certificate"]

MAX_VALUES = 5_000_000


@dataclass(frozen=True, slots=True)
class ProvedTraces:
    """What is claimed of a pair: a trace with two probabilities, or equivalence (None).

    Parameters
    ----------
    source, target
        The indices of the states.
    trace
        A trace that tells the states apart; None where they are equivalent.
    probabilities
        Its probabilities.
    """

    source: int
    target: int
    trace: tuple[str, ...] | None = None
    probabilities: tuple[fmpq, fmpq] | None = None


def trace_equivalence_certificate(
    completed: Completed, proved: Sequence[ProvedTraces], *, deadline: Deadline = NEVER
) -> dict[str, object]:
    """Return the certificate: traces for pairs that differ, one space of functions for those that do not.

    Raises
    ------
    LimitError
        If the space takes too many or too long numbers.
    """
    pairs = [
        (claim.source, claim.target)
        for claim in proved
        if claim.trace is None and claim.source != claim.target
    ]
    names = completed.original.states
    claims = []
    for claim in proved:
        entry: dict[str, object] = {
            "from": names[claim.source],
            "to": names[claim.target],
            "equivalent": claim.trace is None,
        }
        if claim.trace is not None and claim.probabilities is not None:
            entry["trace"] = list(claim.trace)
            entry["probabilities"] = [rational_text(p) for p in claim.probabilities]
        claims.append(entry)
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "trace-equivalence",
        "model": completed.original.canonical(),
        "digest": completed.original.digest(),
        "ends": completed.shown.value,
        "claims": claims,
        "basis": _basis(completed.automaton, pairs, deadline) if pairs else [],
    }


def _basis(automaton: PA, pairs: Sequence[tuple[int, int]], deadline: Deadline) -> list[dict[str, object]]:
    """Return functions that agree on all pairs and whose span no action leaves."""
    comparison = TraceComparison.of(automaton, pairs)
    chain = comparison.chain
    if all(s == t for s, t in comparison.pairs):
        # Bisimilar pairs: the classes themselves will do, whatever the functions of the traces are.
        functions: Sequence[BasisFunction] = [
            BasisFunction(block, {block: fmpq(1)})
            for block, step in enumerate(chain.steps)
            if step is not None
        ]
    else:
        functions = RationalBasis.of(chain, deadline).functions
    if sum(len(chain.members[block]) for f in functions for block in f.values) > MAX_VALUES:
        raise LimitError("the proof would be too long")
    names = automaton.states
    return [
        {
            "pivot": names[chain.members[f.pivot][0]],
            "values": {
                names[state]: rational_text(value)
                for block, value in sorted(f.values.items())
                for state in chain.members[block]
            },
        }
        for f in functions
    ]
