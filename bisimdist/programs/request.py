"""How a program is explored: what somebody asked for, and what follows from it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

from flint import fmpq

from bisimdist.errors import UsageError
from bisimdist.exact.doubles import as_double
from bisimdist.exact.rational import format_rational
from bisimdist.programs.chain import observed_kinds
from bisimdist.progress import NEVER, Deadline, Progress, silent

MOST_STATES = 200_000  # so many places between draws are looked at unless somebody allows more

REPLAYS = 1000
"""Along so many random paths plain Python is compared with the machine, for all inputs together."""

CLOSING_SECONDS, PART = 3.0, 0.15
"""So long is it tried to make a chain where a limit came, but no more than this part of the time."""

UNSEEN = 1e-6  # paths of less than so much of the gap are forgotten where a limit came

FIRST_CUT, FINER = 1 / 64, 64  # where to cut at first, as a part of the gap, and how much finer each time


@dataclass(frozen=True, slots=True)
class Request:
    """How a program is explored: the options of `explore`.

    Without a word of what is observed it is what a chain returns, and what is announced to an analyst, too.
    """

    observe: str | None = None
    cut: fmpq | None = None
    gap: fmpq | None = None
    alpha: fmpq = fmpq(1)  # noqa: RUF009
    states: int = MOST_STATES
    replays: int = REPLAYS
    deadline: Deadline = NEVER
    progress: Progress = silent
    begun: float = field(default_factory=time.monotonic)
    clips: bool = True
    bits: bool = False  # whether only fair bits may be drawn
    patient: bool = True  # whether the gap is one that somebody asked for
    grid: fmpq | None = None  # to multiples of what numbers are rounded that are released
    allowed: frozenset[str] = frozenset()
    """What else a program may do: see `bisimdist.programs.replay.catching`."""
    orders: bool = False
    """Whether to look at elements of inputs in one order only, where it is proved that none matters."""
    arguments: tuple[str, ...] = ()  # of compiled code: what follows the input
    chances: tuple[str, ...] = ()  # of compiled code: the imports that return uniform bits
    layout: str | None = None  # of compiled code: how lists are written into memory

    @property
    def cuts(self) -> bool:
        """Whether runs may be cut off."""
        return self.cut is not None or self.gap is not None

    @property
    def closing(self) -> float:
        """For how long it is tried to make a chain where a limit came."""
        moment = self.deadline.moment
        given = CLOSING_SECONDS if moment is None else PART * (moment - self.begun)
        return max(0.1, min(CLOSING_SECONDS, given))

    @property
    def width(self) -> float:
        """About how far apart bounds may be; 0 where nobody said."""
        return 0.0 if self.gap is None else as_double(self.gap)

    @property
    def beyond(self) -> fmpq | None:
        """How probable values of noise may be that are cut off."""
        if self.cut is not None:
            return self.cut
        return None if self.gap is None else self.gap / FINER

    @property
    def unseen(self) -> float:
        """How probable a path is that no bound depends on that can be had."""
        return self.width * UNSEEN

    @property
    def kinds(self) -> frozenset[str]:
        return observed_kinds(self.observe or "output")

    def of_analyst(self) -> Request:
        """Return the request for a program that asks: it is explored as a whole.

        Raises UsageError if it says where to cut.
        """
        if self.cut is not None:
            raise UsageError("the program has an analyst, so it is explored as a whole; expected no cut")
        return replace(self, observe=self.observe or "trace", gap=None)

    def check(self) -> None:
        """Refuse numbers out of range."""
        for name, value in (("cut", self.cut), ("gap", self.gap)):
            if value is not None and not 0 <= value <= 1:
                raise UsageError(f"the {name} is {format_rational(value)}; expected a number in [0, 1]")
        if self.states < 1:
            raise UsageError(f"states={self.states}: expected at least 1")
