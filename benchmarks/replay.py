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
    """Answer a survey question with two coins, then add noise below 8, with a sign."""
    first = random.getrandbits(1)
    second = random.getrandbits(1)
    answer = x if first else second
    noise = 0
    while noise < 8 and random.getrandbits(1):
        noise += 1
    sign = random.getrandbits(1)
    if sign:
        noise = -noise
    return answer + noise


def no_end(x: int) -> int:
    """Do so with noise without an end: most runs are long."""
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


def doubles(x: int) -> tuple[int, ...]:
    """Answer with four bits by RAPPOR: each is changed for good, then for this time."""
    out = []
    for k in range(4):
        bit = x >> k & 1
        u = random.random()
        if u < 0.25:
            bit = 1
        elif u < 0.5:
            bit = 0
        out.append(int(random.random() < (0.75 if bit else 0.5)))
    return tuple(out)


def gauss(x: int) -> int:
    """Round a normal value: both doubles are divided."""
    return round(x + random.gauss(0, 1))


def _plain(function: Callable[[int], Any]) -> float:
    """Return how many calls Python makes a second."""
    begun, count = time.process_time(), 0
    while time.process_time() - begun < SECONDS / 4:
        for _ in range(100):
            function(0)
        count += 100
    return count / (time.process_time() - begun)


def _searched(function: Callable[[int], Any]) -> tuple[int, Search, float]:
    """Return how many runs there were in a while, what is known, and how long it took.

    A function with few runs is searched again.
    """
    begun, replays = time.process_time(), 0
    while True:
        search = Search(lambda: function(0))
        while not search.done and time.process_time() - begun < SECONDS:
            search.work(500)
        replays += search.replays
        spent = time.process_time() - begun
        if spent >= SECONDS:
            return replays, search, spent


def replay_tables(sizes: Any = None) -> Iterator[Table]:
    """Yield the table of replays a second; its rows take a few seconds."""
    del sizes
    table = Table(
        "Programs as they are: replays a second (CPU time)",
        ("program", "replays/s", "calls of Python/s", "calls in a replay's time", "CPU s", "mass not known"),
        (
            "A sampler learns one output a call; a replay learns the exact mass of a way through it.",
            "The ratio is of one process: it depends less on the machine and on what else it does.",
        ),
    )
    for function in (ten_lines, no_end, doubles, gauss):
        calls = _plain(function)
        with caught() as work:
            work.scan({__name__})
            replays, search, spent = _searched(function)
        missing = search.missing
        table.add(
            function.__name__,
            f"{replays / spent:,.3g}",
            f"{calls:,.0f}",
            f"{calls * spent / replays:,.3g}",
            fine_seconds(spent),
            f"{float(missing.p) / float(missing.q):.1e}",
        )
    yield table
