"""A clock and a limit of memory for the whole check, beside the work that it counts.

What is counted is the same on every machine and ends nearly all that goes on for too long. Where it does not,
or the machine is slow, the check ends here: it says so, and nothing about the certificate.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

SHORT = 1_000_000
"""How many bytes a document may have for the limits of a short one; longer ones have more in proportion."""

SECONDS, MEMORY = 60.0, 1 << 30  # what checking a short document may take

AGAIN = 0.2  # seconds after which an alarm that got lost rings again, and after which the watch looks anew

STOPPED = 3  # the exit code

_SIZE = re.compile(r"([0-9]{1,12})\s*(?:([KMGT])i?B?|)", re.IGNORECASE)
_SECONDS = re.compile(r"[0-9]{1,9}(?:\.[0-9]{1,9})?")


class LimitReached(Exception):  # noqa: N818
    """The check took too long, or too much memory: nothing is known of the certificate."""


def read_seconds(text: str) -> float | None:
    """Return a number of seconds; None if the text is none."""
    return float(text) if _SECONDS.fullmatch(text) else None


def read_size(text: str) -> int | None:
    """Return a size in bytes, written in MiB or with a unit such as 2G; None if the text is none."""
    match = _SIZE.fullmatch(text)
    return None if match is None else int(match[1]) << 10 * ("KMGT".index((match[2] or "M").upper()) + 1)


def allowed(size: int, seconds: float | None, memory: int | None) -> tuple[float, int]:
    """Return how many seconds and bytes a document of a size may take, if nobody says otherwise."""
    scale = max(1.0, size / SHORT)
    return SECONDS * scale if seconds is None else seconds, int(MEMORY * scale) if memory is None else memory


@contextmanager
def within(seconds: float, memory: int, end: Callable[[str], None] | None = None) -> Iterator[None]:
    """Raise `LimitReached` inside as soon as one of the limits is passed.

    Where the system rings no alarm and limits no memory, a watch ends the process: `end` is called with what
    there is to say first.
    """
    late = f"the check takes more than {seconds:g} s"
    large = f"the check takes more than {memory / (1 << 20):.0f} MiB of memory"
    with ExitStack() as stack:
        watched: list[tuple[str, Callable[[], bool]]] = []
        if threading.current_thread() is threading.main_thread() and hasattr(signal, "setitimer"):
            stack.enter_context(_alarm(seconds, late))
        else:
            until = time.monotonic() + seconds
            watched.append((late, lambda: time.monotonic() > until))
        capped = stack.enter_context(_capped(memory))
        if not capped:
            watched.append((large, _larger_than(memory)))
        if watched and end is not None:
            stack.enter_context(_watch(watched, end))
        try:
            yield
        except MemoryError:
            raise LimitReached(large) from None


@contextmanager
def _alarm(seconds: float, late: str) -> Iterator[None]:
    def ring(_: int, __: FrameType | None) -> None:
        raise LimitReached(late)

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 1e-6), AGAIN)  # 0 would be never
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@contextmanager
def _capped(memory: int) -> Iterator[bool]:
    """Let the system refuse more memory than there is now and so much more; say whether it will."""
    try:
        resource: Any = import_module("resource")
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        most = pages * resource.getpagesize() + memory
        resource.setrlimit(
            resource.RLIMIT_AS, (most if soft == resource.RLIM_INFINITY else min(soft, most), hard)
        )
    except (ImportError, OSError, ValueError, OverflowError):
        yield False
        return
    try:
        yield True
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _larger_than(memory: int) -> Callable[[], bool]:
    """Return what tells whether the process has become larger by so much, as far as the system says."""
    try:
        resource: Any = import_module("resource")
    except ImportError:
        return lambda: False
    unit = 1 if sys.platform == "darwin" else 1024

    def largest() -> int:
        return int(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit

    before = largest()
    return lambda: largest() - before > memory


@contextmanager
def _watch(watched: list[tuple[str, Callable[[], bool]]], end: Callable[[str], None]) -> Iterator[None]:
    done = threading.Event()

    def look() -> None:
        while not done.wait(AGAIN):
            for said, passed in watched:
                if passed():
                    end(said)
                    os._exit(STOPPED)

    threading.Thread(target=look, daemon=True).start()
    try:
        yield
    finally:
        done.set()
