"""Writes the proof of bounds for programs as plain data (docs/certificates/program.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from flint import fmpq

from bisimdist.certificates.numbers import rational_text
from bisimdist.certificates.writer import CLAIM_DIGITS
from bisimdist.programs.chain import ProgramChain

__all__ = ["Bounds", "program_certificate"]


class Bounds(Protocol):
    """Bounds on the delta of a pair."""

    @property
    def source(self) -> str:
        """The name of one state."""

    @property
    def target(self) -> str:
        """The name of the other."""

    @property
    def lower(self) -> fmpq:
        """The lower bound."""

    @property
    def upper(self) -> fmpq:
        """The upper bound."""


def program_certificate(
    chain: ProgramChain, proof: dict[str, object], cut: Mapping[int, fmpq], pairs: Sequence[Bounds]
) -> dict[str, object]:
    """Return the certificate of bounds on the delta of a program.

    Parameters
    ----------
    chain
        Its chain.
    proof
        The certificate of bounds on the delta of that chain, or on its distance bd.
    cut
        For each state from which runs are cut off the probability of that.
    pairs
        The bounds.
    """
    return {
        "format": "bisimdist-certificate",
        "version": 1,
        "kind": "program",
        "program": chain.origin.data(),
        "digest": chain.digest(),
        "cut": {chain.states[state]: rational_text(p) for state, p in sorted(cut.items())},
        "claims": [
            {
                "from": pair.source,
                "to": pair.target,
                "lower": rational_text(pair.lower, digits=CLAIM_DIGITS),
                "upper": rational_text(pair.upper, digits=CLAIM_DIGITS),
            }
            for pair in pairs
        ],
        "proof": proof,
    }
