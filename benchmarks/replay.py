"""Programs as they are: replays a second, beside plain calls of the same function: what a sampler does."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from typing import Any

from benchmarks.tables import Table, fine_seconds
from bisimdist.programs.replay.catching import caught
from bisimdist.programs.replay.search import Search

SECONDS = 2.0


def ten_lines(x: int) -> int:
    """Answer a survey question with two coins, then add noise."""
    first = random.getrandbits(1)
    second = random.getrandbits(1)
    answer = x if first else second
    noise = 0
    while random.getrandbits(1):
        noise += 1
    sign = random.getrandbits(1)
    if sign:
        noise = -noise
    return answer + noise


def gauss(x: int) -> int:
    """Round a normal value: both doubles are divided."""
    return round(x + random.gauss(0, 1))


def _plain(function: Callable[[int], int]) -> float:
    """Return how many calls Python makes a second."""
    begun, count = time.process_time(), 0
    while time.process_time() - begun < SECONDS / 4:
        for _ in range(100):
            function(0)
        count += 100
    return count / (time.process_time() - begun)


def _searched(function: Callable[[int], int]) -> tuple[Search, float]:
    """Return what is known after a while, and how long it took."""
    search = Search(lambda: function(0))
    begun = time.process_time()
    while not search.done and time.process_time() - begun < SECONDS:
        search.work(500)
    return search, time.process_time() - begun


def replay_tables(sizes: Any = None) -> Iterator[Table]:
    """Yield the table of replays a second; its rows take a few seconds."""
    del sizes
    table = Table(
        "Programs as they are: replays a second (CPU time)",
        ("program", "replays/s", "calls of Python/s", "CPU s", "mass not known"),
        ("A sampler learns one output a call; a replay learns the exact mass of a way through the program.",),
    )
    for function in (ten_lines, gauss):
        calls = _plain(function)
        with caught() as work:
            work.scan({__name__})
            search, spent = _searched(function)
        missing = search.missing
        table.add(
            function.__name__,
            f"{search.replays / spent:,.3g}",
            f"{calls:,.0f}",
            fine_seconds(spent),
            f"{float(missing.p) / float(missing.q):.1e}",
        )
    yield table
