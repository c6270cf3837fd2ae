"""The verdict of the checker that is extracted from proofs (``formal``), where it is built."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from bisimdist.checker import CheckReport
from bisimdist.checker.verdict import MAGIC
from bisimdist.errors import UsageError
from bisimdist.lifetime import ending_with_us, unnamed

NAME = "bisimdist-formal"
BUILT = Path(__file__).resolve().parents[3] / "formal" / "build" / NAME
"""Where ``formal/check`` builds it in a checkout; elsewhere it is looked for on the path."""

CODES = {0: True, 1: False}
NOT_COVERED = 3


def judged(report: CheckReport, certificate: str | bytes, model: str | bytes | None) -> CheckReport:
    """Return a report with the verdict of the proved checker in place of its own.

    Raises UsageError if the proved checker is not built, does not cover the kind of the certificate, or
    cannot read it.
    """
    program = str(BUILT) if BUILT.exists() else shutil.which(NAME)
    if program is None:
        raise UsageError("--with formal: the proved checker is not built; formal/check in a checkout does")
    if isinstance(certificate, bytes) and certificate.startswith(MAGIC):
        raise UsageError("--with formal: compact tables are not covered")
    with ExitStack() as stack:
        given = [text for text in (certificate, model) if text is not None]
        texts = [text.encode("utf-8") if isinstance(text, str) else text for text in given]
        files = [stack.enter_context(unnamed(text)) for text in texts]
        command = ending_with_us([program, *(path for path, _ in files)])
        passed = [descriptor for _, descriptors in files for descriptor in descriptors]
        done = subprocess.run(command, capture_output=True, text=True, check=False, pass_fds=passed)
    said = done.stdout.strip() or done.stderr.strip() or f"it ended with code {done.returncode}"
    if done.returncode == NOT_COVERED:
        about = f" about models of kind {report.model_kind!r}" if report.model_kind else ""
        raise UsageError(f"--with formal: certificates of kind {report.kind!r}{about} are not covered")
    if done.returncode not in CODES:
        raise UsageError(f"--with formal: the proved checker gave no verdict: {said}")
    reason = said.partition(": ")[2]
    return replace(report, valid=CODES[done.returncode], reason=reason)
