"""``python -m bisimdist``, and the installed command: ready for signals from its first moment."""

# ruff: noqa: PLC0415  (what takes time to load comes after the signals)

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False  # nothing is loaded before the signals that they do not need
if TYPE_CHECKING:
    from typing import NoReturn

UNDECIDED = 3  # the exit code of work that was ended before it was done


YOUNG = 50_000
"""How many new objects are looked through for cycles at a time: answers are made of many, which hold none."""


class _Leaving:
    """Ends the process on a signal: at first since nothing is known yet, in the end since all is said."""

    code: int | None = None

    def __call__(self, *_: object) -> None:
        if self.code is None:
            os.write(2, b"bisimdist: interrupted before anything was known\n")
        os._exit(UNDECIDED if self.code is None else self.code)


def main() -> NoReturn:
    """Run the command line of this process and leave it."""
    leaving = _Leaving()
    numbers = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    for number in numbers:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, leaving)
    if hasattr(signal, "pthread_sigmask"):  # whoever starts us may have held signals back until we listen
        signal.pthread_sigmask(signal.SIG_UNBLOCK, numbers)
    from bisimdist.faces.cli.room import watch_imports

    watch_imports()
    gc.set_threshold(YOUNG, 20, 100)
    from bisimdist.faces.cli.main import run

    leaving.code = run(sys.argv[1:])
    for number in numbers:  # all is said: no signal to any thread changes the exit code any more
        signal.signal(number, signal.SIG_IGN)
    sys.exit(leaving.code)


if __name__ == "__main__":
    main()
