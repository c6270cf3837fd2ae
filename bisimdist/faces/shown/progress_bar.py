"""A bar that shows how long work goes, on a terminal and in a notebook."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bisimdist.progress import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Drawn
    from rich.progress import TaskID

PATIENCE = 1.0  # seconds before a bar appears: what is quick needs none


def amount(done: int, total: int | None, seconds: float) -> str:
    """Return how much is done: of how much where that is known, else how much in a second.

    >>> amount(30, 120, 2.0), amount(30, None, 2.0), amount(0, None, 2.0)
    ('30/120', '30 (15/s)', '')
    """
    if total is not None:
        return f"{done}/{total}"
    return f"{done} ({done / seconds:.3g}/s)" if done and seconds else ""


class Bar:
    """A callback that draws a bar, once the work takes longer than a second; close it at the end."""

    def __init__(self) -> None:
        self.start = self.begun = time.monotonic()
        self.stage = ""
        self.drawn: Drawn | None = None
        self.task: TaskID | None = None

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        now = time.monotonic()
        if stage != self.stage:
            self.stage, self.begun = stage, now
        if self.drawn is None:
            if now - self.start < PATIENCE:
                return
            self._open()
        if self.drawn is None or self.task is None:
            return
        # Set here, because an update to "total=None" would mean "unchanged".
        self.drawn.tasks[0].total = total
        self.drawn.update(
            self.task, description=stage, completed=done, amount=amount(done, total, now - self.begun)
        )

    def _open(self) -> None:
        # Imported here: most work is over before a bar is needed.
        from rich.console import Console  # noqa: PLC0415
        from rich.progress import BarColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
        from rich.progress import Progress as Drawn  # noqa: PLC0415

        self.drawn = Drawn(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TextColumn("{task.fields[amount]}", markup=False),
            TimeElapsedColumn(),
            console=Console(file=sys.stderr),
            transient=True,
            redirect_stdout=False,
        )
        self.task = self.drawn.add_task("", total=None, amount="")
        self.drawn.start()

    def close(self) -> None:
        """Take the bar away."""
        if self.drawn is not None:
            self.drawn.stop()


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Give a callback for ``progress`` that draws a bar on standard error, or below the cell of a notebook.

    It appears after a second, and goes when the work ends.

    Yields
    ------
    Progress
        The callback: what is done, how much of it, and how much there is or None.

    Examples
    --------
    >>> import bisimdist
    >>> chain = bisimdist.build_example("figure1")
    >>> with bisimdist.faces.progress_bar() as progress:
    ...     bisimdist.bound(chain, 1, progress=progress).pairs[0].upper
    1/5
    """
    bar = Bar()
    try:
        yield bar
    finally:
        bar.close()
