"""Brackets by Dask's workers beside one process, one of them killed."""

from __future__ import annotations

import hashlib
import os
import signal
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import pairwise

from flint import fmpq

from benchmarks.tables import NOT_INSTALLED, Size, Table, spent_text
from benchmarks.timing import Clock, Spent
from bisimdist.cluster import opened
from bisimdist.distances.engine.flat_cluster import spread_over
from bisimdist.distances.engine.flat_engine import FlatTables, Spread, flat_tables
from bisimdist.distances.engine.flat_layout import Layout
from bisimdist.models.library.random_chain import random_lmc
from bisimdist.progress import Progress, silent

__all__ = ["worker_tables"]

Case = tuple[int, int, str]

QUICK: tuple[Case, ...] = ((300, 5, "1"),)
USUAL: tuple[Case, ...] = ((1000, 5, "1"),)
FULL: tuple[Case, ...] = ((3000, 2, "1"), (3000, 5, "1"), (3000, 2, "21/20"))
"""States, successors, alpha."""

WORKERS = 2
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


def worker_tables(size: Size) -> Iterator[Table]:
    """Brackets by Dask's workers beside one process, one of them killed."""
    table = Table(
        f"Brackets of width 1e-9 of all pairs, alone and on {WORKERS} workers: seconds, wall (CPU)",
        ("states, successors, alpha", "alone", f"{WORKERS} workers", "speed-up", "one killed", "bytes"),
        (
            "Random chains, three labels, seed 1. Machine code is loaded and workers are there before the "
            "clock starts. CPU is that of the process that asks; speed-up is of wall clock. One worker is "
            "killed early in the work, where any is shared.",
        ),
    )
    for case in size.pick(QUICK, USUAL, FULL):
        cells = _measured(*case) if find_spec("distributed") else [f"Dask {NOT_INSTALLED}", *["-"] * 4]
        table.add("{:,}, {}, {}".format(*case), *cells)
    yield table


def _measured(states: int, successors: int, alpha: str) -> list[str]:
    """Return the cells of all pairs of a chain: alone, on workers that are there, and with one killed."""
    model = random_lmc(states, successors=successors, labels=3, seed=1)
    asked = tuple(pairwise(range(states)))
    skew = fmpq(*map(int, alpha.split("/")))
    layout = Layout.of(model, skew, asked)
    assert layout is not None
    _warm(skew)

    def found(spread: Spread | None = None, progress: Progress = silent) -> tuple[str, Spent]:
        clock = Clock.start()
        tables = flat_tables(model, skew, asked, layout, WIDTH, spread=spread, progress=progress)
        spent = clock.spent()
        return _digest(tables), spent

    one, alone = found()
    with opened(f"local:{WORKERS}") as cluster:
        processes = list(cluster.client.run(_pid).values())
        cluster.client.run(_warm, skew)
        two, together = found(spread_over(cluster))
        killed: list[int] = []
        three, with_less = found(spread_over(cluster), _killing(processes[0], killed))
    return [
        spent_text(alone),
        spent_text(together),
        f"{alone.wall / together.wall:.2f}x",
        spent_text(with_less) if killed else "-",
        "the same" if one == two == three else "NOT THE SAME",
    ]


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
