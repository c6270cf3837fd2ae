"""Progress on standard error: a bar on a terminal, a line now and then anywhere else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bisimdist.cli.failure import note
from bisimdist.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar
    from rich.progress import TaskID

__all__ = ["shown_progress"]

PATIENCE = 1.0
"""Seconds before a bar appears: what is quick needs none."""
INTERVAL = 15.0
"""Seconds between two lines where standard error is no terminal."""


class _Lines:
    def __init__(self) -> None:
        self.start = self.last = time.monotonic()

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if now - self.last < INTERVAL:
            return
        self.last = now
        units = f"{done}" if total is None else f"{done}/{total}"
        note(f"{stage}: {units} after {now - self.start:.0f} s")

    def close(self) -> None:
        pass


class _Bar:
    def __init__(self) -> None:
        self.start = time.monotonic()
        self.bar: Bar | None = None
        self.task: TaskID | None = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if self.bar is None:
            if time.monotonic() - self.start < PATIENCE:
                return
            self._open()
        if self.bar is None or self.task is None:
            return
        # Set here, because an update to "total=None" would mean "unchanged".
        self.bar.tasks[0].total = total
        self.bar.update(self.task, description=stage, completed=done)

    def _open(self) -> None:
        # Imported here: most commands are over before a bar is needed.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
        from rich.progress import Progress as Bar  # noqa: PLC0415

        self.bar = Bar(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            redirect_stdout=False,
        )
        self.task = self.bar.add_task("", total=None)
        self.bar.start()

    def close(self) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def shown_progress() -> Iterator[Progress]:
    """Give a callback that shows progress on standard error, and never writes to standard output."""
    terminal = sys.stderr is not None and sys.stderr.isatty()
    shown: _Bar | _Lines = _Bar() if terminal else _Lines()
    try:
        yield shown
    finally:
        shown.close()
