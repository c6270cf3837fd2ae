"""The exact engine and Z3 at work on one budget at the same time, each with its own limit.

Z3 works in a thread: it holds no lock of Python while it searches, and is told to stop through its context.

Source: LWZ22-conference Algorithm 1, LWZ22-long Algorithm 1.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from bisimdist.budgets.verify.answer import EngineVerdict, PairVerdict
from bisimdist.progress import Progress

WAITED = 0.2  # seconds between two looks at whether Z3 is done

PATIENCE = 2.0  # seconds that Z3 may take to hear that it should stop


@dataclass(slots=True)
class Beside:
    """Work in a thread, which ends with the context."""

    # what is done; it is given a function that is to be told of every context of Z3
    work: Callable[[Callable[[Any], None]], PairVerdict]
    answer: PairVerdict | None = None
    seconds: float = 0.0
    error: BaseException | None = None
    _contexts: list[Any] = field(default_factory=list)
    _thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        return self

    def _run(self) -> None:
        begun = time.monotonic()
        try:
            self.answer = self.work(self._contexts.append)
        except BaseException as error:
            self.error = error
        self.seconds = time.monotonic() - begun

    def wait(self, progress: Progress) -> PairVerdict:
        """Return what comes of the work."""
        waited = 0
        while self._thread is not None and self._thread.is_alive():
            self._thread.join(WAITED)
            waited += 1
            if waited % 5 == 0:
                progress("waiting for Z3", int(waited * WAITED), None)
        if self.error is not None:
            raise self.error
        assert self.answer is not None
        return self.answer

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        end = time.monotonic() + PATIENCE
        while self._thread is not None and self._thread.is_alive() and time.monotonic() < end:
            for context in tuple(self._contexts):
                context.interrupt()
            self._thread.join(0.01)


def said(engine: str, answer: PairVerdict, seconds: float) -> EngineVerdict:
    """Return what an engine says, and after how long."""
    return EngineVerdict(
        engine=engine, verdict=answer.verdict, seconds=f"{seconds:.2f}", ways=answer.ways, note=answer.note
    )
