"""Progress on standard error: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

from bisimdist.faces.cli.failure import note
from bisimdist.faces.shown.progress_bar import amount, progress_bar
from bisimdist.progress import Progress

INTERVAL = 15.0  # seconds between two lines where standard error is no terminal


PATIENCE = 30.0  # seconds after which somebody who waits is told what would be quicker


def hinting(progress: Progress, hint: str) -> Progress:
    """Give a callback that also writes a hint, once, where the work takes long."""
    due = time.monotonic() + PATIENCE

    def tell(stage: str, done: int, total: int | None) -> None:
        nonlocal due
        if time.monotonic() >= due:
            due = inf
            note(hint)
        progress(stage, done, total)

    return tell if hint else progress


class _Lines:
    def __init__(self) -> None:
        self.start = self.last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self.last < INTERVAL:
            return
        self.last = now
        much = amount(done, total, now - self.start)
        note(f"{stage}: {much}{' ' if much else ''}after {now - self.start:.0f} s")


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Give a callback that shows progress on standard error, and never writes to standard output."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield _Lines()
        return
    with progress_bar() as bar:
        yield bar
