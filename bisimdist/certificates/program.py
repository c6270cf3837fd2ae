"""Writes the proof of bounds for programs as plain data (docs/certificates/program.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from flint import fmpq

from bisimdist.certificates.numbers import rational_text
from bisimdist.certificates.writer import CLAIM_DIGITS
from bisimdist.programs.chain import ProgramChain, ProgramInteractive

__all__ = ["program_certificate"]


def program_certificate(
    chain: ProgramChain | ProgramInteractive,
    proof: dict[str, object],
    cut: Mapping[int, fmpq],
    claims: Sequence[tuple[str, str, fmpq, fmpq]],
) -> dict[str, object]:
    """Return the certificate of bounds on the delta of a program.

    Parameters
    ----------
    chain
        Its chain; or the interactive model of a program that asks, where nothing is cut off.
    proof
        The certificate of bounds on the delta of that chain, or on its distance bd.
    cut
        For each state from which runs are cut off the probability of that.
    claims
        Two names, and bounds on their delta from below and above.
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
                "from": source,
                "to": target,
                "lower": rational_text(lower, digits=CLAIM_DIGITS),
                "upper": rational_text(upper, digits=CLAIM_DIGITS),
            }
            for source, target, lower, upper in claims
        ],
        "proof": {key: part for key, part in proof.items() if key != "program"},
    }
