"""The verdict of the checker that is extracted from proofs (``formal``), where it is built."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from bisimdist.checker import CheckReport
from bisimdist.checker.verdict import MAGIC
from bisimdist.errors import UsageError

__all__ = ["judged"]

NAME = "bisimdist-formal"
BUILT = Path(__file__).resolve().parents[2] / "formal" / "build" / NAME
"""Where ``formal/check`` builds it in a checkout; elsewhere it is looked for on the path."""

CODES = {0: True, 1: False}
NOT_COVERED = 3


def judged(report: CheckReport, certificate: str | bytes, model: str | bytes | None) -> CheckReport:
    """Return a report with the verdict of the proved checker in place of its own.

    Raises
    ------
    UsageError
        If the proved checker is not built, does not cover the kind of the certificate, or cannot read it.
    """
    program = str(BUILT) if BUILT.exists() else shutil.which(NAME)
    if program is None:
        raise UsageError("--with formal: the proved checker is not built; formal/check in a checkout does")
    if certificate == MAGIC:
        raise UsageError("--with formal: certificates in format 2 are not covered")
    with TemporaryDirectory() as folder:
        command = [program]
        for name, text in (("certificate.json", certificate), ("model.json", model)):
            if text is not None:
                path = Path(folder) / name
                path.write_bytes(text.encode("utf-8") if isinstance(text, str) else text)
                command.append(str(path))
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout.strip() or done.stderr.strip() or f"it ended with code {done.returncode}"
    if done.returncode == NOT_COVERED:
        about = f" about models of kind {report.model_kind!r}" if report.model_kind else ""
        raise UsageError(f"--with formal: certificates of kind {report.kind!r}{about} are not covered")
    if done.returncode not in CODES:
        raise UsageError(f"--with formal: the proved checker gave no verdict: {said}")
    reason = said.partition(": ")[2]
    return replace(report, valid=CODES[done.returncode], reason=reason)
