"""What whoever decides about a model has to know, put together: one page with the verdict and its proof."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from bisimdist.analysis.crosscheck import crosscheck
from bisimdist.analysis.crosscheck_answer import CrosscheckAnswer
from bisimdist.analysis.delta import DeltaAnswer
from bisimdist.analysis.profile import ProfileAnswer, profile
from bisimdist.errors import BisimdistError
from bisimdist.models.interactive import System
from bisimdist.models.intervals import IntervalChain
from bisimdist.progress import Limits

__all__ = ["Decision", "decision"]

POINTS = 9
SECONDS = 20.0
"""The time for the comparison of distances, which is beside the point."""
LARGEST_PROOF = 1 << 20
"""How many characters of a proof stand in a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What the page is made of.

    Parameters
    ----------
    delta
        The bounds of all pairs.
    profile
        Delta over epsilon; None where that could not be had.
    distances
        Every bound of the worst pair held against every other; None where that could not be had.
    proof, checked
        The certificate as a text, and what the checker says of it in a process of its own; empty where there
        is none or it is too long for a page.
    """

    delta: DeltaAnswer
    profile: ProfileAnswer | None
    distances: CrosscheckAnswer | None
    proof: str
    checked: str


def decision(  # noqa: PLR0913
    model: System | IntervalChain,
    delta: DeltaAnswer,
    *,
    pairs: Sequence[tuple[str, str]],
    limits: Limits,
    rounds: int | None,
    nature: str,
) -> Decision:
    """Put together what the page shows beside bounds on delta.

    Parameters
    ----------
    model
        The model.
    delta
        The answer that the page is about.
    pairs
        The pairs that were asked.
    limits
        What the work may cost; the bounds are there already, so that nothing is lost where it ends.
    rounds
        Of an interactive model, the most actions.
    nature
        Of a chain that is only known roughly what nature may do.
    """
    curve, distances = None, None
    with suppress(BisimdistError):
        curve = profile(
            model,
            pairs=pairs,
            points=POINTS,
            rounds=rounds,
            nature=nature,
            deadline=limits.deadline,
            memory=limits.memory,
            progress=limits.progress,
        )
    moment = limits.deadline.moment
    left = SECONDS if moment is None else max(1.0, min(SECONDS, moment - time.monotonic()))
    with suppress(BisimdistError):
        worst = delta.worst
        distances = crosscheck(
            model,
            pairs=[(worst.source, worst.target)],
            alpha=delta.alpha_upper,
            seconds=left,
            progress=limits.progress,
        )
    proof = _proof(delta)
    return Decision(
        delta=delta, profile=curve, distances=distances, proof=proof, checked=_checked(proof) if proof else ""
    )


def _proof(delta: DeltaAnswer) -> str:
    try:
        proof = json.dumps(delta.certificate(), separators=(",", ":"))
    except BisimdistError:
        return ""
    return proof if len(proof) <= LARGEST_PROOF else ""


def _checked(proof: str) -> str:
    """Return what the checker says of a proof, in a process that has loaded nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "proof.json"
        path.write_text(proof)
        words = [sys.executable, "-m", "bisimdist.checker", str(path)]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
    return ended.stdout + ended.stderr.replace(str(path), path.name)
