"""Asking work to stop: the one place that decides what Ctrl-C and its kin do to an engine.

A signal becomes `Interruption` where the work stands, and engines end on it as they end when their time is
over, with the best so far. Since code in between may swallow it, every `bisimdist.progress.Deadline` has
passed from then on, and raises `StoppedError`, a `LimitError`. Without a listener none of this happens, and
Ctrl-C is Python's own ``KeyboardInterrupt``, which no engine catches.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import wraps
from types import FrameType
from typing import Any, Literal, ParamSpec, TypeVar

from bisimdist.errors import Interruption, StoppedError

OnInterrupt = Literal["raise", "return"]
"""What Ctrl-C does: raise ``KeyboardInterrupt``, as in every program, or return what is known by then."""

P = ParamSpec("P")
R = TypeVar("R")

_due: ContextVar[Any] = ContextVar("due", default=None)

AGAIN = 0.01  # seconds after which an alarm that Python threw away rings again
IMPATIENT = 1.0  # seconds after which a second Ctrl-C means that even the end of the work is not waited for


class _Listener:
    """What the process was asked, and when."""

    def __init__(self) -> None:
        self.active = False
        self.waiting = False
        self.since: float | None = None
        self.reason = "interrupted"
        self.due: float | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        del frame
        if self.since is None:
            self.since = time.monotonic()
            if not self.waiting:
                raise Interruption(self.reason)
        elif number == signal.SIGINT and time.monotonic() - self.since > IMPATIENT:
            raise KeyboardInterrupt

    def late(self, number: int, frame: FrameType | None) -> None:
        """Hear the alarm, unless somebody has seen that the time is over, and is about to end."""
        if self.due is not None and self.since is None:
            self.reason = "the time limit was reached"
            self(number, frame)


_listener = _Listener()


def asked_to_stop() -> bool:
    """Tell whether a signal asked the work to stop; not while that is deferred."""
    return _listener.since is not None and not _listener.waiting


def why() -> str:
    """Return why the work was asked to stop."""
    return _listener.reason


def forget() -> None:
    """Let the next signal count as the first: what it asked for has been done."""
    _listener.since, _listener.reason = None, "interrupted"


def time_is_over(moment: float) -> None:
    """Say that whoever works has seen that a deadline has passed: no alarm is needed then."""
    if _listener.due is not None and moment >= _listener.due:
        _listener.due = None


@contextmanager
def alarm(due: float | None, grace: float) -> Iterator[None]:
    """Ask the work inside to stop where it looks at no deadline, as a signal asks it.

    Only inside a listener, in the main thread, and where there is an alarm clock that nobody needs sooner.
    Python throws away what is raised in destructors and in callbacks of its collector: there it rings again.

    ``due``: when the time is over, by the monotonic clock; None for never.
    ``grace``: how many seconds later the alarm comes, unless somebody saw before that the time is over.
    """
    here = threading.current_thread() is threading.main_thread()
    if due is None or not (_listener.active and here and hasattr(signal, "setitimer")):
        yield
        return
    begun = time.perf_counter()
    delay, (sooner, _) = max(due + grace - time.monotonic(), 0.001), signal.getitimer(signal.ITIMER_REAL)
    if 0 < sooner < delay:
        yield
        return
    _listener.due = due
    before, hook = signal.signal(signal.SIGALRM, _listener.late), sys.unraisablehook

    def thrown_away(lost: sys.UnraisableHookArgs) -> None:
        if not isinstance(lost.exc_value, Interruption):
            hook(lost)
            return
        _listener.since = None
        signal.signal(signal.SIGALRM, _listener)
        signal.setitimer(signal.ITIMER_REAL, AGAIN)

    sys.unraisablehook = thrown_away
    signal.setitimer(signal.ITIMER_REAL, delay)
    try:
        yield
    finally:
        _listener.due = None
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = hook
        signal.signal(signal.SIGALRM, before)
        if sooner:
            signal.setitimer(signal.ITIMER_REAL, max(sooner + begun - time.perf_counter(), 0.001))


@contextmanager
def listening(signals: Iterable[int] = (signal.SIGINT,)) -> Iterator[None]:
    """Turn signals into `Interruption` inside; a second Ctrl-C, a second later, is ``KeyboardInterrupt``.

    Signals that the process ignores, as in the background of a shell, stay ignored. Only the main thread can
    listen; inside another listener, and in other threads, this does nothing.
    """
    if _listener.active or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in signals}
    heard = {number: old for number, old in before.items() if old not in (signal.SIG_IGN, None)}
    _listener.active, _listener.waiting = True, False
    forget()
    try:
        for number in heard:
            signal.signal(number, _listener)
        yield
    finally:
        _listener.waiting = True
        for number, old in heard.items():
            signal.signal(number, old)
        _listener.active, _listener.since = False, None


@contextmanager
def deferred() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Let signals be remembered and no more: what is done inside is soon over and not to be torn.

    Nothing inside is told to stop, although it may have been asked before: engines put together here what
    they know. It gives a context for parts that may be torn all the same; that raises `StoppedError` where
    somebody has asked in between.
    """
    before, _listener.waiting = _listener.waiting, True

    @contextmanager
    def heeding() -> Iterator[None]:
        _listener.waiting = before
        try:
            if asked_to_stop():
                raise StoppedError(why())
            yield
        finally:
            _listener.waiting = True

    try:
        yield heeding
    finally:
        _listener.waiting = before


def due() -> Any:
    """Return the deadline of the public function that is at work here, for what no deadline is handed to."""
    return _due.get()


def under_deadline(work: Callable[P, R]) -> Callable[P, R]:
    """Let other threads work under the deadline that is due here."""
    deadline = _due.get()

    def call(*arguments: P.args, **options: P.kwargs) -> R:
        before = _due.set(deadline)
        try:
            return work(*arguments, **options)
        finally:
            _due.reset(before)

    return call


def _log(name: str, answer: object, seconds: float) -> None:
    """Tell the logger ``bisimdist`` how a call ended; nobody hears it who has not loaded ``logging``."""
    logging = sys.modules.get("logging")
    if logging is None:
        return
    logger = logging.getLogger("bisimdist")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())
    status = getattr(answer, "status", None) or getattr(answer, "verdict", None)
    logger.info("%s: %s after %.3f s", name, getattr(status, "value", "done"), seconds)


def interruptible(function: Callable[P, R]) -> Callable[P, R]:
    """Let a function with the keyword `on_interrupt` act on it.

    With ``on_interrupt="return"`` Ctrl-C ends the work of the function, which returns what is known by then
    (or raises `StoppedError` where that is nothing).
    """

    @wraps(function)
    def call(*arguments: P.args, **options: P.kwargs) -> R:
        begun = time.monotonic()
        before = _due.set(options.get("deadline") or _due.get())
        try:
            result = stopped(*arguments, **options)
        finally:
            _due.reset(before)
        _log(function.__name__, result, time.monotonic() - begun)
        return result

    def stopped(*arguments: P.args, **options: P.kwargs) -> R:
        if options.get("on_interrupt", "raise") == "raise":
            return function(*arguments, **options)
        with listening():
            try:
                result = function(*arguments, **options)
            except Interruption as error:
                raise StoppedError("interrupted before anything was known") from error
            _listener.waiting = True
        return result

    return call


@contextmanager
def interrupts_ignored() -> Iterator[None]:
    """Let processes that are started ignore Ctrl-C, which is for the one that started them."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
