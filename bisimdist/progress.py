"""Limits of long work, and progress as a callback: the engines report, the command line shows."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, signature
from typing import Any

from bisimdist.errors import LimitError, StoppedError
from bisimdist.interruption import asked_to_stop, time_is_over, why

Progress = Callable[[str, int, int | None], None]
"""Called with (what is being done, units done so far, units in all or None where unknown)."""


def silent(stage: str, done: int, total: int | None) -> None:
    """Ignore what is reported."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of the monotonic clock after which long work gives up; None means never.

    Somebody who asks the work to stop makes every deadline pass.

    Parameters
    ----------
    moment
        The moment, by ``time.monotonic``; None for never.

    Examples
    --------
    >>> import bisimdist
    >>> bisimdist.Deadline.after(0).passed(), bisimdist.Deadline.after(60).passed()
    (True, False)
    """

    moment: float | None = None

    @classmethod
    def after(cls, seconds: float | None) -> Deadline:
        """Return the deadline that many seconds from now."""
        return cls(None if seconds is None else time.monotonic() + seconds)

    def left(self) -> float | None:
        """Return how many seconds are left, for whoever has a clock of its own."""
        return None if self.moment is None else max(0.0, self.moment - time.monotonic())

    def earlier(self, seconds: float) -> Deadline:
        """Return the deadline that comes so many seconds before this one."""
        return self if self.moment is None else Deadline(self.moment - seconds)

    def within(self, seconds: float | None) -> Deadline:
        """Return the deadline that many seconds from now, or this one if it comes before."""
        own = Deadline.after(seconds)
        moments = [limit.moment for limit in (self, own) if limit.moment is not None]
        return Deadline(min(moments, default=None))

    def part(self, share: float) -> Deadline:
        """Return the deadline that comes when so much of the time that is left is over."""
        left = self.left()
        return self if left is None else Deadline.after(share * left)

    def passed(self) -> bool:
        """Tell whether the moment has come."""
        if self.moment is not None and (now := time.monotonic()) >= self.moment:
            time_is_over(now)
            return True
        return asked_to_stop()

    def check(self) -> None:
        """Raise `LimitError` if the moment has come."""
        if self.passed():
            if asked_to_stop():
                raise StoppedError(why())
            raise LimitError("the time limit was reached")


NEVER = Deadline()  # the deadline that does not come: what a call without a limit works under


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What bounds the work on a question, and who is told how it goes."""

    deadline: Deadline = NEVER
    memory: int | None = None  # how many bytes the process may hold; None for any number
    jobs: int = 1  # how many threads or processes may work at once
    progress: Progress = silent

    def taken_by(self, function: Callable[..., object]) -> dict[str, Any]:
        """Return those of them that a function takes, as its arguments."""
        known = {field.name: getattr(self, field.name) for field in fields(self)}
        takes = signature(function).parameters
        some = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in takes.values())
        return {name: value for name, value in known.items() if some or name in takes}


UNBOUNDED = Limits()  # no limits, and nobody who is told
