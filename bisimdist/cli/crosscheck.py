"""``bisimdist crosscheck``: every bound of the project held against every other."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

from bisimdist.analysis.crosscheck import DEFAULT_ALPHA, DEFAULT_LENGTH, CrosscheckAnswer, crosscheck
from bisimdist.cli.failure import ExitCode
from bisimdist.cli.numbers import alpha_number, seconds
from bisimdist.cli.output import OutputFile, emit_data, emit_report
from bisimdist.cli.progress import shown_progress
from bisimdist.cli.source import read_any_model
from bisimdist.errors import UsageError
from bisimdist.models.hmm import HMM
from bisimdist.report.crosscheck import crosscheck_data, crosscheck_report
from bisimdist.report.crosscheck_page import crosscheck_page

__all__ = ["run_crosscheck"]

SECONDS = 60.0
"""The time for each pair where none is given."""


class _Interruptions:
    """Remembers an interruption, for engines that end with what they have instead of passing it on."""

    def __init__(self) -> None:
        self.asked = False

    def __call__(self, _: int, __: FrameType | None) -> None:
        self.asked = True
        raise KeyboardInterrupt

    def stop(self) -> bool:
        """Tell whether somebody asked to stop."""
        return self.asked


@contextmanager
def _interruptions() -> Iterator[_Interruptions]:
    watch = _Interruptions()
    if threading.current_thread() is not threading.main_thread():
        yield watch  # only the main thread may listen
        return
    before = signal.signal(signal.SIGINT, watch)
    try:
        yield watch
    finally:
        signal.signal(signal.SIGINT, before)


def run_crosscheck(
    model: str,
    *,
    pairs: Sequence[tuple[str, str]] = (),
    alpha: str | None = None,
    length: int = DEFAULT_LENGTH,
    state_limit: int | None = None,
    timeout: str | None = None,
    html: str | None = None,
    as_json: bool = False,
) -> int:
    """Compute everything that applies, print it in its order, and return the exit code.

    Parameters
    ----------
    model
        A file, ``-`` for standard input, or ``example:NAME``.
    pairs
        Pairs of names; without any, those of the model.
    alpha
        The skew, an exact number.
    length
        Up to which length sequences are enumerated.
    state_limit
        How many states the automaton of a CCS_p text may have.
    timeout
        How many seconds each pair has.
    html
        Where to write the page.
    as_json
        Whether to print one JSON object.

    Raises
    ------
    BisimdistError
        Where the input is not usable; nothing is printed then.
    """
    given = seconds("--timeout", timeout)
    skew = DEFAULT_ALPHA if alpha is None else alpha_number("--alpha", alpha)
    found = read_any_model(model, state_limit=state_limit)
    if not pairs and not found.pairs:
        raise UsageError("the model has no pairs of its own; say which states to compare with --pair S T")
    with OutputFile(html, option="--html") as page:
        with shown_progress() as progress, _interruptions() as watch:
            answer = crosscheck(
                found,
                pairs=pairs or None,
                alpha=skew,
                length=length,
                seconds=SECONDS if given is None else given,
                stop=watch.stop,
                progress=progress,
            )
        if page.path is not None:
            page.write(crosscheck_page(answer, model))
    if as_json:
        kind = "hmm" if isinstance(found, HMM) else str(found.canonical()["kind"])
        about = {"kind": kind, "digest": found.digest(), "states": len(found)}
        emit_data({"command": "crosscheck", "model": about, **crosscheck_data(answer)})
    else:
        emit_report(crosscheck_report(answer))
    return _code(answer)


def _code(answer: CrosscheckAnswer) -> int:
    if answer.violated:
        return ExitCode.VIOLATED
    if answer.interrupted or any(pair.failed or not pair.standings() for pair in answer.pairs):
        return ExitCode.UNDECIDED
    return ExitCode.ANSWERED
