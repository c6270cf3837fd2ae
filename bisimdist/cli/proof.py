"""Writing the proof of an answer, after the answer, where one was asked for."""

from __future__ import annotations

import json
from typing import Protocol

from bisimdist.cli.failure import note
from bisimdist.cli.output import OutputFile
from bisimdist.errors import LimitError, UsageError

__all__ = ["HasCertificate", "write_proof"]


class HasCertificate(Protocol):
    """An answer that may carry its proof."""

    def certificate(self) -> dict[str, object]:
        """Return the proof as plain data, or raise UsageError or LimitError."""
        ...


def write_proof(answer: HasCertificate, proof: OutputFile) -> bool:
    """Write the certificate where one was asked for; tell whether there was a proof to write."""
    if proof.path is None:
        return True
    try:
        text = json.dumps(answer.certificate(), ensure_ascii=True, separators=(",", ":"))
    except (UsageError, LimitError, KeyboardInterrupt) as error:
        note(f"no certificate was written to {proof.path}: {str(error) or 'interrupted'}")
        return False
    proof.write(text + "\n")
    return True
