"""Brackets of many pairs, with certificates in a few bytes a pair, and what checking these takes."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from benchmarks.growth import WIDTH, chain, one_pair
from benchmarks.tables import Size, Table, bytes_text, spent_text
from benchmarks.timing import Clock, Spent, peak_memory, run_apart
from bisimdist import bound

__all__ = ["bracket_tables"]

Case = tuple[int, int, str]

QUICK: tuple[Case, ...] = ((300, 2, "1"),)
USUAL: tuple[Case, ...] = (
    *((1000, 2, "1"), (1000, 5, "1"), (1000, 2, "21/20"), (1000, 5, "3/2"), (3000, 2, "1")),
)
FULL: tuple[Case, ...] = (*USUAL, (3000, 5, "1"), (3000, 2, "21/20"), (10000, 2, "1"), (10000, 2, "21/20"))
"""States, successors, alpha."""

ASKED = 20
"""Pairs of neighbours of one label: most pairs of a chain are needed for them."""


CHECK = """
import sys, time
from bisimdist.checker import check_certificate
begun = time.perf_counter(), time.process_time()
with open(sys.argv[1], "rb") as certificate:
    valid = check_certificate(certificate).valid
print(valid, time.perf_counter() - begun[0], time.process_time() - begun[1])
print(*(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
"""In a process of its own, which loads nothing but the checker."""


def _checked(path: Path) -> list[str]:
    """Return the cells of checking a certificate."""
    told = subprocess.run(
        [sys.executable, "-c", CHECK, str(path)], capture_output=True, text=True, check=True
    ).stdout.split()
    if told[0] != "True":
        return ["REJECTED", "-"]
    return [spent_text(Spent(float(told[1]), float(told[2]))), f"{int(told[4]) / 1024:.0f}"]


def _measured(case: Case, path: Path) -> Iterator[list[str]]:
    """Yield cells, and write the certificate."""
    states, successors, alpha = case
    small = chain(200, 2)
    bound(small, alpha, pairs=one_pair(small), precision=WIDTH)  # loads the machine code
    model = chain(states, successors)
    near = [(s, t) for s, t in pairwise(range(states)) if model.labels[s] == model.labels[t]]
    asked = [(model.states[s], model.states[t]) for s, t in near[:ASKED]]
    clock = Clock.start()
    answer = bound(model, alpha, pairs=asked, precision=WIDTH)
    cells = [str(answer.statistics["pairs"]), spent_text(clock.spent()), f"{peak_memory():.0f}"]
    yield cells
    clock = Clock.start()
    size = path.write_bytes(b"".join(answer.compact_certificate()))
    each = size / int(answer.statistics["pairs"])
    yield [*cells, spent_text(clock.spent()), bytes_text(size), f"{each:.1f}"]


def bracket_tables(size: Size) -> Iterator[Table]:
    """Certified brackets of width 1e-9 of random cyclic chains, written and checked."""
    table = Table(
        f"Certified brackets of width 1e-9, random cyclic chains 3 labels, all that {ASKED} pairs need",
        (
            *("states", "successors", "alpha", "pairs", "bound s", "MB", "writing s", "certificate MB"),
            *("bytes a pair", "checking s", "checking MB"),
        ),
        (
            "Seconds are wall (CPU), machine code loaded. MB: peak resident memory of a process of its own, "
            "libraries included. Certificates with compact tables.",
        ),
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "certificate")
        for case in size.pick(QUICK, USUAL, FULL):
            cells = run_apart(_measured, case, path, limit=600, rest=600) or ["not in time"]
            if len(cells) == 6:
                cells += _checked(path)
            table.add(*map(str, case), *cells, *["-"] * (8 - len(cells)))
    yield table
