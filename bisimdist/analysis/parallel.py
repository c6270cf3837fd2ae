"""Delta at several alphas at once, each in a process of its own; what comes back does not depend on how many.

Threads would not help, since refinement is plain Python. The processes are started afresh, so a script that
uses them needs the usual ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Self

from flint import fmpq

from bisimdist.analysis.answer import Status
from bisimdist.analysis.delta import delta
from bisimdist.errors import LimitError
from bisimdist.models.interactive import System
from bisimdist.models.intervals import IntervalChain
from bisimdist.models.worlds import EACH_STEP
from bisimdist.progress import NEVER, Deadline

__all__ = ["DeltaAt", "DeltaPool", "DeltaTask", "delta_at"]

WATCH_SECONDS = 0.5
"""How often a process looks whether the one that started it is still there."""


@dataclass(frozen=True, slots=True)
class DeltaTask:
    """What is the same at all alphas: the chain, its pairs, and the limits.

    Parameters
    ----------
    model, pairs
        The chain, and pairs of names of states of which the worst counts.
    memory
        How many bytes each process may hold.
    rounds
        How many actions may be asked of an interactive model.
    nature
        What it may do where probabilities lie in intervals.
    """

    model: System | IntervalChain
    pairs: tuple[tuple[str, str], ...]
    memory: int | None
    rounds: int | None = None
    nature: str = EACH_STEP


@dataclass(frozen=True, slots=True)
class DeltaAt:
    """Bounds on the delta of the worst pair at one alpha, and whether a limit ended the work."""

    alpha: fmpq
    lower: fmpq
    upper: fmpq
    limited: bool


def delta_at(task: DeltaTask, alpha: fmpq, gap: fmpq | None, deadline: Deadline) -> DeltaAt:
    """Bound the delta of the worst pair at one alpha.

    Raises
    ------
    LimitError
        If the deadline has passed before the work began.
    """
    deadline.check()
    answer = delta(
        task.model,
        alpha,
        pairs=task.pairs,
        gap=gap,
        worst=True,
        rounds=task.rounds,
        nature=task.nature,
        deadline=deadline,
        memory=task.memory,
    )
    return DeltaAt(alpha, answer.lower, answer.upper, answer.status is Status.LIMIT)


class DeltaPool:
    """Processes that compute delta at one alpha each; use it as a context manager.

    Whatever ends the context early (a limit, Ctrl-C) ends the processes too, at once.

    Parameters
    ----------
    task
        What is asked at every alpha.
    jobs
        How many processes; with 1 there is none, and the work is done here.
    deadline
        When to stop.
    """

    def __init__(self, task: DeltaTask, jobs: int, deadline: Deadline = NEVER) -> None:
        self.task = task
        self.jobs = jobs
        self.deadline = deadline
        self._stop: Event | None = None
        self._executor: ProcessPoolExecutor | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._executor is not None and self._stop is not None:
            if kind is not None:
                self._stop.set()
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None

    def run(self, alphas: Sequence[fmpq], gap: fmpq | None) -> Iterator[DeltaAt]:
        """Yield the bounds at all alphas, in their order.

        Raises
        ------
        LimitError
            If the deadline passes, or a process was ended from outside (as the system does when memory runs
            out); what was yielded before stays good.
        """
        if self.jobs == 1 or len(alphas) < 2:
            for alpha in alphas:
                yield delta_at(self.task, alpha, gap, self.deadline)
            return
        try:
            for future in self._submitted(alphas, gap):
                yield future.result()
        except BrokenProcessPool as error:
            raise LimitError("a process that computed delta was ended from outside") from error

    def _submitted(self, alphas: Sequence[fmpq], gap: fmpq | None) -> list[Future[DeltaAt]]:
        with _interrupts_ignored():  # the processes are started here, and inherit that
            if self._executor is None:
                context = multiprocessing.get_context("spawn")
                self._stop = context.Event()
                left = None
                if self.deadline.moment is not None:
                    left = max(0.0, self.deadline.moment - time.monotonic())
                self._executor = ProcessPoolExecutor(
                    self.jobs, context, _begin, (self.task, left, self._stop, os.getpid())
                )
            return [self._executor.submit(_work, alpha, gap) for alpha in alphas]


@contextmanager
def _interrupts_ignored() -> Iterator[None]:
    """Let processes that are started ignore Ctrl-C, which is for the one that started them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


_state: dict[str, tuple[DeltaTask, Deadline]] = {}
"""What a process of the pool works on."""


def _begin(task: DeltaTask, left: float | None, stop: Event, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(stop, parent), daemon=True).start()
    _state["task"] = task, Deadline.after(left)


def _watch(stop: Event, parent: int) -> None:
    """End this process, whatever it is doing, once it is told to or nobody waits for it any more."""
    while not stop.wait(WATCH_SECONDS):
        if os.getppid() != parent:
            break
    os._exit(1)


def _work(alpha: fmpq, gap: fmpq | None) -> DeltaAt:
    task, deadline = _state["task"]
    return delta_at(task, alpha, gap, deadline)
