"""Workers on this machine or others, by Dask: where they are, what they are given, who is still there."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from bisimdist.errors import LimitError, UsageError
from bisimdist.extras import needed
from bisimdist.interruption import interrupts_ignored
from bisimdist.progress import NEVER, Deadline

LOCAL = re.compile(r"local:([1-9][0-9]{0,3})")
REMOTE = re.compile(r"(tcp|tls|ucx|ws|wss)://[^\s/]+:[0-9]+")

LATE = 0.8  # how many seconds after the deadline jobs that were told of it may still answer

GONE = "the scheduler of the cluster is gone"

Tell = Callable[[int, int, int], None]
"""Told how many jobs are done, how many there are, and how many workers."""

PATIENCE = 0.2  # how many seconds are waited for a result before the clock is looked at
ANSWERS = 10  # how many seconds a cluster may take to answer, and to be without a single worker


def checked_cluster(text: str) -> str:
    """Return a place of workers as it is, if it is one and what is needed to get there is installed.

    >>> checked_cluster("local")
    Traceback (most recent call last):
        ...
    bisimdist.errors.UsageError: no such cluster: local; expected local:N or tcp://HOST:PORT
    """
    if not LOCAL.fullmatch(text) and not REMOTE.fullmatch(text):
        raise UsageError(f"no such cluster: {text}; expected local:N or tcp://HOST:PORT")
    needed("distributed", "cluster")
    return text


@contextmanager
def opened(place: str, *, processes: bool = True) -> Iterator[Cluster]:
    """Open a cluster: ``local:N`` starts N workers on this machine, an address is that of a Dask scheduler.

    ``processes``: whether those on this machine are processes, not threads.
    """
    local = LOCAL.fullmatch(checked_cluster(place))
    distributed = needed("distributed", "cluster")
    config = needed("dask", "cluster").config
    with config.set({"distributed.admin.large-graph-warning-threshold": "1PiB"}):
        if local is None:
            try:
                client = distributed.Client(place, timeout=ANSWERS, set_as_default=False)
            except (OSError, TimeoutError) as error:
                raise UsageError(f"no cluster answers at {place}: {error}") from error
            with _quietly(), client:
                expect_ourselves(client)
                yield Cluster(client)
            return
        with interrupts_ignored():  # the processes are started here, and inherit that
            workers = distributed.LocalCluster(
                n_workers=int(local[1]),
                threads_per_worker=1,
                processes=processes,
                dashboard_address=":0",
                memory_limit=0,
                silence_logs=logging.CRITICAL,
            )
        with workers, distributed.Client(workers, set_as_default=False) as client:
            yield Cluster(client, int(local[1]))


def expect_ourselves(client: Any) -> None:
    """Refuse workers that have another version of this package, or none."""
    for worker, found in client.run(_version, on_error="return").items():
        if found != _version():
            has = found if isinstance(found, str) else "none that can be loaded"
            raise UsageError(
                f"the worker at {worker} has another bisimdist: {has}; expected {_version()}, as here"
            )


def _version() -> str:
    try:
        return version("bisimdist")
    except PackageNotFoundError:
        return "not installed"


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep Dask from writing about connections that are lost: we say that once."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client")]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


class Cluster:
    """A cluster that is there; `here` of its workers are on this machine, started for one question."""

    def __init__(self, client: Any, here: int = 0) -> None:
        self.client, self.here = client, here

    def workers(self) -> list[str]:
        """Return the addresses of the workers that are there now, in a fixed order."""
        return sorted(self.client.scheduler_info(n_workers=-1)["workers"])

    def share(self, value: object) -> Any:
        """Return what stands for a value in the arguments of jobs; the scheduler can give it out anew."""
        return self.submit(_same, value)

    def submit(self, function: Callable[..., Any], *arguments: object, worker: str | None = None) -> Any:
        """Begin a job, best on one of the workers; another one gets it where that is gone."""
        where = {} if worker is None else {"workers": [worker], "allow_other_workers": True}
        with self._there():
            return self.client.submit(function, *arguments, pure=False, **where)

    @contextmanager
    def _there(self) -> Iterator[None]:
        """Say that the scheduler is gone, should it be: the client does not find another one."""
        distributed = needed("distributed", "cluster")
        if self.client.status != "running":
            raise LimitError(GONE)
        try:
            yield
        except (distributed.CancelledError, OSError) as error:
            raise LimitError(GONE) from error

    def results(self, jobs: Sequence[Any], tell: Tell) -> Iterator[tuple[int, Any]]:
        """Yield the numbers of jobs with their results as they come; `tell` is told how it goes."""
        distributed = needed("distributed", "cluster")
        waiting = {job: number for number, job in enumerate(jobs)}
        seen, counted, there = time.monotonic(), 0.0, 0
        try:
            while waiting:
                now = time.monotonic()
                if now - counted > PATIENCE:  # that takes a message
                    with self._there():
                        there, counted = len(self.workers()), now
                tell(len(jobs) - len(waiting), len(jobs), there)
                seen = now if there else seen
                if now - seen > ANSWERS:
                    raise LimitError("all workers of the cluster are gone")
                with self._there(), self.client.as_current(), suppress(TimeoutError):
                    distributed.wait(list(waiting), timeout=PATIENCE, return_when="FIRST_COMPLETED")
                for job in [job for job in waiting if job.done()]:
                    yield waiting.pop(job), self._result(job)
        finally:
            with suppress(Exception):
                self.client.cancel(list(waiting), force=True)

    @staticmethod
    def _result(job: Any) -> Any:
        distributed = needed("distributed", "cluster")
        try:
            return job.result()
        except distributed.comm.CommClosedError as error:
            raise LimitError(GONE) from error
        except (distributed.KilledWorker, distributed.CancelledError) as error:
            raise LimitError(f"workers of the cluster ended again and again: {error}") from error

    def map(
        self,
        function: Callable[[Any, Any, Deadline], Any],
        shared: object,
        jobs: Sequence[Any],
        deadline: Deadline = NEVER,
        tell: Tell | None = None,
    ) -> Iterator[Any]:
        """Yield ``function(shared, job, deadline)`` of independent jobs, in their order.

        At the deadline jobs return what they know; `LATE` seconds later nothing is waited for.
        """
        left = deadline.left()
        over = Deadline.after(None if left is None else left + LATE)

        def watch(done: int, of: int, there: int) -> None:
            over.check()
            if tell is not None:
                tell(done, of, there)

        given = self.share(shared)
        end = None if left is None else time.time() + left
        futures = [self.submit(_timed, function, given, job, left, end) for job in jobs]
        found: dict[int, Any] = {}
        following = 0
        for number, result in self.results(futures, watch):
            found[number] = result
            while following in found:
                yield found.pop(following)
                following += 1


def _same(value: Any) -> Any:
    return value


def _timed(
    function: Callable[[Any, Any, Deadline], Any],
    shared: Any,
    job: Any,
    left: float | None,
    end: float | None,
) -> Any:
    """Do a job that may have waited, by a clock that may be another one."""
    if left is not None and end is not None:
        left = min(left, max(0.0, end - time.time()))
    return function(shared, job, Deadline.after(left))
