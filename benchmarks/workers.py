"""``python -m benchmarks.workers``: brackets by Dask's workers beside one process, one of them killed."""

from __future__ import annotations

import hashlib
import os
import signal
import sys
from itertools import pairwise

from flint import fmpq

from benchmarks.machine import described_machine
from benchmarks.tables import Table, spent_text
from benchmarks.timing import Clock
from bisimdist.cluster import opened
from bisimdist.fixpoint.flat_cluster import spread_over
from bisimdist.fixpoint.flat_engine import FlatTables, Spread, flat_tables
from bisimdist.fixpoint.flat_layout import Layout
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.progress import Progress, silent

QUICK = ((1000, 5, "1"),)
FULL = ((3000, 2, "1"), (3000, 5, "1"), (3000, 2, "21/20"))
WIDTH = fmpq(1, 10**9)


def _pid() -> int:
    return os.getpid()


def _warm(alpha: fmpq) -> None:
    """Have all machine code loaded: that is done where it is called first."""
    model = random_lmc(40, successors=5, labels=3, seed=1)
    asked = tuple(pairwise(range(40)))
    layout = Layout.of(model, alpha, asked)
    assert layout is not None
    flat_tables(model, alpha, asked, layout, WIDTH)


def worker_tables(cases: tuple[tuple[int, int, str], ...], workers: int = 2) -> Table:
    """Measure brackets of all pairs: alone, on workers that are there, and with one killed on the way."""
    table = Table(
        f"Brackets of width 1e-9 of all pairs, alone and on {workers} workers: seconds, wall (CPU)",
        ("states, successors, alpha", "alone", f"{workers} workers", "speed-up", "one killed", "bytes"),
        (
            "Random chains, three labels, seed 1. Machine code is loaded and workers are there before the "
            "clock starts. CPU is that of the process that asks; speed-up is of wall clock. One worker is "
            "killed early in the work, where any is shared.",
        ),
    )
    for states, successors, alpha in cases:
        model = random_lmc(states, successors=successors, labels=3, seed=1)
        asked = tuple(pairwise(range(states)))
        skew = fmpq(*map(int, alpha.split("/")))
        layout = Layout.of(model, skew, asked)
        assert layout is not None
        _warm(skew)

        def found(spread: Spread | None = None, progress: Progress = silent) -> tuple[str, Clock]:
            clock = Clock.start()
            tables = flat_tables(model, skew, asked, layout, WIDTH, spread=spread, progress=progress)  # noqa: B023
            return _digest(tables), clock

        one, clock = found()
        alone = clock.spent()
        with opened(f"local:{workers}") as cluster:
            processes = list(cluster.client.run(_pid).values())
            cluster.client.run(_warm, skew)
            two, clock = found(spread_over(cluster))
            together = clock.spent()
            killed: list[int] = []
            three, clock = found(spread_over(cluster), _killing(processes[0], killed))
            with_less = spent_text(clock.spent()) if killed else "-"
        same = "the same" if one == two == three else "NOT THE SAME"
        speed = f"{alone.wall / together.wall:.2f}x"
        table.add(
            f"{states:,}, {successors}, {alpha}",
            *(spent_text(alone), spent_text(together), speed, with_less, same),
        )
    return table


def _digest(tables: FlatTables) -> str:
    found = hashlib.sha256()
    for part in (tables.lower, tables.upper, tables.state):
        found.update(part.tobytes())
    return found.hexdigest()


def _killing(process: int, killed: list[int]) -> Progress:
    told: list[str] = []

    def progress(stage: str, done: int, _: int | None) -> None:
        if " in blocks" in stage and not done and not killed:
            told.append(stage)
            if len(told) == 3:
                os.kill(process, signal.SIGKILL)
                killed.append(process)

    return progress


if __name__ == "__main__":
    print(described_machine() + "\n")
    print(worker_tables(FULL if "--full" in sys.argv else QUICK).markdown())
