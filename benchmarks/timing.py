"""Clocks, and measurements in processes of their own."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

__all__ = ["Clock", "Spent", "median_of", "peak_memory", "run_apart", "spent_by", "timed"]

T = TypeVar("T")


class Spent(NamedTuple):
    """What something took, in seconds."""

    wall: float
    cpu: float
    """Of this process and of the processes that it started and waited for."""

    def scaled(self, factor: float) -> Spent:
        return Spent(self.wall * factor, self.cpu * factor)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


@dataclass(slots=True)
class Clock:
    """Runs from when it is made."""

    wall: float
    cpu: float

    @classmethod
    def start(cls) -> Clock:
        return cls(time.perf_counter(), _cpu())

    def spent(self) -> Spent:
        return Spent(time.perf_counter() - self.wall, _cpu() - self.cpu)


def spent_by(work: Callable[[], object]) -> Spent:
    """Return what one call takes."""
    clock = Clock.start()
    work()
    return clock.spent()


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Return a result and the CPU seconds that it took."""
    clock = Clock.start()
    return work(), clock.spent().cpu


def median_of(times: Iterable[Spent]) -> Spent:
    """Return the medians of both clocks."""
    listed = list(times)
    return Spent(statistics.median(t.wall for t in listed), statistics.median(t.cpu for t in listed))


def peak_memory() -> float:
    """Return the largest resident size of this process so far, in MB (of 2**20 bytes).

    ``ru_maxrss`` counts what the parent held when it started the process; Linux's VmHWM does not.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _child(connection: Connection, work: Callable[..., Iterator[Any]], arguments: tuple[Any, ...]) -> None:
    for result in work(*arguments):
        connection.send(result)
    connection.close()


def run_apart(
    work: Callable[..., Iterator[Any]],
    *arguments: Any,
    limit: float | None = None,
    rest: float | None = None,
) -> Any:
    """Run a generator in a fresh process and return the last of its results; None where there is none.

    Parameters
    ----------
    work, arguments
        The generator function, of a module, and what it is called with.
    limit
        Seconds until the first result has to be there.
    rest
        Seconds from one result to the next.
    """
    context = multiprocessing.get_context("spawn")
    receiving, sending = context.Pipe(duplex=False)
    process = context.Process(target=_child, args=(sending, work, arguments))
    process.start()
    sending.close()
    result = None
    try:
        while receiving.poll(limit):
            result, limit = receiving.recv(), rest
    except EOFError:
        pass
    finally:
        process.kill()
        process.join()
    return result
