"""Independent jobs, in processes of this machine or on a cluster; what comes back does not depend on where.

Threads would not help, since most of the work is plain Python. The processes are started afresh, so a script
that uses them needs the usual ``if __name__ == "__main__":``.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from multiprocessing.synchronize import Event
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from bisimdist.cluster import Cluster, opened
from bisimdist.errors import LimitError
from bisimdist.interruption import interrupts_ignored
from bisimdist.lifetime import end_with_parent
from bisimdist.progress import NEVER, Deadline, Progress, silent

S = TypeVar("S")
J = TypeVar("J")
R = TypeVar("R")
Work = Callable[[S, J, Deadline], R]


class Pool(Generic[S, J, R]):
    """Does independent jobs here, in processes or on a cluster; use it as a context manager.

    Whatever ends the context early (a limit, Ctrl-C) ends the processes too, at once.

    ``work``: what is done: a function of a module, of what is shared, a job, and the deadline.
    ``jobs``: how many processes; with 1 there is none, and the work is done here.
    ``cluster``: where the workers are that do it instead: see `bisimdist.cluster.opened`.
    """

    def __init__(  # noqa: PLR0913
        self,
        work: Work[S, J, R],
        shared: S,
        *,
        jobs: int = 1,
        cluster: str | None = None,
        deadline: Deadline = NEVER,
        progress: Progress = silent,
    ) -> None:
        self.work, self.shared, self.jobs, self.place = work, shared, jobs, cluster
        self.deadline, self.progress = deadline, progress
        self._cluster: Cluster | None = None
        self._open = ExitStack()
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
        self._open.close()

    def map(self, jobs: Sequence[J]) -> Iterator[R]:
        """Yield what comes of the jobs, in their order."""
        if self.place is not None and jobs:
            self._cluster = self._cluster or self._open.enter_context(opened(self.place))
            yield from self._cluster.map(self.work, self.shared, jobs, self.deadline, self._tell)
            return
        if self.jobs == 1 or len(jobs) < 2:
            for job in jobs:
                yield self.work(self.shared, job, self.deadline)
            return
        try:
            for future in self._submitted(jobs):
                yield future.result()
        except BrokenProcessPool as error:
            raise LimitError("a process that worked on this was ended from outside") from error

    def _tell(self, done: int, of: int, workers: int) -> None:
        self.progress(f"jobs, {workers} at work", done, of)

    def _submitted(self, jobs: Sequence[J]) -> list[Future[R]]:
        with interrupts_ignored():  # the processes are started here, and inherit that
            if self._executor is None:
                context = multiprocessing.get_context("spawn")
                self._stop = context.Event()
                about = self.work, self.shared, self.deadline.left(), self._stop, os.getpid()
                self._executor = ProcessPoolExecutor(self.jobs, context, _begin, about)
            return [self._executor.submit(_work, job) for job in jobs]


_state: dict[str, tuple[Work[Any, Any, Any], Any, Deadline]] = {}  # what a process of the pool works on


def _begin(work: Work[S, J, R], shared: S, left: float | None, stop: Event, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
    threading.Thread(target=_watch, args=(stop,), daemon=True).start()
    _state["work"] = work, shared, Deadline.after(left)


def _watch(stop: Event) -> None:
    """End this process, whatever it is doing, once it is told to."""
    stop.wait()
    os._exit(1)


def _work(job: Any) -> Any:
    work, shared, deadline = _state["work"]
    return work(shared, job, deadline)
